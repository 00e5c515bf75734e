"""Compare: two cases side by side, how they differ, and which options both are offered."""

from __future__ import annotations

from typing import Any

from counterset.evaluation.option_keys import option_keys
from counterset.serve.cases import CaseRequest, Cases, Values
from counterset.serve.people import differences_of

__all__ = ["CompareRequest", "compare_cases"]


class CompareRequest(CaseRequest):
    """Two cases with the same goal and constraints.

    Attributes
    ----------
    other
        The values of the other case.
    """

    other: Values


def compare_cases(request: CompareRequest, cases: Cases) -> dict[str, Any]:
    """Return how two cases differ, and what each is offered.

    Two options are the same if they change the same features: numbers in the same direction, and
    categories to the same value.

    Returns
    -------
    dict
        ``explanations``: what ``Explanation.to_dict`` returns of each case, without reasons;
        ``differs``: each value that differs; ``equal``: how many values do not; ``distance``: from
        the case to the other; ``shared``: pairs of positions, of each option of the case and the
        same one of the other.
    """
    served, outcomes = cases.served, cases.served.outcomes
    first = cases.explained(request).explanation
    asked = request.model_copy(update={"values": request.other})
    second = cases.explained(asked).explanation
    x, other = cases.codes(request.values), cases.codes(request.other)
    distance = served.explainer.distance_.pairwise(x[None, :], other[None, :])
    keys = [
        option_keys(each.coded.input, each.coded.matrix, served.table) for each in (first, second)
    ]
    differs = differences_of(x, other, served.table)
    return {
        "explanations": [
            each.to_dict(outcomes=outcomes, reasons=False) for each in (first, second)
        ],
        "differs": differs,
        "equal": len(x) - len(differs),
        "distance": float(distance[0, 0]),
        "shared": [[at, keys[1].index(key)] for at, key in enumerate(keys[0]) if key in keys[1]],
    }
