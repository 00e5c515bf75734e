"""The options that training rows have."""

from __future__ import annotations

from functools import partial

import numpy as np
from anchored_toys import acceptance_of, selector_of

from counterset import DiverseExplainer
from counterset.anchors.catalogue import Catalogue
from counterset.steps.choosers import PoolChooser
from counterset.steps.pipeline import Pipeline
from counterset.steps.selection import NONE_LEFT

X = np.random.default_rng(0).random((40, 2))
EXPLAINER = DiverseExplainer.paper(
    lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=3, search=None, diversity=None
).fit(X)


def test_each_row_has_the_counterfactuals_of_the_pipeline_under_shared_numbers() -> None:
    pipeline = Pipeline(PoolChooser(selector_of(EXPLAINER)), None)
    catalogue = Catalogue(pipeline, partial(acceptance_of, EXPLAINER))
    rows = np.array([3, 0])
    numbers, n_candidates, _ = catalogue.of(rows)
    assert (numbers != NONE_LEFT).all()
    assert catalogue.of(rows[:1])[0].tolist() == numbers[:1].tolist()
    options = catalogue.options()
    assert len(np.unique(options.rows, axis=0)) == len(options)
    pool = EXPLAINER.pool_
    for row, own, count in zip(rows, numbers, n_candidates, strict=True):
        expected = EXPLAINER.explain(pool.matrix[row])
        np.testing.assert_array_equal(options.rows[own], expected.values)
        assert options.labels[own].tolist() == expected.labels.tolist()
        np.testing.assert_array_equal(pool.matrix[options.pool_index[own]], expected.values)
        assert count == (pool.codes != pool.codes[row]).sum()
