"""The robustness protocol of the paper: explain inputs and noisy copies of them, and compare."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from counterset import distances, metrics
from counterset._base.arrays import Indices, Labels, Mask, Matrix, Stack, Vector
from counterset._base.checks import check_count
from counterset._base.progress import Progress, warn_caller
from counterset.constraints.constraints import (
    Constraints,
    RowConstraints,
    check_per_row,
    constraints_of_rows,
    is_per_row,
)
from counterset.distances import CustomDistance, DistanceLike
from counterset.evaluation.noise import GaussianNoise, Noise, NumericColumns
from counterset.evaluation.option_keys import option_keys
from counterset.exceptions import (
    FewerCounterfactualsWarning,
    InvalidInputError,
    NoCounterfactualError,
)
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.goals import (
    AnyOther,
    Classes,
    Goal,
    InInterval,
    check_probability,
    is_confident,
    set_goal,
)
from counterset.tables.frames import rows_of
from counterset.tables.schema import Schema
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["Judge", "evaluate"]

#: Up to 500 rows are explained in one call: batches are fast, and the progress bar still moves.
ROWS_AT_ONCE = 500
#: The columns of the table that describe one set, and those that compare two.
SET_COLUMNS = ["counterfactuals", "validity", "k_distance", "k_diversity", "sparsity"]
PAIR_COLUMNS = [
    "set_distance_mean", "set_distance_max", "coverage", "jump", "kept", "covered",
    "input_distance",
]  # fmt: skip
COLUMNS = ["input", "repeat", "same_class", *SET_COLUMNS, *PAIR_COLUMNS, "seconds"]


def evaluate(
    explainer: Any,
    X: Any,
    *,
    target: Any = None,
    target_probability: float | None = None,
    interval: tuple[float, float] | None = None,
    constraints: RowConstraints = None,
    repeats: int = 3,
    random_state: int | np.random.Generator | None = 0,
    noise: Noise = GaussianNoise(),
    distance: DistanceLike | None = None,
    model: Any = None,
    training: Any = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Measure how good explanations are, and how much they change when the input hardly does.

    Each input is explained, and so are ``repeats`` noisy copies of it that the model puts into
    the same class. The two sets are then compared. This is the protocol of the paper's
    experiments.

    Parameters
    ----------
    explainer : DiverseExplainer, object with ``explain_many``, or callable
        A fitted explainer of this library, any other object with an ``explain_many`` method, or a
        function from one row to a set of rows. The function gets a Series if ``X`` is a DataFrame,
        a dict if it is a table of polars or pyarrow, else a 1-d array.
    X : table or array of shape (n_inputs, n_features)
        The inputs, in the format of the training data. For one person pass one row:
        ``X.iloc[[0]]``.
    target : class, default=None
        The wanted class, as in :meth:`counterset.DiverseExplainer.explain`. None: any other class.
    target_probability : float, default=None
        The least probability that the wanted class must have.
    interval : tuple of (float, float), default=None
        The wanted range of a regression, which needs one.
    constraints : Constraints, callable or sequence, default=None
        What may change, as in :meth:`counterset.DiverseExplainer.explain_many`. Copies have the
        constraints of their input. All four are passed on to ``explain_many`` or to the function,
        which must have parameters of these names.
    repeats : int, default=3
        The number of noisy copies of each input.
    random_state : int, Generator or None, default=0
        The seed of the noise. The same number gives the same table, except for the column
        ``seconds``.
    noise : Noise, default=GaussianNoise()
        Draws the copies, see :class:`~counterset.evaluation.GaussianNoise`.
    distance : str, Distance or callable, default=None
        The distance to measure in, taken in the explainer's scaled space. None: the explainer's
        own. For explainers that are not of this library: L1, in a space where each training
        feature spans [0, 1].
    model : object, default=None
        The model that is explained. Needed if ``explainer`` has no attribute ``model``.
    training : table or array, default=None
        The training rows. Needed if ``explainer`` is not of this library.
    progress : bool, default=False
        Show a progress bar on the error stream.

    Returns
    -------
    DataFrame
        One row per (input, repeat). An empty set has a validity of 0, and its distances are NaN.
        An input for which the model already predicts what was asked for is not explained: it has 0
        counterfactuals, and all its figures are NaN, the validity too.

        - ``input``, ``repeat``: the input's index, and the number of its copy, from 1.
        - ``same_class``: whether a copy was found that has the input's class and does not meet
          the goal. For an interval it is enough that both lie outside. If False, the columns that
          need a copy are NaN.
        - ``counterfactuals``: the number of counterfactuals in the input's set.
        - ``validity``: the share of them that meet the goal when the model is asked again. They
          have the target class with enough probability, or lie in the interval. Without a goal
          they have another class than the input.
        - ``k_distance``, ``k_diversity``, ``sparsity``: of the input's set, see
          :mod:`counterset.metrics`; the k-diversity of one counterfactual is 0.
        - ``set_distance_mean``, ``set_distance_max``: between the input's set and the copy's.
        - ``coverage``: how far the nearest option of each is from the set of the other, see
          :func:`counterset.metrics.coverage`.
        - ``jump``: the mean set-distance beyond the difference between the two inputs themselves,
          see :func:`counterset.metrics.jump`.
        - ``kept``: the share of the input's options that the copy is offered too. Two options are
          the same if they change the same features: numbers, times and ordinals in the same
          direction, categories to the same value.
        - ``covered``: 1 if the nearest option of the copy is one of the input's, else 0.
        - ``input_distance``: from the input to its copy. A set-distance of this size means that
          the set changes as much as the input does.
        - ``seconds``: per explanation, without fitting. Inputs are explained in batches, so this
          is the time of the batch divided by its size.

        ``table.attrs["differences"]`` maps the name of each number to how much the copies differ
        from their inputs on average, in its own units.

    See Also
    --------
    counterset.evaluation.stability : Which options of one explanation near copies are offered.
    survival : Which options still work after the model was trained again.
    counterset.evaluation.tune : Compare settings.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer, evaluate
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 1, max_counterfactuals=2)
    >>> table = evaluate(explainer.fit(X), X[:2], repeats=1)
    >>> table[["input", "repeat", "validity", "k_distance", "set_distance_max"]].round(3)
       input  repeat  validity  k_distance  set_distance_max
    0      0       1       1.0       0.095             0.008
    1      1       1       1.0       0.957             0.036

    Any function from an input to a set can be measured:

    >>> corners = lambda x: [[0.0, 0.0]] if x.sum() > 1 else [[1.0, 1.0]]
    >>> table = evaluate(corners, X[:2], model=explainer.model, training=X)
    >>> float(table["set_distance_max"].max())
    0.0

    A regression is evaluated for the range that is wanted:

    >>> explainer = DiverseExplainer(lambda rows: rows.sum(axis=1), max_counterfactuals=1).fit(X)
    >>> table = evaluate(explainer, X[:2], interval=(1.5, 2), repeats=1)
    >>> table["validity"].tolist()
    [1.0, 1.0]
    """
    check_count(repeats, "repeats")
    asked = {
        "target": target,
        "target_probability": target_probability,
        "interval": interval,
        "constraints": constraints,
    }
    explain = _explain_function(
        explainer, {name: value for name, value in asked.items() if value is not None}
    )
    judge = Judge.of(
        explainer,
        model,
        training,
        distance,
        target=target,
        probability=target_probability,
        interval=interval,
    )
    rows, index = judge.table.encode(X)
    per_row = is_per_row(constraints)
    if per_row:
        check_per_row(constraints, index)
    answers = judge.model.answers(rows)
    done = judge.meets_goal(answers, answers.labels)
    measured: Iterator[list[dict[str, Any]]] = iter(())
    differences: dict[str, float] = {}
    if not done.all():
        which = np.flatnonzero(~done)
        inputs = _Inputs(rows[which], answers.labels[which], index[which])
        if per_row:
            inputs = inputs.with_constraints(constraints, judge.table, which)
        random = np.random.default_rng(random_state)
        copies, found = inputs.copies(judge, noise, repeats, random)
        originals = inputs.rows[np.nonzero(found)[0]]
        differences = judge.numeric_columns.differences(originals, copies[found])
        # Other explainers have no such parameter, and give their own warnings.
        wanted = getattr(explainer, "max_counterfactuals", None)
        measured = _measure_pairs(
            explain, judge, inputs, copies, found, wanted=wanted, shown=progress
        )
    missing = no_figures() | dict.fromkeys([*PAIR_COLUMNS, "seconds"], np.nan)
    records = [
        {"input": index[i], "repeat": repeat + 1, "same_class": False} | figures
        for i in range(len(rows))
        for repeat, figures in enumerate([missing] * repeats if done[i] else next(measured))
    ]
    table = pd.DataFrame.from_records(records, columns=COLUMNS)
    table.attrs["differences"] = differences
    return table


@dataclass(frozen=True)
class _Inputs:
    """The inputs to explain: encoded rows, their labels, their index, and their constraints.

    The constraints are None if they are not given for each input.
    """

    rows: Matrix
    labels: Labels
    index: pd.Index
    constraints: list[Constraints | None] | None = None

    def with_constraints(self, given: Any, table: Table, which: Indices) -> _Inputs:
        """Return the inputs, at these positions of the table, with the constraints of each."""
        each = constraints_of_rows(given, lambda: table.decode(self.rows, self.index), which)
        return replace(self, constraints=each)

    def copies(
        self, judge: Judge, noise: Noise, repeats: int, random: np.random.Generator
    ) -> tuple[Stack, Mask]:
        """Draw noisy copies that have the class of their inputs and do not meet the goal."""

        def same_class(copies: Matrix, owners: Indices) -> Mask:
            return judge.of_same_class(copies, self.labels[owners])

        return noise.copies(self.rows, judge.numeric_columns, repeats, same_class, random)


def _measure_pairs(
    explain: _Explain,
    judge: Judge,
    inputs: _Inputs,
    copies: Stack,
    found: Mask,
    *,
    wanted: int | None,
    shown: bool,
) -> Iterator[list[dict[str, Any]]]:
    """Explain inputs and their copies, and yield the figures of each input's pairs."""
    with Progress(len(inputs.rows) + int(found.sum()), "explain", shown=shown) as bar:
        sets, seconds = _explain_all(explain, inputs, judge.table, bar)
        owners = np.nonzero(found)[0]
        each, labels = inputs.constraints, inputs.labels[owners]
        noisy = _Inputs(
            copies[found],
            labels,
            pd.RangeIndex(len(owners)),
            None if each is None else [each[i] for i in owners],
        )
        copy_sets, copy_seconds = _explain_all(explain, noisy, judge.table, bar)
    _warn_of_few([*sets, *copy_sets], wanted)
    number = np.full(found.shape, -1)  # of each copy among those that were found
    number[found] = np.arange(len(copy_sets))
    for i, x in enumerate(inputs.rows):
        own = judge.of_set(x, inputs.labels[i : i + 1], sets[i])
        records = []
        for repeat, k in enumerate(number[i]):
            record = own | dict.fromkeys(PAIR_COLUMNS, np.nan) | {"seconds": seconds[i]}
            if found[i, repeat]:
                record |= judge.of_pair(x, copies[i, repeat], sets[i], copy_sets[k])
                record |= {"same_class": True, "seconds": (seconds[i] + copy_seconds[k]) / 2}
            records.append(record)
        yield records


def _warn_of_few(sets: list[Matrix], wanted: int | None) -> None:
    """Warn once if some sets are empty or smaller than was asked for."""
    sizes = np.array([len(each) for each in sets])
    none, few = int((sizes == 0).sum()), int((sizes < (wanted or 0)).sum())
    if few:
        missing = f" {none} have none: their distances are missing in the table." if none else ""
        warn_caller(
            f"Of {len(sets)} inputs and copies, {few} {'has' if few == 1 else 'have'} fewer than "
            f"{wanted} counterfactuals."
            f"{missing}",
            FewerCounterfactualsWarning,
        )


class _Explain(NamedTuple):
    """A function from a table of inputs, and the constraints of each, to their sets.

    It takes at most ``at_once`` inputs at a time. The constraints may be None.
    """

    function: Callable[[Any, list[Constraints | None] | None], Iterable[Any]]
    at_once: int


def _explain_function(explainer: Any, asked: dict[str, Any]) -> _Explain:
    """Return the function that explains inputs; check that it takes all that is passed on."""
    many = getattr(explainer, "explain_many", None)
    if many is None and not callable(explainer):
        raise InvalidInputError(
            f"The explainer must have an explain_many method or be a function from an input to a "
            f"set of rows, got {type(explainer).__name__}."
        )
    function = explainer if many is None else many
    refused = [name for name in asked if not _takes(function, name)]
    if refused:
        what = "The explainer" if many is None else "explain_many of the explainer"
        raise InvalidInputError(
            f"{what} has no parameter {' or '.join(map(repr, refused))}. Leave it out, or pass an "
            f"explainer that takes it."
        )

    quiet = {"if_none": "ignore"} if _takes(function, "if_none") else {}

    def explain_many(inputs: Any, constraints: list[Constraints | None] | None) -> Iterable[Any]:
        own = {} if constraints is None else {"constraints": constraints}
        answers: Iterable[Any] = function(inputs, **(asked | own | quiet))
        return answers

    def explain_each(inputs: Any, constraints: list[Constraints | None] | None) -> list[Any]:
        own = (
            [{}] * len(inputs) if constraints is None else [{"constraints": c} for c in constraints]
        )
        return [
            function(row, **(asked | each)) for row, each in zip(rows_of(inputs), own, strict=True)
        ]

    return _Explain(explain_each, 1) if many is None else _Explain(explain_many, ROWS_AT_ONCE)


def _takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a function can be called with a parameter of this name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions written in C have no signature
        return False
    any_name = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    return any_name or name in parameters


def _explain_all(
    explain: _Explain, given: _Inputs, table: Table, bar: Progress
) -> tuple[list[Matrix], Vector]:
    """Explain rows, in batches if the explainer can; return the set and the seconds of each."""
    sets: list[Matrix] = []
    seconds = np.empty(len(given.rows))
    for start in range(0, len(given.rows), explain.at_once):
        part = slice(start, min(start + explain.at_once, len(given.rows)))
        inputs = table.decode(given.rows[part], given.index[part])
        constraints = None if given.constraints is None else given.constraints[part]
        before = time.perf_counter()
        answers = _explain_batch(explain, inputs, constraints)
        seconds[part] = (time.perf_counter() - before) / len(inputs)
        sets.extend(_as_matrix(answer, table) for answer in answers)
        bar.advance(len(inputs))
    return sets, seconds


def _explain_batch(
    explain: _Explain, inputs: Any, constraints: list[Constraints | None] | None
) -> list[Any]:
    """Explain a batch, one by one if some input of it has no counterfactual (None stands there)."""
    try:
        answers = list(explain.function(inputs, constraints))
    except NoCounterfactualError:
        if len(inputs) == 1:
            return [None]
        parts = [slice(i, i + 1) for i in range(len(inputs))]
        return [
            _explain_batch(
                explain, inputs[part], None if constraints is None else constraints[part]
            )[0]
            for part in parts
        ]
    if len(answers) != len(inputs):
        raise InvalidInputError(
            f"explain_many got {len(inputs)} inputs and returned {len(answers)} sets. "
            f"It must return one set per input, in the same order."
        )
    return answers


def _as_matrix(answer: Any, table: Table) -> Matrix:
    """Encode a set given in any form: an Explanation, a table, or None."""
    rows = getattr(answer, "counterfactuals", answer)
    if rows is None or len(rows) == 0:
        return np.empty((0, len(table.features)))
    matrix, _ = table.encode(rows)
    return matrix


@dataclass(frozen=True)
class Judge:
    """Measures sets of counterfactuals, given as matrices of encoded rows.

    Attributes
    ----------
    table
        The columns of the training data.
    model
        The model that is explained, asked in encoded rows.
    distance
        The distance between encoded rows.
    space
        The space in which it is taken.
    goal, probability
        What a counterfactual must lead to, and how probable that must be (None: does not matter).
    """

    table: Table
    model: ModelAdapter
    distance: CustomDistance
    space: Space
    goal: Goal
    probability: float | None

    @classmethod
    def of(
        cls,
        explainer: Any,
        model: Any,
        training: Any,
        distance: DistanceLike | None,
        *,
        target: Any,
        probability: float | None,
        interval: tuple[float, float] | None,
    ) -> Judge:
        """Read the model and the distance from the explainer, or from the other arguments."""
        check_probability(probability)
        model = model if model is not None else getattr(explainer, "model", None)
        measure = _measure(explainer, training, distance)
        if model is None or measure is None:
            raise InvalidInputError(
                f"evaluate needs the model and the training rows, but the explainer, a "
                f"{type(explainer).__name__}, does not hold them. Pass model=... and training=..., "
                f"or a fitted explainer of this library."
            )
        adapter = ModelAdapter(model, measure.table, with_confidence=probability is not None)
        goal = _read_goal(explainer, training, adapter, target, interval)
        between_rows = CustomDistance(measure.pairwise)
        return cls(measure.table, adapter, between_rows, measure.space, goal, probability)

    @property
    def numeric_columns(self) -> NumericColumns:
        """The columns that noise applies to."""
        return NumericColumns.of(self.table, self.space)

    def meets_goal(self, answers: Answers, input_labels: Labels) -> Mask:
        """Return which answers meet the goal, given the label of the input of each."""
        accepted = self.goal.accepts(answers.labels, input_labels)
        return accepted & is_confident(answers, self.probability)

    def of_same_class(self, copies: Matrix, input_labels: Labels) -> Mask:
        """Return which copies have the label of their input and do not meet the goal, one by one.

        Predicted numbers are hardly ever equal, so for an interval it is enough that both lie
        outside.
        """
        answers = self.model.answers(copies)
        alike = ~self.meets_goal(answers, input_labels)
        if isinstance(self.goal, InInterval):
            return alike
        alike &= np.asarray(answers.labels == input_labels, dtype=bool)
        return alike

    def of_set(self, x: Vector, label: Labels, S: Matrix) -> dict[str, float]:
        """Measure the set of one input; its label is an array of one."""
        if len(S) == 0:
            return no_figures() | {"validity": 0.0}
        meets = self.meets_goal(self.model.answers(S), np.repeat(label, len(S)))
        return {
            "counterfactuals": len(S),
            "validity": float(np.mean(meets)),
            "k_distance": metrics.k_distance(x, S, self.distance),
            "k_diversity": metrics.k_diversity(S, self.distance),
            "sparsity": metrics.sparsity(x, S),
        }

    def of_pair(self, x: Vector, copy: Vector, S: Matrix, other: Matrix) -> dict[str, float]:
        """Compare the sets of an input and of its copy."""
        pair = dict.fromkeys(PAIR_COLUMNS, np.nan)
        pair["input_distance"] = float(self.distance(x, copy)[0, 0])
        if len(S) and len(other):
            pair["set_distance_mean"] = metrics.set_distance(S, other, self.distance, how="mean")
            pair["set_distance_max"] = metrics.set_distance(S, other, self.distance, how="max")
            nearest = np.argsort(self.distance(copy, other)[0], kind="stable")
            own = S[np.argsort(self.distance(x, S)[0], kind="stable")]
            pair["coverage"] = metrics.coverage(own, other[nearest], self.distance)
            pair["jump"] = metrics.jump(x, S, copy, other, self.distance)
            known = option_keys(x, S, self.table)
            offered = option_keys(copy, other, self.table)
            pair["kept"] = float(np.mean([key in offered for key in known]))
            pair["covered"] = float(offered[nearest[0]] in known)
        return pair


def no_figures() -> dict[str, float]:
    """Return the figures of an input that has no set: all are missing."""
    figures: dict[str, float] = dict.fromkeys(SET_COLUMNS, np.nan)
    return figures | {"counterfactuals": 0}


def _measure(explainer: Any, training: Any, distance: DistanceLike | None) -> TableDistance | None:
    """Return the distance between rows in the model's own units; None if the scale is unknown."""
    if isinstance(distance, TableDistance):
        return distance
    measure = getattr(explainer, "distance_", None)
    if training is not None:
        table, matrix = Table.learn(training, Schema(step=0))
        measure = TableDistance(table, Space.learn(matrix, table, "range"), distances.get("l1"))
    if not isinstance(measure, TableDistance):
        return None
    return measure if distance is None else replace(measure, inner=distances.get(distance))


def _read_goal(
    explainer: Any,
    training: Any,
    model: ModelAdapter,
    target: Any,
    interval: tuple[float, float] | None,
) -> Goal:
    """Return the goal, and check that the model predicts it for some training rows."""
    labels = getattr(explainer, "classes_", None)
    if labels is None and training is not None:
        labels = model.labels(model.table.encode(training)[0])
    if labels is None:
        if target is None and interval is None:
            return AnyOther()
        raise InvalidInputError(
            "evaluate needs the training rows, to check that the model predicts what you want for "
            "some of them. Pass training=..."
        )
    classes, _ = Classes.learn(np.asarray(labels))
    return set_goal(classes, target, interval)
