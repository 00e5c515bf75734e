"""What was measured on copies: shares, text, and values of JSON."""

from __future__ import annotations

import json

import numpy as np

from counterset.evaluation import Stability

MEASURED = Stability(copies=20, kept=np.array([19, 20, 5]), same=4, covered=18, moved=0.05)
NOTHING = Stability(copies=0, kept=np.array([0, 0]), same=0, covered=0, moved=float("nan"))


def test_shares_are_of_the_copies_that_were_compared() -> None:
    assert MEASURED.shares.tolist() == [0.95, 1.0, 0.25]
    assert MEASURED.share == 0.2


def test_without_copies_there_are_no_shares() -> None:
    assert np.isnan(NOTHING.shares).tolist() == [True, True]
    assert np.isnan(NOTHING.share)
    assert str(NOTHING) == "no near copy of the same class was found"


def test_a_line_for_each_option() -> None:
    assert str(MEASURED).splitlines() == [
        "option 1: kept by 19 of 20 near copies (95% sure: at least 78%)",
        "option 2: kept by 20 of 20 near copies (95% sure: at least 86%)",
        "option 3: kept by 5 of 20 near copies (95% sure: at least 10%)",
        "the nearest option of the copy is one of these: 18 of 20 near copies",
        "the same options, and no others: 4 of 20 near copies",
    ]


def test_the_figures_are_values_of_json() -> None:
    told = json.loads(json.dumps(MEASURED.to_dict(), allow_nan=False))
    assert told.pop("least_shares") == MEASURED.least_shares.tolist()
    counts = {"copies": 20, "kept": [19, 20, 5], "same": 4, "covered": 18}
    assert told == counts | {"moved": 0.05, "differences": {}}
    assert NOTHING.to_dict()["moved"] is None


def test_the_nearest_options_keep_their_figures() -> None:
    two = {"kept": [19, 20], "least_shares": MEASURED.least_shares[:2].tolist()}
    assert MEASURED.of_nearest(2).to_dict() == MEASURED.to_dict() | two
