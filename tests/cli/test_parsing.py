"""Arguments, their help, and what is refused in one line."""

from __future__ import annotations

import argparse
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from counterset.cli import parsing as options
from counterset.cli.parsing import Help, add_parser, class_texts, positive_number, whole_number


@pytest.mark.parametrize("text", ["0", "4", "2.0", "", "many"])
def test_what_is_no_whole_number_of_the_range_is_refused(text: str) -> None:
    assert [whole_number(1, 3)(each) for each in "123"] == [1, 2, 3]
    with pytest.raises(ArgumentTypeError, match="whole number from 1 to 3, got "):
        whole_number(1, 3)(text)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "", "soon"])
def test_what_is_no_number_above_0_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="number above 0, got "):
        positive_number(text)


@pytest.mark.parametrize("text", ["", "bad", "bad=", "=declined", "a=b,", "a=b,a=c"])
def test_what_does_not_name_each_class_once_is_refused(text: str) -> None:
    assert class_texts("0=no, thanks=x=y , 1=yes") == {"0": "no", "thanks": "x=y", "1": "yes"}
    with pytest.raises(ArgumentTypeError, match="must name each class once, such as bad=declined"):
        class_texts(text)


def test_help_names_the_usage_all_arguments_and_an_example() -> None:
    commands = argparse.ArgumentParser(formatter_class=Help).add_subparsers()
    parser, group = add_parser(
        commands,
        "add",
        "Add numbers.\nAll of them.",
        usage="[options]",
        example="counterset add --also 1",
    )
    group.add_argument("--also", nargs="+", metavar="N", help="what to add")
    assert parser.format_help() == (
        "usage: counterset add [options]\n\n"
        "Add numbers.\nAll of them.\n\n"
        "  --also N ...  what to add\n\n"
        "example: counterset add --also 1\n"
    )


def read(arguments: list[str], repeats: int = 3) -> argparse.Namespace:
    group = (parser := argparse.ArgumentParser()).add_argument_group()
    options.add_model_and_data(group, "rows")
    options.add_training(group)
    options.add_goal(group)
    options.add_settings(group)
    options.add_repeats(group, repeats, "copies")
    options.add_seed(group)
    return parser.parse_args(["model", "data", *arguments])


def test_without_options_nothing_is_limited() -> None:
    given = vars(read([]))
    assert given.pop("model") == Path("model")
    assert given.pop("data") == Path("data")
    assert (given.pop("options"), given.pop("repeats"), given.pop("seed")) == (5, 3, 0)
    assert {str(value) for value in given.values()} == {"None", "[]", "False"}


def test_options_are_read() -> None:
    given = read(["--interval", "-1", "2", "--immutable", "a", "b", "--train", "t.csv"])
    assert (given.interval, given.immutable, given.train) == ([-1, 2], ["a", "b"], Path("t.csv"))


@pytest.mark.parametrize("wrong", [["--options", "0"], ["--repeats", "0"], ["--seed", "-1"]])
def test_numbers_out_of_range_are_refused(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read(wrong)
    assert f"{wrong[0]}: must be a whole number" in capsys.readouterr().err


def test_no_copies_can_be_asked_for_only_where_none_is_the_default() -> None:
    assert read(["--repeats", "0"], repeats=0).repeats == 0
