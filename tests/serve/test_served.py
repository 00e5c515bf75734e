"""What one server serves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.settings import explainer_by_steps

from counterset import InvalidInputError
from counterset.serve.refusals import ServerBusyError
from counterset.serve.served import Served


def test_anchors_are_fitted_once_however_many_ask_at_a_time(served: Served) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: served.anchored, range(8)))
    assert len({id(each) for each in found}) == 1
    assert found[0].anchors_ is not None
    assert found[0].constraints == served.explainer.constraints
    assert served.explainer.anchors_ is None


def test_another_number_of_ways_leaves_the_explainer_as_it_is(served: Served) -> None:
    row = served.cases[served.explainer.model(served.cases) == "declined"].iloc[0]
    assert len(served.with_ways(1).explain(row)) == 1
    assert len(served.with_ways(1, anchored=True).explain(row)) == 1
    assert served.explainer.max_counterfactuals == served.anchored.max_counterfactuals == 3


def test_nobody_waits_long_for_anchors_that_another_thread_fits(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests used to wait for as long as it took, in threads that others needed."""
    monkeypatch.setattr("counterset.serve.served.FITTING_SECONDS", 0.01)
    with served._lock, pytest.raises(ServerBusyError, match="still being fitted"):
        served.with_ways(1, anchored=True)


@pytest.mark.parametrize("name", ["", "a/b", "a:explain", "my loans"])
def test_a_name_must_stand_in_an_address(served: Served, name: str) -> None:
    with pytest.raises(InvalidInputError, match="stands in addresses"):
        Served(name, served.explainer, served.cases, served.training)


def test_the_explainer_has_no_anchors_of_its_own(served: Served) -> None:
    anchored = explainer_by_steps(served.model, regions=2).fit(served.training)
    with pytest.raises(InvalidInputError, match="without anchors"):
        Served("loans", anchored, served.cases, served.training)
