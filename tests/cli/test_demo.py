"""counterset demo, and the model that it trains."""

from __future__ import annotations

import re

import pytest

from counterset.cli import main
from counterset.cli.demo import load_credit


def test_the_model_is_explained_on_rows_that_it_was_trained_on() -> None:
    credit = load_credit()
    assert sorted([*credit.X_train.index, *credit.X_test.index]) == list(credit.X.index)
    assert len(credit.explainer.training_.pool.matrix) == len(credit.X_train)
    assert list(credit.explainer.classes_) == ["bad", "good"]


def test_demo_tells_who_was_declined_the_options_that_lead_to_a_yes_how_far_and_how_stable(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"Applicant \d+ .* asked for [\d,]+ DM", " ".join(told.split()))
    assert re.search(r"1\. (Reduce|Raise|Change) the .* from .* to .*\s\(distance\s\d", told)
    assert "stay as they are" in told
    assert "is classified as declined" in told
    assert "options lead to approved" in told
    assert re.search(r"for \d+ of 20 slightly different inputs", " ".join(told.split()))
    last = " ".join(told.split("\n\n")[-1].split())
    assert re.search(r"Of 20 people almost like this applicant, \d+ find their own best", last)
    # What a set is good for: more people find their best option on a list than on a single one.
    shares = re.search(r"(\d+)% find their own best option on a list of 5.* (\d+)% of them", last)
    assert shares is not None
    assert int(shares[2]) < int(shares[1]) <= 100
    # What cannot change is not among the changes.
    assert not re.search(r"^\s*\d\. .*\b(age|personal status)\b", told, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("applicant", "message"), [("5000", "no applicant 5000"), ("0", "0 is not declined")]
)
def test_demo_says_why_an_applicant_cannot_be_explained(
    applicant: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--applicant", applicant]) == 2
    assert message in capsys.readouterr().err
