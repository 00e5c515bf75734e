"""Shared lists as tables: what each option asks for, and for how many people it works."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Indices, Mask, to_python
from counterset.strategies.batch import QueryBatch, Requirements
from counterset.strategies.shared import OptionList, SharedFinder, distances_of
from counterset.tables.table import Table
from counterset.words.changes import ChangeWriter
from counterset.words.templates import Templates

__all__ = ["ListInUse", "few_options", "lists_in_use", "lists_table"]

#: For how many people the options of a list work is counted on 500 training rows.
ROWS = 500
#: 100 inputs are put through a list at a time: 24,000 rows to ask about, for a list of 60.
INPUTS_AT_ONCE = 100


@dataclass(frozen=True)
class ListInUse:
    """A list, some inputs that go down it, and which of its options work for them.

    Attributes
    ----------
    inputs
        The positions of the inputs.
    options
        The list.
    works
        Whether each option works for each input, in any of its strengths, ``(inputs, options)``.
    """

    inputs: Indices
    options: OptionList
    works: Mask


def lists_in_use(finder: SharedFinder, batch: QueryBatch) -> Iterator[ListInUse]:
    """Yield the list of each region, and for which inputs of a batch its options work."""
    for inputs, options in finder.lists(batch):
        parts = [
            np.isfinite(distances_of(options, batch.take(inputs[start : start + INPUTS_AT_ONCE])))
            for start in range(0, len(inputs), INPUTS_AT_ONCE)
        ]
        yield ListInUse(inputs, options, np.concatenate(parts))


def lists_table(finder: SharedFinder, requirements: Requirements) -> pd.DataFrame:
    """Return the lists of all classes and regions, see ``DiverseExplainer.lists_``."""
    training = finder.nearest.training
    pool, table = training.pool, training.table
    rows = training.without_goal(requirements.goal, np.arange(len(pool)))
    rows = np.sort(rows[np.argsort(pool.lots[rows], kind="stable")[:ROWS]])
    records: list[dict[str, Any]] = []
    batch = training.batch(rows, requirements)
    for number, each in enumerate(lists_in_use(finder, batch), start=1):
        options, works = each.options, each.works
        support = options.support(pool.matrix, table)
        together = np.logical_or.accumulate(works, axis=1).mean(axis=0)
        label = to_python(training.classes.labels[pool.codes[rows[each.inputs[0]]]])
        records += [
            {
                "label": label,
                "list": number,
                "rank": r + 1,
                "option": text,
                "support": int(support[r]),
                "works_for": float(works[:, r].mean()),
                "together": float(together[r]),
            }
            for r, text in enumerate(_texts(options, table))
        ]
    columns = ["label", "list", "rank", "option", "support", "works_for", "together"]
    return pd.DataFrame.from_records(records, columns=columns)


def few_options(finder: SharedFinder, batch: QueryBatch, most: int) -> pd.DataFrame:
    """Choose few options of the lists that help most inputs, one after the other.

    Each next option is the one that works for most inputs for which none works so far; of several,
    the one that works for most inputs at all.
    """
    table, parts = batch.distance.table, list(lists_in_use(finder, batch))
    texts, rows = list[str](), list[Mask]()
    for each in parts:
        for r, text in enumerate(_texts(each.options, table)):
            works = np.zeros(len(batch.inputs), dtype=bool)
            works[each.inputs] = each.works[:, r]
            if text in texts:  # of another region
                rows[texts.index(text)] |= works
            else:
                texts.append(text)
                rows.append(works)
    helped, records = np.zeros(len(batch.inputs), dtype=bool), list[dict[str, Any]]()
    while len(records) < most and rows:
        gain = [(int((works & ~helped).sum()), int(works.sum())) for works in rows]
        best = max(range(len(rows)), key=lambda r: (*gain[r], -r))
        if not gain[best][0]:
            break
        works, text = rows.pop(best), texts.pop(best)
        helped |= works
        shares = {"works_for": float(works.mean()), "together": float(helped.mean())}
        records.append({"option": text, "people": int(works.sum()), **shares})
    return pd.DataFrame.from_records(records, columns=["option", "people", "works_for", "together"])


def _texts(options: OptionList, table: Table) -> list[str]:
    """Return what each option asks for, in words, numbers on their steps."""
    writer = ChangeWriter(table, Templates.read())
    values = table.snap(np.where(options.recipes.features, options.recipes.values, options.start))
    return [
        writer.asked(
            [
                (i, float(row[i]), _asks(options, i, float(row[i]), table))
                for i in np.flatnonzero(features).tolist()
            ]
        )
        for features, row in zip(options.recipes.features, values, strict=True)
    ]


def _asks(options: OptionList, i: int, value: float, table: Table) -> int:
    """Return 1 for at least a value, -1 for at most, 0 for that only, as at the end of a scale."""
    feature = table.features[i]
    at_end = feature.seen is not None and value in (feature.low, feature.high)
    return 0 if at_end else options.asks(i, value, table)
