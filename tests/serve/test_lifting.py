"""The limit that stands in the way."""

from __future__ import annotations

from counterset.serve.case_requests import CaseRequest, Limit
from counterset.serve.explorer import find_in_the_way
from counterset.serve.served import Served

ROW: dict[str, float | None] = {"income": 30, "debt": 60, "home": 1, "town": 0}
LOCKED = Limit(locked=True)


def ask(served: Served, limits: dict[str, Limit]) -> dict[str, object]:
    return find_in_the_way(CaseRequest(values=ROW, limits=limits, target=0, ways=1), served)


def test_the_only_lock_that_matters_is_found(served: Served) -> None:
    limits = {"town": LOCKED, "income": LOCKED, "debt": Limit(low=55), "home": LOCKED}
    found = ask(served, limits)
    assert (found["name"], found["part"], found["ways"]) == ("income", "locked", 1)
    assert found["sentence"] == (
        "That the income is locked stands in the way: without it there is 1 way."
    )
    assert found["button"] == "Unlock the income"


def test_a_direction_and_a_range_can_stand_in_the_way(served: Served) -> None:
    kept = {"town": LOCKED, "home": LOCKED, "income": Limit(way="down")}
    found = ask(served, {**kept, "debt": Limit(locked=True, way="up")})
    assert (found["name"], found["part"]) == ("income", "way")
    found = ask(served, {**kept, "debt": Limit(low=55, high=70)})
    assert found["part"] in ("way", "range")


def test_two_limits_together_are_lifted_together(served: Served) -> None:
    both = Limit(locked=True, low=1, high=31)
    limits = {"town": LOCKED, "home": LOCKED, "income": both, "debt": Limit(locked=True, low=59)}
    found = ask(served, limits)
    assert found["name"] is None
    assert found["button"] == "Lift all limits"


def test_without_limits_nothing_stands_in_the_way(served: Served) -> None:
    found = ask(served, {})
    assert (found["name"], found["button"]) == (None, "")
