"""Where things stand in a map, and which row a point stands for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.displays import mixed, plane, special, wide

from counterset import DiverseExplainer
from counterset._base.arrays import Matrix
from counterset.plots.layouts import Fan, Layout, Plane
from counterset.plots.map import map_of
from counterset.strategies.line_search import Paths


def layout(which: str) -> Layout:
    return map_of(*{"mixed": mixed, "wide": wide, "plane": plane}[which]())


def same(a: Matrix, b: Matrix) -> None:
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_numbers_in_two_directions_make_a_plane_and_others_a_fan() -> None:
    assert isinstance(layout("plane"), Plane)
    assert isinstance(layout("mixed"), Fan)
    assert isinstance(layout("wide"), Fan)


@pytest.mark.parametrize("which", ["mixed", "wide", "plane"])
def test_the_input_and_the_options_are_the_rows_where_they_stand(which: str) -> None:
    explanation, _ = {"mixed": mixed, "wide": wide, "plane": plane}[which]()
    here = layout(which)
    same(here.rows(np.zeros((1, 2))), explanation.coded.input[None, :])
    same(here.rows(here.options), explanation.coded.matrix)
    # The arc cosine of nearly 1 keeps half of the digits.
    np.testing.assert_allclose(here.place(explanation.coded.matrix), here.options, atol=1e-6)


def test_positions_in_a_plane_lead_back_to_the_same_rows() -> None:
    explanation, explainer = plane()
    here = map_of(explanation, explainer)
    rows = explainer.training_.pool.matrix[:20]
    same(here.rows(here.place(rows)), rows)
    points = np.random.default_rng(0).normal(size=(20, 2))
    same(here.place(here.rows(points)), points)


def test_distances_in_a_plane_are_those_of_the_scaled_space() -> None:
    explanation, explainer = plane()
    here = map_of(explanation, explainer)
    space = explainer.distance_.space
    moved = (explanation.coded.matrix - explanation.coded.input) * space.factor
    same(np.linalg.norm(here.options, axis=1), np.linalg.norm(moved, axis=1))


@pytest.mark.parametrize("which", ["mixed", "wide"])
def test_options_of_a_fan_are_as_far_as_they_are(which: str) -> None:
    explanation, _ = {"mixed": mixed, "wide": wide}[which]()
    same(np.linalg.norm(layout(which).options, axis=1), explanation.distances)


@pytest.mark.parametrize("which", ["mixed", "wide"])
def test_on_the_lines_of_a_fan_the_rows_are_those_that_step_4_searches(which: str) -> None:
    explanation, explainer = {"mixed": mixed, "wide": wide}[which]()
    here, distance = layout(which), explainer.distance_
    starts = np.repeat(explanation.coded.input[None, :], len(explanation), axis=0)
    ends = explanation.coded.matrix
    rules = explainer.training_.rules(explainer.constraints)
    coordinates = distance.coordinates(starts), distance.coordinates(ends)
    paths = Paths(distance, starts, ends, coordinates, rules)
    for share in (0.25, 0.5, 0.8):
        points = paths.starts + share * (paths.ends - paths.starts)
        same(here.rows(share * here.options), paths.between(points, np.arange(len(ends))))


def test_beyond_an_option_its_numbers_move_on_within_the_training_range() -> None:
    explanation, _ = mixed()
    here, table = layout("mixed"), explanation.coded.table
    x, options = explanation.coded.input, explanation.coded.matrix
    moves = np.array([not feature.is_category for feature in table.features])
    for share in (1.1, 5.0):
        rows = here.rows(share * here.options)
        for j in np.flatnonzero(moves & ~np.isnan(x)):
            expected = x[j] + share * (options[:, j] - x[j])
            expected = expected.clip(table.features[j].low, table.features[j].high)
            same(rows[:, j], expected)
        same(rows[:, ~moves], options[:, ~moves])


def test_between_two_lines_their_changes_are_added() -> None:
    explanation, _ = wide()
    here, x = layout("wide"), explanation.coded.input
    order = np.argsort(np.arctan2(*here.options.T[::-1]) % (2 * np.pi))
    first, second = order[:2]
    middle = 0.3 * here.options[first] + 0.4 * here.options[second]
    moved = explanation.coded.matrix - x
    same(here.rows(middle[None, :])[0], x + 0.3 * moved[first] + 0.4 * moved[second])


def test_two_features_that_change_are_the_axes() -> None:
    explanation, explainer = plane()
    here = layout("plane")
    assert isinstance(here, Plane)
    assert here.features == (0, 1)
    x, factor = explanation.coded.input, explainer.distance_.space.factor
    same(here.at(0, np.array([x[0], 1.0])), np.array([0.0, (1.0 - x[0]) * factor[0]]))


def test_beside_a_category_that_stays_numbers_make_a_plane_too() -> None:
    X = pd.DataFrame(np.random.default_rng(0).random((200, 2)), columns=["a", "b"])
    X["home"] = np.where(X["a"] > 0.5, "own", "rent")
    explainer = DiverseExplainer(lambda rows: rows["a"] + rows["b"] > 1).fit(X)
    row = pd.DataFrame({"a": [0.2], "b": [0.3], "home": ["rent"]})
    (explanation,) = explainer.explain_many(row, if_none="ignore")
    assert not explanation.changed[:, 2].any()
    here = map_of(explanation, explainer)
    assert isinstance(here, Plane)
    same(here.rows(here.options), explanation.coded.matrix)


def test_rows_in_no_direction_of_an_option_have_no_place() -> None:
    explanation, explainer = wide()
    here = map_of(explanation, explainer)
    ends = explanation.coded.matrix
    away = explanation.coded.input - (ends - explanation.coded.input).sum(axis=0)
    assert np.isnan(here.place(away[None, :])).all()


def test_a_fan_of_one_option_is_the_same_all_around() -> None:
    explanation, explainer = special()
    here = map_of(explanation, explainer)
    assert isinstance(here, Fan)
    assert len(explanation) == 1
    (x, y), radius = here.options[0], explanation.distances[0]
    around = radius * np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 6, 13)])
    same(here.rows(around), np.repeat(explanation.coded.matrix, 13, axis=0))
    assert (x, y) == (pytest.approx(radius), 0)
    same(here.place(explanation.coded.matrix), here.options)


def test_one_option_and_one_number_make_a_map_too() -> None:
    X = np.linspace(0, 1, 50)[:, None]
    explainer = DiverseExplainer(lambda rows: rows[:, 0] > 0.5, max_counterfactuals=1).fit(X)
    explanation = explainer.explain([0.2])
    here = map_of(explanation, explainer)
    same(here.rows(here.options), explanation.coded.matrix)
    assert np.isfinite(here.limits()).all()
