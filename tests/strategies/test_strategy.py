"""What an explainer asks of a strategy: the three that there are, and one of one's own."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from support.mixed_toys import FRAME, explain, lend
from support.toys import Recorder

from counterset import Constraints, DiverseExplainer, InvalidInputError, Nearest, Paper, Shared
from counterset.strategies import (
    Chosen,
    Finder,
    Found,
    QueryBatch,
    Requirements,
    Strategy,
    TrainingData,
    verified,
)
from counterset.strategies.recipes import RecipeBook
from counterset.strategies.strategy import Advance

STRATEGIES = [Nearest(), Shared(regions=3), Shared(own=0, regions=3), Paper(), Paper(regions=3)]
DECLINED = FRAME[lend(FRAME) == "no"]


@dataclass(frozen=True)
class Fixed:
    """A strategy of one's own: everyone is offered the same training rows."""

    count: int = 3

    def learn(
        self,
        training: TrainingData,
        recipes: RecipeBook,
        requirements: Requirements,
        advance: Advance,
    ) -> Finder:
        return FixedFinder(training.pool.matrix[-self.count :])  # of the last class


@dataclass(frozen=True)
class FixedFinder:
    rows: Any

    def prepare(self, requirements: Requirements) -> None:
        """Nothing is left to learn."""

    def find(self, batch: QueryBatch) -> Found:
        owners = np.repeat(np.arange(len(batch.inputs)), len(self.rows))
        rows = np.tile(self.rows, (len(batch.inputs), 1))
        chosen = Chosen.accepted(batch, rows, owners)
        return verified(chosen, batch, chosen.counts)

    def numbers_held(self, batch: QueryBatch) -> int:
        return int(self.rows.size)


def test_a_strategy_of_ones_own_is_used() -> None:
    explainer = DiverseExplainer(lend, strategy=Fixed()).fit(FRAME)
    assert isinstance(Fixed(), Strategy)
    assert isinstance(explainer.strategy_, Finder)
    found = explain(explainer, DECLINED.head(6))
    assert all((lend(each.counterfactuals) == "yes").all() for each in found if len(each))
    first = {tuple(row) for row in found[0].values.tolist()}
    assert first
    assert all({tuple(row) for row in each.values.tolist()} == first for each in found)


def test_accepted_rows_are_the_nearest_that_the_model_and_the_constraints_allow() -> None:
    @dataclass(frozen=True)
    class All(Fixed):
        def learn(self, training: TrainingData, *_: Any) -> Finder:
            return AllFinder(training.pool.matrix, self.count)

    @dataclass(frozen=True)
    class AllFinder(FixedFinder):
        count: int

        def find(self, batch: QueryBatch) -> Found:
            people = len(batch.inputs)
            rows = np.tile(self.rows, (people, 1))
            owners = np.repeat(np.arange(people), len(self.rows))
            pool_index = np.tile(np.arange(len(self.rows)), people)
            chosen = Chosen.accepted(batch, rows, owners, pool_index=pool_index, most=self.count)
            assert (chosen.n_candidates >= chosen.counts).all()
            return verified(chosen, batch, chosen.counts)

    kept = Constraints(immutable=[FRAME.columns[0]])
    explainer = DiverseExplainer(lend, strategy=All(2), constraints=kept).fit(FRAME)
    found = explain(explainer, DECLINED.head(6))
    assert sum(map(len, found))
    yes = FRAME[lend(FRAME) == "yes"]
    for (_, person), each in zip(DECLINED.head(6).iterrows(), found, strict=True):
        same = yes[yes[FRAME.columns[0]] == person[FRAME.columns[0]]]
        distances = [
            float(explainer.distance_(person.to_dict(), same.loc[i])[0, 0]) for i in same.index
        ]
        np.testing.assert_allclose(each.distances, sorted(distances)[:2])
        for option in each.options:
            assert FRAME.iloc[option.example].tolist() == option.row.tolist()


def test_what_has_no_learn_is_no_strategy() -> None:
    for wrong in ("nearest", Nearest, object(), None):
        with pytest.raises(InvalidInputError, match="strategy must be Nearest"):
            DiverseExplainer(lend, strategy=wrong).fit(FRAME)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_the_first_explanation_asks_the_model_no_more_than_later_ones(strategy: Any) -> None:
    model = Recorder(lend)
    explainer = DiverseExplainer(model, strategy=strategy, max_counterfactuals=2).fit(FRAME)
    asked = []
    for _ in range(2):
        model.asked.clear()
        explain(explainer, DECLINED.head(1))
        asked.append([len(rows) for rows in model.asked])
    assert asked[0] == asked[1]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_another_strategy_of_a_fitted_explainer_gives_what_a_new_fit_gives(strategy: Any) -> None:
    model = Recorder(lend)
    explainer = DiverseExplainer(model).fit(FRAME)
    model.asked.clear()
    other = explainer.with_strategy(strategy)
    assert all(len(rows) < len(FRAME) or strategy != Paper() for rows in model.asked)
    anew = DiverseExplainer(lend, strategy=strategy).fit(FRAME)
    first, second = (explain(each, DECLINED.head(8)).to_frame() for each in (other, anew))
    assert first.equals(second)
    assert explainer.strategy == Nearest()  # it stays as it was


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_a_fitted_strategy_can_be_pickled(strategy: Any) -> None:
    explainer = DiverseExplainer(lend, strategy=strategy).fit(FRAME)
    again = pickle.loads(pickle.dumps(explainer))
    first, second = (explain(each, DECLINED.head(4)).to_frame() for each in (explainer, again))
    assert first.equals(second)
