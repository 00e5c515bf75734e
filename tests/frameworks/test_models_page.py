"""The examples of the documentation that need a framework."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pages import PAGES, run_page


@pytest.mark.filterwarnings("error::counterset.FewerCounterfactualsWarning")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```python frameworks" in page.read_text("utf-8")],
    ids=lambda page: page.stem,
)  # fmt: skip
def test_the_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(page, ("", "frameworks")) > 0
