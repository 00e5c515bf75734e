"""What may stand in for an option of a set."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from anchored_toys import DIVERSITIES, Setting
from hypothesis import given
from hypothesis import strategies as st

from counterset import AngleDiversity, metrics
from counterset.arrays import Codes
from counterset.selection import NONE_LEFT
from counterset.space import Points
from counterset.stand_ins import MOST_STAND_INS, find_stand_ins

MARGIN = 0.05


def anchors_of(setting: Setting) -> Points:
    return setting.selector.pool.points.take(setting.places)


def found_in(setting: Setting, price: float = 0.3) -> tuple[Codes, Any]:
    anchors, options = anchors_of(setting), setting.options
    return find_stand_ins(setting.own, anchors, options, setting.selector, price, MARGIN)


def differ(setting: Setting, i: int, a: int, b: int) -> bool:
    here = setting.near.view.of(np.array([i]))
    return bool(setting.selector.differ(here, np.array([a]), np.array([b])).all())


def find_literally(setting: Setting, i: int) -> dict[int, list[int]]:
    """Give the stand-ins of each option of one set, nearest first."""
    own = [int(option) for option in setting.own[i] if option != NONE_LEFT]
    places, measure = setting.options.places, setting.near.view.distance
    away = measure.pairwise(places, places)
    accepted = [(option, option) for option in own]
    tried = []
    for option in own:
        others = sorted(
            (o for o in range(len(places)) if o != option), key=lambda o: away[option, o]
        )
        tried += [
            (away[option, other], option, other)
            for other in others[:MOST_STAND_INS]
            if away[option, other] <= min(away[o, other] for o in own)
        ]
    for _, option, other in sorted(tried, key=lambda each: each[0]):
        rivals = [kept for place, kept in accepted if place != option]
        if all(differ(setting, i, kept, other) for kept in rivals):
            accepted.append((option, other))
    return {o: [kept for place, kept in accepted if place == o != kept] for o in own}


@pytest.mark.parametrize("diversity", DIVERSITIES)
@pytest.mark.parametrize("distance", ["l1", "l2"])
@given(seed=st.integers(0, 10**6))
def test_they_are_those_of_the_literal_search(diversity: Any, distance: str, seed: int) -> None:
    setting = Setting(seed, diversity, distance)
    stand_ins, _ = found_in(setting)
    for i, own in enumerate(setting.own):
        expected = find_literally(setting, i)
        for option, found in zip(own, stand_ins[i], strict=True):
            kept = found[found != NONE_LEFT].tolist()
            assert kept == (expected[option] if option != NONE_LEFT else [])


@pytest.mark.parametrize("diversity", DIVERSITIES[1:])
@given(seed=st.integers(0, 10**6))
def test_step_3_holds_whichever_are_taken(diversity: Any, seed: int) -> None:
    setting = Setting(seed, diversity)
    stand_ins, _ = found_in(setting)
    for i, own in enumerate(setting.own):
        places = [
            [o for o in (option, *others) if o != NONE_LEFT]
            for option, others in zip(own, stand_ins[i], strict=True)
            if option != NONE_LEFT
        ]
        for one, other in itertools.combinations(places, 2):
            assert all(differ(setting, i, a, b) for a, b in itertools.product(one, other))


@given(seed=st.integers(0, 10**6), price=st.floats(0, 0.45))
def test_they_are_worth_the_diversity_that_they_bring_less_the_margin(
    seed: int, price: float
) -> None:
    setting = Setting(seed, AngleDiversity(0.3))
    stand_ins, worth = found_in(setting, price)
    for i, j, r in np.argwhere(stand_ins != NONE_LEFT):
        own = setting.own[i][setting.own[i] != NONE_LEFT]
        changed = np.where(own == setting.own[i, j], stand_ins[i, j, r], own)
        before, after = (
            metrics.k_diversity(setting.options.places[each]) for each in (own, changed)
        )
        gain = len(own) * price * (after - before)
        assert worth[i, j, r] == pytest.approx(gain - MARGIN)
    assert not worth[stand_ins == NONE_LEFT].any()


def test_many_sets_in_small_parts_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(3, AngleDiversity(0.3))
    stand_ins, worth = found_in(setting)
    assert (stand_ins != NONE_LEFT).any()
    monkeypatch.setattr("counterset.stand_ins.PAIRS", 3)
    monkeypatch.setattr("counterset.stand_ins.BATCH", 3)
    again, same_worth = found_in(setting)
    assert np.array_equal(stand_ins, again)
    assert np.array_equal(worth, same_worth)


@pytest.mark.parametrize("count", [0, 1])
def test_where_there_is_nothing_else_nothing_stands_in(count: int) -> None:
    setting = Setting(0, None)
    options = setting.options.take(np.arange(count))
    sets = np.full((2, 3), NONE_LEFT)
    sets[0, :count] = 0
    anchors = anchors_of(setting).take(np.arange(2))
    stand_ins, worth = find_stand_ins(sets, anchors, options, setting.selector, 0.3, MARGIN)
    assert stand_ins.shape == (2, 3, MOST_STAND_INS)
    assert (stand_ins == NONE_LEFT).all()
    assert not worth.any()
