"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from counterset.cli import parsing as options


def read(arguments: list[str], repeats: int = 3) -> argparse.Namespace:
    group = (parser := argparse.ArgumentParser()).add_argument_group()
    options.add_model_and_data(group, "rows")
    options.add_training(group)
    options.add_goal(group)
    options.add_limits(group)
    options.add_repeats(group, repeats, "copies")
    options.add_seed(group)
    return parser.parse_args(["model", "data", *arguments])


def test_without_options_nothing_is_limited() -> None:
    given = vars(read([]))
    assert given.pop("model") == Path("model")
    assert given.pop("data") == Path("data")
    assert (given.pop("ways"), given.pop("repeats"), given.pop("seed")) == (5, 3, 0)
    assert {str(value) for value in given.values()} == {"None", "[]", "False"}


def test_options_are_read() -> None:
    given = read(["--interval", "-1", "2", "--immutable", "a", "b", "--train", "t.csv"])
    assert (given.interval, given.immutable, given.train) == ([-1, 2], ["a", "b"], Path("t.csv"))


@pytest.mark.parametrize("wrong", [["--ways", "0"], ["--repeats", "0"], ["--seed", "-1"]])
def test_numbers_out_of_range_are_refused(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read(wrong)
    assert f"{wrong[0]}: must be a whole number" in capsys.readouterr().err


def test_no_copies_can_be_asked_for_only_where_none_is_the_default() -> None:
    assert read(["--repeats", "0"], repeats=0).repeats == 0
