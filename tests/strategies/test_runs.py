"""Runs of groups are put together in the order of the inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from support.toys import FRAME, fitted

from counterset import Constraints

EACH = [Constraints(ranges={"age": (0, 2)}), Constraints(ranges={"income": (0, 2)})] * 5


def test_two_groups_are_one_answer_in_the_order_of_the_rows() -> None:
    # Both constraints allow everything, so the answer is that of one group.
    explainer = fitted(FRAME, max_counterfactuals=1)
    one = explainer.explain_many(FRAME[:10], constraints=EACH[0])
    two = explainer.explain_many(FRAME[:10], constraints=EACH)
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())
    assert two.labels.tolist() == one.labels.tolist()
    assert two.model_rows == one.model_rows


def test_a_label_that_no_training_row_has_is_the_same_in_every_group() -> None:
    def model(rows: pd.DataFrame) -> Any:
        # Between the training rows lies a class of its own.
        known = rows["age"].isin(FRAME["age"]) & rows["income"].isin(FRAME["income"])
        label = np.where(rows["age"] + rows["income"] > 1, "yes", "no")
        return np.where(known, label, np.where(rows["age"] > 0.5, "new", "other"))

    explainer = fitted(FRAME, model, max_counterfactuals=1)
    each = EACH[:6]
    found = explainer.explain_many(FRAME[:6], constraints=each)
    for one, constraints in zip(found, each, strict=True):
        assert one.labels.tolist() == model(one.counterfactuals).tolist()
        alone = explainer.explain(one.input, constraints=constraints)
        assert one.labels.tolist() == alone.labels.tolist()


def test_stable_radii_stay_with_their_rows() -> None:
    # Sets are kept, and radii proved, only for rows without constraints.
    explainer = fitted(FRAME, regions=4, max_counterfactuals=1)
    each = [None, EACH[0]] * 4
    found = explainer.explain_many(FRAME[:8], constraints=each)
    expected = [explainer.explain(FRAME.iloc[i], constraints=each[i]) for i in range(8)]
    radii = [one.certificate and one.certificate.stable_radius for one in found]
    assert radii == [one.certificate and one.certificate.stable_radius for one in expected]
    assert sum(radius is not None for radius in radii) >= 2
    assert [repr(one) for one in found] == [repr(one) for one in expected]
