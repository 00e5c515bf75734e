"""Every example of the documentation runs, and what it asserts holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import PAGES, run_page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # what an example writes is not left behind
    assert run_page(page) > 0
