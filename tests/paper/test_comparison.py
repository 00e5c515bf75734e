"""Explainers side by side: figures by hand, failures as rows, and runs that continue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from counterset import metrics
from counterset.exceptions import InvalidInputError
from counterset.paper.comparison import (
    DRAWS,
    FIGURES,
    OPTIMUM,
    Comparer,
    Comparison,
    Entry,
    Figure,
    intervals,
)
from counterset.paper.setups import Network
from counterset.paper.tasks import Task


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def threshold(value: float) -> Network:
    """Class 1 where the first of two features is above a value."""
    return Network([([[1.0], [0.0]], [0.0]), ([[0.0, 1.0]], [value, 0.0])])


#: How the thresholds of the retrained models differ from that of the model, 0.5.
RETRAINED = (0.6, 0.75, 0.95)


def task(**changes: Any) -> Task:
    rows = np.random.default_rng(0).random((40, 2))
    inputs = np.array([[0.1, 0.8], [0.3, 0.4]])
    given: dict[str, Any] = {
        "immutable": ("x1",),
        "retrain": lambda count: [threshold(value) for value in RETRAINED[:count]],
        "X_test": rows,
        "y_test": (rows[:, 0] > 0.5).astype(int),
    }
    return Task("toy", "threshold", threshold(0.5), rows, inputs, **given | changes)


def run(
    folder: Path, peers: Sequence[str], tasks: Sequence[Task] | None = None, **changes: Any
) -> Comparison:
    settings = {"repeats": 2, "time_limit": 300.0, "retrainings": 3} | changes
    retry = settings.pop("retry", False)
    return Comparer(**settings).run(
        [task()] if tasks is None else tasks,
        [f"toy_peers:{peer}" if peer[0].isupper() else peer for peer in peers],
        folder,
        retry=retry,
    )


def test_every_figure_is_that_of_the_options_that_can_be_used(tmp_path: Path) -> None:
    comparison = run(tmp_path, ["Offering"])
    records = comparison.results[Entry("toy", "threshold", "toy_peers:Offering")]
    assert len(records) == 4
    rows = task().X_train
    for record in records.to_dict("records"):
        x = task().inputs[record["input"]]
        usable = np.array([[0.9, x[1]], [0.7, x[1]]])
        # Of four distinct rows, one has the input's class, and one changes what may not change.
        assert (record["returned"], record["options"]) == (4, 2)
        assert (record["validity"], record["violations"]) == (0.75, 0.25)
        assert record["k_distance"] == pytest.approx(0.8 - x[0])
        assert record["k_diversity"] == pytest.approx(0.2)
        assert record["sparsity"] == 1
        # The boundary is at 0.5: no counterfactual is nearer.
        assert record["optimum"] == pytest.approx(0.5 - x[0], abs=1e-5)
        assert record["ratio"] == pytest.approx((0.7 - x[0]) / (0.5 - x[0]), rel=1e-4)
        wanted = rows[rows[:, 0] > 0.5]
        nearest = [np.abs(wanted - option).sum(axis=1).min() for option in usable]
        assert record["plausibility"] == pytest.approx(np.mean(nearest))
        # 0.9 works with the thresholds 0.6 and 0.75, and 0.7 with 0.6.
        assert record["survival"] == pytest.approx(3 / 6)
        assert record["set_survival"] == pytest.approx(2 / 3)
    assert records["seconds"].min() > 0
    assert (records["asked"] == 0).all()
    optima = comparison.results[Entry("toy", "threshold", OPTIMUM)]
    share = np.mean([(rows[:, 0] > t) == (rows[:, 0] > 0.5) for t in RETRAINED])
    assert optima["agreement"].tolist() == [pytest.approx(share)] * 2
    assert optima["accuracy"].tolist() == [1.0, 1.0]


def test_pairs_are_compared_by_the_metrics(tmp_path: Path) -> None:
    comparison = run(tmp_path, ["Offering"])
    for record in comparison.results[Entry("toy", "threshold", "toy_peers:Offering")].to_dict(
        "records"
    ):
        # Both sets differ in the second feature alone, by as much as the input and its copy.
        moved = record["set_distance_mean"]
        assert 0 < moved < 0.2
        assert record["set_distance_max"] == pytest.approx(moved)
        assert record["coverage"] == pytest.approx(moved)
        assert moved <= record["input_distance"] + 1e-12
    x, copy = np.array([[0.9, 0.8], [0.7, 0.8]]), np.array([[0.9, 0.7], [0.7, 0.7]])
    assert metrics.set_distance(x, copy) == pytest.approx(0.1)


def test_a_rounded_number_has_not_changed(tmp_path: Path) -> None:
    # Explainers that round could not explain any noisy copy, whose numbers have many digits.
    comparison = run(tmp_path, ["Rounding"])
    records = comparison.results[Entry("toy", "threshold", "toy_peers:Rounding")]
    assert records["violations"].tolist() == [0.0] * 4
    assert records["sparsity"].tolist() == [1.0] * 4
    assert records["coverage"].notna().all()


def test_an_explainer_that_finds_nothing_has_a_row(tmp_path: Path) -> None:
    summary = run(tmp_path, ["Silent", "Unchanged"]).summary.set_index("peer")
    assert summary["options"].tolist() == [0, 0]
    assert summary["found"].tolist() == [0, 0]
    assert summary["validity"].isna().tolist() == [True, False]
    assert summary["validity"].iloc[1] == 0
    assert summary["k_distance"].isna().all()


def test_failures_are_rows_with_their_reasons(tmp_path: Path) -> None:
    comparison = run(tmp_path, ["Crashing", "Offering", "Crooked"])
    errors = comparison.summary["error"].tolist()
    assert errors[0].endswith("the matrix is on fire")
    assert errors[1] == ""
    assert "3 features" in errors[2]
    text = comparison.to_text()
    assert "toy_peers:Crashing [1]" in text
    assert "\n[1] RuntimeError: the matrix is on fire" in text


def test_what_was_finished_before_a_failure_is_measured_and_retry_continues(
    tmp_path: Path,
) -> None:
    # It ends when it is asked about a third row; an input with one copy takes two.
    first = run(tmp_path, ["Tiring"], repeats=1, tasks=[task(immutable=())])
    assert first.summary["inputs"].tolist() == [1]
    assert first.summary["error"].tolist() == [
        "the process ended with exit code 3; the figures are of the first 1 of 2 inputs"
    ]
    again = run(tmp_path, ["Tiring"], repeats=1, tasks=[task(immutable=())])
    assert again.summary.equals(first.summary)
    done = run(tmp_path, ["Tiring"], repeats=1, tasks=[task(immutable=())], retry=True)
    assert done.summary["inputs"].tolist() == [2]
    assert done.summary["error"].tolist() == [""]
    assert done.summary["seconds"].iloc[0] > 0


def test_a_time_limit_is_a_row_too(tmp_path: Path) -> None:
    summary = run(tmp_path, ["Hanging"], time_limit=0.5).summary
    assert summary["error"].tolist() == ["not finished within the time limit of 0.5 s"]


def test_finished_results_are_read_and_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(tmp_path, ["nearest-rows"])
    monkeypatch.setattr("counterset.paper.comparison._Measure", None)
    again = run(tmp_path, ["nearest-rows"])
    pd.testing.assert_frame_equal(first.summary, again.summary, rtol=1e-12)


def test_results_of_another_model_are_refused(tmp_path: Path) -> None:
    run(tmp_path, ["Silent"])
    other = replace(task(), model=threshold(0.4))
    with pytest.raises(InvalidInputError, match="other settings"):
        run(tmp_path, ["Silent"], tasks=[other])


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="same names"):
        run(tmp_path, ["Silent"], tasks=[task(), task()])


def test_a_comparison_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="Name at least one"):
        run(tmp_path, [])


def test_a_limit_of_memory_is_a_row_too(tmp_path: Path) -> None:
    summary = run(tmp_path, ["Greedy"], memory_limit=1e9).summary
    assert summary["error"].tolist() == ["needs more memory than the limit of 1 GB"]


def test_without_an_exact_solver_the_optimum_is_empty_with_the_reason(tmp_path: Path) -> None:
    model = GaussianNB().fit(task().X_train, task().y_test)  # no solver reads it
    comparison = run(tmp_path, ["nearest-rows"], tasks=[replace(task(immutable=()), model=model)])
    optima = comparison.results[Entry("toy", "threshold", OPTIMUM)]
    assert optima["optimum"].isna().all()
    assert optima["reason"].str.len().min() > 0
    assert "the optimum is proved for 0 (else: " in comparison.to_text()
    assert comparison.summary["ratio"].isna().all()
    assert comparison.summary["k_distance"].notna().all()


def test_without_retrained_models_survival_is_empty(tmp_path: Path) -> None:
    summary = run(tmp_path, ["Offering"], tasks=[task(retrain=None, reason="none")]).summary
    assert summary[["survival", "set_survival"]].isna().all(axis=None)


@pytest.mark.parametrize("figure", [each for each in FIGURES if each.name != "violations"])
def test_intervals_are_those_of_a_literal_bootstrap(figure: Figure) -> None:
    random = np.random.default_rng(1)
    records = pd.DataFrame(
        {
            "input": np.repeat(np.arange(6), 3),
            "repeat": np.tile([1, 2, 3], 6),
            figure.column: random.random(18),
        }
    )
    records.loc[[1, 9, 10, 11], figure.column] = np.nan  # a copy, and an input without any

    def literal(inputs: Sequence[int]) -> float:
        of_input = [
            [v for v in records.loc[records["input"] == i, figure.column] if not np.isnan(v)]
            for i in inputs
        ]
        if figure.statistic == "95th percentile":
            return float(np.quantile([v for values in of_input for v in values], 0.95))
        means = [sum(values) / len(values) for values in of_input]
        return float(np.median(means) if figure.statistic == "median" else np.mean(means))

    measured = [0, 1, 2, 4, 5]
    draws = np.random.default_rng(0).integers(5, size=(DRAWS, 5))
    statistics = [literal([measured[i] for i in draw]) for draw in draws]
    expected = literal(measured), *np.quantile(statistics, [0.025, 0.975])
    assert intervals(records, figure) == pytest.approx(expected)


def test_the_report_has_all_explainers_and_a_picture(tmp_path: Path) -> None:
    tasks = [task(immutable=())]
    comparison = run(tmp_path, ["Offering", "nearest-rows", "Crashing"], tasks)
    written = comparison.write(tmp_path / "report")
    assert [file.name for file in written] == [
        "comparison.md", "comparison.csv", "comparison.png",
    ]  # fmt: skip
    markdown = written[0].read_text()
    assert "### toy, threshold: the sets" in markdown
    assert "| nearest-rows | 2 of 2 | 5.0 |" in markdown
    table = pd.read_csv(written[1])
    assert table["peer"].tolist() == [
        "toy_peers:Offering", "nearest-rows", "toy_peers:Crashing",
    ]  # fmt: skip
    assert written[2].stat().st_size > 10_000


def test_where_nothing_was_measured_no_picture_is_drawn(tmp_path: Path) -> None:
    written = run(tmp_path, ["Crashing"]).write(tmp_path / "report")
    assert [file.name for file in written] == ["comparison.md", "comparison.csv"]
