"""One call of an explainer: from its rows to their explanations."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args

import joblib
import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Labels, Matrix
from counterset._base.checks import check_flag
from counterset._base.lazy import Lazy
from counterset._base.progress import Progress
from counterset.constraints.constraints import (
    Constraints,
    Group,
    RowConstraints,
    check_per_row,
    constraints_of_rows,
    group_rows,
    is_per_row,
)
from counterset.constraints.rules import Rules
from counterset.exceptions import InvalidInputError, NoCounterfactualError
from counterset.explanations.context import Context, as_written, settings_of
from counterset.explanations.explanations import Explanations, make_explanations
from counterset.explanations.why_none import WhyNone
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import Goal, check_probability, is_reached, read_goal, why_out_of_reach
from counterset.models.margin import Margin
from counterset.strategies.bars import Lasting
from counterset.strategies.batch import NO_ROW, QueryBatch, Requirements, RowQuota
from counterset.strategies.shortfall import (
    Reasons,
    report_contradictions,
    report_reached,
    report_shortfall,
    why_fewer,
)
from counterset.strategies.strategy import Finder, Found, Run, join
from counterset.strategies.training import TrainingData

__all__ = ["IfNone", "Request", "Task", "Workload", "explain_rows", "run_tasks"]

#: What the letters after a number of bytes stand for.
_BYTES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Workload:
    """How the rows of one call are divided.

    Attributes
    ----------
    n_jobs
        How many blocks are worked on at the same time, as joblib takes it.
    memory
        About how much memory they may take together: bytes, or a text such as ``"512MB"``.
    progress
        Whether to show a bar.

    Examples
    --------
    >>> Workload(memory="2GB").bytes
    2000000000
    """

    n_jobs: int | None = None
    memory: str | int = "512MB"
    progress: bool = False

    def __post_init__(self) -> None:
        whole = isinstance(self.n_jobs, Integral) and not isinstance(self.n_jobs, bool)
        if self.n_jobs is not None and (not whole or self.n_jobs == 0):
            raise InvalidInputError(
                f"n_jobs must be None, a number of workers, or -1 for all cores, got "
                f"{self.n_jobs!r}."
            )
        check_flag(self.progress, "progress")
        if self.bytes < 1:
            raise InvalidInputError(f"memory must be at least 1 byte, got {self.memory!r}.")

    @cached_property
    def jobs(self) -> int:
        """How many blocks are worked on at the same time."""
        return 1 if self.n_jobs == 1 else int(joblib.effective_n_jobs(self.n_jobs))

    @cached_property
    def bytes(self) -> int:
        """The memory in bytes."""
        memory: Any = self.memory
        if isinstance(memory, Integral) and not isinstance(memory, bool):
            return int(memory)
        try:
            return _read_bytes(str(memory))
        except (KeyError, ValueError):
            raise InvalidInputError(
                f"memory must be a number of bytes or a text such as '512MB' or '2GB', got "
                f"{memory!r}."
            ) from None


@cache
def _read_bytes(text: str) -> int:
    read = re.fullmatch(r"\s*([0-9.]+)\s*([KMG]?B?)\s*", text.upper())
    if read is None:
        raise ValueError(text)
    return int(float(read[1]) * _BYTES[read[2]])


#: What to do where an input has no counterfactual.
IfNone: TypeAlias = Literal["raise", "warn", "ignore"]


@dataclass(frozen=True)
class Request:
    """What one call asks for.

    Attributes
    ----------
    target, probability, interval
        What a counterfactual must lead to.
    constraints
        What may change, for all rows or for each; None: the explainer's own constraints.
    own_constraints
        The explainer's own constraints.
    if_none
        Whether to raise, to warn or to say nothing where an input has no counterfactual.
    skip
        Whether inputs that have what is wanted already are passed over without a word.
    max_rows
        About how many rows the model may be asked for one input; None: any number.
    anonymity
        How many training rows must be equal to one that an option equals; 1: any option may.
    margin
        How near to an option people may land; None: they land on it.
    workload
        How the rows are divided.
    """

    target: Any = None
    probability: float | None = None
    interval: tuple[float, float] | None = None
    constraints: RowConstraints = None
    own_constraints: Constraints | None = None
    if_none: IfNone = "raise"
    skip: bool = False
    max_rows: int | None = None
    anonymity: int = 1
    margin: Margin | None = None
    workload: Workload = field(default_factory=Workload)

    def __post_init__(self) -> None:
        check_probability(self.probability)
        if self.if_none not in get_args(IfNone):
            raise InvalidInputError(
                f"if_none must be 'raise', 'warn' or 'ignore', got {self.if_none!r}."
            )
        check_flag(self.skip, "skip")


#: Of one input, 300 points of its line searches are held at a time, beside what its strategy holds.
POINTS_HELD = 300
#: A worker gets at least 4 blocks, so that one slow block does not keep the others waiting; a block
#: has at least 16 inputs, and a progress bar moves at least 20 times.
BLOCKS_PER_WORKER, LEAST_INPUTS, LEAST_ADVANCES = 4, 16, 20
#: Of a table with more than 32 features, a block that a progress bar waits for has fewer inputs.
FEW_FEATURES = 32


@dataclass(frozen=True)
class Task:
    """One block: inputs with the same requirements, and how they are explained.

    Attributes
    ----------
    members
        The positions of its inputs among all, ascending.
    """

    members: Indices
    batch: QueryBatch
    finder: Finder

    def blocks(self, workload: Workload) -> Iterator[Task]:
        """Yield the parts of the task that are worked on at once."""
        count = len(self.members)
        at_once = self._inputs_at_once(workload) if count > 1 else 1
        if count <= 1 or (count <= at_once and workload.jobs == 1):
            yield self
            return
        for start in range(0, count, at_once):
            part = np.arange(start, min(start + at_once, count))
            batch = self.batch.alone(part)
            yield replace(self, members=self.members[part], batch=batch)

    def _inputs_at_once(self, workload: Workload) -> int:
        """Return how many inputs a block has."""
        batch, count = self.batch, len(self.members)
        features = batch.inputs.shape[1]
        of_point = features + 2 * len(batch.distance.feature_of_coordinate)
        each = 8 * (POINTS_HELD * of_point + self.finder.numbers_held(batch))
        at_once: int = max(1, workload.bytes // (each * workload.jobs))
        if workload.jobs > 1:
            fair = math.ceil(count / (BLOCKS_PER_WORKER * workload.jobs))
            at_once = min(at_once, max(LEAST_INPUTS, fair))
        if workload.progress:
            least = max(1, min(LEAST_INPUTS, LEAST_INPUTS * FEW_FEATURES // features))
            at_once = min(at_once, max(least, math.ceil(count / LEAST_ADVANCES)))
        return at_once

    def run(self) -> tuple[Found, Labels | None, int, int]:
        """Explain the inputs; also return unseen labels, and how often the model was asked."""
        batch = self.batch
        calls, rows = batch.model.calls, batch.model.rows
        found = self.finder.find(batch)
        labels = batch.labels(found.counterfactuals.codes) if batch.unseen else None
        return found, labels, batch.model.calls - calls, batch.model.rows - rows


def run_tasks(tasks: Sequence[Task], workload: Workload) -> tuple[list[Run], int, int]:
    """Explain the inputs of all tasks; also return in how many calls, and with how many rows."""
    total = sum(len(task.members) for task in tasks)
    blocks = [block for task in tasks for block in task.blocks(workload)]
    runs, calls, rows = [], 0, 0
    with Progress(total, "explain", shown=workload.progress) as bar:
        for block, result in zip(blocks, _results(blocks, tasks, workload), strict=True):
            found, labels, more_calls, more_rows = result
            batch = block.batch
            if len(blocks) > 1:
                batch = replace(batch, unseen=tasks[0].batch.unseen)
                batch.model.forget()
            if labels is not None:
                # Blocks number labels that no training row has each for itself.
                chosen = replace(found.counterfactuals, codes=batch.codes(labels))
                found = replace(found, counterfactuals=chosen)
            runs.append(Run(block.members, batch, found))
            calls, rows = calls + more_calls, rows + more_rows
            bar.advance(len(block.members))
    return runs, calls, rows


def _results(blocks: Sequence[Task], tasks: Sequence[Task], workload: Workload) -> Iterator[Any]:
    """Yield what is found for each block, in their order."""
    if len(blocks) == 1 or workload.jobs == 1:
        yield from (block.run() for block in blocks)
        return
    for task in tasks:  # what is learned when first needed is learned here, for all workers
        task.finder.prepare(task.batch.requirements)
    # Processes, also for models that compute outside of Python's lock: what is done around them
    # does not, so that threads wait for each other.
    parallel = joblib.Parallel(n_jobs=workload.n_jobs, return_as="generator")
    try:
        yield from parallel(joblib.delayed(Task.run)(block) for block in blocks)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        if "pickle" not in str(error).lower():
            raise
        raise InvalidInputError(
            f"n_jobs={workload.n_jobs} sends the model to other processes, but it cannot be "
            f"pickled ({error}). Leave n_jobs out, or use threads: with "
            f"joblib.parallel_config(backend='threading')."
        ) from error


def explain_rows(
    training: TrainingData,
    finder: Finder,
    matrix: Matrix,
    index: pd.Index,
    request: Request,
    parameters: Mapping[str, Any],
) -> Explanations:
    """Explain the rows of one call; options of rows with equal constraints are found together.

    Parameters
    ----------
    training, finder
        What was learned from the training rows, and what finds options.
    matrix, index
        The rows, ``(n, d)``, and their index.
    request
        What is asked for.
    parameters
        The explainer's parameters, to tell later how the explanations were made.
    """
    probability, classes = request.probability, training.classes
    if is_per_row(request.constraints):
        check_per_row(request.constraints, index)
    goal = read_goal(classes, request.target, request.interval)
    out_of_reach = why_out_of_reach(goal, classes)
    if out_of_reach is not None and request.if_none == "raise":
        raise NoCounterfactualError(out_of_reach)
    with_confidence = probability is not None
    model = ModelAdapter(training.model, training.table, with_confidence=with_confidence)
    answers = model.answers_once(matrix)
    first_call = model.calls, model.rows
    reached = is_reached(goal, answers, probability)
    message = "" if request.skip else report_reached(reached, answers.labels, request.if_none)
    explained = np.flatnonzero(~reached)
    make = partial(
        make_explanations,
        training.table,
        matrix,
        answers.labels,
        index,
        explained=explained,
        context=_context(training, request, goal, parameters),
    )
    if out_of_reach is not None:
        # A reason goes on after a colon.
        reason = WhyNone(out_of_reach[0].lower() + out_of_reach[1:], "no_example")
        nobody = {int(each): reason for each in explained}
        report_shortfall(nobody, len(explained), request.if_none, message)
        return make(
            owners=explained[:0],
            rows=matrix[:0],
            row_labels=answers.labels[:0],
            distances=np.empty(0),
            asked=first_call,
            why_none=nobody,
        )
    unseen: dict[Any, int] = {}
    tasks, count = [], parameters["max_counterfactuals"]
    own_rules, rare = training.rules(request.own_constraints), training.rare(request.anonymity)
    bars = () if request.margin is None else (Lasting(request.margin),)
    groups = _groups(training, request, matrix, index, explained)
    for group in groups:
        rows = explained[group.members]
        rules = _rules(training, group, rows, per_row=is_per_row(request.constraints))
        requirements = Requirements(
            goal, probability, rules, training.support, count, own_rules, rare, bars
        )
        inputs, labels = matrix[rows], answers.labels[rows]
        quota = None if request.max_rows is None else RowQuota(request.max_rows, len(rows))
        batch = QueryBatch(
            model, training.distance, classes, requirements, inputs, labels, unseen, quota
        )
        tasks.append(Task(group.members, batch, finder))
    runs, calls, rows_asked = run_tasks(tasks, request.workload)
    found = join(runs)
    why_none = Reasons(runs, found, explained, training, request.max_rows)
    report_contradictions(found.n_contradicted)
    fewer = why_fewer(found, count, parameters["strategy"], request.max_rows, request.margin)
    report_shortfall(why_none, len(explained), request.if_none, message, fewer)
    best, support = found.counterfactuals, training.support
    return make(
        owners=best.owners,
        rows=best.rows,
        row_labels=runs[0].batch.labels(best.codes),
        distances=best.lengths,
        examples=np.where(
            best.pool_index == NO_ROW, NO_ROW, training.pool.training_index[best.pool_index]
        ),
        plausibility=None if support is None else support.scores(best.embedded.coordinates),
        stable_radius=best.stable_radius,
        list_radius=best.list_radius,
        from_list=best.from_list,
        unusual=best.unusual,
        safe=best.safe,
        asked=(first_call[0] + calls, first_call[1] + rows_asked),
        constraints=_by_row(groups, len(explained)) if is_per_row(request.constraints) else None,
        why_none=why_none,
    )


def _context(
    training: TrainingData, request: Request, goal: Goal, parameters: Mapping[str, Any]
) -> Context:
    """Return how the explanations of one call are made."""
    given = request.own_constraints if request.constraints is None else request.constraints

    def settings() -> dict[str, Any]:
        return settings_of({name: each for name, each in parameters.items() if name != "model"})

    return Context(
        model=training.model,
        table=training.table,
        distance=training.distance,
        classes=training.classes,
        goal=goal,
        probability=request.probability,
        constraints={} if given is None or is_per_row(given) else as_written(given),
        costs=as_written(parameters.get("costs") or {}),
        settings=Lazy(settings),
        training=training.summary,
        background=training.background(goal),
        margin=request.margin,
    )


def _by_row(groups: list[Group], count: int) -> list[Constraints | None]:
    """Return the constraints of each row that is explained."""
    each: list[Constraints | None] = [None] * count
    for group in groups:
        for i in group.members:
            each[i] = group.constraints
    return each


def _groups(
    training: TrainingData, request: Request, matrix: Matrix, index: pd.Index, explained: Indices
) -> list[Group]:
    """Return the rows to explain, in groups of equal constraints; one group if there are none."""
    given: Any = request.constraints
    everything = np.arange(len(explained))
    if not is_per_row(given):
        return [Group(request.own_constraints if given is None else given, everything)]

    def rows() -> Any:
        return training.table.decode(matrix[explained], index[explained])

    each: list[Constraints | None] = [
        request.own_constraints if one is None else one
        for one in constraints_of_rows(given, rows, explained)
    ]
    return group_rows(each) or [Group(request.own_constraints, everything)]


def _rules(training: TrainingData, group: Group, rows: Indices, *, per_row: bool) -> Rules:
    """Compile the constraints of a group; say whose they are if they do not fit the data."""
    try:
        return training.rules(group.constraints)
    except InvalidInputError as error:
        if not per_row or not len(rows):
            raise
        raise InvalidInputError(f"The constraints of row {rows[0]}: {error}") from error
