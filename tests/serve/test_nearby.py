"""People almost like this one."""

from __future__ import annotations

import pytest

from counterset.evaluation.noise import GaussianNoise
from counterset.evaluation.stability import stability
from counterset.serve.cases import Cases, FeatureConstraint, NearbyRequest
from counterset.serve.people import PEOPLE, ask_nearby
from counterset.serve.served import Served, Strategy

ROW = {"income": 30, "debt": 60, "home": "rent", "town": "Bonn"}
LOCKS = {"town": FeatureConstraint(locked=True)}


@pytest.mark.parametrize("strategy", ["nearest", "shared"])
def test_it_counts_as_the_library_does(served: Served, strategy: Strategy) -> None:
    request = NearbyRequest(
        values=ROW,
        constraints=LOCKS,
        target="approved",
        options=3,
        noise=0.05,
        seed=4,
        strategy=strategy,
    )
    answer = ask_nearby(request, Cases(served))
    explainer = served.with_options(3, strategy)
    explanation = explainer.explain(ROW, target="approved")
    measured = stability(
        explainer, explanation, repeats=PEOPLE, random_state=4, noise=GaussianNoise(0.05**2)
    )
    assert [sum(row) for row in answer["kept"]] == measured.kept.tolist()
    assert answer["people"] == measured.copies
    assert sum(answer["covered"]) == measured.covered
    assert len(answer["covered"]) == len(answer["each"]) == answer["people"]
    assert len(answer["least"]) == len(answer["kept"])
    for least, kept in zip(answer["least"], answer["kept"], strict=True):
        assert 0 <= least < max(sum(kept), 1) / answer["people"]
    assert len(answer["options"]) == len(explanation)


def test_each_person_differs_a_little_and_is_offered_what_the_grid_says(served: Served) -> None:
    request = NearbyRequest(
        values=ROW, constraints=LOCKS, target="approved", options=3, noise=0.05, seed=4
    )
    answer = ask_nearby(request, Cases(served))
    for i, person in enumerate(answer["each"]):
        assert {each["label"] for each in person["differs"]} <= {"Income", "Debt"}
        assert all(each["own"] != each["other"] for each in person["differs"])
        assert 1 <= len(person["offered"]) <= 3
        same = {each["same"] for each in person["offered"]} - {None}
        assert same == {at + 1 for at, kept in enumerate(answer["kept"]) if kept[i]}
        assert bool(answer["covered"][i]) == (person["offered"][person["best"]]["same"] is not None)
        assert all(each["sentence"] for each in person["offered"])


def test_without_an_option_there_is_nothing_to_compare(served: Served) -> None:
    locked = {name: FeatureConstraint(locked=True) for name in ROW}
    request = NearbyRequest(values=ROW, constraints=locked, target="approved")
    answer = ask_nearby(request, Cases(served))
    assert (answer["people"], answer["options"], answer["covered"]) == (0, [], [])
