"""One batch: rows that have what is wanted, rows without counterfactuals, and all others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.toys import FRAME, X, approve, fitted

from counterset import (
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    InvalidInputError,
    NoCounterfactualError,
)

REACHED = np.flatnonzero(approve(X) == "yes")[:2]
OPEN = np.flatnonzero(approve(X) == "no")[:2]
STUCK = Constraints(immutable=["age", "income"])
EXPLAINED, NONE, ALREADY = "explained", "none_found", "already_reached"


def explain(
    explainer: DiverseExplainer, which: list[int], **options: Any
) -> tuple[tuple[str, ...], list[str]]:
    """Return the status of each row, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = explainer.explain_many(FRAME.iloc[which], target="yes", **options)
    assert all(one.category is FewerCounterfactualsWarning for one in caught)
    assert {one.filename for one in caught} <= {__file__}
    assert [len(one) > 0 for one in found] == [status == EXPLAINED for status in found.status]
    return tuple(found.status), [str(one.message) for one in caught]


@pytest.mark.parametrize("if_none", ["raise", "warn"])
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("reached", [True, False])
@pytest.mark.parametrize("stuck", [True, False])
def test_every_combination(if_none: str, skip: bool, reached: bool, stuck: bool) -> None:
    which = [OPEN[0], *([REACHED[0]] if reached else []), OPEN[1]]
    constraints = [None] * (len(which) - 1) + [STUCK if stuck else None]
    options: dict[str, Any] = {"if_none": if_none, "skip": skip, "constraints": constraints}
    explainer = fitted(FRAME, max_counterfactuals=1)
    if if_none == "raise" and reached and not skip:
        with pytest.raises(InvalidInputError, match=r"for 1 of 3 inputs .*or pass skip=True"):
            explain(explainer, which, **options)
        return
    if if_none == "raise" and stuck:
        match = rf"for 1 of 2 inputs \(first at position {len(which) - 1}\)"
        with pytest.raises(NoCounterfactualError, match=match):
            explain(explainer, which, **options)
        return
    status, told = explain(explainer, which, **options)
    middle = (ALREADY,) if reached else ()
    assert status == (EXPLAINED, *middle, NONE if stuck else EXPLAINED)
    assert len(told) == ((reached and not skip) or stuck)
    assert any("already predicts" in one for one in told) == (reached and not skip)
    assert any("No counterfactual for" in one for one in told) == stuck


def test_a_batch_of_which_all_is_skipped_is_empty() -> None:
    explainer = fitted(FRAME)
    for constraints in (None, STUCK, lambda row: STUCK, [STUCK, None]):
        status, told = explain(explainer, list(REACHED), skip=True, constraints=constraints)
        assert (status, told) == ((ALREADY, ALREADY), [])


def test_rows_that_are_not_skipped_are_as_without_skip() -> None:
    explainer = fitted(FRAME)
    rows = FRAME.iloc[[*OPEN]]
    expected = explainer.explain_many(rows, target="yes").to_frame()
    mixed = FRAME.iloc[[REACHED[0], OPEN[0], REACHED[1], OPEN[1]]]
    found = explainer.explain_many(mixed, target="yes", skip=True).to_frame()
    found = found[found["status"] == "explained"]
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_index_type=False)
    pd.testing.assert_frame_equal(
        explainer.explain_many(rows, target="yes", skip=True).to_frame(), expected
    )
