"""Which rows of a file are explained."""

from __future__ import annotations

import numpy as np
import pytest
from support.loan_frames import Lender, lender, loans

from counterset import InvalidInputError
from counterset.cli.explain import Where

EXPLAINER = lender()
ROWS = loans(30).assign(town=np.array(["Ulm", "Bonn", None] * 10, dtype=object))


def test_columns_can_be_compared() -> None:
    mask = Where("income > 50 and town == 'Ulm'", EXPLAINER).mask(ROWS)
    expected = (ROWS["income"] > 50) & (ROWS["town"] == "Ulm")
    assert mask.tolist() == expected.tolist()
    assert mask.any()
    assert Where(None, EXPLAINER).mask(ROWS).all()
    assert Where("town.str.startswith('B')", EXPLAINER).mask(ROWS).sum() == 10  # None is no town


def test_the_decision_is_the_models_unless_a_column_is_called_so() -> None:
    declined = Lender().predict(ROWS) == "declined"
    where = Where("decision == 'declined'", EXPLAINER)
    np.testing.assert_array_equal(where.mask(ROWS), declined)
    assert not where.mask(ROWS.assign(decision="approved")).any()


def test_rows_on_which_the_model_fails_are_not_left_out() -> None:
    rows = ROWS.copy()
    rows.loc["p3", "debt"] = 99.95
    rows.loc["p4", "debt"] = np.inf
    mask = Where("decision == 'nothing'", EXPLAINER).mask(rows)
    assert rows.index[mask].tolist() == ["p3", "p4"]


def test_columns_that_are_kept_as_text_are_compared_as_numbers_if_they_are() -> None:
    rows = ROWS.assign(number=[f"{i:03d}" for i in range(30)], code=[*"12", *["x"] * 28])
    kept = ["number", "code"]
    assert Where("number < 7", EXPLAINER, kept).mask(rows).sum() == 7
    assert Where("code == '1'", EXPLAINER, kept).mask(rows).sum() == 1


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("age > 3", r"--where 'age > 3' cannot be evaluated: .*'age'.*The columns"),
        ("town == Ulm", r"Put texts in quotes: \"town == 'Ulm'\"\."),
        ("income >", "--where 'income >' cannot be evaluated: invalid syntax"),
        ("income + 1", "--where must be true or false for each row"),
        ("3 > 2", "--where must be true or false for each row"),
        ("@pd.foo == 1", "--where '@pd.foo == 1' cannot be evaluated"),
    ],
)
def test_an_expression_that_cannot_be_used_is_refused(expression: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Where(expression, EXPLAINER).mask(ROWS)
