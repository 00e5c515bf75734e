"""The constraint that prevents more options."""

from __future__ import annotations

from counterset.serve.cases import CaseRequest, Cases, FeatureConstraint
from counterset.serve.explorer import find_obstacle
from counterset.serve.served import Served

ROW = {"income": 30, "debt": 60, "home": "rent", "town": "Bonn"}
LOCKED = FeatureConstraint(locked=True)


def ask(served: Served, constraints: dict[str, FeatureConstraint]) -> dict[str, object]:
    request = CaseRequest(values=ROW, constraints=constraints, target="approved", options=1)
    return find_obstacle(request, Cases(served))


def test_the_only_lock_that_matters_is_found(served: Served) -> None:
    constraints = {
        "town": LOCKED,
        "income": LOCKED,
        "debt": FeatureConstraint(low=55),
        "home": LOCKED,
    }
    found = ask(served, constraints)
    assert (found["name"], found["part"], found["options"]) == ("income", "lock", 1)
    assert found["sentence"] == (
        "The lock on the income prevents more options: without it there is 1 option."
    )
    assert found["button"] == "Unlock the income"


def test_a_direction_and_a_range_can_prevent_options(served: Served) -> None:
    kept = {"town": LOCKED, "home": LOCKED, "income": FeatureConstraint(direction="down")}
    found = ask(served, {**kept, "debt": FeatureConstraint(locked=True, direction="up")})
    assert (found["name"], found["part"]) == ("income", "direction")
    found = ask(served, {**kept, "debt": FeatureConstraint(low=55, high=70)})
    assert found["part"] in ("direction", "range")


def test_two_constraints_together_are_lifted_together(served: Served) -> None:
    both = FeatureConstraint(locked=True, low=1, high=31)
    constraints = {
        "town": LOCKED,
        "home": LOCKED,
        "income": both,
        "debt": FeatureConstraint(locked=True, low=59),
    }
    found = ask(served, constraints)
    assert found["name"] is None
    assert found["button"] == "Lift all constraints"


def test_without_constraints_they_are_not_the_reason(served: Served) -> None:
    found = ask(served, {})
    assert (found["name"], found["button"]) == (None, "")
