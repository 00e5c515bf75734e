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

from counterset import DiverseExplainer, Explanation, Explanations, InvalidInputError, datasets
from counterset.report import verify_report
from counterset.report.page import make_page, read_record
from counterset.report.verify import record_of, record_of_many
from counterset.words.templates import Templates


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
    (first, *_) = re.findall(r"<li><p>1\. .*?</p>", page)
    change(report, first, re.sub(r"\d+ \(", "1 (", first))
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


def some(count: int = 12) -> tuple[Any, Explanations]:
    """Rows of some people, and the explanations of them."""
    _, explainer = mixed()
    rows: Any = explainer.training_.table.decode(explainer.training_.pool.matrix)
    rows = rows.iloc[:count]
    found = explainer.explain_many(rows, target="yes", if_none="ignore", skip=True)
    assert found.counts.sum() > 0
    return rows, found


@pytest.fixture
def many(tmp_path: Path) -> Path:
    some()[1].to_html(tmp_path / "many.html")
    return tmp_path / "many.html"


def test_without_data_the_report_of_many_is_verified_by_fixed_rows(many: Path) -> None:
    found = verify_report(many, approve)
    assert [check.holds for check in found.checks] == [True, True]
    assert str(found).splitlines()[-1].startswith("not checked: the decisions on single people")
    assert holds(many, lambda rows: np.repeat("no", len(rows))) == [True, False]
    change(many, "12 people", "13 people")
    assert holds(many, approve) == [False, True]


def test_with_data_the_model_is_asked_about_every_person_and_option(many: Path) -> None:
    rows, explanations = some()
    asked: list[pd.DataFrame] = []

    def model(X: pd.DataFrame) -> Any:
        asked.append(X)
        return approve(X)

    found = verify_report(many, model, data=rows)
    assert found.holds
    assert found.not_checked == ""
    people = [str(row) for row in rows.to_numpy().tolist()]
    options = [
        str(row) for each in explanations for row in each.counterfactuals.to_numpy().tolist()
    ]
    told = [str(row) for X in asked for row in X.to_numpy().tolist()]
    assert set(people + options) <= set(told)
    assert f"12 people, and on their {len(options)} options" in str(found)
    shuffled = rows.sample(frac=1, random_state=0).assign(more=1)
    assert verify_report(many, approve, data=shuffled).holds


def test_one_decision_that_differs_is_named(many: Path) -> None:
    rows, explanations = some()
    who = int(explanations.index[5])
    then = explanations[5].label
    now = "yes" if then == "no" else "no"

    def model(X: pd.DataFrame) -> Any:
        own = (rows.iloc[5] == X) | (X.isna() & rows.iloc[[5]].isna().to_numpy())
        return np.where(own.all(axis=1), now, approve(X))

    found = verify_report(many, model, data=rows)
    assert [check.holds for check in found.checks] == [True, True, True, False]
    text = f"other decisions for 1 of 12 people: {who} ({now!r}, recorded was {then!r})."
    assert text in found.checks[-1].text


def test_one_option_that_the_model_no_longer_grants_is_named(many: Path) -> None:
    rows, explanations = some()
    at = next(i for i, each in enumerate(explanations) if len(each) > 1)
    option = explanations[at].counterfactuals.iloc[1]

    def model(X: pd.DataFrame) -> Any:
        same = (option == X) | (X.isna() & option.isna())
        return np.where(same.all(axis=1), "no", approve(X))

    found = verify_report(many, model, data=rows)
    assert not found.holds
    named = f"{explanations.index[at]}, option 2 ('no', recorded was 'yes')"
    assert named in found.checks[-1].text


def test_rows_that_changed_or_are_gone_are_refused_and_not_asked_about(many: Path) -> None:
    rows, _ = some()
    other = rows.copy()
    other.loc[other.index[3], "age"] += 1
    found = verify_report(many, approve, data=other.iloc[:-1])
    assert [check.holds for check in found.checks] == [True, True, False, True]
    text = f"for 2 of 12 people: {rows.index[3]}, {rows.index[-1]}."
    assert text in found.checks[2].text
    assert "on 10 of 12 people" in found.checks[3].text
    nobody = verify_report(many, approve, data=rows.iloc[:0])
    assert [check.holds for check in nobody.checks] == [True, True, False]
    assert "and 7 more" in nobody.checks[2].text


@pytest.mark.parametrize(("sample", "count"), [(1, 1), (5, 5), (12, 12), (100, 12)])
def test_a_sample_is_checked(many: Path, sample: int, count: int) -> None:
    rows, _ = some()
    asked: list[int] = []

    def model(X: pd.DataFrame) -> Any:
        asked.append(len(X))
        return approve(X)

    found = verify_report(many, model, data=rows, sample=sample)
    assert found.holds
    people = "12 people" if count == 12 else f"{count} of 12 people"
    assert f"recorded rows of {people}." in str(found)
    assert f"recorded decisions on {people}," in str(found)


def test_data_is_refused_where_it_says_nothing(many: Path, report: Path) -> None:
    rows, _ = some()
    with pytest.raises(InvalidInputError, match="holds all that is to be checked"):
        verify_report(report, approve, data=rows)
    with pytest.raises(InvalidInputError, match="needs their rows"):
        verify_report(many, approve, sample=3)
    with pytest.raises(InvalidInputError, match="sample must be"):
        verify_report(many, approve, data=rows, sample=0)
    with pytest.raises(InvalidInputError, match="lacks columns of the report: age"):
        verify_report(many, approve, data=rows.drop(columns="age"))
    with pytest.raises(InvalidInputError, match="labels twice"):
        verify_report(many, approve, data=pd.concat([rows, rows]))


def test_reports_of_older_versions_are_verified_without_their_decisions(tmp_path: Path) -> None:
    record = {name: part for name, part in record_of_many(some()[1], {}).items() if name != "cases"}
    page = make_page("t", [], record, Templates.read())
    (tmp_path / "old.html").write_text(page, encoding="utf-8")
    found = verify_report(tmp_path / "old.html", approve)
    assert found.holds
    assert "of an older version" in str(found)
    with pytest.raises(InvalidInputError, match="as counterset writes it now"):
        verify_report(tmp_path / "old.html", approve, data=some()[0])


def test_people_of_an_array_are_found_by_their_positions(tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((100, 3)).round(3)

    def model(rows: Any) -> Any:
        return rows[:, 0] + rows[:, 1] > 1

    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
    explainer.explain_many(X[:20], target=True, if_none="ignore").to_html(tmp_path / "many.html")
    assert verify_report(tmp_path / "many.html", model, data=X[:20]).holds
    assert not verify_report(tmp_path / "many.html", model, data=X[1:21]).holds


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
    for record, said in (
        ({"form": "counterset report", "version": 3}, "newer counterset"),
        ({"form": "other"}, "another form"),
        ({"form": "counterset report", "version": 1}, "not complete"),
    ):
        page = make_page("t", [], json.loads(json.dumps(record)), Templates.read())
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
    assert verify_report(tmp_path / "many.html", model, data=frame).holds


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
