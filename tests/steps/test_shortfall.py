"""Why there are fewer counterfactuals than asked for, or none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterset import (
    Constraints,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    InvalidInputError,
    NearestCandidates,
    NoCounterfactualError,
)

FRAME = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [0.0, 3.0, 1.0, 2.0]})


def fitted(alpha: int = 1000) -> DiverseExplainer:
    return DiverseExplainer.paper(
        lambda rows: rows["a"] > 1.5, candidates=NearestCandidates(alpha), max_counterfactuals=1
    ).fit(FRAME)


@pytest.mark.parametrize(
    ("constraints", "named"),
    [
        (Constraints(immutable=["b", "a"]), "immutable 'a'"),
        (Constraints(ranges={"a": (0, 1)}, immutable=["b"]), r"ranges\['a'\]"),
        (Constraints(max_increase={"a": 1}), "the most that 'a' may change"),
        (Constraints(decrease_only=["a"]), "decrease_only 'a'"),
        (Constraints(relations=["a <= 1"]), "relation 'a <= 1'"),
        (Constraints(allowed={"a": [0, 1]}), r"allowed\['a'\]"),
    ],
)
def test_the_constraint_that_rules_out_the_last_candidate_is_named(
    constraints: Constraints, named: str
) -> None:
    with pytest.raises(NoCounterfactualError, match=rf"the constraint '{named}' rules out"):
        fitted().explain(FRAME.iloc[0], constraints=constraints)


def test_candidates_beyond_the_cut_are_told() -> None:
    with pytest.raises(NoCounterfactualError, match="1 of 2 candidates keep the constraints"):
        fitted(alpha=1).explain(FRAME.iloc[0], constraints=Constraints(relations=["b >= 1.5"]))


def test_an_empty_explanation_stands_in_its_place() -> None:
    inputs = FRAME.iloc[[0, 2]]
    constraints = Constraints(max_increase={"a": 1})
    with pytest.warns(FewerCounterfactualsWarning, match="No counterfactual for 1 of 2 inputs"):
        found = fitted().explain_many(inputs, constraints=constraints, if_none="warn")
    assert found.counts.tolist() == [0, 1]
    assert len(found[0]) == 0
    assert "No counterfactual was found." in repr(found[0])
    assert found[0].changes.empty
    assert np.asarray(found[0].counterfactuals).shape == (0, 2)
    # An input without a counterfactual used to be left out.
    frame = found.to_frame()
    assert frame["status"].tolist() == ["none_found", "explained"]
    assert frame.index.get_level_values("input").tolist() == [0, 2]
    assert frame.index.get_level_values("rank").tolist() == [pd.NA, 1]
    assert frame.iloc[0].drop("status").isna().all()
    assert not frame.iloc[1].isna().any()
    with pytest.warns(FewerCounterfactualsWarning):
        nothing = fitted().explain_many(FRAME[:1], constraints=constraints, if_none="warn")
    assert nothing.to_frame()["status"].tolist() == ["none_found"]
    assert "by 0 counterfactuals" in repr(nothing)


def test_an_input_that_has_the_wanted_class_does_not_stop_the_others() -> None:
    # The whole batch used to be refused.
    explainer = fitted()
    with pytest.warns(
        FewerCounterfactualsWarning, match="already predicts what you want for 2 of 4"
    ):
        found = explainer.explain_many(FRAME, target=True, if_none="warn")
    assert found.status == ("explained", "explained", "already_reached", "already_reached")
    assert found.counts.tolist() == [1, 1, 0, 0]
    assert [one.status for one in found[1:3]] == ["explained", "already_reached"]
    assert "That is what was wanted already." in repr(found[3])
    alone = explainer.explain_many(FRAME[:2], target=True)
    frame = found.to_frame()
    pd.testing.assert_frame_equal(
        frame[frame["status"] == "explained"], alone.to_frame(), check_dtype=False,
        check_index_type=False,
    )  # fmt: skip
    with pytest.raises(InvalidInputError, match="if_none='warn'"):
        explainer.explain_many(FRAME, target=True)


def test_a_batch_of_inputs_that_all_have_the_wanted_class_is_empty() -> None:
    with pytest.warns(FewerCounterfactualsWarning, match="for 2 of 2 inputs"):
        found = fitted().explain_many(FRAME[2:], target=True, if_none="warn")
    assert found.status == ("already_reached", "already_reached")
    assert found.to_frame()["status"].tolist() == ["already_reached", "already_reached"]


def test_an_input_without_a_counterfactual_says_so() -> None:
    with pytest.warns(FewerCounterfactualsWarning):
        found = fitted().explain_many(
            FRAME[:1], constraints=Constraints(max_increase={"a": 1}), if_none="warn"
        )
    assert found.status == ("none_found",)
    assert "No counterfactual was found." in repr(found[0])


def test_what_may_change_is_named_where_that_is_little() -> None:
    # The last of many immutable features was named, as if it alone were in the way.
    frame = FRAME.assign(c=[1.0, 2.0, 3.0, 4.0])
    explainer = DiverseExplainer(lambda rows: rows["a"] > 1.5, max_counterfactuals=1).fit(frame)
    told = "of 3 features only 'b' may change. Loosen it"
    with pytest.raises(NoCounterfactualError, match=told):
        explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["a", "c"]))
    with pytest.raises(NoCounterfactualError, match="candidates; no feature may change"):
        explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["a", "b", "c"]))
    with pytest.raises(NoCounterfactualError, match=r"candidates\. Loosen it"):
        explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["a"]))
