"""Choosing among recipes as seen from the input, against a literal oracle and brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.batches import batch_of
from support.mixed_toys import FRAME, explain, lend
from support.settings import explainer_by_steps

from counterset import (
    AngleDiversity,
    Constraints,
    DiverseExplainer,
    FeatureDiversity,
    FewerCounterfactualsWarning,
    LineSearch,
    NearData,
    Nearest,
    NoCounterfactualError,
    Schema,
)
from counterset.strategies import nearest as chooser
from counterset.strategies import recipes as first_accepted
from counterset.strategies import recipes as recipe
from counterset.strategies.batch import Chosen
from counterset.strategies.line_search import Segments
from counterset.strategies.nearest import MOST_CHOICES, NearestFinder, further_options, left_out
from counterset.strategies.recipes import RUNGS, Recipes


def sparse(model: Any = lend, data: Any = FRAME, **parameters: Any) -> DiverseExplainer:
    settings: dict[str, Any] = {"sparse": True, "search": LineSearch(0.01), **parameters}
    return explainer_by_steps(model, **settings).fit(data)


class NoMove:
    """A search that leaves options where they are."""

    needs_farthest = False

    def search(self, segments: Segments, ask: Any) -> Segments:
        return segments


class LiteralChoice:
    """The nearest different recipes that work for one input, one row at a time.

    Numbers only, without constraints, a cutoff or a search: each recipe on each rung, the nearest
    for each set of raised and of lowered features, what is not needed undone, then greedily: first
    what keeps to the usual directions, by distance, and nothing that contradicts another option.
    """

    def __init__(self, accepts: Any, spread: Any, low: Any, high: Any, ways: int) -> None:
        self.accepts, self.spread, self.low, self.high = accepts, spread, low, high
        self.ways = ways

    def distance(self, a: Any, b: Any) -> float:
        return float(sum(abs(u - v) / s for u, v, s in zip(a, b, self.spread, strict=True)))

    def rows(self, x: Any, recipes: Recipes) -> list[tuple[float, int, tuple[float, ...]]]:
        found = []
        for rung in RUNGS:
            for number, (sets, values) in enumerate(
                zip(recipes.features, recipes.values, strict=True)
            ):
                row = list(map(float, x))
                for i in np.flatnonzero(sets):
                    moved = values[i] if rung == 1 else x[i] + rung * (values[i] - x[i])
                    row[i] = float(
                        moved if rung == 1 else min(max(moved, self.low[i]), self.high[i])
                    )
                if tuple(row) != tuple(x) and self.accepts(row):
                    found.append((self.distance(x, row), number, tuple(row)))
        return sorted(found)

    def undone(self, x: Any, row: tuple[float, ...]) -> tuple[float, ...]:
        """Undo what the model lets go alone, the costliest first, as much as goes together."""
        while True:
            differs = [i for i in range(len(x)) if row[i] != x[i]]
            alone = [
                i for i in differs if len(differs) > 1 and self.accepts(self.back(x, row, [i]))
            ]
            alone.sort(key=lambda i: -abs(row[i] - x[i]) / self.spread[i])
            together = [alone[: count + 1] for count in range(len(alone))]
            works = [
                some
                for some in together
                if self.back(x, row, some) != tuple(x) and self.accepts(self.back(x, row, some))
            ]
            if not works:
                return row
            row = self.back(x, row, works[-1])

    def back(self, x: Any, row: Any, features: list[int]) -> tuple[float, ...]:
        return tuple(float(x[i] if i in features else row[i]) for i in range(len(x)))

    def moves(self, x: Any, row: tuple[float, ...]) -> tuple[int, ...]:
        return tuple(int(b > a) - int(b < a) for a, b in zip(x, row, strict=True))

    def is_unusual(self, x: Any, row: tuple[float, ...], recipes: Recipes) -> bool:
        for move, up, down in zip(self.moves(x, row), recipes.raised, recipes.lowered, strict=True):
            against, along = (up, down) if move < 0 else (down, up)
            if move and against >= 10 and against >= 4 * along:
                return True
        return False

    def goes_against(self, x: Any, row: tuple[float, ...], recipes: Recipes) -> bool:
        return any(
            ((move > 0 and up < down) or (move < 0 and down < up)) and up + down >= 10
            for move, up, down in zip(
                self.moves(x, row), recipes.raised, recipes.lowered, strict=True
            )
        )

    def rank(self, x: Any, row: tuple[float, ...], recipes: Recipes) -> tuple[bool, float]:
        farther = 1.25 if self.goes_against(x, row, recipes) else 1.0
        return self.is_unusual(x, row, recipes), farther * self.distance(x, row)

    def choose(self, x: Any, recipes: Recipes, limit: int) -> list[tuple[float, ...]]:
        nearest: dict[tuple[int, ...], tuple[float, ...]] = {}
        for _, _, row in sorted(
            self.rows(x, recipes), key=lambda each: self.is_unusual(x, each[2], recipes)
        ):
            nearest.setdefault(self.moves(x, row), row)
        ways = [self.undone(x, row) for row in list(nearest.values())[: self.ways]]
        kept: list[tuple[float, ...]] = []
        for row in sorted(ways, key=lambda row: self.rank(x, row, recipes)):
            own, *others = ({i for i in range(len(x)) if each[i] != x[i]} for each in (row, *ways))
            taken = [{i for i in range(len(x)) if each[i] != x[i]} for each in kept]
            contradicts = any(
                move * other < 0
                for each in kept
                for move, other in zip(self.moves(x, row), self.moves(x, each), strict=True)
            )
            if own not in taken and not contradicts and not any(other < own for other in others):
                kept.append(row)
        return kept[:limit]


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_the_choice_is_that_of_the_literal_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 20, (60, 4)).astype(float) + rng.random((60, 4))
    weights, bend = rng.normal(size=4), rng.normal(size=(4, 4)) / 20

    def model(rows: Any) -> Any:
        points = np.asarray(rows) @ weights + np.einsum("ni,ij,nj->n", rows, bend, rows)
        return points > np.median(X @ weights + np.einsum("ni,ij,nj->n", X, bend, X))

    explainer = sparse(
        model,
        X,
        search=NoMove(),
        diversity=FeatureDiversity(),
        max_counterfactuals=3,
        scale="range",
        schema=Schema(step=0),
    )
    explanations = explain(explainer, X[:6])
    values: dict[Any, Recipes] = explainer._recipes._learned._values
    recipes = {key[0]: learned for key, learned in values.items()}
    low, high = np.array([feature.usual for feature in explainer.training_.table.features]).T
    compared = 0
    for explanation in explanations:
        own = explainer.classes_ == explanation.label
        oracle = LiteralChoice(
            lambda row, label=explanation.label: model(np.array([row]))[0] != label,
            X.max(axis=0) - X.min(axis=0),
            low,
            high,
            chooser.OPTIONS,
        )
        expected = oracle.choose(explanation.input, recipes[own.tobytes()], limit=3)
        if len(expected) == 3:  # otherwise training rows fill up
            compared += 1
            assert sorted(map(tuple, explanation.values.tolist())) == sorted(expected)
    assert compared or seed != 0


@pytest.mark.parametrize("constraints", [None, Constraints(immutable=["age", "home"])])
def test_every_batch_size_and_order_gives_the_same_answers(constraints: Any) -> None:
    explainer = sparse(constraints=constraints)
    together = explain(explainer, FRAME.head(12))
    backwards = explain(explainer, FRAME.head(12).iloc[::-1])
    for i in range(12):
        alone = explain(explainer, FRAME.iloc[[i]])[0]
        assert alone.counterfactuals.equals(together[i].counterfactuals)
        assert alone.counterfactuals.equals(backwards[11 - i].counterfactuals)


def test_few_inputs_at_a_time_give_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = explain(sparse(), FRAME.head(8)).to_frame()
    monkeypatch.setattr(recipe, "NUMBERS_AT_ONCE", 1)
    assert explain(sparse(), FRAME.head(8)).to_frame().equals(expected)


@pytest.mark.parametrize("options", [8, 60])
def test_asking_about_fewer_rows_at_once_changes_no_answer(
    options: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chooser, "OPTIONS", options)
    expected = explain(sparse(max_counterfactuals=2), FRAME.head(20)).to_frame()
    monkeypatch.setattr(first_accepted, "ROWS_IN_A_CALL", 1)
    assert explain(sparse(max_counterfactuals=2), FRAME.head(20)).to_frame().equals(expected)


def test_the_only_other_class_is_the_same_goal_as_any_other_class() -> None:
    explainer, declined = sparse(), FRAME[lend(FRAME) == "no"].head(10)
    any_other, target = explain(explainer, declined), explain(explainer, declined, target="yes")
    assert any_other.to_frame().equals(target.to_frame())


def test_options_keep_constraints_that_recipes_were_not_learned_for() -> None:
    explainer, declined = sparse(), FRAME[lend(FRAME) == "no"].head(20)
    explanations = explain(
        explainer, declined, constraints=Constraints(immutable=["income"], decrease_only=["debt"])
    )
    found = explanations.to_frame()
    own = declined.loc[found.index.get_level_values(0)]
    assert len(found) > 20
    assert (found["income"].to_numpy() == own["income"].to_numpy()).all()
    assert (found["debt"].to_numpy() <= own["debt"].to_numpy()).all()
    assert (lend(found) == "yes").all()


def test_constraints_that_forbid_every_recipe_leave_the_usual_error() -> None:
    everything = Constraints(immutable=list(FRAME.columns))
    with pytest.raises(NoCounterfactualError, match="each of the constraints immutable"):
        sparse().explain(FRAME[lend(FRAME) == "no"].iloc[0], constraints=everything)


def test_options_are_plausible_where_that_is_asked_for() -> None:
    explainer = sparse(plausibility=NearData())
    assert explainer.training_.support is not None
    found = [each for each in explain(explainer, FRAME.head(10)) if len(each)]
    assert found
    for explanation in found:
        rows, _ = explainer.training_.table.encode(explanation.counterfactuals)
        assert explainer.training_.support.has(explainer.distance_.coordinates(rows)).all()


def test_a_search_that_needs_the_farthest_candidate_is_told_of_it() -> None:
    explainer = sparse(search=LineSearch(0.01, halvings="farthest"))
    assert all(len(each) for each in explain(explainer, FRAME.head(5)))


def test_recipes_bring_options_nearer_than_training_rows_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What used to be: only what lies on the way to one of 55 training rows was found.
    strategy = Nearest(search=LineSearch(0.01), both_ways=True)
    explainer = DiverseExplainer(lend, strategy=strategy).fit(FRAME)
    found = explain(explainer, FRAME.head(40))
    monkeypatch.setattr(NearestFinder, "_options", lambda self, batch: Chosen.empty(batch))
    from_rows = explain(explainer, FRAME.head(40))
    assert found.counts.sum() >= from_rows.counts.sum()
    means = [np.mean([each.distances[0] for each in some]) for some in (found, from_rows)]
    assert means[0] < means[1]


def minimal_sets(x: pd.Series, model: Any, frame: pd.DataFrame) -> list[frozenset[str]]:
    """Return all inclusion-minimal sets of features with which some values change the class."""
    own = model(x.to_frame().T.astype(frame.dtypes))[0]
    found: list[frozenset[str]] = []
    values = {name: sorted(frame[name].unique()) for name in frame}
    for size in range(1, len(frame.columns) + 1):
        for names in itertools.combinations(frame.columns, size):
            if any(each <= frozenset(names) for each in found):
                continue
            tried = list(itertools.product(*(values[name] for name in names)))
            rows = pd.concat([x.to_frame().T.astype(frame.dtypes)] * len(tried), ignore_index=True)
            rows[list(names)] = pd.DataFrame(tried, columns=list(names))
            if (model(rows.astype(frame.dtypes)) != own).any():
                found.append(frozenset(names))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_nearly_all_ways_that_exist_are_offered(seed: int) -> None:
    # Brute force over all values: at least nine tenths of the inclusion-minimal sets of features.
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {f"number{i}": rng.integers(0, 8, 150) for i in range(3)}
        | {f"word{i}": pd.Categorical(rng.choice(list("abc"), 150)) for i in range(2)}
    )
    numbers, words = rng.normal(size=3), rng.normal(size=(2, 3)) * 3

    def model(rows: Any) -> Any:
        points = rows[["number0", "number1", "number2"]].to_numpy(dtype=float) @ numbers
        points = points + np.where(rows["number0"].to_numpy() > 5, rows["number1"].to_numpy(), 0)
        for i in range(2):
            points = points + words[i][pd.Categorical(rows[f"word{i}"], list("abc")).codes]
        return points > 2.0

    explainer = sparse(
        model,
        frame,
        diversity=FeatureDiversity(),
        max_counterfactuals=5,
        search=LineSearch(0.001),
        anonymity=1,
    )
    exist = offered = 0
    inputs = frame.head(30)
    for explanation, (_, x) in zip(explain(explainer, inputs), inputs.iterrows(), strict=True):
        minimal = minimal_sets(x, model, frame)
        sets = {
            frozenset(name for name, now in zip(frame.columns, row, strict=True) if now)
            for row in explanation.changed
        }
        exist += min(5, len(minimal))
        offered += len(sets & set(minimal))
        for a, b in itertools.combinations(sets, 2):
            assert not a <= b
            assert not b <= a
    assert offered >= 0.9 * exist


def test_the_message_says_that_there_are_no_more_ways() -> None:
    X = np.random.default_rng(0).random((60, 2))
    explainer = sparse(lambda rows: np.asarray(rows)[:, 0] > 0.5, X, diversity=FeatureDiversity())
    with pytest.warns(FewerCounterfactualsWarning, match="no more options were found"):
        explainer.explain([0.2, 0.2])


def test_the_angle_holds_between_all_options() -> None:
    explainer = sparse(diversity=AngleDiversity(0.5), max_counterfactuals=4)
    compared = 0
    for explanation in explain(explainer, FRAME.head(20)):
        if not len(explanation):
            continue
        x = explainer.distance_.embed(
            explainer.training_.table.encode(FRAME.loc[[explanation.index]])[0]
        )
        rows = explainer.distance_.embed(
            explainer.training_.table.encode(explanation.counterfactuals)[0]
        )
        ways = rows.directions - x.directions
        for u, v in itertools.combinations(ways, 2):
            compared += 1
            assert 1 - u @ v / np.sqrt((u @ u) * (v @ v)) >= 0.5 - 1e-9
    assert compared > 50


# Further ways: what leaves out a feature of every known way, and still leads to the goal ----------


X = np.random.default_rng(0).random((300, 4))


def by_trying_all(ways: set[frozenset[int]]) -> set[frozenset[int]]:
    """Return the smallest sets that have a feature of every way, by trying all sets."""
    features = sorted(set().union(*ways))
    hitting = [
        frozenset(each)
        for size in range(len(features) + 1)
        for each in itertools.combinations(features, size)
        if all(set(each) & way for way in ways)
    ]
    return {each for each in hitting if not any(other < each for other in hitting)}


@given(st.sets(st.frozensets(st.integers(0, 5), min_size=1, max_size=3), max_size=4))
def test_what_to_leave_out_is_what_trying_all_finds(ways: set[frozenset[int]]) -> None:
    expected = by_trying_all(ways)
    found = left_out(ways)
    assert len(found) == min(len(expected), MOST_CHOICES)
    assert set(found) <= expected
    assert found == sorted(found, key=lambda each: (len(each), sorted(each)))


def points(rows: Any) -> Any:
    """Approve where one of these is high: the first feature, or the sum of the three others."""
    rows = np.asarray(rows)
    return np.where((rows[:, 0] > 0.8) | (rows[:, 1:].sum(axis=1) > 2.2), "yes", "no")


def changed_sets(explanation: Any) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(row).tolist()) for row in explanation.changed}


def test_all_ways_that_exist_are_offered() -> None:
    # Two of the last three features are never enough here, as 0.1 is left of the third.
    explainer = explainer_by_steps(points, diversity=FeatureDiversity()).fit(X)
    (few,) = explain(explainer, [[0.1, 0.1, 0.1, 0.1]])
    assert changed_sets(few) == {frozenset({0}), frozenset({1, 2, 3})}
    # With 0.4 left, two are enough, and there are three pairs.
    (more,) = explain(explainer, [[0.1, 0.4, 0.4, 0.4]])
    pairs = {frozenset(pair) for pair in itertools.combinations([1, 2, 3], 2)}
    assert changed_sets(more) == {frozenset({0})} | pairs


def test_ways_that_hardly_a_training_row_took_are_offered() -> None:
    # Of the ways that exist, 58 of 65 were offered before further ones were looked for.
    rows = np.random.default_rng(0).random((300, 5))

    def hard(rows: Any) -> Any:
        rows = np.asarray(rows)
        return np.where((rows[:, 0] > 0.8) | (rows[:, 1:].sum(axis=1) > 3.2), "yes", "no")

    explainer = explainer_by_steps(hard, diversity=FeatureDiversity(), max_counterfactuals=20)
    inputs, most = rows[hard(rows) == "no"][:20], rows.max(axis=0)
    total = offered = 0
    for x, explanation in zip(inputs, explain(explainer.fit(rows), inputs), strict=True):
        sets = [
            frozenset(each) for n in range(1, 5) for each in itertools.combinations(range(5), n)
        ]
        highest = [np.where(np.isin(np.arange(5), list(each)), most, x) for each in sets]
        exist = [each for each, row in zip(sets, highest, strict=True) if hard([row])[0] == "yes"]
        smallest = {each for each in exist if not any(other < each for other in exist)}
        total += len(smallest)
        offered += len(smallest & changed_sets(explanation))
    assert offered >= 0.94 * total


def test_a_mixed_table_gets_the_ways_that_trying_all_finds() -> None:
    explainer = explainer_by_steps(
        lend,
        diversity=FeatureDiversity(),
        max_counterfactuals=20,
        constraints=Constraints(immutable=["age"]),
    ).fit(FRAME)
    inputs = FRAME[lend(FRAME) == "no"].head(6)
    table = explainer.training_.table
    values = [np.unique(column) for column in table.encode(FRAME)[0].T]
    total = offered = 0
    for x, explanation in zip(table.encode(inputs)[0], explain(explainer, inputs), strict=True):
        exist: set[frozenset[int]] = set()
        for size in (1, 2, 3):
            for features in itertools.combinations(range(1, 5), size):
                ends = [values[i][[0, -1]] if i < 3 else values[i] for i in features]
                rows = np.repeat(x[None], int(np.prod([len(each) for each in ends])), axis=0)
                rows[:, features] = list(itertools.product(*ends))
                if (lend(table.decode(rows)) == "yes").any():
                    exist.add(frozenset(features))
        smallest = {each for each in exist if not any(other < each for other in exist)}
        total += len(smallest)
        offered += len(smallest & changed_sets(explanation))
    assert total > 6
    assert offered >= 0.9 * total


def test_further_ways_leave_something_of_every_known_way_out() -> None:
    explainer = explainer_by_steps(points, diversity=FeatureDiversity()).fit(X)
    inputs = np.array([[0.1, 0.4, 0.4, 0.4], [0.2, 0.4, 0.3, 0.4]])
    batch = batch_of(explainer, inputs)
    ((_, _, recipes),) = explainer._recipes.groups(batch)
    nothing = Chosen.empty(batch)
    row = inputs[0].copy()
    row[0] = 0.9
    known = Chosen(
        np.array([0]), np.array([0]), row[None], np.array([1]),
        batch.distance.embed(row[None]), np.array([0.8]), np.array([True]),
        nothing.n_candidates, nothing.farthest,
    )  # fmt: skip
    found = further_options(known, recipes, batch, np.array([0]))
    assert found.owners.tolist() == [0]  # one choice: leave the first feature out
    assert found.rows[0, 0] == 0.1
    assert points(found.rows) == ["yes"]
    everything = further_options(nothing, recipes, batch, np.array([0, 1]))
    assert everything.owners.tolist() == [0, 1]  # nothing is known, so nothing is left out


def test_nothing_is_left_where_every_feature_is_a_way() -> None:
    explainer = explainer_by_steps(
        lambda rows: np.asarray(rows).max(axis=1) > 0.8, diversity=FeatureDiversity()
    ).fit(X)
    (explanation,) = explain(explainer, [[0.1, 0.1, 0.1, 0.1]])
    assert changed_sets(explanation) == {frozenset({i}) for i in range(4)}


@pytest.mark.parametrize("anchors", [None, 2])
def test_each_gets_what_it_would_get_alone(anchors: int | None) -> None:
    explainer = explainer_by_steps(points, diversity=FeatureDiversity(), regions=anchors).fit(X)
    inputs = X[points(X) == "no"][:8]
    together = explain(explainer, inputs)
    for x, one in zip(inputs[::-1], reversed(list(together)), strict=True):
        (alone,) = explain(explainer, x[None])
        np.testing.assert_array_equal(alone.values, one.values)
