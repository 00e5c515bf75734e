"""Reach: which features alone, and which pairs of them, can lead a person to what is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from counterset._base.arrays import Labels, Mask, Matrix, Vector
from counterset._base.checks import check_count, check_positive
from counterset.constraints.constraints import Constraints
from counterset.exact.domains import range_of_rows
from counterset.exact.problem import Clock
from counterset.exact.query import DistanceQuery
from counterset.exceptions import (
    InvalidInputError,
    UnsupportedDistanceError,
    UnsupportedModelError,
)
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import is_reached, set_goal
from counterset.strategies.batch import REFUSED, QueryBatch, Requirements
from counterset.strategies.training import TrainingData
from counterset.tables.table import changed
from counterset.words.changes import ChangeWriter
from counterset.words.templates import Templates

__all__ = ["Reach", "reach"]

#: What is known of a set of features and a person, as codes and as texts.
POSSIBLE, IMPOSSIBLE, NOT_FOUND = 0, 1, 2
RESULTS = ("possible", "impossible", "not found")
#: A category or a whole number alone is set to all of its values if these are at most 1000, and in
#: a pair if they are at most 70, so that 4900 rows are asked about.
ALL_VALUES = {1: 1000, 2: 70}
#: Other numbers are set to 200 values of the training data, and in a pair to 16: evenly many rows
#: lie between them.
VALUES = {1: 200, 2: 16}
#: Of a person, 10 sets of each kind are named.
MOST_NAMED = 10


@dataclass(frozen=True, eq=False, repr=False)
class Reach:
    """Which sets of features can lead some people to what is wanted, if nothing else changes.

    Attributes
    ----------
    sets : tuple of tuples of str
        The features that may change together: one, or two.
    results : ndarray of shape (n_people, n_sets)
        For each person and each set: ``"possible"``; ``"impossible"``, which is proved within the
        range of the training data; or ``"not found"``: tried, without a proof.
    needed : ndarray of shape (n_people, n_sets)
        Whether it is possible with the set, and with no feature of it alone.
    examples : ndarray of shape (n_people, n_sets)
        What may be changed to what, where it is possible; empty if all that was found is the row
        of one training person.
    index : pandas.Index
        The people's index labels.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> X = pd.DataFrame({"home": ["own", "own", "rent", "rent"], "pet": ["cat", "dog"] * 2})
    >>> explainer = DiverseExplainer(lambda rows: rows["home"] == "own").fit(X)
    >>> found = reach(explainer, X[2:], size=1)
    >>> found.results.tolist(), found.helps_nobody
    ([['possible', 'impossible'], ['possible', 'impossible']], {('pet',): 'impossible'})
    """

    sets: tuple[tuple[str, ...], ...]
    results: Labels
    needed: Mask
    examples: Labels
    index: pd.Index

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each set of features.

        For one person ``result`` and ``example``. For several: the number of ``people``, for how
        many it is ``possible``, proved ``impossible`` and ``not_found``, and for how many the set
        is ``needed``, because no feature of it is enough alone.
        """
        index = pd.Index([" + ".join(names) for names in self.sets], name="features")
        if len(self.index) == 1:
            columns = {"result": self.results[0], "example": self.examples[0]}
            return pd.DataFrame(columns, index=index)
        counts = {
            result.replace(" ", "_"): (self.results == result).sum(axis=0) for result in RESULTS
        }
        needed = {"needed": self.needed.sum(axis=0)}
        return pd.DataFrame({"people": len(self.index)} | counts | needed, index=index)

    @property
    def helps_nobody(self) -> dict[tuple[str, ...], Literal["impossible", "not found"]]:
        """The sets with which nobody here reaches it, and whether that is proved for all."""
        found: dict[tuple[str, ...], Literal["impossible", "not found"]] = {}
        for names, results in zip(self.sets, self.results.T, strict=True):
            if not (results == "possible").any():
                found[names] = "impossible" if (results == "impossible").all() else "not found"
        return found

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        if len(self) != 1:
            return self.to_frame().to_string()
        one = self.results[0]
        parts = {
            "enough alone": self.needed[0] & (np.array(list(map(len, self.sets))) == 1),
            "enough together": self.needed[0] & (np.array(list(map(len, self.sets))) > 1),
            "proved impossible": one == "impossible",
            "tried, nothing found": one == "not found",
        }
        return "\n".join(f"{what}: {self._named(which)}" for what, which in parts.items())

    def _named(self, which: Mask) -> str:
        """Name some of the sets."""
        named = [" + ".join(self.sets[i]) for i in np.flatnonzero(which)]
        more = len(named) - MOST_NAMED
        rest = [f"and {more} more"] if more > 0 else []
        return "; ".join([*named[:MOST_NAMED], *rest]) or "-"


def reach(
    explainer: Any,
    X: Any,
    *,
    size: int = 2,
    target: Any = None,
    target_probability: float | None = None,
    interval: tuple[float, float] | None = None,
    constraints: Constraints | None = None,
    prove: bool = True,
    time_limit: float = 60.0,
) -> Reach:
    """Find out which features alone, and which pairs, can lead people to what is wanted.

    The other features stay as they are, and the constraints hold. Values of the training data are
    tried. Where none leads there, it is proved impossible if all values were tried, as of
    categories, or if an exact method reads the model (see
    :func:`~counterset.counterfactual_distance`). Such a proof is about the range of the training
    data.

    Parameters
    ----------
    explainer : DiverseExplainer
        A fitted explainer.
    X : table of people, or one person
        As for ``explain`` or ``explain_many``. Who has what is wanted already is left out.
    size : {1, 2}, default=2
        1: single features. 2: pairs too.
    target, target_probability, interval, constraints
        As in :meth:`counterset.DiverseExplainer.explain`; constraints are the same for all.
    prove : bool, default=True
        Whether to prove what was not found by trying, with a solver where one is needed.
    time_limit : float, default=60.0
        In seconds, for all solvers together; what is not proved by then is ``"not found"``.

    See Also
    --------
    recourse : Options by group.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((300, 3)).round(2)
    >>> model = LogisticRegression(C=100).fit(X, X @ [4, 2, 0] > 4.5)
    >>> explainer = DiverseExplainer(model).fit(X)
    >>> print(reach(explainer, [0.2, 0.3, 0.5]))
    enough alone: x0
    enough together: -
    proved impossible: x1; x2; x1 + x2
    tried, nothing found: -
    """
    training = getattr(explainer, "training_", None)
    if not isinstance(training, TrainingData):
        raise InvalidInputError(
            f"reach takes a fitted DiverseExplainer, got {type(explainer).__name__}."
        )
    check_count(size, "size")
    if size > 2:
        raise InvalidInputError(f"size must be 1 or 2, got {size}: larger sets are too many.")
    check_positive(time_limit, "time_limit")
    goal = set_goal(training.classes, target, interval)
    matrix, index = _read(training, X)
    model = ModelAdapter(
        training.model, training.table, with_confidence=target_probability is not None
    )
    answers = model.answers_once(matrix)
    open_ = np.flatnonzero(~is_reached(goal, answers, target_probability))
    rules = training.rules(explainer.constraints if constraints is None else constraints)
    required = Requirements(goal, target_probability, rules, training.support)
    batch = QueryBatch(
        model, training.distance, training.classes, required, matrix[open_], answers.labels[open_]
    )
    search = _Search(training, batch, size)
    search.try_values()
    if prove:
        search.prove(time_limit)
    return search.reach(index[open_])


def _read(training: TrainingData, X: Any) -> tuple[Matrix, pd.Index]:
    """Return the rows of one person or several, and their index."""
    of_mapping = hasattr(X, "keys") and not hasattr(X, "shape")
    of_numbers = np.ndim(X) == 1 and not isinstance(next(iter(X), 0), Mapping)
    one = isinstance(X, pd.Series) or of_mapping or of_numbers
    return training.table.encode_one(X) if one else training.table.encode(X)


class _Search:
    """What is known of some people, and of every set of features that may change.

    Parameters
    ----------
    training
        The training rows, whose values are tried.
    batch
        The people, and what is asked for.
    size
        How many features change together at most.
    """

    def __init__(self, training: TrainingData, batch: QueryBatch, size: int) -> None:
        self._training, self._batch = training, batch
        rules = batch.requirements.rules
        free = np.flatnonzero(~rules.fixed).tolist()
        self._sets = [each for k in range(1, size + 1) for each in combinations(free, k)]
        self._place = {each: at for at, each in enumerate(self._sets)}
        shape = len(batch.inputs), len(self._sets)
        self._codes = np.full(shape, NOT_FOUND)
        self._needed = np.zeros(shape, dtype=bool)
        self._examples: dict[tuple[int, int], Vector] = {}
        self._values = {
            k: [_values(training, i, k) for i in range(rules.fixed.size)]
            for k in range(1, size + 1)
        }

    def try_values(self) -> None:
        """Set the features of every set to values of the training data."""
        for person in range(len(self._batch.inputs)):
            for k in sorted({len(each) for each in self._sets}):
                open_ = [each for each in self._of_size(k) if not self._has_part(person, each)]
                self._try(person, open_)

    def prove(self, time_limit: float) -> None:
        """Prove that sets for which nothing was found lead nowhere, where that can be done."""
        clock, solver = Clock.start(time_limit), _Solver(self._training, self._batch)
        for person, at in self._left():
            features = self._sets[at]
            if all(_all_values(self._training, i, len(features)) is not None for i in features):
                self._codes[person, at] = IMPOSSIBLE  # every value was tried
        for person, at in self._left():
            if clock.over or not solver.reads:
                return
            bounds = solver.bounds(person, self._sets[at], clock.left)
            if bounds is None:
                continue
            lower, witness = bounds
            if witness is not None:
                # A solver leaves out what it cannot consider, such as plausibility.
                owner = np.array([person])
                if self._batch.ask(witness[None, :], owner, again=True)[0] != REFUSED:
                    self._found(person, at, witness)
            elif lower == np.inf:
                self._codes[person, at] = IMPOSSIBLE

    def reach(self, index: pd.Index) -> Reach:
        """Return what is known."""
        batch, table = self._batch, self._training.table
        writer, rare = ChangeWriter(table, Templates.read()), self._training.rare(2)
        examples = np.full(self._codes.shape, "", dtype=object)
        for (person, at), row in self._examples.items():
            if rare is None or not rare.has(row[None, :])[0]:
                examples[person, at] = writer.headline(batch.inputs[person], row)
        names = tuple(tuple(table.features[i].name for i in each) for each in self._sets)
        results = np.array(RESULTS, dtype=object)[self._codes]
        return Reach(names, results, self._needed, examples, index)

    def _of_size(self, k: int) -> list[tuple[int, ...]]:
        return [each for each in self._sets if len(each) == k]

    def _left(self) -> Iterator[tuple[int, int]]:
        """Yield the people and sets that nothing is known of; what is smaller comes first."""
        for at, features in enumerate(self._sets):
            for person in range(len(self._batch.inputs)):
                if self._codes[person, at] == NOT_FOUND and not self._has_part(person, features):
                    yield person, at

    def _has_part(self, person: int, features: tuple[int, ...]) -> bool:
        """Whether a smaller part of a set is enough, so that the set is too; note it."""
        if len(features) == 1:
            return False
        for i in features:
            at = self._place[i,]
            if self._codes[person, at] == POSSIBLE:
                whole = self._place[features]
                self._codes[person, whole] = POSSIBLE
                if (person, at) in self._examples:
                    self._examples.setdefault((person, whole), self._examples[person, at])
                return True
        return False

    def _try(self, person: int, sets: Sequence[tuple[int, ...]]) -> None:
        """Ask the model about a person with other values of some features."""
        batch = self._batch
        x = batch.inputs[person]
        parts, which = [batch.inputs[:0]], [np.empty(0, dtype=np.intp)]
        for features in sets:
            values = [self._values[len(features)][i] for i in features]
            points = np.stack([each.ravel() for each in np.meshgrid(*values)], axis=1)
            rows = np.tile(x, (len(points), 1))
            rows[:, features] = points
            parts.append(rows)
            which.append(np.full(len(rows), self._place[features]))
        rows, at = np.concatenate(parts), np.concatenate(which)
        owners = np.full(len(rows), person)
        # Not onto steps: every value has to be tried.
        rows = batch.within_constraints(rows, owners)
        allowed = np.zeros((len(self._sets), len(x)), dtype=bool)
        for features in sets:
            allowed[self._place[features], list(features)] = True
        kept = ~(changed(batch.inputs[owners], rows) & ~allowed[at]).any(axis=1)
        rows, at, owners = rows[kept], at[kept], owners[kept]
        if not len(rows):
            return
        leads = np.flatnonzero(batch.ask(rows, owners) != REFUSED)
        rare = self._training.rare(2)
        is_rare = np.zeros(len(leads)) if rare is None else rare.has(rows[leads])
        order = np.lexsort((batch.lengths_of(rows[leads], owners[leads]), is_rare))
        for place, first in zip(*np.unique(at[leads[order]], return_index=True), strict=True):
            self._found(person, int(place), rows[leads[order[first]]])

    def _found(self, person: int, at: int, row: Vector) -> None:
        self._codes[person, at] = POSSIBLE
        self._needed[person, at] = True
        self._examples[person, at] = row


class _Solver:
    """Exact distances with all features fixed but a few."""

    def __init__(self, training: TrainingData, batch: QueryBatch) -> None:
        self._training, self._batch = training, batch
        #: Whether a method reads the model, as far as is known.
        self.reads = True

    def bounds(
        self, person: int, features: tuple[int, ...], time_limit: float
    ) -> tuple[float, Vector | None] | None:
        """Return a lower bound and a witness; None if the input cannot be read."""
        training, batch = self._training, self._batch
        x, required = batch.inputs[person], batch.requirements
        if np.isnan(x).any():
            return None
        box = range_of_rows(training.table, training.pool.matrix)
        low, high = (np.array(end, dtype=np.float64) for end in box.bounds(len(x)))
        others = np.ones(len(x), dtype=bool)
        others[list(features)] = False
        low, high = np.where(others, x, np.fmin(low, x)), np.where(others, x, np.fmax(high, x))
        domain = replace(box, low=low, high=high)
        query = replace(
            DistanceQuery.of(
                training.model, training.distance, domain, time_limit=time_limit, method="exact"
            ),
            goal=required.goal,
            probability=required.probability,
            rules_of=lambda _: required.rules,
        )
        try:
            bounds = query.bounds_of_row(training.table, x)
        except (UnsupportedModelError, UnsupportedDistanceError):
            self.reads = False  # neither are the others
            return None
        witness = bounds.witness
        row: Vector | None = None if witness is None else training.table.encode_one(witness)[0][0]
        return bounds.lower, row


def _all_values(training: TrainingData, i: int, size: int) -> Vector | None:
    """Return all values of a feature in the training range; None if they are not that few.

    Parameters
    ----------
    size
        How many features change together.
    """
    feature, most = training.table.features[i], ALL_VALUES[size]
    if feature.seen is not None:
        return np.array(feature.seen) if len(feature.seen) <= most else None
    if feature.kind in ("integer", "binary") and feature.high - feature.low < most:
        return np.arange(feature.low, feature.high + 1)
    return None


def _values(training: TrainingData, i: int, size: int) -> Vector:
    """Return values of a feature to try: all of them, or some of the training data's."""
    every, most = _all_values(training, i, size), VALUES[size]
    if every is not None:
        return every
    column = training.pool.matrix[:, i]
    known = np.unique(column[~np.isnan(column)])
    if len(known) <= most:
        return known
    return np.unique(known[np.linspace(0, len(known) - 1, most).round().astype(np.intp)])
