"""The robustness protocol of the paper: explain inputs and noisy copies of them, and compare."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from counterset import distances, metrics
from counterset._base.arrays import Indices, Mask, Matrix, Vector
from counterset._base.checks import check_count
from counterset._base.progress import Progress
from counterset.distances import CustomDistance, DistanceLike
from counterset.exceptions import InvalidInputError, NoCounterfactualError
from counterset.models.adapter import ModelAdapter
from counterset.noise import GaussianNoise, Noise, NumericColumns
from counterset.tables.space import Space, TableDistance
from counterset.tables.table import Table

__all__ = ["evaluate"]

#: Up to 500 rows are explained in one call: batches are fast, and the progress bar still moves.
ROWS_AT_ONCE = 500


def evaluate(
    explainer: Any,
    X: Any,
    *,
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
        row (a Series for a DataFrame, else a 1-d array) to a set of rows.
    X
        The inputs: a table like the training data. For one person pass one row: ``X.iloc[[0]]``.
    repeats
        The number of noisy copies of each input.
    random_state
        The seed of the noise. The same number gives the same table, except for the column
        ``seconds``.
    noise
        Draws the copies, see :class:`~counterset.noise.GaussianNoise`.
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

        - ``input``, ``repeat``: the input's index, and the number of its copy, from 1.
        - ``same_class``: False where no copy of the input's class was found; the columns that
          need a copy are then NaN.
        - ``counterfactuals``: the number of counterfactuals in the input's set.
        - ``validity``: the share of them that the model, asked again, classifies differently from
          the input.
        - ``k_distance``, ``k_diversity``, ``sparsity``: of the input's set, see
          :mod:`counterset.metrics`; the k-diversity of one counterfactual is 0.
        - ``set_distance_mean``, ``set_distance_max``: between the input's set and the copy's.
        - ``input_distance``: from the input to its copy. A set-distance of this size means that
          the set changes as much as the input does.
        - ``seconds``: per explanation, without fitting. Batches are explained together, so this is
          the time of the batch divided by its size.

    Examples
    --------
    >>> import numpy as np
    >>> from counterset import DiverseExplainer, LineSearch, evaluate
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> explainer = DiverseExplainer(
    ...     lambda rows: rows.sum(axis=1) > 1, search=LineSearch(0.001), max_counterfactuals=2
    ... )
    >>> table = evaluate(explainer.fit(X), X[:2], repeats=1)
    >>> table[["input", "repeat", "validity", "k_distance", "set_distance_max"]].round(3)
       input  repeat  validity  k_distance  set_distance_max
    0      0       1       1.0       0.094             0.002
    1      1       1       1.0       0.949             0.000

    Any function from an input to a set can be measured:

    >>> corners = lambda x: [[0.0, 0.0]] if x.sum() > 1 else [[1.0, 1.0]]
    >>> table = evaluate(corners, X[:2], model=explainer.model, training=X)
    >>> float(table["set_distance_max"].max())
    0.0
    """
    check_count(repeats, "repeats")
    judge = _Judge.of(explainer, model, training, distance)
    rows, index = judge.table.encode(X)
    labels = judge.model.labels(rows)

    def same_class(copies: Matrix, owners: Indices) -> Mask:
        return np.asarray(judge.model.labels(copies) == labels[owners], dtype=bool)

    copies, found = noise.copies(
        rows,
        NumericColumns.of(judge.table),
        repeats,
        same_class,
        np.random.default_rng(random_state),
    )
    with Progress(len(rows) + int(found.sum()), "explain", shown=progress) as bar:
        sets, seconds = _explain_all(explainer, rows, judge.table, bar, index)
        copy_sets, copy_seconds = _explain_all(explainer, copies[found], judge.table, bar)
    own = [judge.of_set(*each) for each in zip(rows, labels, sets, strict=True)]
    number = np.full(found.shape, -1)  # of each copy among those that were found
    number[found] = np.arange(len(copy_sets))
    records = []
    for i, repeat in np.ndindex(found.shape):
        record = {"input": index[i], "repeat": repeat + 1, "same_class": bool(found[i, repeat])}
        record |= own[i] | dict.fromkeys(_PAIR_COLUMNS, np.nan) | {"seconds": seconds[i]}
        if found[i, repeat]:
            k = number[i, repeat]
            record |= judge.of_pair(rows[i], copies[i, repeat], sets[i], copy_sets[k])
            record["seconds"] = (seconds[i] + copy_seconds[k]) / 2
        records.append(record)
    return pd.DataFrame.from_records(records, columns=_COLUMNS)


_PAIR_COLUMNS = ["set_distance_mean", "set_distance_max", "input_distance"]
_SET_COLUMNS = ["counterfactuals", "validity", "k_distance", "k_diversity", "sparsity"]
_COLUMNS = ["input", "repeat", "same_class", *_SET_COLUMNS, *_PAIR_COLUMNS, "seconds"]


@dataclass(frozen=True)
class _Judge:
    """Measures sets, given as matrices of encoded rows.

    Attributes
    ----------
    table
        The columns of the training data.
    model
        The model that is explained, asked in encoded rows.
    distance
        The distance between encoded rows.
    """

    table: Table
    model: ModelAdapter
    distance: CustomDistance

    @classmethod
    def of(cls, explainer: Any, model: Any, training: Any, distance: DistanceLike | None) -> _Judge:
        """Take what the explainer knows from it, and the rest from the caller."""
        model = model if model is not None else getattr(explainer, "model", None)
        measure = _measure(explainer, training, distance)
        if model is None or measure is None:
            raise InvalidInputError(
                f"evaluate needs the model and the training rows, but the explainer, a "
                f"{type(explainer).__name__}, does not hold them. Pass model=... and training=..., "
                f"or a fitted explainer of this library."
            )
        return cls(
            measure.table, ModelAdapter(model, measure.table), CustomDistance(measure.pairwise)
        )

    def of_set(self, x: Vector, label: Any, S: Matrix) -> dict[str, float]:
        """Measure the set of one input."""
        if len(S) == 0:
            empty: dict[str, float] = dict.fromkeys(_SET_COLUMNS, np.nan)
            return empty | {"counterfactuals": 0, "validity": 0.0}
        return {
            "counterfactuals": len(S),
            "validity": float(np.mean(self.model.labels(S) != label)),
            "k_distance": metrics.k_distance(x, S, self.distance),
            "k_diversity": metrics.k_diversity(S, self.distance),
            "sparsity": metrics.sparsity(x, S),
        }

    def of_pair(self, x: Vector, copy: Vector, S: Matrix, other: Matrix) -> dict[str, float]:
        """Compare the sets of an input and of its copy."""
        pair = dict.fromkeys(_PAIR_COLUMNS, np.nan)
        pair["input_distance"] = float(self.distance(x, copy)[0, 0])
        if len(S) and len(other):
            pair["set_distance_mean"] = metrics.set_distance(S, other, self.distance, how="mean")
            pair["set_distance_max"] = metrics.set_distance(S, other, self.distance, how="max")
        return pair


def _measure(explainer: Any, training: Any, distance: DistanceLike | None) -> TableDistance | None:
    """Find the distance on rows in the model's own units; None where the scale is not known."""
    if isinstance(distance, TableDistance):
        return distance
    measure = getattr(explainer, "distance_", None)
    if training is not None:
        table, matrix = Table.learn(training)
        measure = TableDistance(table, Space.learn(matrix, table, "range"), distances.get("l1"))
    if not isinstance(measure, TableDistance):
        return None
    return measure if distance is None else replace(measure, inner=distances.get(distance))


def _explain_all(
    explainer: Any, rows: Matrix, table: Table, bar: Progress, index: pd.Index | None = None
) -> tuple[list[Matrix], Vector]:
    """Explain rows, in batches if the explainer can; return the set and the seconds of each."""
    many = getattr(explainer, "explain_many", None)
    at_once = 1 if many is None else ROWS_AT_ONCE
    explain = many if many is not None else _one_by_one(explainer)
    sets: list[Matrix] = []
    seconds = np.empty(len(rows))
    for start in range(0, len(rows), at_once):
        part = slice(start, min(start + at_once, len(rows)))
        inputs = table.decode(rows[part], None if index is None else index[part])
        before = time.perf_counter()
        answers = _explain_batch(explain, inputs)
        seconds[part] = (time.perf_counter() - before) / len(inputs)
        sets.extend(_as_matrix(answer, table) for answer in answers)
        bar.advance(len(inputs))
    return sets, seconds


def _explain_batch(explain: Callable[[Any], Any], inputs: Any) -> list[Any]:
    """Explain a batch, one by one if some input of it has no counterfactual (None stands there)."""
    try:
        answers = list(explain(inputs))
    except NoCounterfactualError:
        if len(inputs) == 1:
            return [None]
        return [_explain_batch(explain, inputs[i : i + 1])[0] for i in range(len(inputs))]
    if len(answers) != len(inputs):
        raise InvalidInputError(
            f"explain_many got {len(inputs)} inputs and returned {len(answers)} sets. "
            f"It must return one set per input, in the same order."
        )
    return answers


def _one_by_one(explainer: Any) -> Callable[[Any], Any]:
    if not callable(explainer):
        raise InvalidInputError(
            f"The explainer must have an explain_many method or be a function from an input to a "
            f"set of rows, got {type(explainer).__name__}."
        )

    def explain(inputs: Any) -> list[Any]:
        rows = inputs.iloc if isinstance(inputs, pd.DataFrame) else inputs
        return [explainer(rows[i]) for i in range(len(inputs))]

    return explain


def _as_matrix(answer: Any, table: Table) -> Matrix:
    """Encode a set given in any form: an Explanation, a table, or None."""
    rows = getattr(answer, "counterfactuals", answer)
    if rows is None or len(rows) == 0:
        return np.empty((0, len(table.features)))
    matrix, _ = table.encode(rows)
    return matrix
