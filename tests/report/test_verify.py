"""A report is accepted as it was written, and refused after any change of it or of its model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from support.displays import approve, mixed, special
from support.json_kinds import COLUMNS

from counterset import DiverseExplainer, Explanation, InvalidInputError, datasets
from counterset.report import verify_report
from counterset.report.page import read_record
from counterset.report.verify import record_of, record_of_many


@pytest.fixture
def report(tmp_path: Path) -> Path:
    mixed()[0].to_html(tmp_path / "report.html")
    return tmp_path / "report.html"


def change(file: Path, old: str, new: str) -> None:
    page = file.read_text(encoding="utf-8")
    assert old in page
    file.write_text(page.replace(old, new, 1), encoding="utf-8")


def holds(file: Path, model: Any) -> list[bool]:
    return [check.holds for check in verify_report(file, model).checks]


def test_a_report_is_accepted_as_it_was_written(report: Path) -> None:
    found = verify_report(report, approve)
    assert found.holds
    assert [line.split()[0] for line in str(found).splitlines()] == ["holds:"] * 3
    assert "256 fixed rows" in str(found)


def test_one_changed_figure_that_people_see_is_refused(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    cells = re.findall(r'<td class="changed">([\d,.]+)</td>', page)
    change(report, f'<td class="changed">{cells[0]}</td>', '<td class="changed">1</td>')
    assert holds(report, approve) == [False, True, True]
    assert "changed after it was written" in str(verify_report(report, approve))


def test_one_changed_figure_of_the_record_is_refused(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    (first, *_) = re.findall(r'"distance": [\d.]+', page)
    change(report, first, '"distance": 0.001')
    assert not verify_report(report, approve).holds


def test_a_decision_that_the_model_does_not_give_is_refused(report: Path) -> None:
    def stricter(rows: pd.DataFrame) -> Any:
        return np.where(rows["score"] > 5000, "yes", "no")

    found = verify_report(report, stricter)
    assert [check.holds for check in found.checks] == [True, False, False]
    assert "another decision for option 1: 'no', recorded was 'yes'" in str(found)


def test_a_record_that_cannot_be_read_any_more_is_refused(report: Path) -> None:
    change(report, '"options": [', '"counterfactuels": [')
    assert holds(report, approve) == [False, False]
    change(report, '"kind": "explanation"', '"kind": explanation')
    assert holds(report, approve) == [False, False]


def test_a_model_that_takes_other_rows_is_refused(report: Path) -> None:
    def fails(rows: pd.DataFrame) -> Any:
        raise KeyError("income")

    found = verify_report(report, fails)
    assert [check.holds for check in found.checks] == [True, False, False]
    assert "cannot be asked" in str(found)
    assert len(str(found).splitlines()) == 3


@pytest.mark.parametrize("kind", [LogisticRegression, DecisionTreeClassifier])
def test_a_model_that_was_trained_again_is_refused(tmp_path: Path, kind: Any) -> None:
    data = datasets.load("diabetes")
    X, y = data.X.to_numpy(dtype=float), data.y.to_numpy()
    settings = {"max_iter": 2000} if kind is LogisticRegression else {"random_state": 0}
    model = kind(**settings).fit(X, y)
    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(X)
    explainer.explain(X[0]).to_html(tmp_path / "report.html")
    assert holds(tmp_path / "report.html", model) == [True, True, True]
    assert verify_report(tmp_path / "report.html", kind(**settings).fit(X, y)).holds
    again = kind(**settings).fit(X[: len(X) * 9 // 10], y[: len(X) * 9 // 10])
    found = verify_report(tmp_path / "report.html", again)
    assert not found.checks[-1].holds
    assert "trained again" in str(found)


def test_the_report_of_many_is_verified_by_fixed_rows(tmp_path: Path) -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    file = tmp_path / "many.html"
    explainer.explain_many(row).to_html(file)
    assert holds(file, approve) == [True, True]
    assert holds(file, lambda rows: np.repeat("no", len(rows))) == [True, False]
    change(file, "100%", "10%")
    assert holds(file, approve) == [False, True]


def test_special_codes_are_verified_too(tmp_path: Path) -> None:
    explanation, explainer = special()
    explanation.to_html(tmp_path / "report.html")
    assert verify_report(tmp_path / "report.html", explainer.model).holds


def test_a_regression_may_differ_by_rounding_only(tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((200, 2))

    def total(rows: Any) -> Any:
        return rows.sum(axis=1)

    explainer = DiverseExplainer(total, max_counterfactuals=1).fit(X)
    explainer.explain(X[0], interval=(1.5, 2)).to_html(tmp_path / "report.html")
    assert verify_report(tmp_path / "report.html", lambda rows: total(rows) * (1 + 1e-7)).holds
    assert not verify_report(tmp_path / "report.html", lambda rows: total(rows) * 1.01).holds


def test_another_file_is_no_report(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no file"):
        verify_report(tmp_path / "no.html", approve)
    (tmp_path / "a.html").write_text("<html></html>", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="is no report of counterset"):
        verify_report(tmp_path / "a.html", approve)
    (tmp_path / "a.html").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="it is no text"):
        verify_report(tmp_path / "a.html", approve)


def test_a_newer_form_is_told(tmp_path: Path) -> None:
    from counterset.report.page import make_page

    for record, said in (
        ({"form": "counterset report", "version": 3}, "newer counterset"),
        ({"form": "other"}, "another form"),
        ({"form": "counterset report", "version": 1}, "not complete"),
    ):
        page = make_page("t", "l", [], json.loads(json.dumps(record)), "9")
        (tmp_path / "a.html").write_text(page, encoding="utf-8")
        with pytest.raises(InvalidInputError, match=said):
            verify_report(tmp_path / "a.html", approve)


@pytest.mark.parametrize("name", COLUMNS)
def test_reports_on_all_kinds_of_categories_are_verified(name: str, tmp_path: Path) -> None:
    # Reports on pd.cut columns and on periods could be written and not be read.
    frame = pd.DataFrame({"c": COLUMNS[name], "n": range(20)})

    def model(rows: pd.DataFrame) -> Any:
        return [str(each) != str(COLUMNS[name][0]) for each in rows["c"]]

    explainer = DiverseExplainer(model, max_counterfactuals=1).fit(frame)
    explanation = explainer.explain(frame.iloc[[0]])
    explanation.to_html(tmp_path / "one.html")
    assert verify_report(tmp_path / "one.html", model).holds
    explainer.explain_many(frame.head(2), if_none="ignore").to_html(tmp_path / "many.html")
    assert verify_report(tmp_path / "many.html", model).holds


def test_the_record_of_one_explanation_holds_all_of_it() -> None:
    explanation, _ = mixed()
    record = read_record(explanation.to_html(), "It")
    assert record == json.loads(json.dumps(record_of(explanation)))
    again = Explanation.from_dict(record["explanation"])
    assert again.describe() == explanation.describe()
    assert record["fingerprint"]["digest"] == explanation.context.fingerprint().digest
    assert record["explanation"]["constraints"] == {"immutable": ["age"]}


def test_the_record_of_many_holds_settings_and_hashes_but_no_rows() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    record = record_of_many(explainer.explain_many(row), {"options": {}})
    assert record["figures"] == {"options": {}}
    assert record["constraints"] == {"immutable": ["age"]}
    assert record["settings"]["max_counterfactuals"] == 4
    assert record["training"] == {
        "rows": len(explainer.training_.pool.matrix),
        "hash": explainer.training_.summary.value.hash,
    }
    assert "explanation" not in record
    assert set(record["versions"]) >= {"counterset", "numpy", "python"}
