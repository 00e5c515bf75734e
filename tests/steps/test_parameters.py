"""What the parameters of an explainer may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from counterset import AngleDiversity, DiverseExplainer, InvalidInputError, NearestCandidates
from counterset.steps import View

X = np.random.default_rng(0).random((30, 2))


class OnlyFilters:
    """Used to be accepted, and to fail later: the filter was checked for, and not ``differ``."""

    def filter(self, view: View) -> Any:
        raise AssertionError("never asked")


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("candidates", AngleDiversity(), r"cut\(ranking\)"),
        ("candidates", NearestCandidates, "NearestCandidates"),
        ("diversity", OnlyFilters(), r"differ\(view, a, b\)"),
        ("search", NearestCandidates(3), r"search\(segments, ask\)"),
    ],
)
def test_what_a_step_lacks_is_told_before_anything_runs(name: str, value: Any, needed: str) -> None:
    with pytest.raises(InvalidInputError, match=needed):
        DiverseExplainer(lambda rows: rows.sum(axis=1) > 1, **{name: value}).fit(X)
