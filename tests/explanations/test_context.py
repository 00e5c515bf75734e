"""What an explanation remembers of how it was made."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.settings import explainer_by_steps

from counterset import (
    Constraints,
    DiverseExplainer,
    ExhaustiveExplainer,
    InvalidInputError,
    Schema,
)
from counterset.explanations.context import as_written, settings_of, versions
from counterset.models.goals import AnyOther, InInterval, OneOf

FRAME = pd.DataFrame(
    {"age": np.arange(20, 60), "income": np.arange(40) * 100.0, "sex": ["f", "m"] * 20}
)


def approve(rows: pd.DataFrame) -> Any:
    return np.where(rows["income"] >= 2500, "yes", "no")


def explainer_of(**parameters: Any) -> DiverseExplainer:
    return explainer_by_steps(
        approve, max_counterfactuals=2, diversity=None, search=None, sparse=False, **parameters
    ).fit(FRAME)


def test_the_context_holds_what_was_asked_and_how() -> None:
    explainer = explainer_of(
        costs={"age": 2.0}, constraints=Constraints(immutable=pd.Index(["sex"]))
    )
    context = explainer.explain(FRAME.iloc[0], target="yes", constraints=None).context
    assert context.model is approve
    assert context.table is explainer.distance_.table
    assert context.distance is explainer.distance_
    assert isinstance(context.goal, OneOf)
    assert context.goal.wanted.tolist() == ["yes"]
    assert context.probability is None
    assert context.constraints == {"immutable": ["sex"]}
    assert context.costs == {"age": 2.0}
    assert context.settings.value["max_counterfactuals"] == context.wanted_count == 2
    assert context.settings.value["strategy"].startswith("Paper(candidates=NearestCandidates(")
    assert "model" not in context.settings.value
    assert not context.is_regression
    assert context.training is not None
    summary = context.training.value
    assert (summary.rows, summary.labels) == (40, {"no": 25, "yes": 15})


def test_the_settings_are_those_of_the_call_even_if_read_later() -> None:
    explainer = explainer_of()
    explanation = explainer.explain(FRAME.iloc[0])
    explainer.set_params(max_counterfactuals=1)
    assert explanation.context.wanted_count == 2


def test_constraints_of_the_call_are_told_and_each_row_has_its_own() -> None:
    explainer = explainer_of(constraints=Constraints(immutable=["sex"]))
    one = explainer.explain(FRAME.iloc[0], constraints=Constraints(immutable=["age"]))
    assert one.context.constraints == {"immutable": ["age"]}
    each = [Constraints(immutable=["age"]), None, Constraints(increase_only=("age",))]
    several = explainer.explain_many(FRAME.iloc[:3], constraints=each)
    told = [explanation.context.constraints for explanation in several]
    assert told == [{"immutable": ["age"]}, {"immutable": ["sex"]}, {"increase_only": ["age"]}]
    assert several[1:][1].context.constraints == told[2]


def test_rows_that_are_passed_over_keep_the_constraints_of_the_others_in_place() -> None:
    rows = FRAME.iloc[[30, 0]]
    each = [Constraints(immutable=["sex"]), Constraints(immutable=["age"])]
    several = explainer_of().explain_many(rows, target="yes", constraints=each, skip=True)
    assert [one.status for one in several] == ["already_reached", "explained"]
    assert [one.context.constraints for one in several] == [{}, {"immutable": ["age"]}]


def test_a_pickle_holds_no_model_and_says_so() -> None:
    def manhattan(A: Any, B: Any) -> Any:
        return np.abs(A[:, None] - B[None]).sum(axis=2)

    def model(rows: pd.DataFrame) -> Any:
        return approve(rows)

    explainer = explainer_by_steps(
        model, distance=manhattan, diversity=None, search=None, sparse=False
    ).fit(FRAME)
    explanation = explainer.explain(FRAME.iloc[0])
    again = pickle.loads(pickle.dumps(explanation))  # neither the model nor the distance would do
    assert again.context.model is None
    assert again.context.distance is None
    assert again.context.settings.value == explanation.context.settings.value
    assert explanation.context.training is not None
    assert again.context.training.value == explanation.context.training.value
    with pytest.raises(InvalidInputError, match=r"explanation\.with_model\(model\)"):
        again.context.fingerprint()
    healed = again.with_model(approve)
    assert healed.context.fingerprint().agrees(explanation.context.fingerprint())


def test_the_hash_of_the_training_rows_tells_other_rows() -> None:
    def hash_of(frame: pd.DataFrame) -> str:
        explainer = explainer_by_steps(approve, diversity=None, search=None, sparse=False).fit(
            frame
        )
        training = explainer.explain(FRAME.iloc[0]).context.training
        assert training is not None
        return training.value.hash

    other = FRAME.assign(age=FRAME["age"].replace(23, 24))
    assert hash_of(FRAME) == hash_of(FRAME.copy())
    assert len({hash_of(each) for each in (FRAME, other, FRAME[::-1], FRAME.iloc[1:])}) == 4


def test_nothing_is_computed_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise AssertionError("computed too early")

    monkeypatch.setattr("counterset.strategies.training.hash_rows", fail)
    monkeypatch.setattr("counterset.strategies.calls.settings_of", fail)
    context = explainer_of().explain(FRAME.iloc[0]).context
    assert context.training is not None
    with pytest.raises(AssertionError, match="too early"):
        _ = context.training.value


def test_a_regression_is_told_by_its_range() -> None:
    explainer = explainer_by_steps(
        lambda rows: rows["income"] / 7, diversity=None, search=None, sparse=False
    ).fit(FRAME)
    context = explainer.explain(FRAME.iloc[0], interval=(300, np.inf)).context
    assert context.is_regression
    assert context.goal == InInterval(300, np.inf)
    assert context.training is not None
    summary = context.training.value
    assert summary.labels is None
    assert [summary.low, summary.high] == pytest.approx([0.0, 3900 / 7])


def test_an_exhaustive_explanation_has_no_training_rows() -> None:
    explainer = ExhaustiveExplainer(lambda X: X[:, 0] >= 2, 0.5, domain=[[1.0], [2.0], [5.0]])
    context = explainer.explain([1.0]).context
    assert context.explainer == "ExhaustiveExplainer"
    assert context.training is None
    assert isinstance(context.goal, AnyOther)
    assert context.settings.value["epsilon"] == 0.5


def test_what_users_wrote_can_be_kept() -> None:
    constraints = Constraints(
        immutable={"a": 1}.keys(),
        ranges={"b": (None, np.float64(3))},
        allowed={"c": np.array([1, 2]), "d": {"y", "x"}},
    )
    assert as_written(constraints) == {
        "immutable": ["a"],
        "ranges": {"b": [None, 3.0]},
        "allowed": {"c": [1, 2], "d": ["x", "y"]},
    }


def test_settings_name_no_place_in_memory() -> None:
    class Step:
        pass

    settings = settings_of({"search": Step(), "schema": Schema(categorical=["a"]), "scale": None})
    assert "0x" not in settings["search"]
    assert settings["schema"] == "Schema(categorical=['a'])"
    assert settings["scale"] is None


def test_the_versions_are_those_installed() -> None:
    assert versions()["numpy"] == np.__version__
    assert versions()["pandas"] == pd.__version__
