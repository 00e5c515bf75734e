"""Explainers side by side: each is asked about the same inputs and noisy copies of them.

Every explainer runs in a process of its own, with limits (:mod:`counterset.paper.isolation`). All
are measured in one distance, by the same definitions:

- An option is usable if the model, asked again, puts it into another class than the input, and if
  it changes no feature that may not change. All figures but ``validity`` and ``violations`` are of
  the usable options.
- An option survives if another model, trained again on rows drawn with replacement, puts it into
  another class than the input too. These models took no part in the search.
- Intervals are bootstrap intervals over the inputs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterset import __version__, metrics
from counterset._base.arrays import Labels, Mask, Matrix, Vector
from counterset._base.files import written_aside
from counterset.constraints.constraints import Constraints
from counterset.evaluation.evaluate import Judge
from counterset.evaluation.noise import GaussianNoise
from counterset.evaluation.tuning import ReportTable
from counterset.exact import Box, counterfactual_distance
from counterset.exceptions import CountersetError, InvalidInputError
from counterset.paper.cells import CellError
from counterset.paper.isolation import LONGEST_MESSAGE, MEMORY, IsolatedPeer, KeptAnswers
from counterset.paper.peers.protocol import check_peer
from counterset.paper.reproduce import ResultsFolder, fingerprint
from counterset.paper.tasks import Task
from counterset.plots.style import pyplot
from counterset.tables.schema import Schema
from counterset.tables.table import changed

__all__ = [
    "FIGURES",
    "OPTIMUM",
    "WRITTEN",
    "Comparer",
    "Comparison",
    "Entry",
    "Figure",
    "intervals",
]

#: The name under which the proved optima of a task are kept.
OPTIMUM = "optimum"
#: The files of the report.
WRITTEN = TABLE, MARKDOWN, PLOT = ("comparison.csv", "comparison.md", "comparison.png")
#: Up to 500 test rows tell how often retrained models agree with the model.
ROWS_TO_AGREE_ON = 500
#: Where the nearest counterfactual is closer than a ten-thousandth of a usual range, any step is
#: many times the optimum. Such inputs have no ratio.
BOUNDARY = 1e-4
#: Some explainers round, or compute in single precision: a number that differs by a millionth of
#: its usual range has not changed.
ROUNDED = 1e-6
#: Intervals are 95 % intervals from 1,000 draws of inputs.
DRAWS = 1000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Figure:
    """A column of the table.

    Attributes
    ----------
    name
        Its name in the CSV file.
    heading
        Its name in the printed table.
    form
        How its values are written.
    of
        The column of the records that it is made of.
    statistic
        What is taken of them. The mean is over the mean of each input.
    """

    name: str
    heading: str
    form: str = "{:.2f}"
    of: str = ""
    statistic: str = "mean"

    @property
    def column(self) -> str:
        """The column of the records that it is made of."""
        return self.of or self.name


#: What is measured, in the order of the tables: first the sets, then how they last.
FIGURES = (
    Figure("options", "options", "{:.1f}"),
    Figure("validity", "valid", "{:.0%}"),
    Figure("violations", "violations", "{:.0%}"),
    Figure("nearest", "nearest"),
    Figure("k_distance", "k-distance"),
    Figure("ratio", "nearest / optimum", "{:.2f}", statistic="median"),
    Figure("k_diversity", "k-diversity"),
    Figure("sparsity", "features changed", "{:.1f}"),
    Figure("plausibility", "to data"),
    Figure("set_distance_mean", "set-distance (mean)"),
    Figure("set_distance_max", "set-distance (max)"),
    Figure("set_distance_95", "(mean) 95 %", of="set_distance_mean", statistic="95th percentile"),
    Figure("coverage", "coverage"),
    Figure("survival", "option survives", "{:.0%}"),
    Figure("set_survival", "set survives", "{:.0%}"),
    Figure("seconds", "CPU seconds", "{:.2g}"),
    Figure("asked", "rows asked", "{:.0f}"),
)
SETS, LASTING = FIGURES[:9], FIGURES[9:]
NOTE = (
    "Means over the inputs; nearest / optimum: the median; 95 %: the 95th percentile of the "
    "set-distance (mean) over all pairs. In brackets: 95 % bootstrap intervals over the inputs. "
    "CPU seconds and rows asked: per explanation, without fitting. All but valid and violations is "
    "of the options that are valid and keep what may not change."
)


@dataclass(frozen=True)
class Entry:
    """An explainer on a task."""

    data: str
    kind: str
    peer: str

    @property
    def key(self) -> str:
        """A name for files.

        Examples
        --------
        >>> Entry("no2", "boosting", "nice").key
        'no2-boosting-nice'
        """
        return f"{self.data}-{self.kind}-{self.peer}"


@dataclass(frozen=True)
class Comparer:
    """Compares explainers on tasks.

    Parameters
    ----------
    repeats : int, default=3
        The number of noisy copies of each input.
    time_limit : float, default=60.0
        Seconds for one explainer on one task. Inputs that were finished by then are measured.
    memory_limit : float, default=4e9
        Bytes for one explainer.
    proof_limit : float, default=5.0
        Seconds for the proof of the nearest counterfactual of one input.
    retrainings : int, default=5
        The number of models that are trained again.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from counterset.paper.tasks import named_task
    >>> task = named_task("diabetes", "logistic", inputs=2)
    >>> with TemporaryDirectory() as folder:
    ...     comparer = Comparer(repeats=1, retrainings=2)
    ...     comparison = comparer.run([task], ["nearest-rows"], Path(folder))
    >>> comparison.summary[["data", "kind", "peer", "inputs", "options", "validity"]]
           data      kind          peer  inputs  options  validity
    0  diabetes  logistic  nearest-rows       2      5.0       1.0
    """

    repeats: int = 3
    time_limit: float = 60.0
    memory_limit: float = MEMORY
    proof_limit: float = 5.0
    retrainings: int = 5

    def run(
        self,
        tasks: Sequence[Task],
        peers: Sequence[str],
        folder: Path,
        *,
        retry: bool = False,
        progress: bool = False,
    ) -> Comparison:
        """Run what is not in the folder yet.

        Parameters
        ----------
        tasks
            The tables, models and inputs.
        peers
            The names of explainers.
        folder
            Where results are kept, and each answer as soon as it is found. A later call continues
            from there. If the version, the rows, the models or the numbers of inputs, copies or
            retrainings are not the same, it is refused.
        retry
            Run again what failed, and what was not finished within its time.
        progress
            Show a progress bar on the error stream.
        """
        if not peers:
            raise InvalidInputError("There is no explainer to compare. Name at least one.")
        for peer in peers:
            check_peer(peer)
        named = {(task.data, task.kind): task for task in tasks}
        if len(named) < len(tasks):
            raise InvalidInputError("Two tasks have the same names. Give them other names.")
        results = ResultsFolder(folder / "results", self._settings(tasks))
        measures: dict[tuple[str, str], _Measure] = {}

        def run(entry: Entry) -> pd.DataFrame:
            key = entry.data, entry.kind
            if key not in measures:
                measures.clear()  # the models of another task are not needed any more
                measures[key] = _Measure(self, named[key], results)
            if entry.peer == OPTIMUM:
                return measures[key].optima()
            return measures[key].of_peer(entry, folder / "answers")

        entries = [Entry(*key, peer) for key in named for peer in (OPTIMUM, *peers)]
        results.run_all(entries, run, retry=retry, progress=progress, label="compare")
        found = {entry: results.read(entry) for entry in entries}
        return Comparison({entry: table for entry, table in found.items() if table is not None})

    def _settings(self, tasks: Sequence[Task]) -> dict[str, str]:
        """Return what identifies the results: if any of it changes, the figures may change."""
        settings = {
            "version": __version__,
            "copies": str(self.repeats),
            "retrainings": str(self.retrainings),
        }
        for task in tasks:
            name = f"{task.data}, {task.kind}"
            settings[f"training rows of {name}"] = fingerprint([task.rows])
            settings[f"inputs of {name}"] = fingerprint([task.table.encode(task.inputs)[0]])
            settings[f"answers of {name}"] = _answers(task)
            settings[f"immutable in {name}"] = ", ".join(task.immutable)
        return settings


def _answers(task: Task) -> str:
    """Return what identifies a model: its classes and its probabilities on the training rows."""
    _, codes = np.unique(task.labels, return_inverse=True)
    answers: list[Any] = [codes]
    ask = getattr(task.model, "predict_proba", None)
    if ask is not None:
        answers.append(np.asarray(ask(task.X_train), dtype=np.float64).round(9))
    return fingerprint(answers)


class _Measure:
    """Measures the sets of peers on one task."""

    def __init__(self, comparer: Comparer, task: Task, results: ResultsFolder) -> None:
        self._comparer, self._task, self._results = comparer, task, results
        self._judge = Judge.of(
            None, task.model, None, task.distance, target=None, probability=None, interval=None
        )
        self._inputs, _ = task.table.encode(task.inputs)
        self._labels = np.asarray(self._judge.model.answers(self._inputs).labels)
        self._copies, self._found = GaussianNoise().copies(
            self._inputs,
            self._judge.numeric_columns,
            comparer.repeats,
            lambda copies, owners: self._judge.of_same_class(copies, self._labels[owners]),
            np.random.default_rng(0),
        )
        self._fixed = [task.table.position(name) for name in task.immutable]

    @cached_property
    def _retrained(self) -> list[Any]:
        again = self._task.retrain
        return [] if again is None else again(self._comparer.retrainings)

    @cached_property
    def _agreement(self) -> float:
        """The share of test rows that retrained models put into the same class as the model."""
        rows = self._task.X_test[:ROWS_TO_AGREE_ON]
        if not self._retrained or not len(rows):
            return np.nan
        own = np.asarray(self._task.model.predict(rows))
        return float(np.mean([np.asarray(m.predict(rows)) == own for m in self._retrained]))

    def optima(self) -> pd.DataFrame:
        """Return the proved distance to the nearest counterfactual of each input, or why not."""
        task = self._task
        kept = Constraints(immutable=list(task.immutable)) if task.immutable else None
        domain = Box.of(task.X_train, schema=Schema(step=0))
        records = []
        for i in range(len(self._inputs)):
            x = task.inputs[i : i + 1]
            record: dict[str, Any] = {"input": i, "optimum": np.nan, "reason": "", "spent": np.nan}
            try:
                bounds = counterfactual_distance(
                    task.model,
                    x if isinstance(x, pd.DataFrame) else x[0],
                    task.distance,
                    domain.holding(x),
                    constraints=kept,
                    time_limit=self._comparer.proof_limit,
                    method="exact",
                )
            except CountersetError as error:
                record["reason"] = str(error)[:LONGEST_MESSAGE]
            else:
                record["spent"] = bounds.seconds
                record["optimum"] = bounds.lower if bounds.exact else np.nan
                limit = f"not proved within {self._comparer.proof_limit:g} s"
                record["reason"] = "" if bounds.exact else limit
            records.append(record)
        return pd.DataFrame(records).assign(accuracy=task.accuracy, agreement=self._agreement)

    def of_peer(self, entry: Entry, folder: Path) -> pd.DataFrame:
        """Ask a peer about each input and its copies, and return a record for each pair.

        If the peer fails or its time is over, the records are of the inputs that were finished
        before, with the reason. Without any, :class:`CellError` is raised.
        """
        task, comparer = self._task, self._comparer
        known = self._results.read(Entry(entry.data, entry.kind, OPTIMUM))
        optima = np.full(len(self._inputs), np.nan)
        if known is not None and "optimum" in known:
            optima = known["optimum"].to_numpy(dtype=np.float64)
        name = entry.key.replace(":", ".")
        records: list[dict[str, Any]] = []
        peer = IsolatedPeer(
            entry.peer,
            1,
            task.immutable,
            task.alpha,
            time_limit=comparer.time_limit,
            memory_limit=comparer.memory_limit,
        )
        with peer:
            try:
                peer.fit(task.model, task.X_train)
                fitting = peer.cost.seconds
                identity = f"{fingerprint([task.rows])} {_answers(task)} {task.immutable}"
                answers = KeptAnswers(peer, identity, folder / f"{name}.jsonl")
                for i in range(len(self._inputs)):
                    records += self._of_input(answers, i, float(optima[i]))
            except CellError as error:
                if not records:
                    raise
                done = 1 + records[-1]["input"]
                told = f"{error}; the figures are of the first {done} of {len(self._inputs)} inputs"
                return pd.DataFrame(records).assign(fit_seconds=fitting, error=told)
        return pd.DataFrame(records).assign(fit_seconds=fitting)

    def _of_input(self, answers: KeptAnswers, i: int, optimum: float) -> list[dict[str, Any]]:
        """Return a record for each copy of an input."""
        x = self._inputs[i]
        answers.costs.clear()
        own = self._set_of(answers, x, i)
        figures = {"input": i} | self._figures(own, i, optimum)
        records = []
        for repeat, (copy, found) in enumerate(
            zip(self._copies[i], self._found[i], strict=True), start=1
        ):
            pair: dict[str, Any] = {"repeat": repeat, "same_class": bool(found)}
            if found:
                pair |= self._judge.of_pair(x, copy, own.rows, self._set_of(answers, copy, i).rows)
            records.append(figures | pair)
        seconds = float(np.mean([cost.seconds for cost in answers.costs]))
        asked = float(np.mean([cost.rows for cost in answers.costs]))
        return [record | {"seconds": seconds, "asked": asked} for record in records]

    def _set_of(self, answers: KeptAnswers, x: Vector, i: int) -> _Set:
        """Ask about an input or a copy of it, and return the options that can be used."""
        table = self._task.table
        [found] = answers.explain_many(table.decode(x[None, :]))
        try:
            rows = table.encode(found)[0] if len(found) else np.empty((0, len(x)))
        except CountersetError as error:  # what the peer returned cannot be read
            raise CellError(str(error)[:LONGEST_MESSAGE]) from error
        _, first = np.unique(rows, axis=0, return_index=True)
        rows = rows[np.sort(first)]
        valid = violates = np.zeros(len(rows), dtype=bool)
        if len(rows):
            labels = np.asarray(self._judge.model.answers(rows).labels)
            valid = np.asarray(labels != self._labels[i])
            violates = self._changes(x, rows)[:, self._fixed].any(axis=1)
        return _Set(rows[valid & ~violates], valid, violates)

    def _figures(self, own: _Set, i: int, optimum: float) -> dict[str, float]:
        """Measure the set of an input."""
        x, S, distance = self._inputs[i], own.rows, self._judge.distance
        figures = {
            "options": len(S),
            "returned": len(own.valid),
            "validity": float(own.valid.mean()) if len(own.valid) else np.nan,
            "violations": np.nan,
        }
        if self._fixed and len(own.valid):
            figures["violations"] = float(own.violates.mean())
        if not len(S):
            return figures
        nearest = float(distance(x, S).min())
        labels = np.asarray(self._judge.model.answers(S).labels)
        figures |= {
            "k_distance": metrics.k_distance(x, S, distance),
            "nearest": nearest,
            "optimum": optimum,
            "ratio": nearest / optimum if optimum >= BOUNDARY else np.nan,
            "k_diversity": metrics.k_diversity(S, distance),
            "sparsity": float(self._changes(x, S).sum(axis=1).mean()),
            "plausibility": float(
                np.mean(
                    [
                        distance(row, self._task.rows[self._task.labels == label]).min()
                        if (self._task.labels == label).any()
                        else np.nan
                        for row, label in zip(S, labels, strict=True)
                    ]
                )
            ),
        }
        works = self._works(S, self._labels[i])
        if works.size:
            figures["survival"] = float(works.mean())
            figures["set_survival"] = float(works.any(axis=0).mean())
        return figures

    def _changes(self, x: Vector, S: Matrix) -> Mask:
        """Return which features options change; a number that was rounded has not changed."""
        numbers = self._judge.numeric_columns
        near = np.zeros(S.shape, dtype=bool)
        apart = np.abs(S - x)[:, numbers.positions]
        near[:, numbers.positions] = apart <= ROUNDED * numbers.unit
        return np.asarray(changed(S, x[None, :]) & ~near)

    def _works(self, S: Matrix, label: Any) -> Mask:
        """Return which options have another class in which retrained model."""
        rows = self._task.table.decode(S)
        answers: list[Labels] = [np.asarray(model.predict(rows)) for model in self._retrained]
        works: Mask = np.array([each != label for each in answers], dtype=bool)
        return works.reshape(len(answers), len(S)).T


@dataclass(frozen=True, eq=False)
class _Set:
    """What a peer returned for an input.

    Attributes
    ----------
    rows
        The options that can be used, encoded.
    valid, violates
        For each option that was returned: whether it has another class, and whether it changes
        what may not change.
    """

    rows: Matrix
    valid: Mask
    violates: Mask


#: What can be taken of drawn values, ``(draws, values)``.
STATISTICS: dict[str, Callable[[Matrix], Vector]] = {
    "mean": lambda drawn: np.nanmean(drawn, axis=1),
    "median": lambda drawn: np.nanmedian(drawn, axis=1),
    "95th percentile": lambda drawn: np.nanquantile(drawn, 0.95, axis=1),
}


def intervals(records: pd.DataFrame, figure: Figure, seed: int = 0) -> tuple[float, float, float]:
    """Return a figure of an explainer, and the ends of its bootstrap interval over the inputs.

    Parameters
    ----------
    records
        One row per pair of an input and a copy of it.
    figure
        What to compute.
    seed
        Of the draws.

    Examples
    --------
    >>> records = pd.DataFrame({"input": [0, 0, 1, 1], "repeat": [1, 2, 1, 2],
    ...                         "coverage": [1.0, 3.0, 6.0, None]})
    >>> intervals(records, Figure("coverage", "coverage"))
    (4.0, 2.0, 6.0)
    """
    if figure.column not in records:
        return np.nan, np.nan, np.nan
    wide = records.pivot(index="input", columns="repeat", values=figure.column)
    values = wide.to_numpy(dtype=np.float64)
    values = values[~np.isnan(values).all(axis=1)]
    if not len(values):
        return np.nan, np.nan, np.nan
    if figure.statistic != "95th percentile":
        values = np.nanmean(values, axis=1, keepdims=True)
    take = STATISTICS[figure.statistic]
    point = float(take(values.reshape(1, -1))[0])
    if len(values) < 2:
        return point, np.nan, np.nan
    generator = np.random.default_rng(seed)
    drawn = generator.integers(len(values), size=(DRAWS, len(values)))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(take(values[drawn].reshape(DRAWS, -1)), [tail, 1 - tail])
    return point, float(low), float(high)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of a comparison.

    Parameters
    ----------
    results
        For each explainer on each task one row per pair, or the reason why there are none. The
        entries with the peer ``"optimum"`` hold the proved optima.

    Attributes
    ----------
    summary
        One row per explainer and task: the figures, each with the ends of its interval
        (``_low``, ``_high``), the number of inputs, and what went wrong (``error``).
    """

    results: dict[Entry, pd.DataFrame]
    summary: pd.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        peers = {entry: table for entry, table in self.results.items() if entry.peer != OPTIMUM}
        rows = [_summary(entry, table) for entry, table in peers.items()]
        object.__setattr__(self, "summary", pd.DataFrame(rows))

    def tables(self) -> list[ReportTable]:
        """Return two tables for each task: the sets, and how they last."""
        return [table for group in self._tasks() for table in self._tables_of(*group)]

    def to_text(self) -> str:
        """Return the tables as text for a terminal."""
        return "\n\n".join(table.to_text() for table in self.tables()) + "\n"

    def to_markdown(self) -> str:
        """Return the tables in Markdown."""
        # In Markdown, only an empty line ends a paragraph.
        tables = (replace(each, note=each.note.replace("\n", "\n\n")) for each in self.tables())
        return "\n\n".join(table.to_markdown() for table in tables) + "\n"

    def write(self, folder: Path, *, plots: bool = True) -> list[Path]:
        """Write the tables in Markdown and CSV, draw the plot, and return the files."""
        folder.mkdir(parents=True, exist_ok=True)
        written = [folder / MARKDOWN, folder / TABLE]
        with ExitStack() as stack:
            files = [stack.enter_context(written_aside(file)) for file in written]
            files[0].write_text(f"# Explainers side by side\n\n{self.to_markdown()}", "utf-8")
            self.summary.to_csv(files[1], index=False)
        if plots and self.summary[["nearest", "coverage"]].notna().all(axis=1).any():
            written.append(folder / PLOT)
            with written_aside(written[-1]) as unfinished:
                draw(self.summary, unfinished)
        return written

    def _tasks(self) -> Iterator[tuple[str, str, pd.DataFrame]]:
        for (data, kind), rows in self.summary.groupby(["data", "kind"], sort=False):
            yield str(data), str(kind), rows

    def _tables_of(self, data: str, kind: str, rows: pd.DataFrame) -> list[ReportTable]:
        marks = {reason: f"[{i}]" for i, reason in enumerate(_reasons(rows), start=1)}
        notes = [f"{mark} {reason}" for reason, mark in marks.items()]
        told = f"{self._told(data, kind)}\n{NOTE}" if notes or len(rows) else ""
        tables = []
        for name, title, figures in (
            ("sets", "the sets", SETS),
            ("lasting", "how they last", LASTING),
        ):
            frame = pd.DataFrame(
                {
                    "explainer": rows["peer"] + rows["error"].map(lambda e: _mark(e, marks)),
                    **({"inputs": rows.apply(_inputs_of, axis=1)} if name == "sets" else {}),
                    **{each.heading: _cells(rows, each) for each in figures},
                }
            )
            note = "\n".join([told, *notes]) if name == "lasting" else ""
            tables.append(
                ReportTable(f"{data}-{kind}-{name}", f"{data}, {kind}: {title}", frame, note)
            )
        return tables

    def _told(self, data: str, kind: str) -> str:
        """Say how good the model is, how alike the retrained ones are, and what was proved."""
        optima = self.results.get(Entry(data, kind, OPTIMUM))
        if optima is None or "optimum" not in optima:
            return ""
        proved, inputs = int(optima["optimum"].notna().sum()), len(optima)
        parts = [f"{inputs} inputs; the optimum is proved for {proved}"]
        if proved < inputs:
            # Read from a file, an empty reason is missing.
            reasons = optima["reason"].dropna()
            parts[0] += f" (else: {reasons[reasons != ''].iloc[0]})"
        accuracy, agreement = optima["accuracy"].iloc[0], optima["agreement"].iloc[0]
        if not np.isnan(accuracy):
            parts.append(f"accuracy of the model: {accuracy:.2f}")
        if not np.isnan(agreement):
            parts.append(f"retrained models agree with it on {agreement:.0%} of test rows")
        return "; ".join(parts) + "."


def _summary(entry: Entry, table: pd.DataFrame) -> dict[str, Any]:
    """Return the row of an explainer on a task."""
    row: dict[str, Any] = {"data": entry.data, "kind": entry.kind, "peer": entry.peer}
    row["inputs"] = table["input"].nunique() if "input" in table else 0
    row["found"] = np.nan
    for figure in FIGURES:
        ends = intervals(table, figure) if "input" in table else (np.nan, np.nan, np.nan)
        row |= zip((figure.name, f"{figure.name}_low", f"{figure.name}_high"), ends, strict=True)
    if "input" in table:
        row["found"] = float((table.groupby("input")["options"].first() > 0).mean())
        row["fit_seconds"] = float(table["fit_seconds"].iloc[0])
    row["error"] = str(table["error"].iloc[0]) if "error" in table else ""
    return row


def _inputs_of(row: Any) -> str:
    """Return for how many of the inputs there is an option."""
    return f"{round(row['found'] * row['inputs'])} of {row['inputs']}" if row["inputs"] else "-"


def _reasons(rows: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(reason for reason in rows["error"] if reason))


def _mark(reason: str, marks: dict[str, str]) -> str:
    return f" {marks[reason]}" if reason else ""


def _cells(rows: pd.DataFrame, figure: Figure) -> list[str]:
    """Return a column of the printed table, each with its interval."""
    names = [figure.name, f"{figure.name}_low", f"{figure.name}_high"]
    return [_cell(figure, *row) for row in rows[names].itertuples(index=False)]


def _cell(figure: Figure, value: float, low: float, high: float) -> str:
    if np.isnan(value):
        return "-"
    text = figure.form.format(value)
    ends = [figure.form.format(end) for end in (low, high) if not np.isnan(end)]
    # Nothing is said by an interval whose ends are written like the value.
    return text if set(ends) <= {text} else f"{text} ({ends[0]} to {ends[1]})"


#: What share of the retrainings a set survives: the least share of each colour. The colours are
#: those of Okabe and Ito, from the best to the worst.
SURVIVES = ((0.95, "#0072B2"), (0.8, "#56B4E9"), (0.5, "#E69F00"), (0.0, "#D55E00"))
SHARES = ("≥95 %", "≥80 %", "≥50 %", "less")
UNKNOWN = "#999999"
#: How far apart discs stand, in points.
DISC = 14
#: Panels side by side.
PANELS = 4


def draw(summary: pd.DataFrame, file: Path) -> None:
    """Draw the explainers of each task: the nearest option, coverage, and how well sets survive.

    All three can be compared between explainers with few options and with many.

    Parameters
    ----------
    summary
        See :class:`Comparison`.
    file
        The picture to write.
    """
    plt = pyplot()
    shown = summary.dropna(subset=["nearest", "coverage"])
    names = [peer for peer in summary["peer"].unique() if (shown["peer"] == peer).any()]
    tasks = list(shown.groupby(["data", "kind"], sort=False))
    columns = min(PANELS, len(tasks))
    lines = -(-len(tasks) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(3.6 * columns + 1.2, 3.3 * lines + 1.4), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis in axes.flat[len(tasks) :]:
        axis.set_visible(False)
    for axis, ((data, kind), rows) in zip(axes.flat, tasks, strict=False):
        axis.set_xscale("log")
        axis.plot(rows["nearest"], rows["coverage"], ",", alpha=0)  # for the ends of the axes
        axis.margins(0.08)
        axis.set_title(f"{data}, {kind}", loc="left", fontsize=10)
        axis.set_xlabel("nearest option (left: nearer)", fontsize=8)
        axis.set_ylabel("coverage (below: steadier)", fontsize=8)
        axis.set_ylim(bottom=0)
        axis.set_xticks(_ticks(*axis.get_xlim()))
        axis.minorticks_off()
        axis.xaxis.set_major_formatter("{x:g}")
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    _write_names(figure, names, hollow=any(map(_is_in_part, shown.to_dict("records"))))
    figure.draw_without_rendering()  # now it is known where points are
    for axis, (_, rows) in zip(axes.flat, tasks, strict=False):
        _draw_discs(axis, rows, names)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two ends, more than two of them if possible."""
    found: list[float] = []
    for steps in ((1, 2, 5), (1, 1.5, 2, 3, 5, 7), range(1, 10)):
        each = [step * 10.0**power for power in range(-4, 5) for step in steps]
        found = [tick for tick in each if low <= tick <= high]
        if len(found) > 2:
            break
    return found


def _draw_discs(axis: Any, rows: pd.DataFrame, names: Sequence[str]) -> None:
    """Draw the explainers of a task as their numbers; discs that would overlap stand apart.

    Those whose figures are of some inputs only are hollow.
    """
    from matplotlib.transforms import offset_copy  # noqa: PLC0415 - an extra

    pixels = axis.figure.dpi / 72
    placed: list[Vector] = []
    for row in rows.to_dict("records"):
        at = row["nearest"], row["coverage"]
        own = np.asarray(axis.transData.transform(at)) / pixels
        steps = (np.array([x, y]) for y in range(0, 200, DISC) for x in range(0, 5 * DISC, DISC))
        shift = next(
            each
            for each in steps
            if all(np.abs(own + each - other).max() >= DISC - 1 for other in placed)
        )
        placed.append(own + shift)
        colour, ink = _colour(row["set_survival"]), "black"
        hollow = _is_in_part(row)
        if colour in (SURVIVES[0][1], SURVIVES[-1][1]) and not hollow:
            ink = "white"
        away = offset_copy(axis.transData, axis.figure, x=shift[0], y=shift[1], units="points")
        if shift.any():
            axis.annotate(
                "", at, xytext=tuple(shift), textcoords="offset points", annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": "#808080", "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
        axis.plot(
            *at, "o", color="white" if hollow else colour, markersize=DISC, clip_on=False,
            markeredgecolor=colour if hollow else "white", markeredgewidth=2 if hollow else 1,
            zorder=4, transform=away,
        )  # fmt: skip
        axis.annotate(
            str(1 + names.index(row["peer"])), at, xytext=tuple(shift), textcoords="offset points",
            ha="center", va="center_baseline", fontsize=7.5, fontweight="bold", color=ink,
            annotation_clip=False, zorder=5,
        )  # fmt: skip


def _is_in_part(row: Any) -> bool:
    """Whether the figures of an explainer are of some inputs only."""
    return bool(row["found"] < 1 or row["error"])


def _colour(survival: float) -> str:
    if np.isnan(survival):
        return UNKNOWN
    return next(colour for least, colour in SURVIVES if survival >= least)


def _write_names(figure: Any, names: Sequence[str], *, hollow: bool) -> None:
    """Write what the colours say above the panels, and which number is which explainer below."""
    from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea  # noqa: PLC0415

    width, height = figure.get_size_inches()
    # A name is not broken: its spaces are put back afterwards.
    listed = "   ".join(f"{i}\u00a0{name}" for i, name in enumerate(names, start=1))
    lines = textwrap.wrap(listed, int(13 * width))
    if hollow:
        lines.append("Hollow: some inputs have no option, or were not finished.")
    below, above = 0.1 + 0.18 * len(lines), 0.35
    figure.get_layout_engine().set(rect=(0, below / height, 1, 1 - (below + above) / height))
    figure.text(0.1 / width, 0.07 / height, "\n".join(lines), fontsize=9, va="bottom")
    words = [("Sets survive retraining:", "black")]
    words += zip(SHARES, (colour for _, colour in SURVIVES), strict=True)
    areas: list[Any] = [
        TextArea(text, textprops={"color": colour, "fontsize": 9, "fontweight": "bold"})
        for text, colour in words
    ]
    figure.add_artist(
        AnchoredOffsetbox(
            "upper left",
            child=HPacker(children=areas, pad=0, sep=6),
            frameon=False,
            bbox_to_anchor=(0.1 / width, 1 - 0.07 / height),
            bbox_transform=figure.transFigure,
            borderpad=0,
        )
    )
