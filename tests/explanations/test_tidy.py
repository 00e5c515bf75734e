"""One row per counterfactual, for one explanation as for many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from support.settings import explainer_by_steps

from counterset.explanations.tidy import free_name

FRAME = pd.DataFrame({"age": np.arange(20, 60), "income": np.arange(40) * 100.0}).rename_axis("id")


@pytest.mark.parametrize("container", ["pandas", "array", "polars"])
def test_one_explanation_has_the_rows_that_it_has_among_many(container: str) -> None:
    if container == "polars":
        X = pytest.importorskip("polars").from_pandas(FRAME)
    else:
        X = FRAME if container == "pandas" else FRAME.to_numpy()
    explainer = explainer_by_steps(
        lambda rows: np.asarray(rows)[:, 1] >= 2500, diversity=None, search=None, sparse=False
    ).fit(X)
    explanations = explainer.explain_many(X[:1])
    alone, many = explanations[0].to_frame(), explanations.to_frame()
    assert type(alone) is type(many)
    if container == "polars":
        assert alone.equals(many)
        return
    if container == "pandas":
        many = many.rename_axis(["input", "rank"])  # one explanation has no name of the index
    assert_frame_equal(alone, many)


def test_a_taken_name_gets_prefixes_until_it_is_free() -> None:
    taken = ["rank", "counterfactual_rank"]
    assert free_name("rank", taken) == "counterfactual_counterfactual_rank"
    assert free_name("distance", taken) == "distance"
