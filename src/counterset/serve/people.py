"""People almost like a case: who of them is offered the same options, and what else."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterset._base.arrays import Vector
from counterset.evaluation.noise import GaussianNoise
from counterset.evaluation.option_keys import option_keys
from counterset.evaluation.stability import CopiesCompared, compare_with_copies
from counterset.explanations.explanation import Explanation
from counterset.explanations.stability import least_shares
from counterset.serve.cases import Cases, NearbyRequest
from counterset.tables.table import Table, changed
from counterset.words.changes import capitalised
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["PEOPLE", "ask_nearby", "differences_of"]

#: 20 people almost like this one: enough to see what is rare, and few enough to be drawn.
PEOPLE = 20


def ask_nearby(request: NearbyRequest, cases: Cases) -> dict[str, Any]:
    """Return which of the options people almost like this one are offered too.

    Returns
    -------
    dict
        ``people``: how many copies of the same class were found; ``covered``: which of them find
        their nearest option among those of the case, as 0 and 1; ``options``: those of the case;
        ``kept``: for each of them, which of the people are offered it, as 0 and 1; ``least``: for
        each of them, the share of all such people that are offered it at least, 95 % sure;
        ``differences``: by how much these people differ from this one, in words; ``each``: for
        each of the people, how it differs and what it is offered.
    """
    found = cases.explained(request, request.strategy)
    if not len(found.explanation):
        nobody: dict[str, Any] = {"people": 0, "covered": [], "kept": [], "least": [], "each": []}
        return nobody | {"options": [], "differences": ""}
    compared = compare_with_copies(
        found.explainer,
        found.explanation,
        repeats=PEOPLE,
        random_state=request.seed,
        noise=GaussianNoise(variance=request.noise**2),
    )
    writer = Writer(Templates.read())
    count = len(compared)
    return {
        "people": count,
        "covered": compared.covered.astype(int).tolist(),
        "kept": compared.kept_by.astype(int).tolist(),
        "least": least_shares(compared.kept_by.sum(axis=1), count).tolist() if count else [],
        "options": [option.to_dict() for option in found.explanation.options],
        "differences": writer.differences(compared.differences, cases.served.table),
        "each": _each(found.explanation, compared),
    }


def _each(explanation: Explanation, compared: CopiesCompared) -> list[dict[str, Any]]:
    """Return how each person differs from the case, and what they are offered."""
    coded = explanation.coded
    own = option_keys(coded.input, coded.matrix, coded.table)
    people = []
    for copy, answer in zip(compared.copies, compared.answers, strict=True):
        offered = option_keys(copy, answer.coded.matrix, coded.table)
        people.append(
            {
                # Unusual options come last, however near they are.
                "best": int(np.argmin(answer.distances)) if len(answer) else None,
                "differs": differences_of(coded.input, copy, coded.table),
                # The number of the same option of the case, None if the case has none.
                "offered": [
                    {
                        "sentence": option.sentence,
                        "same": own.index(key) + 1 if key in own else None,
                    }
                    for option, key in zip(answer.options, offered, strict=True)
                ],
            }
        )
    return people


def differences_of(x: Vector, other: Vector, table: Table) -> list[dict[str, str]]:
    """Return each value that differs: the name of the feature, that of the case, and the other."""
    writer = Writer(Templates.read())
    return [
        {
            "label": capitalised(table.features[at].label),
            "own": writer.own(table.features[at], x[at]),
            "other": writer.own(table.features[at], other[at]),
        }
        for at in np.flatnonzero(changed(x, other))
    ]
