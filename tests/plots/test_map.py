"""The map of a set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.displays import (
    at_cell,
    depth_at,
    few_changes,
    mixed,
    plane,
    special,
    three_classes,
    wide,
)
from support.settings import explainer_by_steps

from counterset import Constraints, DiverseExplainer, Explanation, InvalidInputError
from counterset._base.arrays import Matrix
from counterset.plots import MapDisplay
from counterset.plots.map import (
    DISC,
    VISIBLE,
    ask_background,
    is_reached_as,
    map_of,
)


def test_the_background_is_what_the_model_says() -> None:
    explanation, explainer = plane()
    background = MapDisplay.from_explanation(explanation, explainer).background
    space, layout = explainer.distance_.space, background
    # Asked again, point by point, by hand: the plane is that of the two features.
    rows = _rows_of_plane(explanation, explainer, layout.right, layout.up)
    expected = explainer.model(rows) != explanation.label
    expected = expected.reshape(background.reached.shape)
    # But for the cells of the options and the input, of which the middle may lie across.
    differ = np.argwhere(background.reached != expected)
    marks = np.vstack([map_of(explanation, explainer).options, np.zeros(2)])
    cell = background.right[0, 1] - background.right[0, 0]
    for i, j in differ:
        middle = background.right[i, j], background.up[i, j]
        assert np.abs(marks - middle).max(axis=1).min() <= cell / 2 * 1.001
    assert 0.05 < background.reached.mean() < 0.95
    assert len(space.factor) == 2


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
    # The training rows, a line and a disc for each option, and the input.
    assert len(ax.lines) == 2 + 2 * len(explanation)
    assert ax.get_legend() is None
    texts = [text.get_text() for text in ax.texts]
    assert {*map(str, range(1, len(explanation) + 1)), "no", "yes"} <= {*texts}
    assert "added up" in texts[-1]
    assert ax.get_title(loc="left").startswith("Classified as no: 4 options lead to yes")
    plt.close(display.figure_)


def test_a_true_plane_says_so() -> None:
    display = MapDisplay.from_explanation(*plane()).plot()
    assert display.is_exact
    assert "all else as in the input" in display.ax_.texts[-1].get_text()
    plt.close(display.figure_)


def test_two_features_that_change_are_the_axes_over_their_usual_range() -> None:
    X = pd.DataFrame(np.random.default_rng(0).integers(10, 900, (300, 2)), columns=["a", "b_c"])
    X.loc[0] = [250_000, 20]
    explainer = DiverseExplainer(lambda rows: rows["a"] + rows["b_c"] > 1200).fit(X)
    (explanation,) = explainer.explain_many(X[X.sum(axis=1) < 500][:1], if_none="ignore")
    display = MapDisplay.from_explanation(explanation, explainer).plot()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("a", "b c")
    factor = explainer.distance_.space.factor
    for axis, get in enumerate((display.ax_.get_xticks, display.ax_.get_yticks)):
        texts = [text for _, text in display.axes[axis][1]]
        values = explanation.coded.input[axis] + np.array(get()) / factor[axis]
        assert [float(text.replace(",", "")) for text in texts] == pytest.approx(values.tolist())
        assert values.max() < 2_000
        low, high = explanation.coded.table.features[axis].usual
        start, end = explanation.coded.input[axis] + (
            np.array(display.background.limits[axis]) / factor[axis]
        )
        assert start <= low
        assert high <= end
    plt.close(display.figure_)


def test_an_axis_of_times_is_marked_where_years_begin() -> None:
    random = np.random.default_rng(0)
    days = pd.to_timedelta(random.integers(0, 3000, 200), unit="D")
    X = pd.DataFrame({"since": pd.Timestamp("2015-01-01") + days, "score": random.random(200)})
    explainer = DiverseExplainer(lambda rows: rows["since"] < "2018-01-01").fit(X)
    (explanation,) = explainer.explain_many(X[X["since"] > "2022"][:1], if_none="ignore")
    (name, ticks), _ = MapDisplay.from_explanation(explanation, explainer).axes
    assert name == "since"
    assert 2 <= len(ticks) <= 5
    assert all(text.endswith("-01-01") for _, text in ticks)


@pytest.mark.parametrize("most", [250, 20])
def test_the_edge_of_a_map_stays_within_the_type_of_the_columns(most: int) -> None:
    X = np.random.default_rng(0).integers(0, most, (200, 2)).astype(np.uint8)
    total = X.astype(int).sum(axis=1)
    explainer = DiverseExplainer(lambda rows: rows.astype(int).sum(axis=1) > 1.6 * most).fit(X)
    (explanation,) = explainer.explain_many(X[total < 0.4 * most][:1], if_none="ignore")
    background = MapDisplay.from_explanation(explanation, explainer).background
    assert not background.reached[:5, :5].any()  # -3 would be 253


def test_numbers_do_not_cover_each_other() -> None:
    explanation, explainer = plane()
    display = MapDisplay.from_explanation(explanation, explainer)
    display.options = np.vstack([display.options, display.options + 1e-3])
    discs = display._discs()
    (left, right), (low, high) = display.background.limits
    size = np.array([right - left, high - low])
    apart = np.linalg.norm((discs[:, None] - discs) / size, axis=2)
    assert apart[~np.eye(len(discs), dtype=bool)].min() >= DISC - 1e-9


def test_the_areas_have_the_names_of_the_user() -> None:
    explanation, explainer = plane()
    names = {False: "declined", True: "approved"}
    display = MapDisplay.from_explanation(explanation, explainer, outcomes=names).plot()
    texts = [text.get_text() for text in display.ax_.texts]
    assert {"declined", "approved"} <= {*texts}
    for text in display.ax_.texts:
        if text.get_text() in names.values():
            here = at_cell(display.background, np.array(text.xy))
            assert here.tolist() == [text.get_text() == "approved"]
    plt.close(display.figure_)


def test_an_area_without_room_is_named_below() -> None:
    explanation, explainer = plane()
    display = MapDisplay.from_explanation(explanation, explainer)
    narrow = np.zeros_like(display.background.reached)
    narrow[3] = True
    display.background = replace(display.background, reached=narrow)
    display.plot()
    assert "The hatched area: True." in display.ax_.texts[-1].get_text()
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


ALL = [plane, mixed, wide, three_classes, few_changes, special]


@pytest.mark.parametrize("toy", ALL)
@pytest.mark.parametrize("cells", [24, 72, 81])
def test_the_cells_of_the_options_and_of_the_input_have_their_decisions(
    toy: Any, cells: int
) -> None:
    explanation, explainer = toy()
    layout = map_of(explanation, explainer)
    background = ask_background(layout, explanation, explainer, cells)
    # Options used to stand in the area of the input's decision.
    assert all(at_cell(background, position).any() for position in layout.options)
    assert not at_cell(background, np.zeros(2)).all()


@pytest.mark.parametrize("toy", ALL)
def test_the_options_and_the_input_are_drawn_in_the_colour_of_their_decisions(toy: Any) -> None:
    explanation, explainer = toy()
    display = MapDisplay.from_explanation(explanation, explainer)
    depth = depth_at(display.background, np.vstack([display.options, np.zeros(2)]))
    assert (depth[:-1] > -VISIBLE - 1e-9).all()
    assert depth[-1] < VISIBLE


def boundary(display: MapDisplay) -> Matrix:
    """Return points on the line that is drawn."""
    _, ax = plt.subplots()
    background = display.background
    drawn = ax.contour(background.right, background.up, background.depth, levels=[0.0])
    points: Matrix = np.concatenate([path.vertices for path in drawn.get_paths()])
    plt.close("all")
    return points


def linear(kind: str) -> tuple[Any, Any]:
    """Return an explanation by a linear model of two features, which the columns hold so."""
    random = np.random.default_rng(0)
    if kind in ("whole", "few"):
        most = 60 if kind == "whole" else 20
        numbers = pd.DataFrame(random.integers(0, most, (300, 2)), columns=["a", "b"])
    elif kind == "amounts":
        numbers = pd.DataFrame(random.integers(0, 90, (300, 2)) * 100.0, columns=["a", "b"])
    else:
        numbers = pd.DataFrame(random.random((300, 2)), columns=["a", "b"])
    if kind == "beside a category":
        numbers["home"] = random.choice(["rent", "own"], 300)
    score = numbers["a"] + 2 * numbers["b"]
    # Between two whole numbers, so that their middle is the boundary.
    threshold = score.quantile(0.6)
    if kind in ("whole", "few"):
        threshold = np.floor(threshold) + 0.5
    explainer = DiverseExplainer(
        lambda rows: rows["a"] + 2 * rows["b"] > threshold, max_counterfactuals=3
    ).fit(numbers)
    (explanation,) = explainer.explain_many(
        numbers[score < score.quantile(0.2)][:1], if_none="ignore"
    )
    return MapDisplay.from_explanation(explanation, explainer), (explanation, explainer, threshold)


@pytest.mark.parametrize("kind", ["fractions", "amounts", "whole", "few", "beside a category"])
def test_the_boundary_of_a_linear_model_is_straight(kind: str) -> None:
    # On the steps of the features it was a staircase, and beside a category it was a flower.
    display, (explanation, explainer, threshold) = linear(kind)
    assert display.is_exact
    factor = explainer.distance_.space.factor[:2]
    a, b = (explanation.coded.input[:2] + boundary(display) / factor).T
    cell = display.background.right[0, 1] - display.background.right[0, 0]
    apart = np.abs(a + 2 * b - threshold) / np.linalg.norm([1 / factor[0], 2 / factor[1]])
    assert len(apart) > 40
    # Whole numbers of which few fit into the map leave a little of their steps.
    step = factor.max() if kind == "few" else 0.0
    assert apart.max() < max(cell / 2, step / 4)


def test_between_the_lines_of_a_fan_the_boundary_of_a_linear_model_is_straight() -> None:
    X = np.random.default_rng(0).random((300, 6))
    weights = np.array([3, 2, 1, 1, 0.5, 0.2])
    explainer = DiverseExplainer(lambda rows: rows @ weights > 4, max_counterfactuals=4).fit(X)
    (explanation,) = explainer.explain_many(X[(X @ weights) < 2.5][:1], if_none="ignore")
    layout = map_of(explanation, explainer)
    assert not layout.is_exact
    assert len(explanation) >= 3
    lows, highs = (np.array([getattr(f, n) for f in explanation.coded.table.features])
                   for n in ("low", "high"))  # fmt: skip
    ahead = np.roll(np.arange(len(explanation)), -1)
    order = np.argsort(np.arctan2(*layout.options.T[::-1]) % (2 * np.pi))
    for i, j in zip(order, order[ahead], strict=True):
        points = np.linspace(0.9, 0.1, 9)[:, None] * layout.options[i]
        points = points + np.linspace(0.1, 0.9, 9)[:, None] * layout.options[j]
        rows = layout.rows(points)
        inside = ((rows > lows) & (rows < highs) | (rows == explanation.coded.input)).all(axis=1)
        bends = np.diff(rows @ weights, 2)
        assert inside.any()
        assert np.abs(bends[inside[:-2] & inside[1:-1] & inside[2:]]).max(initial=0) < 1e-8


def test_an_area_narrower_than_a_cell_is_drawn_around_its_option() -> None:
    X = np.vstack([np.random.default_rng(0).random((300, 2)), [0.5, 0.3]])

    def needle(rows: Any) -> Any:
        return (np.abs(rows - (0.5, 0.3)) < 0.001).all(axis=1)

    explainer = DiverseExplainer.paper(needle, max_counterfactuals=1).fit(X)
    explanation = explainer.explain([0.2, 0.33])
    display = MapDisplay.from_explanation(explanation, explainer)
    assert all(at_cell(display.background, position).any() for position in display.options)
    assert (depth_at(display.background, display.options) > -VISIBLE - 1e-9).all()


@pytest.mark.parametrize(
    ("goal", "sides"),
    [({}, ("low", "high or middle")), ({"target": "high"}, ("low or middle", "high"))],
)
def test_every_class_that_is_drawn_is_named(goal: Any, sides: tuple[str, str]) -> None:
    _, explainer = three_classes()
    (explanation,) = explainer.explain_many([[0.1, 0.2]], **goal)
    display = MapDisplay.from_explanation(explanation, explainer).plot()
    assert display.labels == sides  # only two of three used to be named
    shown = " ".join(" ".join(text.get_text().split()) for text in display.ax_.texts)
    assert all(side in shown for side in sides)
    plt.close(display.figure_)


def test_the_sides_of_a_regression_are_what_was_asked_for() -> None:
    X = np.random.default_rng(0).random((200, 2))
    explainer = explainer_by_steps(lambda rows: rows.sum(axis=1), diversity=None).fit(X)
    explanation = explainer.explain([0.25, 0.5], interval=(1.2, 1.6))
    labels = MapDisplay.from_explanation(explanation, explainer).labels
    assert labels == ("not between 1.2 and 1.6", "between 1.2 and 1.6")
