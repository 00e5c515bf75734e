"""Blocks: the inputs of a large call, some at a time, in one process or in several."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np

from counterset._base.arrays import Indices, Labels
from counterset._base.progress import Progress
from counterset.exceptions import InvalidInputError
from counterset.steps.acceptance import Acceptance
from counterset.steps.pipeline import Found, Pipeline
from counterset.steps.runs import Run
from counterset.steps.workload import Workload

__all__ = ["Task", "run_tasks"]

#: What is held of one input at a time: 300 points of its line searches; with constraints, 1000
#: candidates that are moved onto them, before and after; and where few changes are wanted, 3000
#: rows that could be asked about, three times while they are sorted.
POINTS_HELD, CANDIDATES_HELD, ROWS_HELD = 300, 2 * 1000, 3 * 3000
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
    acceptance: Acceptance
    pipeline: Pipeline

    def blocks(self, workload: Workload) -> Iterator[Task]:
        """Yield the parts of the task that are worked on at once."""
        count = len(self.members)
        at_once = self._inputs_at_once(workload) if count > 1 else 1
        if count <= 1 or (count <= at_once and workload.jobs == 1):
            yield self
            return
        for start in range(0, count, at_once):
            part = np.arange(start, min(start + at_once, count))
            acceptance = self.acceptance.alone(part)
            yield replace(self, members=self.members[part], acceptance=acceptance)

    def _inputs_at_once(self, workload: Workload) -> int:
        """Return how many inputs a block has."""
        acceptance, count = self.acceptance, len(self.members)
        features = acceptance.inputs.shape[1]
        of_point = features + 2 * len(acceptance.distance.feature_of_coordinate)
        each = 8 * POINTS_HELD * of_point
        if self.pipeline.sparsify:
            each += 8 * ROWS_HELD * features
        elif acceptance.requirements.rules:
            each += 8 * CANDIDATES_HELD * of_point
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
        acceptance = self.acceptance
        calls, rows = acceptance.model.calls, acceptance.model.rows
        found = self.pipeline.run(acceptance)
        labels = acceptance.labels(found.counterfactuals.codes) if acceptance.unseen else None
        return found, labels, acceptance.model.calls - calls, acceptance.model.rows - rows


def run_tasks(tasks: Sequence[Task], workload: Workload) -> tuple[list[Run], int, int]:
    """Explain the inputs of all tasks; also return in how many calls, and with how many rows."""
    total = sum(len(task.members) for task in tasks)
    blocks = [block for task in tasks for block in task.blocks(workload)]
    runs, calls, rows = [], 0, 0
    with Progress(total, "explain", shown=workload.progress) as bar:
        for block, result in zip(blocks, _results(blocks, tasks, workload), strict=True):
            found, labels, more_calls, more_rows = result
            acceptance = block.acceptance
            if len(blocks) > 1:
                acceptance = replace(acceptance, unseen=tasks[0].acceptance.unseen)
                acceptance.model.forget()
            if labels is not None:
                # Blocks number labels that no training row has each for itself.
                chosen = replace(found.counterfactuals, codes=acceptance.codes(labels))
                found = replace(found, counterfactuals=chosen)
            runs.append(Run(block.members, acceptance, block.pipeline.selector, found))
            calls, rows = calls + more_calls, rows + more_rows
            bar.advance(len(block.members))
    return runs, calls, rows


def _results(blocks: Sequence[Task], tasks: Sequence[Task], workload: Workload) -> Iterator[Any]:
    """Yield what is found for each block, in their order."""
    if len(blocks) == 1 or workload.jobs == 1:
        yield from (block.run() for block in blocks)
        return
    for task in tasks:  # what is learned when first needed is learned here, for all workers
        _, first = np.unique(task.acceptance.input_codes, return_index=True)
        task.pipeline.run(task.acceptance.alone(first))
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
