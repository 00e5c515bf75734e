"""What constraints mean, by the letter of their documentation: nothing of the library is used."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

Row = tuple[Any, ...]
#: Two numbers and a category.
NAMES = ("a", "b", "c")

#: By the letter: how each relation is written, and what it says of two numbers.
RELATIONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "a <= b + 1": lambda a, b: a <= b + 1,
    "a < b": lambda a, b: a < b,
    "2 * a - b >= 1": lambda a, b: 2 * a - b >= 1,
    "a + b == 4": lambda a, b: abs(a + b - 4) <= Fraction(1, 10**11),
    "a / 3 <= b": lambda a, b: a / 3 <= b,
    "1 <= a + b <= 5": lambda a, b: 1 <= a + b <= 5,
}


def keeps(x: Row, c: Row, asked: dict[str, Any], rows: set[Row]) -> bool:
    """Whether a row keeps constraints, by the letter of their documentation."""
    old, new = dict(zip(NAMES, x, strict=True)), dict(zip(NAMES, c, strict=True))
    a, b = Fraction(new["a"]), Fraction(new["b"])
    kept = [new[name] == old[name] for name in asked.get("immutable", ())]
    kept += [new[name] >= old[name] for name in asked.get("increase_only", ())]
    kept += [new[name] <= old[name] for name in asked.get("decrease_only", ())]
    for name, (low, high) in asked.get("ranges", {}).items():
        kept += [low is None or new[name] >= low, high is None or new[name] <= high]
    for name, most in asked.get("max_increase", {}).items():
        kept.append(Fraction(new[name]) - Fraction(old[name]) <= Fraction(most))
    for name, most in asked.get("max_decrease", {}).items():
        kept.append(Fraction(old[name]) - Fraction(new[name]) <= Fraction(most))
    kept += [new[name] in values for name, values in asked.get("allowed", {}).items()]
    kept += [RELATIONS[text](a, b) for text in asked.get("relations", ())]
    for group in asked.get("together", ()):
        at = [NAMES.index(name) for name in group]
        own, taken = tuple(x[i] for i in at), tuple(c[i] for i in at)
        kept.append(taken == own or taken in {tuple(row[i] for i in at) for row in rows})
    return all(kept)


def plain(row: Any) -> Row:
    return tuple(value.item() if hasattr(value, "item") else value for value in row)


numbers = st.sampled_from(["a", "b"])


@st.composite
def constraints(draw: st.DrawFn, *, categories: bool = True) -> dict[str, Any]:
    """Up to three kinds of constraints; without ``categories``, of the two numbers only."""
    anything = st.sampled_from(NAMES if categories else NAMES[:2])
    groups = [[["a", "c"]], [["a", "b"]], [["a", "b"], ["b", "c"]]]
    categories_ = st.lists(st.sampled_from("pqr"), min_size=1, max_size=2, unique=True)
    kinds = {
        "immutable": st.lists(anything, min_size=1, max_size=2, unique=True),
        "increase_only": st.lists(numbers, min_size=1, max_size=1),
        "decrease_only": st.lists(numbers, min_size=1, max_size=1),
        "ranges": st.dictionaries(
            numbers, st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(2, 3)))
        ),
        "max_increase": st.dictionaries(numbers, st.integers(0, 2)),
        "max_decrease": st.dictionaries(numbers, st.integers(0, 2)),
        "allowed": st.fixed_dictionaries(
            {},
            optional={
                "a": st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True),
                **({"c": categories_} if categories else {}),
            },
        ),
        "relations": st.lists(st.sampled_from(list(RELATIONS)), min_size=1, max_size=2),
        "together": st.sampled_from(groups if categories else groups[1:2]),
    }
    chosen = draw(st.lists(st.sampled_from(list(kinds)), max_size=3, unique=True))
    made = {name: draw(kinds[name]) for name in chosen}
    return {name: value for name, value in made.items() if value}
