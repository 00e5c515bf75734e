"""In what options give way to the input."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from anchored_toys import DIVERSITIES, LIMIT, acceptance_of, following, selector_of
from hypothesis import given, settings
from hypothesis import strategies as st

from counterset import AngleDiversity, DiverseExplainer, LineSearch, datasets
from counterset._base.arrays import Mask
from counterset.anchors.anchors import Options
from counterset.anchors.giving_way import AGREEING, STRIDE, WITNESSES, WORTH, find_giving_way
from counterset.anchors.workshop import Plan
from counterset.models.adapter import ModelAdapter
from counterset.noise import GaussianNoise
from counterset.steps.diversity import View
from counterset.steps.selection import NONE_LEFT


def needs_two(rows: Any) -> Any:
    """Decide by the first two features of four, for the most part."""
    return np.asarray(rows)[:, :2].sum(axis=1) + 0.2 * np.asarray(rows)[:, 2] > 1.1


class Setting:
    """Anchors, their sets, and rows to ask."""

    def __init__(self, seed: int, diversity: Any = None, distance: str = "l1") -> None:
        X = np.random.default_rng(seed).random((60, 4))
        explainer = DiverseExplainer.paper(
            needs_two,
            distance=distance,
            diversity=diversity,
            scale=None,
            max_counterfactuals=LIMIT,
        ).fit(X)
        pool, adapter = explainer.pool_, ModelAdapter(needs_two, explainer.schema_)
        self.selector = selector_of(explainer)
        members = np.flatnonzero(pool.codes == 0)
        places = members[:5]
        chosen = self.selector.select(pool.embedded.take(places), pool.codes == 1).pool_index
        used = np.unique(chosen[chosen != NONE_LEFT])
        self.noise = (
            math.sqrt(GaussianNoise().variance) * np.ptp(X, axis=0) * math.sqrt(2 / math.pi)
        )
        self.sets = np.where(chosen == NONE_LEFT, NONE_LEFT, np.searchsorted(used, chosen))
        labels = adapter.answers(pool.matrix[used]).labels
        self.options = Options(pool.matrix[used], pool.embedded.coordinates[used], used, labels)
        self.anchors = pool.matrix[places]
        inputs = pool.matrix[members]
        self.rows = acceptance_of(explainer, inputs)
        self.measure = pool.distance.in_space
        to_options = self.measure.pairwise(inputs, self.options.rows)
        self.away = np.stack(
            [to_options[:, own[own != NONE_LEFT]].mean(axis=1) for own in self.sets], axis=1
        )

    def found(self, way: float, price: float) -> Mask:
        return find_giving_way(
            self.sets, self.options, self.anchors, self.rows, self.away, self.selector, way, price
        )

    def witnesses(self, i: int) -> list[int]:
        """List rows that have the set as their nearest, or that are near it."""
        nearest = self.away.argmin(axis=1)
        order = sorted(range(len(nearest)), key=lambda j: (nearest[j] != i, self.away[j, i]))
        served = max(WITNESSES, sum(nearest == i))
        return [order[int(j)] for j in np.linspace(0, served - 1, WITNESSES)]

    def differs(self, i: int, seen: Any, slot: int) -> bool:
        """Return whether step 3 tells one option of a set from the others, seen from the anchor."""
        table = self.selector.pool.distance
        x = table.embed(self.anchors[[i]])
        nearest = self.measure.pairwise(x.coordinates, self.options.points).min(axis=1)
        view = View(x, table.embed(np.array(list(seen.values()))), nearest, self.measure)
        keys = list(seen)
        return all(
            bool(self.selector.differ(view, np.array([keys.index(slot)]), np.array([j]))[0])
            for j, other in enumerate(keys)
            if other != slot
        )

    def gain(self, i: int, slot: int, feature: int, price: float) -> float:
        """Return what a set gains if an option takes the value of a row, on average over rows."""
        slots = [s for s, option in enumerate(self.sets[i]) if option != NONE_LEFT]
        values = {s: self.options.rows[self.sets[i, s], feature] for s in slots}
        gains = []
        for row in self.witnesses(i)[::STRIDE]:
            own, here = self.rows.inputs[row, feature], []
            for value in (values[slot], own):
                pairs = [abs(value - values[other]) for other in slots if other != slot]
                count = len(slots) * (len(slots) - 1) / 2
                diversity = sum(pairs) / count if pairs else 0.0
                here.append(abs(own - value) / len(slots) - price * diversity)
            gains.append((here[0] - here[1]) * len(slots))
        return float(np.mean(gains))

    def find_literally(self, i: int, way: float, price: float) -> dict[int, set[int]]:
        """Try some features of one option of one set after the other."""
        asked = self.rows.inputs[self.witnesses(i)]
        slots = [slot for slot, option in enumerate(self.sets[i]) if option != NONE_LEFT]
        ends = {slot: self.options.rows[self.sets[i, slot]] for slot in slots}
        given: dict[int, set[int]] = {slot: set() for slot in slots}
        to_try, sizes = {}, {}
        for slot in slots:
            surplus = [self.gain(i, slot, j, price) - WORTH * self.noise[j] for j in range(4)]
            to_try[slot] = [j for j in np.argsort(-np.array(surplus)).tolist() if surplus[j] > 0]
            sizes[slot] = len(to_try[slot])

        def mixed(x: Any, slot: int, features: set[int]) -> Any:
            shares = [way if j in features else 0.0 for j in range(4)]
            return ends[slot] + np.array(shares) * (x - ends[slot])

        while any(to_try.values()):
            for slot in slots:
                block = to_try[slot][: sizes[slot]]
                if not block:
                    continue
                tried = given[slot] | set(block)
                agreeing = needs_two(np.array([mixed(x, slot, tried) for x in asked])).sum()
                seen = {
                    other: mixed(self.anchors[i], other, tried if other == slot else given[other])
                    for other in slots
                }
                if agreeing >= AGREEING * len(asked) and self.differs(i, seen, slot):
                    given[slot] = tried
                    to_try[slot] = to_try[slot][len(block) :]
                    sizes[slot] = 2 * len(block)
                elif len(block) == 1:
                    to_try[slot] = to_try[slot][1:]
                else:
                    sizes[slot] = len(block) // 2
        return given


@pytest.mark.parametrize("diversity", DIVERSITIES)
@pytest.mark.parametrize("distance", ["l1", "l2"])
@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    way=st.sampled_from([0.2, 0.6, 1.0]),
    price=st.sampled_from([0.0, 0.2, 0.45]),
)
def test_it_is_what_the_literal_search_finds(
    diversity: Any, distance: str, seed: int, way: float, price: float
) -> None:
    setting = Setting(seed, diversity, distance)
    gives_way = setting.found(way, price)
    for i, own in enumerate(setting.sets):
        expected = setting.find_literally(i, way, price)
        for slot, option in enumerate(own):
            found = set(np.flatnonzero(gives_way[i, slot]).tolist())
            assert found == (expected[slot] if option != NONE_LEFT else set())


def test_an_option_gives_way_where_the_model_does_not_look_and_not_where_it_must() -> None:
    setting = Setting(0)
    gives_way = setting.found(1.0, 0.0)
    worth = [
        (i, slot)
        for i, slot in np.argwhere(setting.sets != NONE_LEFT).tolist()
        if setting.gain(i, slot, 3, 0.0) > WORTH * setting.noise[3]
    ]
    assert worth
    assert all(gives_way[i, slot, 3] for i, slot in worth)
    assert not gives_way[..., :2].all(axis=2).any()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("others", [[], [[0.9, 0.9, 0.1, 0.1]]])
def test_an_option_does_not_give_way_in_all_that_it_changes(others: list[Any]) -> None:
    setting = Setting(0, AngleDiversity(0.5))
    anchor = np.array([[0.5, 0.5, 0.4, 0.5]])
    options = np.array([[0.5, 0.5, 0.9, 0.5], *others])
    rows = np.tile([0.5, 0.5, 0.6, 0.5], (16, 1))  # with their third feature it is an option too
    gives_way = find_giving_way(
        np.arange(len(options))[None],
        Options(options, options, np.arange(len(options)), needs_two(options)),
        anchor,
        replace(setting.rows, inputs=rows, input_labels=needs_two(rows)),
        np.ones((16, 1)),
        setting.selector,
        way=1.0,
        price=0.0,
    )
    assert needs_two(np.where([False, False, True, False], rows, options[0])).all()
    assert not gives_way[0, 0].any()


def planned(plan: Plan, data: Any, model: Any, **parameters: Any) -> DiverseExplainer:
    with following(plan):
        return DiverseExplainer.paper(model, anchors="auto", **parameters).fit(data)


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize("way", [0.4, 1.0])
@pytest.mark.parametrize("closed_in", [False, True])
def test_options_give_way_as_far_as_the_model_allows(closed_in: bool, way: float) -> None:
    rng = np.random.default_rng(1)
    plan = Plan(4, closed_in, way=way)
    explainer = planned(plan, rng.random((300, 4)), needs_two, search=LineSearch(0.01))
    anchors, rows = explainer.anchors_, rng.random((60, 4))
    assert anchors is not None
    given = moved = 0
    points, codes = explainer.distance_.embed(rows), needs_two(rows).astype(int)
    nearest = anchors.nearest(points, codes)
    for i, explanation in enumerate(explainer.explain_many(rows)):
        assert (needs_two(explanation.values) == explanation.labels).all()
        assert (explanation.labels != explanation.label).all()
        own = anchors.sets[nearest[i]]
        for option, gives_way in zip(own, anchors.gives_way[nearest[i]], strict=True):
            if option == NONE_LEFT:
                continue
            end = anchors.options.rows[option]
            mixed = np.where(gives_way, end + way * (rows[i] - end), end)
            if needs_two(mixed[None])[0] == explanation.label:
                # Somewhere between what it should have been and the option itself.
                others = explanation.values
                here = (others[:, ~gives_way] == end[~gives_way]).all(axis=1)
                assert here.any()
                moved += 1
            else:
                assert np.isclose(explanation.values, mixed).all(axis=1).any()
                given += bool(gives_way.any())
    assert given > 0
    assert moved > 0 or (closed_in, way) == (False, 0.4)


def test_nothing_gives_way_where_the_search_is_switched_off() -> None:
    X = np.random.default_rng(2).random((200, 4))
    explainer = DiverseExplainer.paper(needs_two, anchors="auto", search=None).fit(X)
    assert explainer.anchors_ is not None
    assert not explainer.anchors_.gives_way.any()


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize("way", [0.6, 1.0])
def test_within_the_radius_the_same_options_give_way_in_the_same_features(way: float) -> None:
    rng = np.random.default_rng(3)
    explainer = planned(Plan(8, closed_in=True, way=way), rng.random((200, 4)), needs_two)
    anchors, rows = explainer.anchors_, rng.random((20, 4))
    assert anchors is not None
    for explanation, x in zip(explainer.explain_many(rows), rows, strict=True):
        assert explanation.certificate is not None
        radius = explanation.certificate.stable_radius
        assert radius is not None
        steps = rng.normal(size=(50, 4))
        moved = x + 0.999 * radius * steps / explainer.distance_(np.zeros(4), steps)[0][:, None]
        moved = moved[needs_two(moved) == explanation.label]
        codes = np.full(len(moved) + 1, int(explanation.label))
        nearest = anchors.nearest(explainer.distance_.embed(np.vstack([x, moved])), codes)
        assert (nearest == nearest[0]).all()


@pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize("way", [0.4, 1.0])
def test_mixed_tables_keep_whole_values(way: float) -> None:
    frame = datasets.load("german_credit").X.head(300)

    def model(rows: Any) -> Any:
        return np.asarray((rows["duration"] > 20) & (rows["savings_status"] == "<100"))

    explainer = planned(Plan(4, closed_in=False, way=way), frame, model)
    assert explainer.anchors_ is not None
    assert explainer.anchors_.gives_way.any()
    for explanation in explainer.explain_many(frame.head(30)):
        found = explanation.counterfactuals
        assert (model(found) == explanation.labels).all()
        assert (explanation.labels != explanation.label).all()
        assert isinstance(found, pd.DataFrame)
        assert (found.dtypes == frame.dtypes).all()
