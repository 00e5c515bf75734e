"""The robustness protocol, on toys where every figure can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.shifting_noise import Shift

from counterset import (
    Constraints,
    DiverseExplainer,
    Explanations,
    FewerCounterfactualsWarning,
    InvalidInputError,
    NoCounterfactualError,
    evaluate,
)
from counterset._base.arrays import Matrix
from counterset.evaluation import GaussianNoise

# Two features that span 0 to 10 and 0 to 1, so a step of 1 in the first is 0.1.
TRAINING = np.array([[0.0, 0.0], [10.0, 1.0]])


def high(rows: Any) -> Any:
    return np.asarray(rows)[:, 0] > 5


def two_points(x: Any) -> list[list[float]]:
    """Two points that move along with the input; the second is on the wrong side of the model."""
    return [[x[0] + 4, x[1]], [5.0, 1.0]]


def test_every_figure_of_a_toy_is_the_one_worked_out_by_hand() -> None:
    table = evaluate(
        two_points, [[2.0, 0.0]], repeats=1, noise=Shift(1.0), model=high, training=TRAINING
    )
    row = table.iloc[0]
    # x = (2, 0) has the set {(6, 0), (5, 1)}; in the scaled space x = (.2, 0), {(.6, 0), (.5, 1)}.
    assert row["counterfactuals"] == 2
    assert row["validity"] == 0.5
    assert row["k_distance"] == pytest.approx((0.4 + 1.3) / 2)
    assert row["k_diversity"] == pytest.approx(1.1)
    assert row["sparsity"] == 1.5
    # The copy (3, 0) has the set {(7, 0), (5, 1)}: .1 and 0 away, in both directions.
    assert row["input_distance"] == pytest.approx(0.1)
    assert row["set_distance_mean"] == pytest.approx(0.05)
    assert row["set_distance_max"] == pytest.approx(0.1)
    # The nearest options are (6, 0) and (7, 0), .1 apart.
    assert row["coverage"] == pytest.approx(0.1)
    # Carried over, (6, 0) stays: it is .1 from (7, 0), and so is (7, 0) from (6, 0). (5, 1) stays.
    assert row["jump"] == pytest.approx(0.05)
    # Both are offered to raise the first feature, and to raise both.
    assert row["kept"] == 1
    assert row["covered"] == 1


def test_options_that_go_another_way_are_neither_kept_nor_covered() -> None:
    def towards_three(x: Any) -> list[list[float]]:
        return [[3.0, x[1]], [9.0, x[1] + 1]]

    table = evaluate(
        towards_three, [[2.5, 0.0]], repeats=1, noise=Shift(1.0), model=high, training=TRAINING
    )
    # The input raises the first feature to 3, its copy (3.5, 0) lowers it to 3.
    assert table.loc[0, "kept"] == 0.5
    assert table.loc[0, "covered"] == 0


def test_the_nearest_option_is_the_nearest_wherever_it_stands_in_the_set() -> None:
    def far_first(x: Any) -> list[list[float]]:
        return [[9.0, x[1] + 5], [6.0, x[1]]]

    table = evaluate(
        far_first, [[2.0, 0.0]], repeats=1, noise=Shift(1.0), model=high, training=TRAINING
    )
    assert table.loc[0, "coverage"] == 0
    assert table.loc[0, "covered"] == 1


def test_the_distance_can_be_chosen() -> None:
    table = evaluate(
        two_points, [[2.0, 0.0]], noise=Shift(1.0), model=high, training=TRAINING, distance="l2"
    )
    assert table.loc[0, "k_diversity"] == pytest.approx(np.hypot(0.1, 1))


def test_a_set_with_no_counterfactual_counts_as_invalid() -> None:
    table = evaluate(lambda x: [], [[2.0, 0.0]], repeats=1, model=high, training=TRAINING)
    row = table.iloc[0]
    assert (row["counterfactuals"], row["validity"]) == (0, 0.0)
    assert np.isnan(
        row[["k_distance", "k_diversity", "sparsity", "set_distance_max"]].tolist()
    ).all()


def test_a_copy_of_another_class_is_reported_and_not_compared() -> None:
    table = evaluate(
        two_points, [[2.0, 0.0], [4.5, 0.0]], repeats=2, noise=Shift(1.0), model=high,
        training=TRAINING,
    )  # fmt: skip
    assert table["same_class"].tolist() == [True, True, False, False]
    assert table["set_distance_mean"].isna().tolist() == [False, False, True, True]
    assert table["k_distance"].notna().all()
    assert table["seconds"].notna().all()


@pytest.fixture
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {"age": random.integers(18, 80, 300), "income": random.normal(50, 20, 300)},
        index=[f"p{i}" for i in range(300)],
    )


def older(rows: pd.DataFrame) -> Any:
    return np.where(rows["age"] + rows["income"] / 5 > 60, "yes", "no")


def fitted(frame: pd.DataFrame) -> DiverseExplainer:
    return DiverseExplainer.paper(older, max_counterfactuals=3, diversity=None).fit(frame)


def test_one_row_per_input_and_repeat_in_order(frame: pd.DataFrame) -> None:
    table = evaluate(fitted(frame), frame.iloc[:4], repeats=2)
    assert table["input"].tolist() == ["p0", "p0", "p1", "p1", "p2", "p2", "p3", "p3"]
    assert table["repeat"].tolist() == [1, 2] * 4
    assert table["same_class"].all()
    assert (table["validity"] == 1).all()


def test_one_person_can_be_evaluated(frame: pd.DataFrame) -> None:
    assert len(evaluate(fitted(frame), frame.loc[["p7"]])) == 3


def test_the_same_seed_gives_the_same_table(frame: pd.DataFrame) -> None:
    explainer = fitted(frame)
    one, two, other = (
        evaluate(explainer, frame.iloc[:5], random_state=seed).drop(columns="seconds")
        for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(one, two)
    assert not one.equals(other)


def test_an_explainer_and_its_function_measure_alike(frame: pd.DataFrame) -> None:
    explainer = fitted(frame)
    batch = evaluate(explainer, frame.iloc[:5])
    single = evaluate(explainer.explain, frame.iloc[:5], model=older, training=frame)
    pd.testing.assert_frame_equal(batch.drop(columns="seconds"), single.drop(columns="seconds"))


def test_all_copies_are_explained_in_one_batch(frame: pd.DataFrame) -> None:
    batches = []

    class Counting(DiverseExplainer):
        def explain_many(self, X: Any, **wanted: Any) -> Explanations:
            batches.append(len(X))
            return super().explain_many(X, **wanted)

    explainer = Counting.paper(older, diversity=None).fit(frame)
    evaluate(explainer, frame.iloc[:10], repeats=3)
    assert batches == [10, 30]


def test_an_input_without_counterfactual_does_not_stop_the_others() -> None:
    class Picky:
        def explain_many(self, X: Matrix) -> list[Matrix]:
            if (X[:, 0] < 1).any():
                raise NoCounterfactualError("nothing for some of them")
            return [np.array([[9.0, 0.0]]) for _ in X]

    table = evaluate(
        Picky(), [[0.0, 0.0], [2.0, 0.0]], repeats=1, noise=Shift(0.5), model=high,
        training=TRAINING,
    )  # fmt: skip
    assert table["counterfactuals"].tolist() == [0, 1]
    assert table["validity"].tolist() == [0, 1]


class Short:
    """An explainer that gives no sets."""

    def explain_many(self, X: Matrix) -> list[Matrix]:
        return []


def test_fewer_sets_than_inputs_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="2 inputs and returned 0 sets"):
        evaluate(Short(), [[0.0, 0.0], [2.0, 0.0]], model=high, training=TRAINING)


def test_a_function_needs_the_model_and_the_training_rows() -> None:
    with pytest.raises(InvalidInputError, match=r"Pass model=... and training=..."):
        evaluate(two_points, [[2.0, 0.0]])


def test_what_cannot_explain_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="explain_many method or be a function"):
        evaluate(42, [[2.0, 0.0]], model=high, training=TRAINING)


def test_the_distance_of_another_explainer_can_be_passed(frame: pd.DataFrame) -> None:
    explainer = fitted(frame)
    table = evaluate(explainer, frame.iloc[:3], distance=explainer.distance_)
    plain = evaluate(explainer, frame.iloc[:3])
    assert table["k_distance"].tolist() == plain["k_distance"].tolist()


def test_a_shortfall_is_still_warned_about(frame: pd.DataFrame) -> None:
    explainer = DiverseExplainer.paper(older, max_counterfactuals=50).fit(frame)
    with pytest.warns(FewerCounterfactualsWarning):
        evaluate(explainer, frame.iloc[:3], repeats=1)


def test_progress_is_shown_on_the_error_stream_only(
    frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate(fitted(frame), frame.iloc[:3], noise=GaussianNoise(), progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "explain [########################] 12/12" in printed.err


def test_constraints_are_passed_on(frame: pd.DataFrame) -> None:
    explainer = fitted(frame)
    free = evaluate(explainer, frame.iloc[:5], repeats=1)
    fixed = Constraints(immutable=["income"])
    bound = evaluate(explainer, frame.iloc[:5], repeats=1, constraints=fixed)
    own = fitted(frame).set_params(constraints=fixed).fit(frame)
    assert (free["sparsity"] > 1).any()
    assert (bound["sparsity"] == 1).all()
    pd.testing.assert_frame_equal(
        bound.drop(columns="seconds"),
        evaluate(own, frame.iloc[:5], repeats=1).drop(columns="seconds"),
    )


@pytest.mark.parametrize(
    ("explainer", "asked", "message"),
    [
        (two_points, {"target": True}, "The explainer has no parameter 'target'"),
        (max, {"target": True}, "The explainer has no parameter 'target'"),
        (
            Short(),
            {"constraints": Constraints(immutable=["x0"])},
            "explain_many of the explainer has no parameter 'constraints'",
        ),
    ],
)
def test_an_explainer_that_cannot_be_asked_is_refused(
    explainer: Any, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        evaluate(explainer, [[2.0, 0.0]], model=high, training=TRAINING, **asked)
