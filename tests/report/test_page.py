"""Pages: escaped, sealed, and written as a whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterset import InvalidInputError
from counterset.report.page import (
    Section,
    listed,
    make_page,
    paragraphs,
    plain_table,
    read_record,
    seal_holds,
    write_page,
)
from counterset.words.templates import Templates

NASTY = '</script><script>alert("1")</script><b>&amp;'


def page(record: dict[str, object] | None = None, title: str = "A title") -> str:
    sections = [Section("One", "<p>1</p>"), Section("Two", "<p>2</p>", on_new_page=True)]
    return make_page(title, sections, record or {"a": 1}, Templates.read(), lead="What it says.")


def test_a_page_holds_its_record() -> None:
    record: dict[str, object] = {"text": NASTY, "numbers": [1, 2.5, None], "ünïcode": "≈"}
    assert read_record(page(record), "It") == record


def test_texts_cannot_become_html() -> None:
    made = page({"text": NASTY}, title=NASTY)
    assert "alert" in made
    assert "<script>" not in made
    assert made.count("</script>") == 1
    assert "<b>" not in paragraphs(NASTY) + listed([NASTY])


def test_a_page_has_one_heading_of_each_level_in_order() -> None:
    assert re.findall(r"<h(\d)", page()) == ["1", "2", "2"]


def test_what_begins_a_new_page_of_paper_is_marked() -> None:
    assert page().count('<section class="new-page">') == 1


def test_the_head_stands_above_the_title() -> None:
    head = [("Example Bank <b>", "1 Main Street"), ("Case: 4711",)]
    made = make_page("A title", [], {}, Templates.read(), head=head)
    assert made.index("Example Bank &lt;b&gt;") < made.index("Case: 4711") < made.index("<h1>")
    assert "<header>" not in page()


def test_nothing_is_loaded_from_anywhere() -> None:
    made = page()
    assert not re.search(r"""(src|href)\s*=|url\(|@import|https?://""", made)


@given(st.data())
def test_any_changed_character_breaks_the_seal(data: st.DataObject) -> None:
    made = page()
    assert seal_holds(made)
    at = data.draw(st.integers(0, len(made) - 1))
    other = data.draw(st.sampled_from("0123456789abxyz <>").filter(lambda sign: sign != made[at]))
    assert not seal_holds(made[:at] + other + made[at + 1 :])


def test_other_ends_of_lines_keep_the_seal() -> None:
    assert seal_holds(page().replace("\n", "\r\n"))


def test_another_page_is_no_report() -> None:
    with pytest.raises(InvalidInputError, match=r"a\.html is no report of counterset"):
        read_record("<html></html>", "a.html")
    assert not seal_holds("<html></html>")


def test_a_damaged_record_is_told() -> None:
    with pytest.raises(InvalidInputError, match="is damaged"):
        read_record(page().replace('"a": 1', '"a": '), "a.html")


def test_it_is_written_as_utf_8_and_returned(tmp_path: Path) -> None:
    made = page({"a": "≈"})
    assert write_page(made, tmp_path / "a.html") == made
    assert (tmp_path / "a.html").read_bytes().decode("utf-8") == made
    assert write_page(made, None) == made


def test_where_it_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="there is no folder"):
        write_page(page(), tmp_path / "no" / "a.html")
    with pytest.raises(InvalidInputError, match="which is a folder"):
        write_page(page(), tmp_path)


def test_a_folder_that_may_not_be_written_to_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(Path, "write_text", refuse)  # root may write everywhere
    with pytest.raises(InvalidInputError, match="you may not write"):
        write_page(page(), tmp_path / "a.html")


def test_plain_tables_are_escaped() -> None:
    table = plain_table("A & b", ["x", "n"], [["<i>", "3"]], 1)
    assert "A &amp; b" in table
    assert '<th scope="row">&lt;i&gt;</th>' in table
    assert '<td class="number" data-heading="n">3</td>' in table
