"""The sentences of the reports."""

from __future__ import annotations

import re
from importlib import resources

from counterset.report.texts import TEXTS, counted


def test_every_sentence_is_used_and_no_other_is_asked_for() -> None:
    folder = resources.files("counterset.report")
    code = "".join(
        file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".py") and file.name != "texts.py"
    )
    asked = set(re.findall(r"""TEXTS\[["'](\w+)["']\]""", code))
    by_status = {"explained", "none_found", "already_reached"}
    assert asked | by_status == set(TEXTS)


def test_nouns_follow_their_number() -> None:
    assert [counted(n, "option") for n in (0, 1, 2)] == ["0 options", "1 option", "2 options"]
