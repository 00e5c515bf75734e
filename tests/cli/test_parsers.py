"""The parser of a command."""

from __future__ import annotations

import argparse

from counterset.cli.parsing import Help, add_parser


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
