"""What ``fit`` does for anchors: divide the inputs, and find what is offered to each region."""

from __future__ import annotations

from typing import Literal

import numpy as np

from counterset._base.arrays import Codes, Indices
from counterset._base.progress import Progress
from counterset.anchors.anchors import Anchors
from counterset.anchors.chooser import anchored
from counterset.anchors.regions import Regions
from counterset.constraints.constraints import Constraints
from counterset.constraints.rules import Rules
from counterset.models.goals import AnyOther
from counterset.recipes.learning import RecipeBook
from counterset.steps.acceptance import Acceptance, Requirements
from counterset.steps.pipeline import Pipeline

__all__ = ["find_anchors"]

#: Options that change few features: 16 regions of a class, whatever the data.
SPARSE_REGIONS = 16
#: Training rows as they are: from 16 regions on, twice as many each time, up to 4096, until 300
#: rows that are held out find options at most 1.08 times as far as the paper's selection does.
FEWEST, MOST, HELD_OUT, FARTHEST = 16, 4096, 300, 1.08


def find_anchors(
    count: int | Literal["auto"],
    paper: Pipeline,
    book: RecipeBook,
    constraints: Constraints | None,
    *,
    progress: bool,
) -> Anchors:
    """Divide the inputs of each class into regions, and find what is offered to each.

    Parameters
    ----------
    count
        How many regions to divide each class into.
    paper
        The paper's method, with the settings of the explainer.
    book
        The recipes and the training data.
    constraints
        The explainer's own.
    """
    training, pool = book.training, book.training.pool
    codes = np.zeros_like(pool.codes) if training.classes.are_measurements else pool.codes
    if count == "auto" and not paper.sparsify:
        count = _enough(paper, book, codes)
    wanted = SPARSE_REGIONS if count == "auto" else count
    anchors = Anchors(Regions.divide(pool, codes, wanted), book)
    rules = training.rules(constraints)
    # A model that predicts numbers has no lists yet: the wanted interval is not known.
    if paper.sparsify and paper.search is not None and not training.classes.are_measurements:
        with Progress(len(anchors), "anchors", shown=progress) as bar:
            centres = _acceptance(book, anchors.regions.pool_index, rules)
            for _ in anchors.lists(centres, rules, paper.selector):
                bar.advance()
    return anchors


def _enough(paper: Pipeline, book: RecipeBook, codes: Codes) -> int:
    """Return how many regions are enough for options to be about as near as the paper's."""
    pool = book.training.pool
    held_out = np.argsort(pool.lots, kind="stable")[: min(HELD_OUT, len(pool) // 2)]
    others = np.setdiff1d(np.arange(len(pool)), held_out)
    acceptance = _acceptance(book, np.sort(held_out), book.training.no_rules)
    of_paper = _mean_distance(paper, acceptance)
    best, nearest = FEWEST, np.inf
    count = FEWEST
    while count <= max(FEWEST, min(MOST, len(others) // 2)):
        anchors = Anchors(Regions.divide(pool, codes, count, others), book)
        distance = _mean_distance(anchored(paper, anchors, None), acceptance)
        if distance < nearest:
            best, nearest = count, distance
        if distance <= FARTHEST * of_paper:
            return count
        count *= 2
    return best


def _mean_distance(pipeline: Pipeline, acceptance: Acceptance) -> float:
    """Return the mean distance of the counterfactuals of all inputs, each input counting once."""
    found = pipeline.run(acceptance).counterfactuals
    sums = np.bincount(found.owners, found.lengths, minlength=len(acceptance.inputs))
    some = found.counts > 0
    return float((sums[some] / found.counts[some]).mean()) if some.any() else np.inf


def _acceptance(book: RecipeBook, rows: Indices, rules: Rules) -> Acceptance:
    """Return the acceptance of rows of the pool that want any other class."""
    requirements = Requirements(AnyOther(), None, rules, book.training.support)
    return book.training.acceptance(rows, requirements)
