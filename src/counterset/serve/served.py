"""Served: what one server serves, the same for all who ask."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd

from counterset.exceptions import InvalidInputError
from counterset.explainer import DiverseExplainer
from counterset.serve.refusals import ServerBusyError
from counterset.strategies.shared import Shared
from counterset.tables.table import Table

__all__ = ["Served"]

#: The warm-up explains at most 10 rows: a regression has a class for every number.
WARM_UP_ROWS = 10
#: A request waits for anchors for 5 s: as long as they take to fit on a small table.
FITTING_SECONDS = 5.0


@dataclass(frozen=True, eq=False)
class Served:
    """A model with its explainer, and the cases that people can pick from.

    Nothing in it changes while it is served, except that ``anchored`` is fitted when it is first
    read. Requests may therefore share it.

    Attributes
    ----------
    name
        The name of the model, as it stands in addresses.
    explainer
        Fitted, and without anchors: options are chosen for each input alone.
    cases
        The rows that people can pick from, with the columns of the training data.
    training
        The rows that the explainer was fitted on.
    goal
        What is wanted unless a request says otherwise, as parameters of ``explain``.
    title
        What people read above the page; the name, if there is none.
    outcomes
        From classes to how people call them, for ``describe``.

    Examples
    --------
    >>> X = pd.DataFrame(np.random.default_rng(0).random((50, 2)), columns=["income", "debt"])
    >>> def approve(rows):
    ...     return np.where(rows["income"] > rows["debt"], "yes", "no")
    >>> served = Served("loans", DiverseExplainer(approve).fit(X), cases=X, training=X)
    >>> len(served.with_ways(2).explain(X.iloc[0]))
    2
    >>> served.anchored is served.anchored
    True
    """

    name: str
    explainer: DiverseExplainer
    cases: pd.DataFrame
    training: pd.DataFrame
    goal: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    outcomes: Mapping[Any, str] = field(default_factory=dict)
    _anchored: list[DiverseExplainer] = field(default_factory=list, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.name or set(self.name) & set("/:?#% "):
            raise InvalidInputError(
                f"The name of a served model stands in addresses, so it must not be empty nor have "
                f"spaces or any of / : ? # %, got {self.name!r}."
            )
        if isinstance(self.explainer.strategy, Shared):
            raise InvalidInputError(
                "A server takes an explainer without anchors, and fits the one with anchors itself."
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
    def anchored(self) -> DiverseExplainer:
        """The explainer with the same settings and anchors; fitted once, when it is first read."""
        with self._lock:
            if not self._anchored:
                self._anchored.append(self.explainer.with_strategy(Shared(own=0)))
            return self._anchored[0]

    def warm_up(self) -> None:
        """Explain a training row of each class, so that the first request need not wait.

        What explainers learn when they are first asked is learned then. A goal that no row can
        reach, or that the model cannot have, is an error now.
        """
        self.explainer.check_goal(self.goal.get("target"), self.goal.get("interval"))
        pool = self.explainer.training_.pool
        _, first = np.unique(pool.codes, return_index=True)
        rows = self.table.decode(pool.matrix[first[:WARM_UP_ROWS]])
        self.explainer.explain_many(rows, **self.goal, if_none="warn", skip=True)

    def with_ways(self, ways: int, *, anchored: bool = False) -> DiverseExplainer:
        """Return the fitted explainer with another number of ways.

        It is a copy, because another request may use the original at the same time. What was
        learned is shared, so that a copy costs nothing.

        Parameters
        ----------
        ways
            The most ways for one input.
        anchored
            Whether to return the explainer with anchors.

        Raises
        ------
        ServerBusyError
            If anchors are wanted, and another thread will take a while to fit them.
        """
        if anchored:
            # A thread that waited for longer would seem to hang.
            if not self._lock.acquire(timeout=FITTING_SECONDS):
                raise ServerBusyError("The anchors are still being fitted. Come back in a minute.")
            self._lock.release()
        fitted = copy.copy(self.anchored if anchored else self.explainer)
        fitted.max_counterfactuals = ways
        return fitted
