"""One batch: from the rows of one call to their explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Matrix
from counterset._base.lazy import Lazy
from counterset.constraints.constraints import Constraints
from counterset.constraints.per_row import (
    Group,
    check_per_row,
    constraints_of_rows,
    group_rows,
    is_per_row,
)
from counterset.constraints.rules import Rules
from counterset.exceptions import InvalidInputError, NoCounterfactualError
from counterset.models.adapter import ModelAdapter
from counterset.models.goals import Goal, is_reached, read_goal, why_out_of_reach
from counterset.results.context import Context, as_written, settings_of
from counterset.results.explanations import Explanations, make_explanations
from counterset.steps.acceptance import Acceptance, Requirements, RowLimit
from counterset.steps.admissible import NO_ROW
from counterset.steps.blocks import Task, run_tasks
from counterset.steps.pipeline import Pipeline
from counterset.steps.requests import Request
from counterset.steps.runs import join
from counterset.steps.shortfall import (
    Reasons,
    report_contradictions,
    report_reached,
    report_shortfall,
    why_fewer,
)
from counterset.steps.training import TrainingData

__all__ = ["explain_batch"]


def explain_batch(
    training: TrainingData,
    matrix: Matrix,
    index: pd.Index,
    request: Request,
    pipeline_of: Callable[[Requirements], Pipeline],
    parameters: Mapping[str, Any],
) -> Explanations:
    """Explain the rows of one call; rows with equal constraints run through the steps together.

    Parameters
    ----------
    training
        What was learned from the training rows, and the model.
    matrix, index
        The rows, ``(n, d)``, and their index.
    request
        What is asked for.
    pipeline_of
        Returns the pipeline for what counterfactuals must satisfy.
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
    told = "" if request.skip else report_reached(reached, answers.labels, request.if_none)
    explained = np.flatnonzero(~reached)
    if out_of_reach is not None:
        # A reason goes on after a colon.
        reason = out_of_reach[0].lower() + out_of_reach[1:]
        nobody = {int(each): reason for each in explained}
        report_shortfall(nobody, len(explained), request.if_none, told)
        return make_explanations(
            training.table,
            matrix,
            answers.labels,
            index,
            explained=explained,
            owners=explained[:0],
            rows=matrix[:0],
            row_labels=answers.labels[:0],
            distances=np.empty(0),
            asked=first_call,
            context=_context(training, request, goal, parameters),
            why_none=nobody,
        )
    unseen: dict[Any, int] = {}
    tasks = []
    groups = _groups(training, request, matrix, index, explained)
    for group in groups:
        rows = explained[group.members]
        rules = _rules(training, group, rows, per_row=is_per_row(request.constraints))
        requirements = Requirements(goal, probability, rules, training.support)
        inputs, labels = matrix[rows], answers.labels[rows]
        limit = None if request.max_rows is None else RowLimit(request.max_rows, len(rows))
        acceptance = Acceptance(
            model, training.distance, classes, requirements, inputs, labels, unseen, limit
        )
        tasks.append(Task(group.members, acceptance, pipeline_of(requirements)))
    runs, calls, rows_asked = run_tasks(tasks, request.workload)
    found = join(runs)
    why_none = Reasons(runs, found, explained, request.max_rows)
    report_contradictions(found.n_contradicted)
    fewer = why_fewer(found, runs[0].selector, request.max_rows)
    report_shortfall(why_none, len(explained), request.if_none, told, fewer)
    best, support = found.counterfactuals, training.support
    return make_explanations(
        training.table,
        matrix,
        answers.labels,
        index,
        explained=explained,
        owners=best.owners,
        rows=best.rows,
        row_labels=runs[0].acceptance.labels(best.codes),
        distances=best.lengths,
        examples=np.where(
            best.pool_index == NO_ROW, NO_ROW, training.pool.training_index[best.pool_index]
        ),
        plausibility=None if support is None else support.scores(best.embedded.coordinates),
        stable_radius=best.stable_radius,
        list_radius=best.list_radius,
        from_list=best.from_list,
        asked=(first_call[0] + calls, first_call[1] + rows_asked),
        context=_context(training, request, goal, parameters),
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
