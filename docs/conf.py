"""How Sphinx makes the site of the pages that ``scripts/build_site.py`` writes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "scripts")]

import counterset  # noqa: E402

project = "counterset"
author = "The counterset developers"
project_copyright = author
version = release = counterset.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = [str(ROOT / "docs" / "templates")]
exclude_patterns = ["gallery/*.ipynb"]
highlight_language = "none"  # an output is no program
nitpicky = True
nitpick_ignore_regex = [("py:mod", r"counterset\..*")]  # packages have no page
suppress_warnings = ["myst.header"]  # tables that a command writes have titles, and no sections

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence"]
myst_heading_anchors = 4

# A page of its own for each public name, with the types that the docstring says.
autosummary_generate = True
autosummary_filename_map = {  # "Reach" and "reach" are one file on some systems
    "counterset.evaluation.reach": "counterset.evaluation.reach-function",
    "counterset.evaluation.stability": "counterset.evaluation.stability-function",
}
autodoc_default_options = {
    "exclude-members": "set_fit_request",
    "member-order": "bysource",
    "members": True,
}
autodoc_inherit_docstrings = False
autodoc_preserve_defaults = True
autodoc_typehints = "none"
add_module_names = False
maximum_signature_line_length = 70
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["gallery"],
    "download_all_examples": False,
    "reference_url": {"counterset": None},
    "show_memory": False,
    "within_subsection_order": "build_site.InOrder",
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "counterset"
# Nothing stands below the first two; the third lists what stands below it.
html_sidebars: dict[str, list[str]] = {"index": [], "tutorial": [], "measurements": []}
html_static_path = [str(ROOT / "docs" / "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_use_index = False  # the pages of the reference list all names
html_domain_indices = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
copybutton_prompt_text = "$ "


#: Two lines with a gap of several spaces: a table.
COLUMNS = re.compile(r"(^.*\S {2,}\S.*$\n?){2}", re.MULTILINE)


def setup(app: Any) -> None:
    """Mark the outputs that are tables: their lines are not broken on a phone."""
    app.connect("doctree-read", mark_tables)


def mark_tables(app: Any, doctree: Any) -> None:
    for kind in (nodes.literal_block, nodes.doctest_block):
        for block in doctree.findall(kind):
            code = block.get("language") in ("python", "default", "pytb")
            if not code and COLUMNS.search(block.astext()):
                block["classes"].append("columns")
