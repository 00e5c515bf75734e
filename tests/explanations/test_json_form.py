"""The JSON form of an explanation: valid by its schema, and loaded again."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from support.settings import explainer_by_steps
from support.worded import MATRIX, ROWS, SCHEMA, by_hand

from counterset import (
    Constraints,
    DiverseExplainer,
    ExhaustiveExplainer,
    Explanation,
    Explanations,
    InvalidInputError,
)
from counterset.exact import Certificate, DistanceBounds
from counterset.explanations.json_form import VERSION
from counterset.models.goals import InInterval, OneOf

SCHEMA_FILE = files("counterset.explanations").joinpath("explanation.schema.json")
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
GOLDEN = Path(__file__).parent / "golden"


def bounded() -> Explanation:
    bounds = DistanceBounds(0.1, np.inf, False, None, 0.5, "by hand", "the time was up")
    certificate = Certificate(0.5, bounds, np.array([0.25, -np.inf]), np.inf)
    return by_hand([1, 3]).with_certificate(certificate)


def listed() -> Explanation:
    certificate = Certificate(list_radius=0.25, from_list=np.array([True, False]))
    return by_hand([1, 3]).with_certificate(certificate)


def working() -> Explanation:
    certificate = Certificate(option_radii=np.array([0.25, np.inf]))
    return by_hand([1, 3]).with_certificate(certificate)


def searched() -> Explanation:
    frame = pd.DataFrame(
        {"<b>": [1, 2, 3, 4] * 5, 'ü\n"': ["a", "b", "c", None] * 5, "n": range(20)}
    ).rename_axis("id")
    explainer = DiverseExplainer(
        lambda X: X["n"] > 9,
        max_counterfactuals=1,
        constraints=Constraints(immutable=["<b>"], ranges={"n": (None, 30)}),
        costs={"<b>": 3.0, "n": 2.0},
    )
    return explainer.fit(frame).explain(frame.iloc[3])


def exhaustive() -> Explanation:
    explainer = ExhaustiveExplainer(lambda X: X[:, 0] >= 2, 0.5, domain=[[1.0], [2.0], [2.2]])
    return explainer.explain([1.0])


def linear() -> Explanation:
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = LogisticRegression().fit(X, np.digitize(X.sum(axis=1), [-1, 1]))
    explainer = explainer_by_steps(model, max_counterfactuals=2, diversity=None).fit(X)
    return explainer.certify(explainer.explain(X[0]), epsilon=0.5)


EXPLANATIONS: dict[str, Any] = {
    "every kind": lambda: by_hand([1, 2, 3]),
    "missing values": lambda: by_hand([1], input=2),
    "several classes": lambda: by_hand([1], goal=OneOf(np.array(["good", "great"]))),
    "interval": lambda: by_hand(
        [1], classes=(0.5, 2.5), label=0.5, labels=[2.5], goal=InInterval(2, np.inf)
    ),
    "probability": lambda: by_hand([1], probability=0.8),
    "without options": lambda: by_hand([]),
    "certificate": bounded,
    "list": listed,
    "options that work for others": working,
    "names with any characters": searched,
    "exhaustive": exhaustive,
    "certified": linear,
}


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_it_is_valid_json_by_the_schema_and_comes_back_the_same(name: str) -> None:
    explanation = EXPLANATIONS[name]()
    text = explanation.to_json()
    VALIDATOR.validate(json.loads(text, parse_constant=pytest.fail))  # no NaN, no Infinity
    again = Explanation.from_json(text)
    assert again.to_json() == text
    assert repr(again) == repr(explanation)
    assert again.describe() == explanation.describe()
    assert again.distances.tolist() == explanation.distances.tolist()
    assert again.labels.tolist() == explanation.labels.tolist()
    assert type(again.counterfactuals) is type(explanation.counterfactuals)
    assert Explanation.from_dict(explanation.to_dict()).to_json() == text


def test_the_schema_is_one_and_refuses_what_is_none() -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)
    data = by_hand().to_dict()
    changes: list[dict[str, Any]] = [{"version": 1}, {"status": "fine"}, {"more": 1}, {"input": []}]
    for change in changes:
        assert not VALIDATOR.is_valid(data | change)
    for name in data:
        assert not VALIDATOR.is_valid({key: data[key] for key in data if key != name}), name


def test_a_loaded_explanation_can_be_asked_with_its_model() -> None:
    model = LogisticRegression().fit(MATRIX[:, 1:3], [0, 1, 1, 1])
    frame = ROWS[["duration", "score"]].astype(float)
    explainer = explainer_by_steps(model.predict, max_counterfactuals=1, diversity=None)
    explanation = explainer.fit(frame.to_numpy()).explain(frame.to_numpy()[0])
    again = Explanation.from_json(explanation.to_json())
    assert again.letter() == explanation.letter()
    with pytest.raises(InvalidInputError, match="with_model"):
        again.letter("reviewer")
    asked = again.with_model(model.predict)
    assert asked.letter("reviewer") == explanation.letter("reviewer")


def test_probabilities_are_written_and_loaded() -> None:
    model = LogisticRegression().fit(MATRIX[:, 1:3], [0, 1, 1, 1])
    X = MATRIX[:, 1:3]
    explanations = explainer_by_steps(model, max_counterfactuals=1, diversity=None).fit(X)
    explanation = explanations.explain(X[0])
    data = explanation.to_dict()
    assert data["probability"] == explanation.probability is not None
    assert data["options"][0]["probability"] == explanation.options[0].probability is not None
    for again in (
        Explanation.from_dict(data),
        Explanations.from_json(f"[{explanation.to_json()}]")[0],
        Explanation.from_dict(data).with_model(lambda rows: rows[:, 0] > 0),
    ):
        assert again.probability == explanation.probability
        assert again.options[0].probability == explanation.options[0].probability


def test_labels_and_goals_have_texts() -> None:
    data = by_hand(goal=OneOf(np.array(["good", "great"]))).to_dict(outcomes={"good": "approved"})
    assert (data["label_text"], data["wanted_text"]) == ("bad", "approved or great")
    assert data["options"][0]["label_text"] == "approved"
    VALIDATOR.validate(data)


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_an_older_file_still_loads(file: Path) -> None:
    explanation = Explanation.from_json(file.read_bytes())
    assert explanation.describe() + "\n" == file.with_suffix(".txt").read_text(encoding="utf-8")
    VALIDATOR.validate(explanation.to_dict())


def test_there_is_a_golden_file_of_every_version() -> None:
    versions = {json.loads(file.read_bytes())["version"] for file in GOLDEN.glob("*.json")}
    assert versions == set(range(1, VERSION + 1))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "This is no explanation: 'form' must be"),
        ({"form": "other"}, "This is no explanation"),
        ({"form": "counterset explanation"}, "'version' must be a whole number"),
        ({"form": "counterset explanation", "version": True}, "'version' must be a whole number"),
        ({"form": "counterset explanation", "version": 99}, "with a newer counterset"),
        ({"form": "counterset explanation", "version": 1}, "no complete explanation"),
        ("{}", "use from_json for text"),
    ],
)
def test_what_is_no_explanation_is_refused(data: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Explanation.from_dict(data)


@pytest.mark.parametrize("text", ["{", "", b"\xff"])
def test_what_is_no_json_is_refused(text: Any) -> None:
    with pytest.raises(InvalidInputError, match="This is no JSON"):
        Explanation.from_json(text)


def test_the_schema_declared_by_hand_is_used() -> None:
    assert SCHEMA.units["duration"] == "months"
    assert by_hand().to_dict()["table"]["features"][1]["unit"] == "months"


def test_limits_and_costs_come_back_as_they_were_written() -> None:
    # Times used to come back as {"type": ...}, and could not be told.
    constraints = {
        "ranges": {"start": [pd.Timestamp("2024-01-01"), None], "duration": [1, np.inf]},
        "max_increase": {"start": pd.Timedelta(days=3)},
    }
    explanation = by_hand(constraints=constraints, costs={"duration": np.inf, "x1": 2.0})
    VALIDATOR.validate(explanation.to_dict())
    again = Explanation.from_json(explanation.to_json())
    assert again.context.constraints == constraints
    assert again.context.costs == {"duration": np.inf, "x1": 2.0}
    assert again.describe() == explanation.describe()


def several() -> Explanations:
    """Three people with limits of their own: two have options, one has none."""
    frame = pd.DataFrame(
        {"a": [1.0, 2.0, 3.0, 4.0] * 5, "c": ["x", "y", None, "z"] * 5, "n": range(20)},
        index=pd.Index([f"p{i}" for i in range(20)]),
    )
    explainer = explainer_by_steps(lambda X: X["n"] > 9, max_counterfactuals=2, diversity=None)
    limits = [Constraints(immutable=["a"]), Constraints(immutable=["n"]), None]
    return explainer.fit(frame).explain_many(frame[:3], constraints=limits, if_none="ignore")


def test_many_explanations_are_an_array_of_what_each_writes(tmp_path: Path) -> None:
    explanations = several()
    text = explanations.to_json(tmp_path / "all.json")
    assert (tmp_path / "all.json").read_text(encoding="utf-8") == text
    assert json.loads(text) == [each.to_dict() for each in explanations]
    assert [json.loads(line.rstrip(",")) for line in text.splitlines()[1:-1]] == json.loads(text)
    assert json.loads(explanations.to_json(indent=2)) == json.loads(text)
    for each in json.loads(text):
        VALIDATOR.validate(each)


def test_many_explanations_are_loaded_again() -> None:
    explanations = several()
    again = Explanations.from_json(explanations.to_json())
    assert again.status == explanations.status == ("explained", "none_found", "explained")
    assert again.labels.tolist() == explanations.labels.tolist()
    assert again.counts.tolist() == explanations.counts.tolist()
    pd.testing.assert_frame_equal(again.to_frame(), explanations.to_frame())
    assert [each.describe() for each in again] == [each.describe() for each in explanations]
    assert again[1].context.constraints == {"immutable": ["n"]}
    assert again.to_json() == explanations.to_json()
    assert again[1:].to_json() == explanations[1:].to_json()
    assert repr(again).endswith(f"{np.median(again.coded.distances):.3g}"), (
        "no question was counted"
    )
    model = explanations.context.model
    assert again.with_model(model)[0].letter() == explanations[0].letter()


def test_certificates_of_many_come_back() -> None:
    text = f"[{bounded().to_json()},{working().to_json()}]"
    first, second = Explanations.from_json(text)
    assert str(first.certificate) == str(bounded().certificate)
    assert str(second.certificate) == str(working().certificate)
    assert str(Explanations.from_json(text)[1:][0].certificate) == str(working().certificate)


@pytest.mark.parametrize("text", ["[]", "{}", "3", None])
def test_what_is_no_array_of_explanations_is_refused(text: str | None) -> None:
    text = by_hand().to_json() if text is None else text
    with pytest.raises(InvalidInputError, match="no JSON array of explanations"):
        Explanations.from_json(text)


def test_explanations_of_several_calls_are_refused() -> None:
    other = by_hand(goal=OneOf(np.array(["good"])))
    with pytest.raises(InvalidInputError, match="positions 0 and 1 do not have the same 'goal'"):
        Explanations.from_json(f"[{by_hand().to_json()},{other.to_json()}]")
