"""DiverseExplainer as its users meet it: right answers, few questions, good manners."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.toys import FRAME, Recorder, Rows, X, approve, fitted

from counterset import (
    AngleDiversity,
    CandidatesWithin,
    DistanceDiversity,
    DiverseExplainer,
    FewerCounterfactualsWarning,
    LineSearch,
    NearestCandidates,
    Paper,
)


def test_the_papers_picture_of_the_four_steps() -> None:
    # The figure of the four steps, with its own coordinates. The boundary runs from (1, 2) to
    # (1.8, 0): blue is x + 0.4 y > 1.8. The training rows come in another order than 1 to 5.
    x = np.array([1.1, 0.4])
    one, two, three, four, five = [1.9, 0.3], [1.8, 0.9], [2.0, 1.1], [1.8, 1.6], [2.8, 1.8]
    training = np.array([five, x, three, one, four, two])

    def blue(rows: Rows) -> Any:
        return np.where(rows[:, 0] + 0.4 * rows[:, 1] > 1.8, "blue", "yellow")

    explainer = DiverseExplainer.paper(
        blue,
        distance="l2",
        candidates=NearestCandidates(4),  # step 2 drops the fifth
        diversity=AngleDiversity(0.05),  # step 3 drops the third, which lies behind the second
        search=LineSearch(0.05),
        max_counterfactuals=3,
        scale=None,
    ).fit(training)

    assert isinstance(explainer.strategy, Paper)
    rows = explainer.with_strategy(replace(explainer.strategy, search=None))
    without_search = rows.explain(x)
    assert without_search.values.tolist() == [one, two, four]
    assert without_search.examples.tolist() == [3, 5, 4]
    lengths = np.sqrt([0.8**2 + 0.1**2, 0.7**2 + 0.5**2, 0.7**2 + 1.2**2])
    np.testing.assert_allclose(without_search.distances, lengths)

    # All three are longer than 16 * 0.05 and at most 32 * 0.05: five halvings. The boundary is
    # at the shares 0.54/0.76, 0.54/0.9 and 0.54/1.18 of the ways: within 23/32, 20/32, 15/32.
    found = explainer.explain(x)
    shares = np.array([20, 23, 15]) / 32
    ends = np.array([two, one, four])
    np.testing.assert_allclose(found.values, x + shares[:, None] * (ends - x))
    np.testing.assert_allclose(found.distances, shares * lengths[[1, 0, 2]])
    assert found.examples.tolist() == [5, 3, 4]  # now the second is nearest
    # The crosses of the picture.
    np.testing.assert_allclose(
        found.values, [[1.53, 0.7], [1.67, 0.33], [1.42, 0.95]], rtol=0, atol=0.015
    )
    assert (found.label, found.labels.tolist()) == ("yellow", ["blue"] * 3)


def test_the_fundamental_problem_of_the_paper_gets_both_directions() -> None:
    # A yellow band between two blue ones: left and right are both reported.
    training = np.array([[0.0], [4.0], [5.0], [6.0], [10.0], [9.0]])
    explainer = fitted(
        training,
        lambda rows: np.abs(rows[:, 0] - 5) > 3,
        diversity=AngleDiversity(0.5),
        search=None,
    )
    assert sorted(explainer.explain([5.2]).values.tolist()) == [[0.0], [9.0]]


def test_scaling_decides_what_is_near() -> None:
    training = np.array([[0.0, 0.0], [1000.0, 0.0], [0.0, 1.0], [100.0, 0.6]])
    options: dict[str, Any] = {"search": None, "max_counterfactuals": 3}

    def model(rows: Rows) -> Any:
        return rows.sum(axis=1) > 0

    nearest = {
        scale: fitted(training, model, scale=scale, **options).explain([0.0, 0.0]).examples.tolist()
        for scale in ("range", None)
    }
    assert nearest == {"range": [3, 1, 2], None: [2, 3, 1]}
    weighted = fitted(training, model, scale=[1.0, 10_000.0], **options).explain([0.0, 0.0])
    assert weighted.examples.tolist() == [1, 3, 2]
    assert weighted.distances.tolist() == [1000.0, 6100.0, 10_000.0]


def test_scaling_by_the_median_absolute_deviation() -> None:
    training = np.array([[1.0], [2.0], [3.0], [4.0], [100.0]])  # median 3, deviations 2 1 0 1 97
    explainer = fitted(training, lambda rows: rows[:, 0] > 3.5, scale="mad", search=None)
    assert explainer.explain([3.0]).distances.tolist() == [1.0, 97.0]
    # A feature of which most values are equal is scaled by its range.
    mostly = np.array([[0.0], [0.0], [0.0], [10.0]])
    settings: dict[str, Any] = {"scale": "mad", "search": None, "max_counterfactuals": 1}
    explainer = fitted(mostly, lambda rows: rows[:, 0] > 5, **settings)
    assert explainer.explain([0.0]).distances.tolist() == [1.0]


def test_weights_by_name() -> None:
    explainer = fitted(FRAME, scale={"income": 4.0})
    assert explainer.distance_(FRAME.iloc[:1], FRAME.iloc[1:2])[0, 0] == pytest.approx(
        abs(X[0, 0] - X[1, 0]) + 4 * abs(X[0, 1] - X[1, 1])
    )


def test_a_wanted_class_of_several() -> None:
    training = np.arange(12.0)[:, None]

    def thirds(rows: Rows) -> Any:
        return np.select([rows[:, 0] < 4, rows[:, 0] < 8], ["low", "middle"], "high")

    explainer = fitted(training, thirds, scale=None)
    assert explainer.classes_.tolist() == ["high", "low", "middle"]
    anyone = explainer.explain([0.0])
    assert set(anyone.labels) == {"middle"}
    wanted = explainer.explain([0.0], target="high")
    assert wanted.labels.tolist() == ["high", "high"]
    # On the way lies "middle", which is not acceptable: the search does not stop there.
    assert (wanted.values >= 8).all()
    assert (wanted.values <= 8 + 0.1).all()


def test_any_other_class_may_come_out_of_the_search() -> None:
    training = np.array([[0.0], [8.0], [9.0]])

    def thirds(rows: Rows) -> Any:
        return np.select([rows[:, 0] < 4, rows[:, 0] < 7], ["low", "middle"], "high")

    # No training row is "middle", but the way to "high" leads through it.
    explainer = fitted(training, thirds, scale=None, max_counterfactuals=1)
    explanation = explainer.explain([0.0])
    assert explanation.labels.tolist() == ["middle"]
    assert explanation.values[0, 0] == pytest.approx(4, abs=0.1)


def test_an_input_of_a_class_never_seen_in_training_is_explained() -> None:
    training = np.array([[0.0], [8.0]])

    def model(rows: Rows) -> Any:
        return np.select([rows[:, 0] < 4, rows[:, 0] < 10], ["low", "middle"], "high")

    explanation = fitted(training, model, scale=None, search=None).explain([20.0])
    assert explanation.label == "high"
    assert explanation.labels.tolist() == ["middle", "low"]


@pytest.mark.parametrize(
    "labels",
    [(0, 1), ("no", "yes"), (False, True), (-1.0, 1.0)],
    ids=["int", "str", "bool", "float"],
)
def test_labels_of_any_type(labels: tuple[Any, Any]) -> None:
    def model(rows: Rows) -> Any:
        return np.array(labels)[(rows.sum(axis=1) > 1).astype(int)]

    explainer = fitted(model=model)
    assert explainer.classes_.tolist() == list(labels)
    explanation = explainer.explain([0.1, 0.1])
    assert explanation.label == labels[0]
    assert type(explanation.label) is type(labels[0])
    assert explanation.labels.tolist() == [labels[1]] * 2
    assert explainer.explain([0.1, 0.1], target=labels[1]).labels.tolist() == [labels[1]] * 2


def test_every_counterfactual_is_valid_and_the_distances_ascend() -> None:
    explanations = fitted().explain_many(X)
    for explanation in explanations:
        assert (approve(explanation.values) == explanation.labels).all()
        assert (explanation.labels != explanation.label).all()
        assert (np.diff(explanation.distances) >= 0).all()
    distance = fitted().distance_(X[:1], explanations[0].values)[0]
    np.testing.assert_allclose(explanations[0].distances, distance)


def test_a_distance_function_works_in_every_step() -> None:
    def manhattan(A: Rows, B: Rows) -> Rows:
        return np.asarray(np.abs(A[:, None] - B[None]).sum(axis=2))

    for candidates in (NearestCandidates(10), CandidatesWithin(0.25)):
        for diversity in (AngleDiversity(0.01), DistanceDiversity(0.0), None):
            options: dict[str, Any] = {
                "candidates": candidates, "diversity": diversity, "max_counterfactuals": 1,
            }  # fmt: skip
            named = fitted(distance="l1", **options).explain_many(X[:5])
            custom = fitted(distance=manhattan, **options).explain_many(X[:5])
            pd.testing.assert_frame_equal(named.to_frame(), custom.to_frame())


def test_fit_asks_the_model_once_about_each_training_row() -> None:
    model = Recorder()
    fitted(FRAME, model)
    assert len(model.asked) == 1
    pd.testing.assert_frame_equal(
        model.asked[0].reset_index(drop=True), FRAME.reset_index(drop=True)
    )


@pytest.mark.parametrize(("gamma", "calls"), [(0.1, 3), (0.001, 4)])
def test_an_explanation_asks_the_model_a_handful_of_times(gamma: float, calls: int) -> None:
    model = Recorder()
    explainer = fitted(X, model, search=LineSearch(gamma))
    for x in X[:10]:
        model.asked.clear()
        explainer.explain(x)
        assert len(model.asked) <= calls


def test_without_a_search_the_model_is_asked_about_inputs_and_what_is_returned() -> None:
    model = Recorder()
    explainer = fitted(X, model, search=None)
    model.asked.clear()
    explainer.explain_many(X[:7])
    assert [len(rows) for rows in model.asked] == [7, 14]


def test_a_batch_counts_what_the_model_was_asked() -> None:
    model = Recorder()
    explainer = fitted(X, model)
    model.asked.clear()
    explanations = explainer.explain_many(X[:7])
    assert (explanations.model_calls, explanations.model_rows) == (len(model.asked), model.rows)
    # At most five halvings a segment: four take fifteen questions, five take seven and three.
    assert model.rows <= 7 + 7 * 2 * 15


def test_too_few_candidates_are_blamed_on_step_2() -> None:
    explainer = fitted(candidates=NearestCandidates(3), max_counterfactuals=5)
    with pytest.warns(
        FewerCounterfactualsWarning,
        match=r"the fewest: 3\).*can be followed .*\(candidates=NearestCandidates\(alpha=3\)\)",
    ) as told:
        assert len(explainer.explain([0.1, 0.1])) == 3
    assert "differ enough" not in str(told[0].message)
    assert "same point" not in str(told[0].message)


def test_too_few_that_differ_are_blamed_on_step_3() -> None:
    explainer = fitted(diversity=AngleDiversity(1.0), max_counterfactuals=5)
    with pytest.warns(
        FewerCounterfactualsWarning, match=r"differ enough .*\(diversity=AngleDiversity\(beta=1.0"
    ):
        explainer.explain([0.1, 0.1])


def test_the_search_leading_to_one_point_is_blamed_on_step_4() -> None:
    # Integers: both ways end at 1.
    data = np.array([[0], [2], [3]])
    explainer = fitted(data, lambda rows: rows[:, 0] > 0, search=LineSearch(0.01))
    with pytest.warns(FewerCounterfactualsWarning, match=r"because the search moved .* same point"):
        explanation = explainer.explain([0])
    assert explanation.values.tolist() == [[1]]


def test_a_batch_is_warned_about_once_and_counts_the_short_inputs() -> None:
    explainer = fitted(candidates=NearestCandidates(3), max_counterfactuals=5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explainer.explain_many(X[:6])
    assert len(caught) == 1
    assert str(caught[0].message).startswith("6 of 6 inputs have fewer than 5 counterfactuals")
    assert caught[0].filename == __file__  # the user's line, not the library's


def test_enough_counterfactuals_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(max_counterfactuals=1).explain_many(X)


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    fitted(FRAME).explain_many(FRAME)
    assert capsys.readouterr() == ("", "")


def test_the_global_random_state_is_left_alone() -> None:
    np.random.seed(3)
    before = np.random.get_state()
    fitted().explain_many(X)
    after = np.random.get_state()
    assert str(before) == str(after)


def test_the_same_input_gives_the_same_set_always() -> None:
    first = fitted().explain_many(X).to_frame()
    pd.testing.assert_frame_equal(fitted().explain_many(X).to_frame(), first, check_exact=True)
