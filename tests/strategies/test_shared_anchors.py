"""What is offered to a region does not depend on who asks."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.anchored_toys import acceptance_of, selector_of
from support.mixed_toys import FRAME, lend
from support.toys import X, fitted

from counterset import DiverseExplainer
from counterset.strategies.shared import Anchors, OptionList


def listed(seed: int = 0, **parameters: Any) -> DiverseExplainer:
    return fitted(FRAME, lend, regions=3, sparse=True, **parameters)


def anchors_of(explainer: DiverseExplainer) -> Anchors:
    assert explainer.anchors_ is not None
    return explainer.anchors_


def lists_of(explainer: DiverseExplainer, rows: Any) -> dict[int, OptionList]:
    """Return the list of each input."""
    matrix, _ = explainer.schema_.encode(rows)
    batch = acceptance_of(explainer, matrix)
    return {
        int(i): options
        for inputs, options in anchors_of(explainer).lists(
            batch, explainer._training.rules(None), selector_of(explainer)
        )
        for i in inputs
    }


def same(a: OptionList, b: OptionList) -> bool:
    return (
        np.array_equal(a.recipes.features, b.recipes.features)
        and np.array_equal(a.recipes.values, b.recipes.values)
        and np.array_equal(a.start, b.start, equal_nan=True)
    )


SHARED = listed()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, len(FRAME) - 1), st.integers(-3, 3), st.integers(-3, 3))
def test_the_list_and_its_order_depend_on_the_region_only(row: int, income: int, debt: int) -> None:
    x = FRAME.iloc[[row]]
    near = x.assign(income=x["income"] + 100 * income, debt=(x["debt"] + 100 * debt).clip(0))
    (one, other), regions = (
        [lists_of(SHARED, rows)[0] for rows in (x, near)],
        [
            anchors_of(SHARED).regions_of(acceptance_of(SHARED, SHARED.schema_.encode(rows)[0]))[0]
            for rows in (x, near)
        ],
    )
    if regions[0] == regions[1]:
        assert one is other
    fresh = lists_of(FRESH, near)[0]
    assert same(other, fresh)  # whoever asked first


FRESH = pickle.loads(pickle.dumps(listed()))


def test_threads_share_lists() -> None:
    explainer = listed()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda i: lists_of(explainer, FRAME.iloc[[i]])[0], range(12)))
    again = lists_of(explainer, FRAME.head(12))
    assert all(found[i] is again[i] for i in range(12))


def test_each_class_has_as_many_regions_as_asked_for_or_as_it_has_rows() -> None:
    assert len(anchors_of(listed())) == 6
    assert len(anchors_of(fitted(X, regions=500))) == len(X)
    assert len(anchors_of(fitted(np.repeat([[0.1, 0.1], [0.9, 0.9]], 5, axis=0), regions=3))) == 2
