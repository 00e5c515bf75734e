"""Served: what one server serves, the same for all clients."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock, Thread
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from counterset._base.arrays import to_python
from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.serve.readable import ReadableRows
from counterset.strategies.shared import Shared
from counterset.tables.features.number import rounded
from counterset.tables.table import Table

__all__ = ["Served", "Strategy"]

#: The first 1,000 cases can be leafed through; others are found by their number.
MOST_LISTED = 1000

#: How options are chosen: nearest to each input alone, or from the list that people alike share.
Strategy: TypeAlias = Literal["nearest", "shared"]


@dataclass(frozen=True, eq=False)
class Served:
    """A model with its explainer, and the cases that people can pick from.

    Nothing in it changes once it is ready, so requests may share it.

    Attributes
    ----------
    name
        The name of the model, as it stands in addresses.
    explainer
        Fitted, and without shared lists: options are chosen for each input alone.
    cases
        The rows that people can pick from, with the columns of the training data.
    goal
        The goal of requests that name none, as parameters of ``explain``.
    title
        The title of the page; by default, the name.
    outcomes
        From classes to how people call them, for ``describe``.
    details
        What stands in the head of each sheet to take home, such as institution and contact; see
        :meth:`Explanation.letter`.

    Examples
    --------
    >>> X = pd.DataFrame(np.random.default_rng(0).random((50, 2)), columns=["income", "debt"])
    >>> def approve(rows):
    ...     return np.where(rows["income"] > rows["debt"], "yes", "no")
    >>> served = Served("loans", DiverseExplainer(approve).fit(X), cases=X)
    >>> served.is_ready
    False
    >>> served.warm_up()
    >>> served.is_ready
    True
    >>> len(served.with_options(2, "shared").explain(X.iloc[0]))
    2
    """

    name: str
    explainer: DiverseExplainer
    cases: pd.DataFrame
    goal: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    outcomes: Mapping[Any, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    _shared: list[DiverseExplainer] = field(default_factory=list, init=False, repr=False)
    _learned: list[Future[None]] = field(default_factory=list, init=False, repr=False)
    _lock: RLock = field(default_factory=RLock, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.name or set(self.name) & set("/:?#% "):
            raise InvalidInputError(
                f"The name of a served model is a part of addresses. It must not be empty, and "
                f"must not contain spaces or any of / : ? # %, got {self.name!r}."
            )
        if isinstance(self.explainer.strategy, Shared):
            raise InvalidInputError(
                "A server takes an explainer that chooses for each input alone, such as "
                "DiverseExplainer(model, strategy=Nearest()). It learns shared lists itself."
            )

    @property
    def model(self) -> Any:
        """The model."""
        return self.explainer.model

    @property
    def table(self) -> Table:
        """The features, as learned from the training rows."""
        return self.explainer.training_.table

    @property
    def predicts_numbers(self) -> bool:
        """Whether the model predicts numbers, as a regression does, and not classes."""
        return self.explainer.training_.classes.are_measurements

    @cached_property
    def listed(self) -> ReadableRows:
        """The first cases, as far as they can be read, with the model's labels."""
        return ReadableRows.of(self.cases.iloc[:MOST_LISTED], self.table, self.model)

    @cached_property
    def has_probabilities(self) -> bool:
        """Whether the model says how probable each of its classes is."""
        classes = getattr(self.model, "classes_", None)
        ask = getattr(self.model, "predict_proba", None)
        if self.predicts_numbers or classes is None or not callable(ask):
            return False
        known = {to_python(each) for each in np.ravel(classes)}
        first = self.table.decode(self.explainer.training_.pool.matrix[:1])
        # Some name their classes otherwise than they predict them, or write other probabilities.
        is_named = {to_python(each) for each in self.explainer.classes_} <= known
        return is_named and np.shape(ask(first)) == (1, len(known))

    @property
    def texts(self) -> dict[Any, str]:
        """From each class to how people call it."""
        classes = [to_python(each) for each in self.explainer.classes_]
        return {each: str(self.outcomes.get(each, each)) for each in classes}

    def label_text(self, label: Any) -> str:
        """Return how people call a class; a predicted number with four digits."""
        label = to_python(label)
        return rounded(label) if self.predicts_numbers else self.texts.get(label, str(label))

    @property
    def first_goal(self) -> dict[str, Any]:
        """The goal that the page starts with: the server's; of numbers, else the larger half."""
        if not self.predicts_numbers:
            return dict(self.goal)
        numbers = np.asarray(self.explainer.classes_, dtype=np.float64)
        if self.goal.get("interval") is not None:
            # JSON has no infinity: an open end is the farthest prediction, rounded outwards.
            low, high = (float(end) for end in self.goal["interval"])
            least, most = -_rounded_up(-float(numbers.min())), _rounded_up(float(numbers.max()))
            ends = max(low, least), min(high, most)
        else:
            # Rounded for people to read, and upwards at the end, so that it is reached.
            ends = float(f"{np.median(numbers):.3g}"), _rounded_up(float(numbers.max()))
        return {**self.goal, "interval": ends}

    @property
    def shared(self) -> DiverseExplainer:
        """The explainer with the same settings and shared lists; learned once."""
        with self._lock:
            if not self._shared:
                self._shared.append(self.explainer.with_strategy(Shared()))
            return self._shared[0]

    @property
    def is_ready(self) -> bool:
        """Whether everything is learned that requests are expected to need."""
        return any(each.done() and each.exception() is None for each in self._learned)

    def check_goal(self, goal: Mapping[str, Any]) -> None:
        """Raise an error if no training row has what a goal wants.

        Parameters
        ----------
        goal
            As parameters of ``explain``.

        Raises
        ------
        NoCounterfactualError
            If there is none.
        """
        self.explainer.check_goal(goal.get("target"), goal.get("interval"))

    def start_warm_up(self) -> Future[None]:
        """Start to learn in a thread of its own; return when that is done, the same to all callers.

        Only the first call starts a thread. If learning fails, the future has the error.
        """
        with self._lock:
            if not self._learned:
                self._learned.append(Future())
                # A daemon: a process that is told to stop does not wait for it.
                Thread(target=self._learn, name="counterset-learn", daemon=True).start()
            return self._learned[0]

    def warm_up(self) -> None:
        """Learn what requests will need, for both strategies, and return when that is done.

        No request for this goal has to wait for what would be learned on first use.

        Raises
        ------
        NoCounterfactualError
            If no training row has what the goal wants.
        """
        self.start_warm_up().result()

    def _learn(self) -> None:
        (result,) = self._learned
        try:
            self.check_goal(self.goal)
            goal = self.first_goal
            if self.has_probabilities and goal.get("target_probability") is None:
                # Any will do: those of the training rows are asked for once.
                goal["target_probability"] = 1.0
            for explainer in (self.explainer, self.shared):
                explainer.prepare(**goal)
            self.listed  # noqa: B018 - the first page need not wait for it
            _ = self.listed
        except BaseException as error:  # a model may raise SystemExit; whoever waits gets it
            result.set_exception(error)
        else:
            result.set_result(None)

    def with_options(self, count: int, strategy: Strategy = "nearest") -> DiverseExplainer:
        """Return the fitted explainer of a strategy, with another number of options.

        It is a copy, because another request may use the original at the same time. What was
        learned is shared between them.

        Parameters
        ----------
        count
            The most options for one input.
        strategy
            How options are chosen.
        """
        fitted = copy.copy(self.shared if strategy == "shared" else self.explainer)
        fitted.max_counterfactuals = count
        return fitted


def _rounded_up(number: float) -> float:
    """Return the least number of three digits that is not below another."""
    near = float(f"{number:.3g}")
    unit = 10.0 ** (np.floor(np.log10(abs(number))) - 2) if number else 0.0
    return near if near >= number else float(f"{near + unit:.3g}")
