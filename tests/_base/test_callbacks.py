"""Callbacks of scikit-learn are told what is learned."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import sklearn
from support.mixed_toys import FRAME, lend

from counterset import DiverseExplainer, InvalidInputError, Nearest, Paper, Shared

#: Whether this scikit-learn has callbacks.
HAS_THEM = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


class Recorder:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.rows: list[Any] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.told.append(("setup", context.task_name))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.told.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator: Any, context: Any, *, X: Any = None) -> None:
        self.told.append(("begin", context.task_name))
        self.rows.append(X)

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        self.told.append(("end", context.task_name))
        return True  # asks to stop


def test_an_explainer_takes_callbacks_where_scikit_learn_has_them() -> None:
    assert hasattr(DiverseExplainer, "set_callbacks") == HAS_THEM


@pytest.mark.parametrize("strategy", [Nearest(), Shared(), Paper(regions=3)], ids=repr)
def test_callbacks_are_told_of_each_part_and_change_nothing(strategy: Any) -> None:
    plain = DiverseExplainer(lend, strategy=strategy, max_counterfactuals=2).fit(FRAME)
    told = told_of(DiverseExplainer(lend, strategy=strategy, max_counterfactuals=2), plain)
    if not HAS_THEM:
        assert told == []
        return
    assert told[:2] == [("setup", "fit"), ("begin", "fit")]
    assert told[-2:] == [("end", "fit"), ("teardown", "fit")]
    parts = told[2:-2]
    assert parts
    assert parts == [("begin", "part"), ("end", "part")] * (len(parts) // 2)


def told_of(explainer: DiverseExplainer, plain: DiverseExplainer) -> list[tuple[str, str]]:
    """Fit with a callback if there are any, and return what it was told."""
    recorder = Recorder()
    if HAS_THEM:
        explainer.set_callbacks(recorder)
    again = pickle.loads(pickle.dumps(explainer.fit(FRAME)))
    declined = FRAME[lend(FRAME) == "no"].head(5)
    frames = [e.explain_many(declined).to_frame() for e in (plain, explainer, again)]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])
    assert all(rows is FRAME for rows in recorder.rows if rows is not None)
    return recorder.told


def test_callbacks_are_taken_down_when_learning_fails() -> None:
    class Broken:
        def learn(self, *given: Any) -> Any:
            raise InvalidInputError("Learning failed.")

    explainer, recorder = DiverseExplainer(lend, strategy=Broken()), Recorder()
    if HAS_THEM:
        explainer.set_callbacks(recorder)
    with pytest.raises(InvalidInputError, match=r"Learning failed\."):
        explainer.fit(FRAME)
    expected = [("setup", "fit"), ("begin", "fit"), ("teardown", "fit")]
    assert recorder.told == (expected if HAS_THEM else [])
