"""Why there are fewer counterfactuals than asked for, or none."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.toys import Recorder

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanations,
    FewerCounterfactualsWarning,
    InvalidInputError,
    NearestCandidates,
    NoCounterfactualError,
    evaluate,
)
from counterset.explanations.why_none import WhyNone
from counterset.strategies.shortfall import INPUTS_AT_ONCE, MOST_ASKED

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
        (Constraints(max_increase={"a": 1}), r"max_increase\['a'\]"),
        (Constraints(decrease_only=["a"]), "decrease_only 'a'"),
        (Constraints(relations=["a <= 1"]), "relation 'a <= 1'"),
        (Constraints(allowed={"a": [0, 1]}), r"allowed\['a'\]"),
    ],
)
def test_the_constraint_that_rules_out_the_last_candidate_is_named(
    constraints: Constraints, named: str
) -> None:
    with pytest.raises(NoCounterfactualError, match=rf"the constraint {named} rules out"):
        fitted().explain(FRAME.iloc[0], constraints=constraints)


def test_candidates_that_break_the_constraints_do_not_count_for_the_cut() -> None:
    # The nearest one broke the relation, the next one was cut off, and nothing was left.
    explainer = fitted(alpha=1)
    explanation = explainer.explain(FRAME.iloc[0], constraints=Constraints(relations=["b >= 1.5"]))
    assert explanation.examples.tolist() == [3]


def test_an_empty_explanation_stands_in_its_place() -> None:
    inputs = FRAME.iloc[[0, 2]]
    constraints = Constraints(max_increase={"a": 1})
    with pytest.warns(FewerCounterfactualsWarning, match="No counterfactual for 1 of 2 inputs"):
        found = fitted().explain_many(inputs, constraints=constraints, if_none="warn")
    assert found.counts.tolist() == [0, 1]
    assert len(found[0]) == 0
    assert "No option that leads to True was found." in repr(found[0])
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
    assert "This is already the result that was asked for." in repr(found[3])
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
    assert "No option that leads to True was found." in repr(found[0])


def test_what_may_change_is_named_where_that_is_little() -> None:
    # The last of many immutable features was named, as if it alone were in the way.
    frame = FRAME.assign(c=[1.0, 2.0, 3.0, 4.0])
    explainer = DiverseExplainer(lambda rows: rows["a"] > 1.5, max_counterfactuals=1).fit(frame)
    told = "immutable 'a' rules out all that was found, because of 3 features only 'b' may change"
    with pytest.raises(NoCounterfactualError, match=told):
        explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["a", "c"]))
    with pytest.raises(NoCounterfactualError, match=r"immutable 'a'.* because no feature may"):
        explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["a", "b", "c"]))
    with pytest.raises(NoCounterfactualError, match=r"found; without it alone there is an option"):
        explainer.explain(frame.iloc[0], constraints=Constraints(immutable=["a"]))


def test_the_constraint_that_is_named_is_the_one_that_stands_in_the_way() -> None:
    # The last one in the order of the rules used to be named, though lifting it changed nothing.
    both = Constraints(max_increase={"a": 1}, immutable=["b"])
    with pytest.raises(NoCounterfactualError, match=r"the constraint max_increase\['a'\]"):
        fitted().explain(FRAME.iloc[0], constraints=both)
    loosened = fitted().explain(FRAME.iloc[0], constraints=Constraints(immutable=["b"]))
    assert len(loosened) == 1


def test_where_no_single_constraint_stands_in_the_way_that_is_said() -> None:
    twice = Constraints(max_increase={"a": 1}, immutable=["a"])
    with pytest.raises(NoCounterfactualError, match="no single constraint rules it out") as caught:
        fitted().explain(FRAME.iloc[0], constraints=twice)
    # Settings that nobody set used to be blamed.
    assert "plausibility" not in str(caught.value)
    assert "candidates=" not in str(caught.value)


def test_where_each_of_several_constraints_is_enough_they_are_named() -> None:
    frame = pd.DataFrame({"a": [0.0, 0.0, 9.0, 9.0], "b": [0.0, 9.0, 0.0, 9.0]})
    explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 5, max_counterfactuals=1)
    with pytest.raises(
        NoCounterfactualError, match=r"each of the constraints ranges\['a'\]; immutable 'b' rules"
    ):
        explainer.fit(frame).explain(
            frame.iloc[0], constraints=Constraints(ranges={"a": (0, 1)}, immutable=["b"])
        )


def test_reasons_ask_about_few_rows_and_only_for_inputs_that_are_shown() -> None:
    # All reasons were found out at once, with a row for each training row and each constraint.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((3000, 4)).round(3), columns=list("abcd"))
    model = Recorder(lambda rows: rows["a"] > 0.5)
    explainer = DiverseExplainer(model, constraints=Constraints(immutable=list("abc"))).fit(frame)
    found = explainer.explain_many(frame[frame["a"] < 0.5][:50], if_none="ignore")
    assert not found.counts.any()
    model.asked.clear()
    assert "the constraint immutable 'a'" in found.why_none[3]
    assert 0 < model.rows <= MOST_ASKED
    first = model.rows
    assert set(found.why_none.values()) == {found.why_none[3]}
    assert model.rows <= 50 * first
    assert len(model.asked) <= 3 * 3 * len(found.why_none) / INPUTS_AT_ONCE


def test_a_reason_knows_its_cause_and_the_constraints_that_are_enough() -> None:
    frame = pd.DataFrame({"a": [0.0, 0.0, 9.0, 9.0], "b": [0.0, 9.0, 0.0, 9.0]})
    explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 5, max_counterfactuals=1)
    explainer = explainer.fit(frame)

    def why(**given: Any) -> WhyNone:
        found = explainer.explain_many(frame.head(1), if_none="ignore", **given)
        again: Explanations = pickle.loads(pickle.dumps(found))
        return again.why_none[0]

    either = why(constraints=Constraints(ranges={"a": (0, 1)}, immutable=["b"]))
    assert (either.cause, either.constraints) == ("constraint", ("ranges['a']", "immutable 'b'"))
    both = why(constraints=Constraints(ranges={"a": (0, 1)}, immutable=["a", "b"]))
    assert (both.cause, both.constraints) == ("constraint", ("immutable 'b'",))
    twice = Constraints(max_increase={"a": 1, "b": 1}, immutable=["a", "b"])
    assert why(constraints=twice).cause == "several"
    assert why(target="maybe").cause == "no_example"


@pytest.mark.parametrize("if_none", ["warn", "ignore"])
def test_a_class_that_no_training_row_has_leaves_all_explanations_empty(if_none: Any) -> None:
    # It used to raise, whatever was asked for.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fitted().explain_many(FRAME, target="maybe", if_none=if_none)
    assert found.status == ("none_found",) * 4
    assert len(caught) == (if_none == "warn")
    assert found.why_none[2].startswith("no training row is predicted 'maybe', so there is nothing")
    assert "No option that leads to 'maybe' was found." in repr(found[0])
    with pytest.raises(NoCounterfactualError, match="No training row is predicted 'maybe'"):
        fitted().explain_many(FRAME, target="maybe")


def test_an_interval_that_no_training_row_reaches_leaves_all_explanations_empty() -> None:
    explainer = DiverseExplainer(lambda rows: rows["a"] + 0.5).fit(FRAME)
    found = explainer.explain_many(FRAME, interval=(8, 9), if_none="ignore")
    assert found.status == ("none_found",) * 4
    assert "no training row is predicted in (8, 9)" in found.why_none[0]


def test_all_that_falls_short_is_one_warning_at_the_line_of_the_caller() -> None:
    # There were up to three, and those of evaluate pointed into the library.
    explainer = DiverseExplainer(lambda rows: rows["a"] > 1.5).fit(FRAME)
    stuck = Constraints(immutable=["a"])
    calls: dict[str, Callable[[], Any]] = {
        "explain": lambda: explainer.explain(FRAME.iloc[0]),
        "many": lambda: explainer.explain_many(
            FRAME, target=True, if_none="warn", constraints=[stuck, None, None, None]
        ),
        "evaluate": lambda: evaluate(explainer, FRAME, repeats=1),
    }
    for name, call in calls.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert [(one.category, one.filename) for one in caught] == [
            (FewerCounterfactualsWarning, __file__)
        ], name
        told = str(caught[0].message)
        assert "fewer than 5" in told
        # What nobody set is not named.
        assert "AngleDiversity" not in told
        assert "NearestCandidates" not in told
