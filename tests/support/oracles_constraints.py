"""What constraints mean, by the letter of their documentation: nothing of the library is used."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

Row = tuple[Any, ...]
#: Changes of a category; None stands for any other value.
FORBIDDEN = [("p", "q"), ("q", "r"), ("r", "p"), ("q", None), (None, "r")]
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


#: The same of conditions: what they say of two numbers and a category.
CONDITIONS: dict[str, Callable[[Fraction, Fraction, str], bool]] = {
    "if c == 'p' then a <= 2": lambda a, b, c: c != "p" or a <= 2,
    "if c != 'p' then a > b": lambda a, b, c: c == "p" or a > b,
    "if a >= 2 then c in ('q', 'r')": lambda a, b, c: a < 2 or c in ("q", "r"),
    "if b > 0 and c == 'q' then a == 3": lambda a, b, c: b <= 0 or c != "q" or a == 3,
    "if a == 1 or a + b > 5 then b < 2": lambda a, b, c: not (a == 1 or a + b > 5) or b < 2,
    "if 1 <= a <= 3 then not (b in (1, 2) or c == 'r')": (
        lambda a, b, c: not 1 <= a <= 3 or not (b in (1, 2) or c == "r")
    ),
}
#: Of two numbers alone.
NUMBER_CONDITIONS: dict[str, Callable[[Fraction, Fraction, str], bool]] = {
    "if a > 2 then b >= 1.5": lambda a, b, c: a <= 2 or b >= Fraction(3, 2),
    "if b < 2 then a != 1 and a < 3": lambda a, b, c: b >= 2 or (a != 1 and a < 3),
    "if a + b > 3 then 2 * a <= b": lambda a, b, c: a + b <= 3 or 2 * a <= b,
    "if a in (1, 2.5) then b not in (0.5, 2)": (
        lambda a, b, c: a not in (1, Fraction(5, 2)) or b not in (Fraction(1, 2), 2)
    ),
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
    known = CONDITIONS | NUMBER_CONDITIONS
    kept += [known[text](a, b, new["c"]) for text in asked.get("conditions", ())]
    for name, pairs in asked.get("forbidden_changes", {}).items():
        before, after = old[name], new[name]
        kept += [
            before == after or one not in (None, before) or two not in (None, after)
            for one, two in pairs
        ]
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
        "conditions": st.lists(
            st.sampled_from(list(CONDITIONS if categories else NUMBER_CONDITIONS)),
            min_size=1,
            max_size=3,
            unique=True,
        ),
    }
    if categories:
        kinds["forbidden_changes"] = st.fixed_dictionaries(
            {"c": st.lists(st.sampled_from(FORBIDDEN), min_size=1, max_size=3, unique=True)}
        )
    chosen = draw(st.lists(st.sampled_from(list(kinds)), max_size=3, unique=True))
    made = {name: draw(kinds[name]) for name in chosen}
    return {name: value for name, value in made.items() if value}
