"""People almost like this one."""

from __future__ import annotations

import pytest

from counterset.evaluation.noise import GaussianNoise
from counterset.evaluation.stability import stability
from counterset.serve.case_requests import Limit, NearbyRequest, codes_of
from counterset.serve.explorer import PEOPLE, ask_nearby
from counterset.serve.served import Served

ROW: dict[str, float | None] = {"income": 30, "debt": 60, "home": 1, "town": 0}
LIMITS = {"town": Limit(locked=True)}


@pytest.mark.parametrize("anchored", [False, True])
def test_it_counts_as_steadiness_does(served: Served, anchored: bool) -> None:
    request = NearbyRequest(
        values=ROW, limits=LIMITS, target=0, ways=3, noise=0.05, seed=4, anchored=anchored
    )
    answer = ask_nearby(request, served)
    explainer = served.with_ways(3, anchored=anchored)
    row = served.table.decode(codes_of(ROW, served.table)[None, :])
    explanation = explainer.explain(row, target="approved")
    measured = stability(
        explainer, explanation, repeats=PEOPLE, random_state=4, noise=GaussianNoise(0.05**2)
    )
    assert [sum(row) for row in answer["kept"]] == measured.kept.tolist()
    assert answer["people"] == measured.copies
    assert answer["moved"] == pytest.approx(measured.moved)
    assert answer["differ"] >= 0
    assert len(answer["ways"]) == len(explanation)


def test_without_a_way_there_is_nothing_to_compare(served: Served) -> None:
    locked = {name: Limit(locked=True) for name in ROW}
    answer = ask_nearby(NearbyRequest(values=ROW, limits=locked, target=0), served)
    assert (answer["people"], answer["ways"], answer["differ"]) == (0, [], None)
