"""What other files say of the package agrees with pyproject.toml: the recipe, the citation."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import counterset

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]

PAPER = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
BIBLIOGRAPHY = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def recipe() -> Any:
    """The conda recipe, with its own values filled in."""
    text = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    context = yaml.safe_load(text)["context"]
    return yaml.safe_load(
        re.sub(r"\$\{\{ (\w+) \}\}", lambda name: context.get(name[1], name[0]), text)
    )


def test_the_recipe_needs_what_the_package_needs(recipe: Any) -> None:
    needed = {requirement.replace(" ", "") for requirement in PROJECT["dependencies"]}
    needed.add("python" + PROJECT["requires-python"])
    assert {line.replace(" ", "") for line in recipe["requirements"]["run"]} == needed
    built = {line.split()[0] for line in recipe["requirements"]["host"]}
    assert built == {"python", "pip", *PYPROJECT["build-system"]["requires"]}


def test_the_recipe_says_what_the_package_says(recipe: Any) -> None:
    assert recipe["package"] == {"name": PROJECT["name"], "version": counterset.__version__}
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]
    assert all((ROOT / file).is_file() for file in PROJECT["license-files"])
    scripts = [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    assert recipe["build"]["noarch"] == "python"


def test_the_citation_names_the_package_and_the_paper() -> None:
    citation = read("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert (citation["title"], citation["license"]) == (PROJECT["name"], PROJECT["license"])
    assert citation["authors"] == PROJECT["authors"]
    paper = citation["preferred-citation"]
    entry = BIBLIOGRAPHY.partition("@inproceedings{leofante2024promoting,")[2].partition("\n}")[0]
    for value in (paper["title"], paper["url"], paper["year"], paper["volume"]):
        assert f"{{{value}}}" in entry
    assert f"{{{paper['start']}--{paper['end']}}}" in entry
    names = [f"{each['family-names']}, {each['given-names']}" for each in paper["authors"]]
    assert f"{{{' and '.join(names)}}}" in entry


def test_the_paper_has_the_authors_of_the_package_and_cites_what_it_lists() -> None:
    head = yaml.safe_load(PAPER.split("---\n")[1])
    assert head["title"].startswith(PROJECT["name"])
    assert [each["name"] for each in head["authors"]] == [
        each["name"] for each in PROJECT["authors"]
    ]
    assert (ROOT / "paper" / head["bibliography"]).is_file()
    cited = set(re.findall(r"@(\w+\d{4}\w+)", PAPER))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", BIBLIOGRAPHY, re.MULTILINE))


def test_the_figures_of_the_paper_stand_on_the_pages_that_measured_them() -> None:
    rows = re.findall(r"^\| .*\| \[(.+?)\]\((.+?)\) \|$", PAPER, re.MULTILINE)
    assert len(rows) >= 6
    for line in PAPER.splitlines():
        if link := re.search(r"\]\((\.\./benchmarks/[\w.]+)\) \|$", line):
            page = plain((ROOT / "paper" / link[1]).read_text(encoding="utf-8"))
            quotes = re.findall("“(.+?)”", line)
            assert quotes
            assert [quote for quote in quotes if plain(quote) not in page] == []
            # No figure stands outside of the quotations.
            assert not re.search(r"\d[\d.,]* ?(%|times)", re.sub("“.+?”", "", line))


def plain(text: str) -> str:
    """Return a text without marks and line breaks."""
    return " ".join(text.replace("*", "").split())
