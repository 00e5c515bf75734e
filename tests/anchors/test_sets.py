"""Sets of anchors, put together from the options of rows around them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from anchored_toys import DIVERSITIES, Setting
from hypothesis import given
from hypothesis import strategies as st
from oracles import swap_literally

from counterset import AngleDiversity, metrics
from counterset._base.arrays import Codes
from counterset.anchors.sets import Neighbourhoods, cover
from counterset.steps.selection import NONE_LEFT


@pytest.mark.parametrize("diversity", DIVERSITIES)
@pytest.mark.parametrize("distance", ["l1", "l2"])
@given(seed=st.integers(0, 10**6), price=st.floats(0, 0.45))
def test_swaps_are_those_of_the_literal_descent(
    diversity: Any, distance: str, seed: int, price: float
) -> None:
    setting = Setting(seed, diversity, distance)
    found = setting.sets(price)
    pool, measure = setting.selector.pool, setting.near.view.distance
    for i, place in enumerate(setting.anchor_index):
        expected = swap_literally(
            pool.embedded.coordinates[place],
            pool.embedded.coordinates[setting.regions[i]],
            setting.options.coordinates,
            list(setting.own[i][setting.own[i] != NONE_LEFT]),
            price,
            measure,
            diversity,
        )
        assert sorted(found[i][found[i] != NONE_LEFT]) == sorted(expected)


@pytest.mark.parametrize("diversity", DIVERSITIES[1:])
@given(seed=st.integers(0, 10**6))
def test_seen_from_the_anchor_any_two_options_differ_enough(diversity: Any, seed: int) -> None:
    setting = Setting(seed, diversity)
    view = setting.near.view
    for i, chosen in enumerate(setting.sets(0.3)):
        for a, b in itertools.combinations(chosen[chosen != NONE_LEFT], 2):
            here = view.of(np.array([i]))
            assert setting.selector.differ(here, np.array([a]), np.array([b])).all()


def test_a_set_keeps_its_size_and_gains_what_is_paid_for() -> None:
    free, dear = Setting(1, None).sets(0.0), Setting(1, None).sets(0.45)
    setting = Setting(1, None)
    sizes = (setting.own != NONE_LEFT).sum(axis=1)

    def figures(sets: Codes) -> tuple[float, float]:
        rows, places = setting.selector.pool.embedded.coordinates, setting.options.coordinates
        closeness = [
            metrics.k_distance(row, places[chosen[chosen != NONE_LEFT]])
            for chosen, region in zip(sets, setting.regions, strict=True)
            for row in rows[region]
        ]
        diversity = [metrics.k_diversity(places[c[c != NONE_LEFT]]) for c in sets]
        return float(np.mean(closeness)), float(np.mean(diversity))

    for sets in (free, dear):
        assert ((sets != NONE_LEFT).sum(axis=1) == sizes).all()
    assert figures(free)[0] < figures(dear)[0]
    assert figures(free)[1] < figures(dear)[1]


@given(seed=st.integers(0, 10**6), price=st.floats(0, 0.45))
def test_the_diversity_of_a_set_is_its_k_diversity(seed: int, price: float) -> None:
    setting = Setting(seed, AngleDiversity(0.3))
    for chosen, diversity in zip(*setting.improved(price), strict=True):
        own = setting.options.coordinates[chosen[chosen != NONE_LEFT]]
        assert diversity == pytest.approx(metrics.k_diversity(own))


def test_only_the_options_nearest_to_a_region_are_at_hand_and_those_it_starts_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("counterset.anchors.sets.MOST_OPTIONS", 4)
    setting = Setting(2, None)
    for own, costs, candidates in zip(
        setting.own, setting.costs, setting.near.candidates, strict=True
    ):
        others = [i for i in np.argsort(costs) if i not in own]
        assert set(candidates) == {*own, *others[:1]}


def test_an_anchor_without_options_stays_without() -> None:
    setting = Setting(0, None)
    nothing = np.full_like(setting.own, NONE_LEFT)
    anchors = setting.selector.pool.embedded.take(setting.anchor_index)
    near = Neighbourhoods.around(anchors, setting.costs, nothing, setting.options, setting.selector)
    start = near.positions(nothing)
    chosen, diversity = near.improve(start, near.compare(start), 0.2)
    assert (near.numbers(chosen) == NONE_LEFT).all()
    assert not diversity.any()


def cover_literally(costs: Any, count: int) -> list[int]:
    """Try every set each time."""
    chosen = [int(np.argmin(costs.mean(axis=0)))]
    while len(chosen) < count:
        totals = [costs[:, [*chosen, i]].min(axis=1).sum() for i in range(costs.shape[1])]
        if min(totals) > costs[:, chosen].min(axis=1).sum() - 1e-9:
            break
        chosen.append(int(np.argmin(np.array(totals) - min(totals) > 1e-9)))
    return chosen


@given(
    rows=st.integers(1, 12), sets=st.integers(1, 9), count=st.integers(1, 9), seed=st.integers(0)
)
def test_sets_are_chosen_as_if_every_one_were_tried(
    rows: int, sets: int, count: int, seed: int
) -> None:
    costs = np.random.default_rng(seed).integers(0, 5, (rows, sets)).astype(float)  # ties
    assert cover(costs, count).tolist() == cover_literally(costs, count)
