"""Ways as cards."""

from __future__ import annotations

import numpy as np

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
    assert told == {"label": 1, "told": "declined", "probability": None}


def test_what_was_reached_already_has_no_ways(served: Served) -> None:
    codes = codes_of({**ROW, "income": 90}, served.table)
    (explanation,) = served.explainer.explain_many(
        served.table.decode(codes[None, :]), target="approved", skip=True
    )
    answer = describe_explanation(explanation, served)
    assert (answer["status"], answer["ways"]) == ("already_reached", [])
    assert np.isfinite(codes).all()
