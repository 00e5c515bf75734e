"""The robustness protocol of the paper: explain inputs and noisy copies of them, and compare."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Mask, Matrix, Stack, Vector
from counterset._base.callers import warn_caller
from counterset._base.checks import check_count
from counterset._base.progress import Progress
from counterset.constraints.constraints import (
    Constraints,
    RowConstraints,
    check_per_row,
    constraints_of_rows,
    is_per_row,
)
from counterset.distances import DistanceLike
from counterset.evaluation.judge import PAIR_COLUMNS, SET_COLUMNS, Judge, nothing
from counterset.evaluation.noise import GaussianNoise, Noise
from counterset.exceptions import (
    FewerCounterfactualsWarning,
    InvalidInputError,
    NoCounterfactualError,
)
from counterset.tables.frames import rows_of
from counterset.tables.table import Table

__all__ = ["evaluate"]

#: Up to 500 rows are explained in one call: batches are fast, and the progress bar still moves.
ROWS_AT_ONCE = 500


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
    explainer
        A fitted explainer of this library, anything with ``explain_many``, or a function from one
        row (a Series for a DataFrame, a dict for polars and pyarrow, else a 1-d array) to a set of
        rows.
    X
        The inputs: a table like the training data. For one person pass one row: ``X.iloc[[0]]``.
    target, target_probability, interval, constraints
        What to ask the explainer for, as in :meth:`DiverseExplainer.explain`; a regression needs
        an ``interval``. They are passed on to ``explain_many`` or to the function, which must have
        parameters of these names. Constraints may be given for each row, as in
        :meth:`DiverseExplainer.explain_many`; the copies of an input have its constraints.
    repeats
        The number of noisy copies of each input.
    random_state
        The seed of the noise. The same number gives the same table, except for the column
        ``seconds``.
    noise
        Draws the copies, see :class:`~counterset.evaluation.noise.GaussianNoise`.
    distance
        The distance to measure in, taken in the explainer's scaled space; None: the explainer's
        own. For explainers that are not of this library: L1, in a space where each training
        feature spans [0, 1].
    model, training
        The model and the training rows; needed when ``explainer`` does not know them.
    progress
        Show a progress bar on the error stream.

    Returns
    -------
    DataFrame
        One row per (input, repeat). An empty set has a validity of 0, and its distances are NaN.
        An input for which the model already predicts what was asked for is not explained: it has 0
        counterfactuals, and all its figures are NaN, the validity too.

        - ``input``, ``repeat``: the input's index, and the number of its copy, from 1.
        - ``same_class``: False where no copy was found that has the input's class and is not what
          was asked for either (for an interval: that lies outside, as the input does); the columns
          that need a copy are then NaN.
        - ``counterfactuals``: the number of counterfactuals in the input's set.
        - ``validity``: the share of them that the model, asked again, predicts to be what was asked
          for: of a target class, in the interval, probable enough; if nothing was asked for, of
          another class than the input.
        - ``k_distance``, ``k_diversity``, ``sparsity``: of the input's set, see
          :mod:`counterset.metrics`; the k-diversity of one counterfactual is 0.
        - ``set_distance_mean``, ``set_distance_max``: between the input's set and the copy's.
        - ``input_distance``: from the input to its copy. A set-distance of this size means that
          the set changes as much as the input does.
        - ``seconds``: per explanation, without fitting. Batches are explained together, so this is
          the time of the batch divided by its size.

        ``table.attrs["differences"]`` has how much the copies differ from their inputs on average,
        in the units of each number, by its name.

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

    >>> explainer = DiverseExplainer(lambda rows: rows.sum(axis=1), diversity=None).fit(X)
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
        # Another explainer says itself what falls short.
        wanted = getattr(explainer, "max_counterfactuals", None)
        measured = _measure_pairs(
            explain, judge, inputs, copies, found, wanted=wanted, shown=progress
        )
    missing = nothing() | dict.fromkeys([*PAIR_COLUMNS, "seconds"], np.nan)
    records = [
        {"input": index[i], "repeat": repeat + 1, "same_class": False} | figures
        for i in range(len(rows))
        for repeat, figures in enumerate([missing] * repeats if done[i] else next(measured))
    ]
    table = pd.DataFrame.from_records(records, columns=_COLUMNS)
    table.attrs["differences"] = differences
    return table


_COLUMNS = ["input", "repeat", "same_class", *SET_COLUMNS, *PAIR_COLUMNS, "seconds"]


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
        """Draw noisy copies that are in the same case as their inputs."""

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
            f"Of {len(sets)} inputs and copies, {few} have fewer than {wanted} counterfactuals."
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
    """Find out how to explain inputs, and check that what is asked for can be passed on."""
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
            f"{what} has no parameter {' or '.join(map(repr, refused))}, so it cannot be asked for "
            f"that. Leave it out, or pass an explainer that takes it."
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
    except (TypeError, ValueError):  # some functions written in C do not tell
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
