"""What the page sends becomes rows, constraints and costs, or is refused with a sentence."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from threading import Barrier, Event
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError
from support.served_loans import TRAINING, approve, serve_loans

from counterset import DiverseExplainer, NoCounterfactualError, Schema
from counterset.explanations.json_values import row_to_json
from counterset.serve.app import create_app
from counterset.serve.cases import MOST_REMEMBERED, CaseRequest, Cases, FeatureConstraint
from counterset.serve.errors import RefusedError
from counterset.serve.served import Served

ROW = {"income": 30, "debt": 60, "home": "rent", "town": "Bonn"}


def cases_of(X: pd.DataFrame) -> Cases:
    """Return the cases of a model that looks at the first column only."""
    explainer = DiverseExplainer(lambda rows: rows.iloc[:, 0] > rows.iloc[:, 0].iloc[0]).fit(X)
    return Cases(Served("toy", explainer, cases=X))


def test_values_become_codes_and_come_back(served: Served) -> None:
    codes = Cases(served).codes(ROW)
    assert codes.tolist() == [30, 60, 1, 0]
    assert row_to_json(served.table, codes) == ROW


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([0.1, 0.75, 0.5] * 9, dtype=np.float32),
        pd.Series([1.5, np.nan, 2.5] * 9),
        pd.Series(pd.to_datetime(["2024-02-29", "2024-03-01", "2025-01-01"] * 9)),
        pd.Series(pd.to_datetime(["2024-02-29 12:00:01", "2024-03-01 00:00:00"] * 9)),
        pd.Series(pd.to_datetime(["2024-02-29 12:00", "2024-03-01 01:00"] * 9, utc=True)).dt
        .tz_convert("Europe/Berlin"),
        pd.Series([True, False, False] * 9),
        pd.Series(["a", None, "b"] * 9),
        pd.Series([date(2024, 2, 29), date(2024, 3, 1), date(2025, 1, 1)] * 9),
    ],
    ids=range(8),
)  # fmt: skip
def test_every_value_that_the_page_gets_can_be_sent_back(column: pd.Series) -> None:
    X = pd.DataFrame({"n": range(len(column)), "each": column})
    cases = cases_of(X)
    matrix, _ = cases.served.table.encode(X)
    for codes in matrix[:3]:
        sent = row_to_json(cases.served.table, codes)
        np.testing.assert_array_equal(cases.codes(sent), codes)


def test_written_numbers_are_sent_as_numbers() -> None:
    X = pd.DataFrame({"n": range(18), "rate": ["1.5", "2.5"] * 9})
    schema = Schema(continuous=["rate"])
    explainer = DiverseExplainer(lambda rows: rows["n"] > 5, schema=schema).fit(X)
    cases = Cases(Served("toy", explainer, cases=X))
    (codes, *_), _ = cases.served.table.encode(X)
    assert row_to_json(cases.served.table, codes) == {"n": 0, "rate": 1.5}
    assert cases.codes({"n": 0, "rate": 1.5}).tolist() == codes.tolist()


def test_a_group_of_columns_is_one_value() -> None:
    hot = {"is_red": [1, 0, 0] * 6, "is_blue": [0, 1, 0] * 6}
    X = pd.DataFrame({"n": range(18), **hot})
    explainer = DiverseExplainer(
        lambda rows: rows["n"] > 5, schema=Schema(one_hot={"colour": list(hot)})
    ).fit(X)
    cases = Cases(Served("toy", explainer, cases=X))
    for codes in cases.served.table.encode(X)[0][:3]:
        sent = row_to_json(cases.served.table, codes)
        assert list(sent) == ["n", "colour"]
        assert cases.codes(sent).tolist() == codes.tolist()


def test_columns_that_are_numbers_are_named_by_texts() -> None:
    X = pd.DataFrame({0: range(20), 1: [0.5, 1.5] * 10})
    cases = cases_of(X)
    assert cases.codes({"0": 3, "1": 1.5}).tolist() == [3, 1.5]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"home": 2}, '\'home\' must be one of "own", "rent"'),
        ({"home": None}, "'home' must be one of"),
        ({"income": 1.5}, "'income' must be a whole number"),
        ({"income": "31"}, "'income' must be a whole number"),
        ({"income": 1e300}, "'income' must be a whole number"),
        ({"income": None}, "'income' must be a whole number"),
        ({"colour": 1}, "'colour' is not a column"),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    served: Served, change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(RefusedError, match=f"The request is invalid: {sentence}"):
        Cases(served).codes({**ROW, **change})


def test_a_row_with_a_hole_is_refused(served: Served) -> None:
    with pytest.raises(RefusedError, match="'debt' is missing"):
        Cases(served).codes({name: value for name, value in ROW.items() if name != "debt"})


def constraints_of(served: Served, constraints: dict[str, FeatureConstraint]) -> Any:
    """Return the constraints that the library was asked for."""
    request = CaseRequest(values=ROW, constraints=constraints, target="approved")
    return Cases(served).explained(request).explanation.context.constraints


def test_constraints_take_the_place_of_locks_and_ranges_only(served: Served) -> None:
    found = constraints_of(
        served,
        {
            "income": FeatureConstraint(direction="up", low=10, high=80),
            "debt": FeatureConstraint(direction="down"),
            "home": FeatureConstraint(locked=True),
        },
    )
    assert found["immutable"] == ["home"]
    assert found["increase_only"] == ["income"]
    assert found["decrease_only"] == ["debt"]
    assert list(found["ranges"]["income"]) == [10, 80]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("colour", "There is no feature 'colour'. The features are income, debt, home, town."),
        ("home", "'home' has no order, so it cannot have a range."),
        ("income", "The range of 'income': a bound must be a whole number."),
    ],
)
def test_a_range_that_cannot_be_is_refused(served: Served, name: str, sentence: str) -> None:
    with pytest.raises(RefusedError) as caught:
        constraints_of(served, {name: FeatureConstraint(low="much")})
    assert str(caught.value) == sentence


def test_costs_are_those_of_the_explainer_times_the_difficulty(served: Served) -> None:
    hard = {"debt": FeatureConstraint(difficulty=3)}
    request = CaseRequest(values=ROW, constraints=hard, target="approved", options=2)
    explainer = Cases(served).explained(request).explainer
    assert isinstance(explainer, DiverseExplainer)
    assert (explainer.costs, explainer.max_counterfactuals) == ({"debt": 3.0}, 2)
    assert served.explainer.costs is None


def test_a_class_that_no_row_has_is_refused(served: Served) -> None:
    with pytest.raises(NoCounterfactualError, match="No training row is predicted 'maybe'"):
        Cases(served).explained(CaseRequest(values=ROW, target="maybe"))


def test_a_report_names_its_case_and_says_if_it_was_edited(served: Served) -> None:
    (codes,), _ = served.table.encode(served.cases.iloc[[3]])
    values = row_to_json(served.table, codes)
    cases = Cases(served)
    assert cases.named(CaseRequest(values=values, case=3)).index == 153
    edited = {**values, "income": values["income"] + 1}
    assert cases.named(CaseRequest(values=edited, case=3)).index == "153 (edited)"
    assert cases.named(CaseRequest(values=values)).index == "(own)"


@pytest.mark.parametrize(
    "wrong",
    [
        {"options": 0},
        {"options": 21},
        {"options": "5"},
        {"interval": [1, float("inf")]},
        {"constraints": {"income": {"difficulty": 6}}},
        {"constraints": {"income": {"direction": "left"}}},
        {"constraints": {"income": {"colour": "red"}}},
        {"kept": [{}] * 21},
        {"wishes": 3},
        {"target": ["approved"]},
        {"values": ROW | {"income": [30]}},
        {"constraints": {"income": {"low": [1]}}},
    ],
)
def test_a_request_of_another_form_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CaseRequest.model_validate({"values": ROW, **wrong})


class Watched(DiverseExplainer):
    """An explainer that notes how many rows it explains in each call."""

    rows: ClassVar[list[int]] = []

    def explain_many(self, X: Any, **more: Any) -> Any:
        self.rows.append(len(X))
        return super().explain_many(X, **more)


def test_one_edit_of_the_page_explains_the_case_once_for_each_strategy() -> None:
    """The same case used to be explained for its options, the map, and the people alike."""
    loans = serve_loans()
    explainer = Watched(approve, constraints=loans.explainer.constraints).fit(TRAINING)
    served = Served("loans", explainer, loans.cases)
    served.warm_up()
    client = TestClient(create_app(served), base_url="http://127.0.0.1")
    asked = {"case": 0, "values": ROW, "target": "approved", "options": 3}
    nearby = asked | {"noise": 0.02, "seed": 1}

    def explained_alone(requests: list[tuple[str, dict[str, Any]]]) -> int:
        Watched.rows.clear()
        for path, body in requests:
            assert client.post(f"/explorer/{path}", json=body).status_code == 200
        return Watched.rows.count(1)

    own = [("explain", asked), ("map", asked), ("nearby", nearby | {"strategy": "nearest"})]
    assert explained_alone(own) == 1
    assert explained_alone([("explain", asked | {"kept": [{"income": 90}]})]) == 0
    assert explained_alone([("nearby", nearby | {"strategy": "shared"})]) == 1
    assert explained_alone([("nearby", nearby | {"strategy": "shared", "seed": 2})]) == 0
    edited = asked | {"values": ROW | {"debt": 61}}
    assert explained_alone([("explain", edited), ("map", edited)]) == 1
    # A lift looks for options without each constraint; those with all of them are known.
    locked = asked | {"constraints": {"home": {"locked": True}}, "options": 10}
    assert explained_alone([("explain", locked)]) == 1
    assert explained_alone([("lift", locked)]) == 1
    # However many constraints there are, the case itself is still known afterwards.
    strict = {"locked": True, "direction": "up", "low": 20, "high": 70}
    names = {"income": strict, "debt": strict, "home": {"locked": True}, "town": {"locked": True}}
    many = asked | {"constraints": names}
    assert explained_alone([("explain", many)]) == 1
    assert explained_alone([("lift", many)]) >= MOST_REMEMBERED
    assert explained_alone([("explain", many)]) == 0


@pytest.mark.parametrize(
    "change",
    [
        {"values": ROW | {"income": 31}},
        {"constraints": {"debt": {"locked": True}}},
        {"constraints": {"debt": {"difficulty": 2}}},
        {"constraints": {"debt": {"low": 55}}},
        {"target": "approved"},
        {"options": 4},
    ],
)
def test_another_request_never_gets_the_answer_of_the_last_one(
    served: Served, change: dict[str, Any]
) -> None:
    cases, asked = Cases(served), {"values": ROW, "options": 3}
    cases.explained(CaseRequest.model_validate(asked))
    request = CaseRequest.model_validate(asked | change)
    found = cases.explained(request).explanation
    alone = Cases(served).explained(request).explanation
    assert found.to_dict() == alone.to_dict()


def test_only_the_last_explanations_are_kept(served: Served) -> None:
    cases = Cases(served)
    requests = [CaseRequest(values=ROW | {"income": 20 + i}) for i in range(MOST_REMEMBERED + 1)]
    found = [cases.explained(each) for each in requests]
    assert cases.explained(requests[-1]) is found[-1]
    assert cases.explained(requests[1]) is found[1]
    assert cases.explained(requests[0]) is not found[0]
    # The one that was used longest ago is dropped.
    assert cases.explained(requests[1]) is found[1]
    assert cases.explained(requests[2]) is not found[2]


def test_no_thread_waits_for_the_model_of_another(served: Served) -> None:
    meet, is_learned = Barrier(2, timeout=60), Event()

    def model(rows: pd.DataFrame) -> Any:
        if is_learned.is_set() and (rows["income"] == 7).any():
            meet.wait()  # goes on when both threads are in the model
        return approve(rows)

    explainer = DiverseExplainer(model).fit(TRAINING)
    loans = Served("loans", explainer, served.cases)
    loans.warm_up()
    is_learned.set()
    cases, request = Cases(loans), CaseRequest(values=ROW | {"income": 7})
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(cases.explained, [request, request])
    one, other = (each.explanation.to_dict(reasons=False) for each in (first, second))
    assert one == other


def test_options_have_ranges_only_if_they_are_asked_for(served: Served) -> None:
    cases, request = Cases(served), CaseRequest(values=ROW)
    assert all(each.ranges is None for each in cases.explained(request).explanation.options)
    ranged = cases.explained(request.model_copy(update={"ranges": True})).explanation
    assert all(option.ranges is not None for option in ranged.options)
    assert "ranges" in ranged.to_dict(reasons=False)["options"][0]
