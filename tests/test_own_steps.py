"""Steps of a user's own: each needs only what its protocol names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.settings import paper_by_steps

from counterset import (
    AngleDiversity,
    Constraints,
    DistanceDiversity,
    LineSearch,
    NearestCandidates,
)
from counterset.strategies import Cutoff, Diversity, Ranking, Search, Segments, View

pytestmark = pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")

X = np.random.default_rng(0).random((80, 3))
FRAME = pd.DataFrame(X, columns=list("abc")).assign(d=np.where(X[:, 0] > 0.5, "u", "v"))


def model(rows: Any) -> Any:
    return np.asarray(rows)[:, :3].astype(float).sum(axis=1) > 1.5


class OwnNearest:
    """The nearest candidates, by the public methods of a ranking."""

    def __init__(self, count: int) -> None:
        self.count = count

    def cut(self, ranking: Ranking) -> None:
        ranking.keep_nearest(self.count)


class OwnAngles:
    """The angle filter without its fast path."""

    def __init__(self, beta: float) -> None:
        self.beta = beta

    def differ(self, view: View, a: Any, b: Any) -> Any:
        u = view.candidates.directions[a] - view.x.directions
        v = view.candidates.directions[b] - view.x.directions
        cosine = (u * v).sum(axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        return 1 - cosine >= self.beta


class OwnSearch:
    """Algorithm 1 of the paper, one halving a call."""

    needs_farthest = False

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def search(self, segments: Segments, ask: Any) -> Segments:
        near, far, codes = segments.starts.copy(), segments.ends.copy(), segments.codes.copy()
        lengths = segments.lengths.copy()
        while (open_ := np.flatnonzero(lengths > self.gamma)).size:
            middle = (near[open_] + far[open_]) / 2
            found = ask(middle, open_)
            far[open_[found >= 0]] = middle[found >= 0]
            near[open_[found < 0]] = middle[found < 0]
            codes[open_[found >= 0]] = found[found >= 0]
            lengths[open_] /= 2
        return replace(segments, ends=far, codes=codes)


PAIRS: list[tuple[str, Any, Any]] = [
    ("candidates", OwnNearest(30), NearestCandidates(30)),
    ("diversity", OwnAngles(0.3), AngleDiversity(0.3)),
    ("search", OwnSearch(0.02), LineSearch(0.02)),
]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"constraints": Constraints(increase_only=["a"])},
    {"sparse": True},
    {"regions": 3},
]


# With regions a LineSearch is refined, and a search of one's own is used as it is.
CASES = [
    pytest.param(*pair, setting, id=f"{pair[0]}, {' '.join(setting) or 'plain'}")
    for pair in PAIRS
    for setting in SETTINGS
    if not (pair[0] == "search" and "regions" in setting)
]


@pytest.mark.parametrize(("name", "own", "built_in", "setting"), CASES)
def test_a_step_of_ones_own_gives_what_the_built_in_one_gives(
    name: str, own: Any, built_in: Any, setting: dict[str, Any]
) -> None:
    def explain(step: Any) -> pd.DataFrame:
        parameters = {name: step, "max_counterfactuals": 3} | setting
        explainer = paper_by_steps(model, **parameters).fit(FRAME)
        return pd.DataFrame(explainer.explain_many(FRAME[:12]).to_frame())

    pd.testing.assert_frame_equal(explain(own), explain(built_in))


def test_a_search_of_ones_own_works_with_regions() -> None:
    explainer = paper_by_steps(model, search=OwnSearch(0.02), regions=3).fit(X)
    explanations = explainer.explain_many(X[:20])
    assert (model(np.vstack([e.values for e in explanations])) != np.repeat(
        explanations.labels, explanations.counts
    )).all()  # fmt: skip


def test_the_built_in_steps_and_those_of_ones_own_keep_the_protocols() -> None:
    for step in (OwnNearest(1), NearestCandidates()):
        assert isinstance(step, Cutoff)
    for rule in (OwnAngles(0.5), AngleDiversity(), DistanceDiversity()):
        assert isinstance(rule, Diversity)
    for search in (OwnSearch(0.1), LineSearch()):
        assert isinstance(search, Search)
