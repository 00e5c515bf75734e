"""The map of a set."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from support.displays import mixed, plane, three_classes, wide
from support.settings import explainer_by_steps

from counterset import Constraints, DiverseExplainer, Explanation, InvalidInputError
from counterset._base.arrays import Matrix
from counterset.plots import MapDisplay
from counterset.plots.map import ask_background, is_reached_as, map_of
from counterset.serve import explorer as page_map


def test_the_background_is_what_the_model_says() -> None:
    explanation, explainer = plane()
    background = MapDisplay.from_explanation(explanation, explainer).background
    space, layout = explainer.distance_.space, background
    # Asked again, point by point, by hand: the plane is that of the two features.
    rows = _rows_of_plane(explanation, explainer, layout.right, layout.up)
    expected = explainer.model(rows) != explanation.label
    np.testing.assert_array_equal(background.reached.ravel(), expected)
    assert 0.05 < background.reached.mean() < 0.95
    assert len(space.factor) == 2


def test_other_points_can_be_asked_about() -> None:
    explanation, explainer = plane()
    layout = map_of(explanation, explainer)
    marks = np.vstack([[0.0, 0.0], 1.02 * layout.options])
    asked = ask_background(layout, explanation, explainer, (marks[:, :1], marks[:, 1:]))
    assert asked.reached.ravel().tolist() == [False, *[True] * len(explanation)]


def _rows_of_plane(
    explanation: Explanation, explainer: DiverseExplainer, right: Matrix, up: Matrix
) -> Matrix:
    """Solve for the axes from where the options stand, and go back to the features' units."""
    display = MapDisplay.from_explanation(explanation, explainer)
    factor = explainer.distance_.space.factor
    moved = (explanation.coded.matrix - explanation.coded.input) * factor
    axes = np.linalg.lstsq(display.options, moved, rcond=None)[0]
    rows: Matrix = (
        explanation.coded.input + np.column_stack([right.ravel(), up.ravel()]) @ axes / factor
    )
    return rows


def test_the_input_lies_on_one_side_and_the_options_on_the_other() -> None:
    for explanation, explainer in (plane(), mixed()):
        display = MapDisplay.from_explanation(explanation, explainer)
        points = np.column_stack([display.background.right.ravel(), display.background.up.ravel()])
        nearest = np.linalg.norm(points, axis=1).argmin()
        assert not display.background.reached.ravel()[nearest]


def test_it_draws_each_option_with_its_way_into_the_axes_that_are_passed() -> None:
    explanation, explainer = mixed()
    _, ax = plt.subplots()
    display = MapDisplay.from_explanation(explanation, explainer).plot(ax)
    assert display.ax_ is ax
    # The training rows, a way and a mark for each option, and the input.
    assert len(ax.lines) == 2 + 2 * len(explanation)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    options = [f"option {i}" for i in range(1, len(explanation) + 1)]
    assert legend == ["input", *options, "no", "yes"]
    assert "mixtures" in ax.get_xlabel()
    plt.close(display.figure_)


def test_a_true_plane_says_so() -> None:
    display = MapDisplay.from_explanation(*plane()).plot()
    assert display.is_exact
    assert f"asked at {display.background.right.size:,} points" in display.ax_.get_xlabel()
    plt.close(display.figure_)


def test_features_that_change_together_switch_together_on_the_lines() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    together = Constraints(together=[["score", "home"]], immutable=["age"])
    (other,) = explainer.explain_many(row, constraints=together, if_none="warn")
    assert other.changed[:, [2, 3]].any()
    layout = map_of(other, explainer)
    for share in np.linspace(0, 1, 9):
        rows = layout.rows(share * layout.options)
        moved = rows != explanation.coded.input
        np.testing.assert_array_equal(
            moved[:, 2] & other.changed[:, 3], moved[:, 3] & other.changed[:, 2]
        )


def test_without_options_there_is_no_map() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    (empty,) = explainer.explain_many(row, target="no", skip=True)
    with pytest.raises(InvalidInputError, match="at least one option"):
        MapDisplay.from_explanation(empty, explainer)


def test_the_other_side_is_what_was_asked_for() -> None:
    X = np.random.default_rng(0).random((200, 2))
    explainer = explainer_by_steps(lambda rows: rows.sum(axis=1), diversity=None).fit(X)
    explanation = explainer.explain([0.25, 0.5], interval=(1.2, 1.6))
    reached = is_reached_as(explanation, np.array([0.3, 1.2, 1.5, 1.9]))
    assert reached.tolist() == [False, True, True, False]
    explanation, _ = mixed()
    assert is_reached_as(explanation, np.array(["no", "yes"])).tolist() == [False, True]


@pytest.mark.parametrize("toy", [plane, mixed, wide, three_classes])
def test_every_option_and_the_input_stand_on_the_side_of_their_own_decision(toy: Any) -> None:
    explanation, explainer = toy()
    layout = map_of(explanation, explainer)
    for mesh in (layout.mesh(), page_map._grid(layout)):
        # Options used to stand in the area of the input's decision: the nearest points that were
        # asked about were a little nearer to the input.
        background = ask_background(layout, explanation, explainer, mesh)
        points = np.column_stack([background.right.ravel(), background.up.ravel()])
        for position, expected in [*((at, True) for at in layout.options), (0.0, False)]:
            nearest = np.square(points - position).sum(axis=1).argmin()
            assert background.reached.ravel()[nearest] == expected


@pytest.mark.parametrize("toy", [plane, mixed, wide, three_classes])
def test_the_input_and_the_options_are_among_the_points_that_are_asked_about(toy: Any) -> None:
    explanation, explainer = toy()
    layout = map_of(explanation, explainer)
    points = np.column_stack([each.ravel() for each in layout.mesh()])
    for position in (*layout.options, np.zeros(2)):
        assert np.linalg.norm(points - position, axis=1).min() < 1e-9


@pytest.mark.parametrize(
    ("goal", "sides"),
    [({}, ("low", "high or middle")), ({"target": "high"}, ("low or middle", "high"))],
)
def test_every_class_that_is_drawn_is_named(goal: Any, sides: tuple[str, str]) -> None:
    _, explainer = three_classes()
    (explanation,) = explainer.explain_many([[0.1, 0.2]], **goal)
    display = MapDisplay.from_explanation(explanation, explainer).plot()
    assert display.labels == sides  # only two of three used to be named
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert tuple(legend[-2:]) == sides
    plt.close(display.figure_)


def test_the_sides_of_a_regression_are_what_was_asked_for() -> None:
    X = np.random.default_rng(0).random((200, 2))
    explainer = explainer_by_steps(lambda rows: rows.sum(axis=1), diversity=None).fit(X)
    explanation = explainer.explain([0.25, 0.5], interval=(1.2, 1.6))
    labels = MapDisplay.from_explanation(explanation, explainer).labels
    assert labels == ("not between 1.2 and 1.6", "between 1.2 and 1.6")
