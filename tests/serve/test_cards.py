"""Ways as cards."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from counterset import DiverseExplainer
from counterset.serve.cards import Cards, decision_on, describe_explanation
from counterset.serve.case_requests import codes_of
from counterset.serve.served import Served

ROW: dict[str, float | None] = {"income": 30, "debt": 60, "home": 1, "town": 0}


def test_a_card_says_what_changes_in_the_words_of_describe(served: Served) -> None:
    codes = codes_of(ROW, served.table)
    explanation = served.explainer.explain(served.table.decode(codes[None, :]), target="approved")
    ways = Cards(explanation, served).ways()
    assert len(ways) == len(explanation)
    text = explanation.describe(width=None)
    for rank, (way, row) in enumerate(zip(ways, explanation._matrix, strict=True), start=1):
        assert f"{rank}. {way['headline']} (" in text
        taken = {**ROW, **{each["name"]: each["value"] for each in way["changes"]}}
        assert codes_of(taken, served.table).tolist() == row.tolist()
        assert way["leads"]
        assert way["told"] == "approved"
    assert [way["distance"] for way in ways] == explanation.distances.tolist()


def test_units_stand_in_the_changes(served: Served) -> None:
    codes = codes_of(ROW, served.table)
    explanation = served.explainer.explain(served.table.decode(codes[None, :]), target="approved")
    other = codes.copy()
    other[0] = 90
    (card,) = Cards(explanation, served).kept([other])
    (change,) = card["changes"]
    assert (change["before"], change["after"]) == ("30 EUR", "90 EUR")
    assert card["leads"]


def test_a_kept_way_says_when_it_no_longer_leads_there(served: Served) -> None:
    codes = codes_of(ROW, served.table)
    explanation = served.explainer.explain(served.table.decode(codes[None, :]), target="approved")
    same, worse = codes.copy(), codes.copy()
    worse[0] = 10
    first, second = Cards(explanation, served).kept([same, worse])
    assert (first["headline"], first["leads"]) == ("Nothing changes", False)
    assert (second["told"], second["leads"]) == ("declined", False)


def test_the_decision_has_a_probability_only_if_the_model_tells_one(served: Served) -> None:
    told = decision_on(codes_of(ROW, served.table), served)
    assert told == {"label": 1, "told": "declined", "number": None, "probability": None}


def test_what_was_reached_already_has_no_ways(served: Served) -> None:
    codes = codes_of({**ROW, "income": 90}, served.table)
    (explanation,) = served.explainer.explain_many(
        served.table.decode(codes[None, :]), target="approved", skip=True
    )
    answer = describe_explanation(explanation, served)
    assert (answer["status"], answer["ways"]) == ("already_reached", [])
    assert np.isfinite(codes).all()


def test_the_probability_is_that_of_the_decision() -> None:
    X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7})
    model = LogisticRegression().fit(X, np.where(X["a"] > 20, "yes", "no"))
    served = Served("toy", DiverseExplainer(model).fit(X), cases=X, training=X)
    for row in X.to_numpy()[::9]:
        told = decision_on(row, served)
        (known,) = model.predict_proba(X.iloc[[int(row[0])]])
        assert told["probability"] == max(known)
        assert told["told"] == model.classes_[known.argmax()]
        assert decision_on(row, served, told["told"]) == told


def test_what_is_wanted_is_called_as_people_call_it(served: Served) -> None:
    row = served.table.decode(codes_of(ROW, served.table)[None, :])
    for target in ("approved", None):
        explanation = served.explainer.explain(row, target=target)
        assert describe_explanation(explanation, served)["wanted"] == "approved"


def test_a_predicted_number_is_told_with_four_digits() -> None:
    X = pd.DataFrame({"a": np.linspace(0, 4, 41)})
    explainer = DiverseExplainer(
        lambda rows: rows["a"].to_numpy() * 1234.5678, max_counterfactuals=1
    ).fit(X)
    served = Served("toy", explainer, cases=X, training=X)
    told = decision_on(np.array([1.0]), served)
    assert told == {"label": None, "told": "1,235", "number": 1234.5678, "probability": None}
    explanation = explainer.explain({"a": 1.0}, interval=(2000, 3000))
    assert describe_explanation(explanation, served)["wanted"] == "between 2,000 and 3,000"
