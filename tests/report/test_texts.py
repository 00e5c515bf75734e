"""The sentences of the reports."""

from __future__ import annotations

import re
from importlib import resources
from typing import get_args

from counterset.explanations.why_none import Cause
from counterset.report.texts import TEXTS, counted


def test_every_sentence_is_used_and_no_other_is_asked_for() -> None:
    folder = resources.files("counterset.report")
    code = "".join(
        file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".py") and file.name != "texts.py"
    )
    # Some are chosen by a condition or by a cause: their names stand alone.
    words = set(re.findall(r"""["'](\w+)["']""", code)) | set(get_args(Cause))
    assert set(re.findall(r"""TEXTS\[["'](\w+)["']\]""", code)) <= set(TEXTS)
    assert set(TEXTS) <= words
    assert set(get_args(Cause)) - {"constraint"} <= set(TEXTS)


def test_nouns_follow_their_number() -> None:
    assert [counted(n, "option") for n in (0, 1, 2)] == ["0 options", "1 option", "2 options"]
