"""Every sentence that people read is read back, and compared with the rows that it is about."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.literal_checker import Column, kept, records, same
from support.sentences import KEPT, Reader, false_verbs, kept_sentences, share_is_true
from support.settings import explainer_by_steps
from support.ugly_tables import Encoded, fitted

from counterset import Constraints, DiverseExplainer, Explanation, Schema

SAVINGS = ("none", "some", "much")
PURPOSES = ("car, new", "radio and TV", "from abroad", "repairs")
JOBS = ("job_none", "job_part", "job_full")

LABELS = {
    "amount": "credit amount",
    "since": "customer since",
    "job": "employment",
    "rate": "interest rate",
}
TEXTS: dict[str, dict[Any, str]] = {
    "savings": {"none": "no savings", "some": "less than 1,000 DM", "much": "1,000 DM or more"},
    "record": {-9: "no record"},
    "purpose": {None: "not told"},
}
UNITS = {"amount": ["DM"], "duration": ["months", "month"], "rate": ["%"], "income": ["${}"]}

COLUMNS = (
    Column("amount", ("amount",)),
    Column("duration", ("duration",)),
    Column("rate", ("rate",)),
    Column("income", ("income",)),
    Column("savings", ("savings",), order=SAVINGS),
    Column("purpose", ("purpose",), switches=True),
    Column("record", ("record",), codes=(-9.0,)),
    Column("since", ("since",)),
    Column("owner", ("owner",), switches=True),
    Column("job", JOBS),
)
READER = Reader(COLUMNS, LABELS, UNITS, TEXTS)


@cache
def loans() -> pd.DataFrame:
    rng, n = np.random.default_rng(4), 150
    job = rng.integers(0, 3, n)
    purpose = pd.Series(rng.choice(np.array([*PURPOSES, None], dtype=object), n), dtype=object)
    day = pd.Timestamp("2012-05-01")
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(8.3, 0.9, n).round(),
            "duration": rng.integers(1, 60, n),
            "rate": rng.gamma(3, 2, n),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10, 0.6, n)),
            "savings": pd.Categorical(rng.choice(SAVINGS, n), categories=SAVINGS, ordered=True),
            "purpose": purpose,
            "record": np.where(rng.random(n) < 0.15, -9, rng.poisson(6, n)),
            "since": day + pd.to_timedelta(rng.integers(0, 3000, n), "D"),
            "owner": rng.random(n) < 0.4,
        }
    )
    return X.assign(**{name: (job == i).astype(np.int64) for i, name in enumerate(JOBS)})


@cache
def model() -> Encoded:
    return fitted("logistic", loans(), seed=1)


@cache
def explainer(**more: Any) -> DiverseExplainer:
    schema = Schema(
        labels=LABELS,
        units={"amount": "DM", "duration": "months", "rate": "%", "income": "${}"},
        texts=TEXTS,
        special={"record": [-9]},
        one_hot={"job": JOBS},
    )
    return explainer_by_steps(model(), schema=schema, max_counterfactuals=3, **more).fit(loans())


def explain(
    at: int, limits: dict[str, Any] | None = None, **more: Any
) -> tuple[Explanation, dict[Any, Any], list[dict[Any, Any]]]:
    """Return the explanation of a row, the row, and its options."""
    rows = loans().iloc[[at]]
    constraints = None if limits is None else Constraints(**limits)
    found = explainer(**more).explain_many(rows, constraints=constraints, if_none="ignore")[0]
    return found, records(rows)[0], records(found.counterfactuals)


@pytest.mark.parametrize("sparsify", [True, False])
@settings(max_examples=12)
@given(at=st.integers(0, 149))
def test_the_changes_of_a_description_and_a_letter_are_those_of_the_rows(
    sparsify: bool, at: int
) -> None:
    explanation, x, options = explain(at, sparse=sparsify)
    told = READER.options(explanation.describe(width=None))
    reviewed = READER.options(
        re.sub(r"(?m)^  (?=\d+\. |   - )", "", explanation.letter("reviewer", width=None))
    )
    letter = READER.options_in_letter(explanation.letter(width=None))
    assert len(told) == len(letter) == len(options)
    assert reviewed == told
    for c, changes, in_letter in zip(options, told, letter, strict=True):
        changed = {column.name for column in COLUMNS if not kept(column, x, c)}
        for read in (changes, in_letter):
            assert {change.column.name for change in read} == changed
            typed = READER.apply(read, x, c)
            assert [name for name in c if not same(typed[name], c[name])] == []
            assert false_verbs(READER, read, x, c) == []


def test_lines_are_broken_between_words_only() -> None:
    explanation, _, options = explain(3)
    for text in (explanation.describe(), explanation.letter()):
        assert max(map(len, text.splitlines())) <= 88
    narrow = " ".join(explanation.describe(width=50).split())
    assert narrow == " ".join(explanation.describe(width=None).split())
    assert options


# --- Limits --------------------------------------------------------------------------------------

LIMITS: dict[str, dict[str, Any]] = {
    "one stays": {"immutable": ["since"]},
    "two stay": {"immutable": ["since", "owner"]},
    "most stay": {"immutable": ["since", "owner", "purpose", "savings", "record", "job", "income"]},
    "rise": {"increase_only": ["income", "savings"]},
    "fall": {"decrease_only": ["amount", "duration"]},
    "range of a number": {"ranges": {"amount": (500, 6000.5)}},
    "open range": {"ranges": {"duration": (None, 36), "rate": (0.25, None)}},
    "range of an ordinal": {"ranges": {"savings": ("some", "much")}},
    "range of a time": {"ranges": {"since": (None, pd.Timestamp("2019-01-01"))}},
    "range with a code": {"ranges": {"record": (2, 9)}},
    "moves": {"max_increase": {"amount": 1500, "rate": 0.333}, "max_decrease": {"duration": 12}},
    "moves by one": {"max_decrease": {"duration": 1}, "max_increase": {"savings": 1}},
    "moves of a time": {"max_increase": {"since": pd.Timedelta(days=100)}},
    "allowed words": {"allowed": {"purpose": ["car, new", "radio and TV"]}},
    "allowed numbers": {"allowed": {"duration": [12, 24, 36], "amount": [1000, 2500]}},
    "allowed group": {"allowed": {"job": ["job_part", "job_full"]}},
    "together": {"together": [["amount", "duration"]]},
    "together, three": {"together": [["savings", "job", "owner"]]},
    "relations": {"relations": ["amount <= 400 * duration", "rate < 12"]},
    "condition": {
        "conditions": [
            "if purpose == 'repairs' then amount <= 4000",
            "if rate > 5 then duration in (12, 24)",
        ]
    },
    "forbidden changes": {
        "forbidden_changes": {
            "purpose": [("car, new", "repairs"), (None, "radio and TV")],
            "savings": [("some", None)],
        }
    },
    "all": {
        "immutable": ["owner"],
        "increase_only": ["income"],
        "ranges": {"amount": (300, None)},
        "allowed": {"purpose": ["repairs", "car, new"]},
        "together": [["savings", "job"]],
        "relations": ["rate <= 9"],
    },
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_is_said_about_limits_is_true_of_every_option(name: str) -> None:
    training, seen = records(loans()), 0
    for at in (0, 1, 3, 5, 8, 13):
        explanation, x, options = explain(at, LIMITS[name])
        if not options:
            continue
        review = explanation.letter("reviewer", width=None)
        sentences = limits_of(review)
        assert " ".join(sentences) in explanation.describe(width=None)
        for said in kept_sentences(READER, sentences, training, x, options):
            assert said.false_for == [], f"{said.sentence} is false for {options}"
        assert sorted(each[1] for each in told(sentences)) == sorted(expected(LIMITS[name]))
        seen += 1
    assert seen >= 3


def limits_of(review: str) -> list[str]:
    """Return the sentences about limits of a letter to a reviewer."""
    part = review.split("Constraints that were kept\n")[1].split("\n\n", maxsplit=1)[0]
    return [line.strip() for line in part.splitlines()]


def told(sentences: list[str]) -> list[tuple[str, str]]:
    """Return each sentence with the kind of limit that it is about."""
    return [
        (text, next(kind for kind, pattern in KEPT.items() if re.fullmatch(pattern, text)))
        for text in sentences
    ]


def expected(limits: dict[str, Any]) -> list[str]:
    """Return the kinds of limits that sentences must be about."""
    kinds: list[str] = []
    for parameter, value in limits.items():
        if parameter == "immutable":
            kinds.append("only" if len(value) > len(COLUMNS) / 2 else "stays")
        elif parameter in ("increase_only", "decrease_only", "relations"):
            kinds.append(parameter)
        elif parameter == "forbidden_changes":
            kinds += [parameter] * sum(map(len, value.values()))
        else:
            kinds += [parameter] * len(value)
    return kinds


def test_costs_are_not_told_as_what_stays() -> None:
    rows, kept = loans().iloc[:6], Constraints(immutable=["purpose"])
    costly = explainer().with_costs({"amount": 2.0})
    found = costly.explain_many(rows, constraints=kept, if_none="ignore")
    for explanation, x in zip(found, records(rows), strict=True):
        sentences = limits_of(explanation.letter("reviewer", width=None))
        stays, costs = sentences
        assert told([stays]) == [(stays, "stays")]
        assert costs == "A change of the credit amount counts 2 times."
        assert sentences[0].startswith("The purpose ")
        for c in records(explanation.counterfactuals):
            assert same(x["purpose"], c["purpose"])


def test_nothing_is_said_about_limits_where_there_are_none() -> None:
    explanation, _, options = explain(0)
    assert options
    assert limits_of(explanation.letter("reviewer", width=None)) == ["None."]
    for sentence in re.split(r"(?<=\.) ", explanation.describe(width=None)):
        assert not any(re.fullmatch(pattern, sentence) for pattern in KEPT.values())


def test_two_features_of_a_group_are_not_said_to_change_together_where_one_stays() -> None:
    # "The savings and the employment change together or not at all" used to be said where the
    # savings changed and the employment was the same in both training rows.
    one_alone = 0
    for at in range(40):
        explanation, x, options = explain(at, {"together": [["savings", "job"]]})
        sides = [[kept(column, x, c) for column in (COLUMNS[4], COLUMNS[9])] for c in options]
        if any(side in ([True, False], [False, True]) for side in sides):
            one_alone += 1
            assert "together or not at all" not in explanation.describe(width=None)
    assert one_alone


# --- Figures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shrunk", [1.0, 1e-3])
def test_how_far_the_nearest_option_is_is_true(shrunk: float) -> None:
    """A share below 1 % used to be told as 1 %."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))

    def approve(rows: Any) -> Any:
        return np.where(np.asarray(rows).sum(axis=1) > 1, "yes", "no")

    explainer = DiverseExplainer(approve, max_counterfactuals=1, schema=Schema(step=0)).fit(X)
    told = set()
    for gap in np.array([0.0002, 0.004, 0.03, 0.2, 0.6, 0.8]) * shrunk:
        explanation = explainer.explain([0.2, 0.8 - gap])
        text = explanation.describe(width=None)
        nearest = float(explanation.distances[0])
        share = re.search(r"across ((?:less than |more than )?[\d.]+%) of its usual range", text)
        assert share, text
        assert share_is_true(share[1], nearest), f"{share[1]} for {nearest}"
        (figure,) = re.findall(r"\(distance ([\d,.e-]+)\)", text)
        assert float(figure.replace(",", "")) == pytest.approx(nearest, rel=0.05)
        told.add(share[1])
    assert len(told) > (1 if shrunk == 1 else 0)


def test_distances_in_sentences_are_those_of_the_options() -> None:
    for at in range(12):
        explanation, _, options = explain(at)
        figures = re.findall(r"distance ([\d,.]+)\)", explanation.describe(width=None))
        assert len(figures) == len(options)
        for figure, distance in zip(figures, explanation.distances, strict=True):
            assert float(figure.replace(",", "")) == pytest.approx(distance, rel=0.05)
        far = re.search(r"one feature ([\d.]+) times across", explanation.describe(width=None))
        if far:
            assert float(far[1]) == pytest.approx(explanation.distances[0], rel=0.05)
            assert explanation.distances[0] > 1


REASON = re.compile(
    r"  (?P<label>[^:]+): (?P<own>.+?) \(lowers the probability of '(?P<wanted>\w+)' by "
    r"(?P<amount>[\d.]+) percentage points, standard error (?P<error>[\d.]+)"
    r"(?:; typical of '\w+': (?P<typical>.+))?\)"
)


def test_the_figures_of_reasons_are_true() -> None:
    read = 0
    for at in range(20):
        explanation, x, _ = explain(at)
        review = explanation.letter("reviewer", width=None)
        lines = review.split("Main reasons\n")[1].split("\n\n")[0].splitlines()
        for line, reason in zip(lines, explanation.reasons(), strict=True):
            match = REASON.fullmatch(line)
            assert match, line
            assert match["wanted"] != explanation.label
            column = next(c for c in COLUMNS if READER.label(c) == match["label"].lower())
            assert column.name == reason.feature
            assert READER.own_is_close(column, match["own"], column.cell(x)), line
            assert float(match["amount"]) == pytest.approx(100 * reason.contribution, rel=0.05)
            assert float(match["error"]) == pytest.approx(100 * reason.standard_error, rel=0.05)
            own_is_typical = match["typical"] is None
            assert own_is_typical == (reason.typical == reason.value)
            if not own_is_typical:
                assert match["typical"] == reason.typical_text != match["own"], line
            read += 1
    assert read > 30


def test_the_heading_counts_the_options_and_names_the_labels() -> None:
    for at in range(10):
        explanation, _, options = explain(at)
        heading = explanation.describe(width=None).split("\n")[0]
        assert heading.startswith(f"Input {at} is classified as '{explanation.label}'.")
        assert all(f"'{label}'" in heading for label in explanation.labels)
        count = re.search(r"(\d+) \w+ lead to", heading)
        assert (int(count[1]) if count else heading.count("One ")) == len(options)
