"""The report of many explanations: what people would have to change, and who has no option."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Labels, to_python
from counterset.exceptions import InvalidInputError
from counterset.explanations.context import versions
from counterset.explanations.explanations import Explanations
from counterset.plots.stability import StabilityDisplay
from counterset.plots.style import name_of, shortened
from counterset.report.page import Section, bars_svg, make_page, paragraphs, plain_table, write_page
from counterset.report.single import check_section, making_section
from counterset.report.texts import TEXTS, counted
from counterset.report.verify import record_of_many
from counterset.tables.table import Table
from counterset.words.templates import Templates
from counterset.words.values import Writer, percent

__all__ = ["group_figures", "report_of_many"]

#: The 15 features that change most are drawn.
MOST_FEATURES = 15
#: The first 8 inputs with the same reason are named.
MOST_INPUTS = 8
#: The reasons of the first 100 inputs without an option are found out: each takes about as long as
#: an explanation.
MOST_REASONS = 100
#: What is told of noisy copies, as means over all of them.
MEASURED = ("input_distance", "covered", "kept", "set_distance_mean")


def report_of_many(
    explanations: Explanations,
    path: str | Path | None = None,
    *,
    groups: Any = None,
    stability: pd.DataFrame | None = None,
) -> str:
    """Return the report of many explanations as a page of HTML, and write it to a file.

    Parameters
    ----------
    explanations
        What to report.
    path
        The file to write, or None.
    groups
        The name of a feature, or one value for each input: figures are shown for each group.
    stability
        What :func:`counterset.evaluate` returned for some of the inputs.
    """
    figures = _figures(explanations)
    sections = [
        _features(explanations, figures),
        _options(explanations, figures),
        _without_options(explanations, figures),
    ]
    if groups is not None:
        name, values = _groups(explanations, groups)
        figures["groups"] = {"by": name, "figures": group_figures(explanations, values)}
        sections.append(_by_group(name, figures["groups"]["figures"]))
    if stability is not None:
        sections.append(_stability(stability, figures, explanations.context.table))
    record = record_of_many(explanations, figures)
    sections += [making_section(explanations.context, record), check_section()]
    status = Counter(explanations.status)
    lead = TEXTS["many_lead"].format(
        inputs=counted(len(explanations), "input"),
        **{each: f"{status[each]:,}" for each in ("explained", "none_found", "already_reached")},
    )
    version = versions()["counterset"]
    return write_page(make_page(TEXTS["many_title"], lead, sections, record, version), path)


def group_figures(explanations: Explanations, values: Labels) -> dict[str, dict[str, Any]]:
    """Return figures for each group, of the inputs that were to be explained.

    Parameters
    ----------
    values
        The group of each input.
    """
    open_ = np.array([status != "already_reached" for status in explanations.status])
    cost = explanations.coded.nearest
    figures = {}
    for value in sorted(set(values.tolist()), key=str):
        mine = (values == value) & open_
        if not mine.any():
            continue
        known = cost[mine & ~np.isnan(cost)]
        figures[str(value)] = {
            "inputs": int(mine.sum()),
            "with_an_option": float((explanations.counts[mine] > 0).mean()),
            "mean_options": float(explanations.counts[mine].mean()),
            "median_cost": float(np.median(known)) if len(known) else None,
        }
    return figures


def _figures(explanations: Explanations) -> dict[str, Any]:
    """Return what is counted: by feature, by number of options, and by reason for having none."""
    moved = explanations.coded.changed
    shares = moved.mean(axis=0) if len(moved) else np.zeros(moved.shape[1])
    names = explanations.coded.table.names
    open_ = [s != "already_reached" for s in explanations.status]
    counts, why = Counter(explanations.counts[open_].tolist()), explanations.why_none
    blocked: dict[str, list[str]] = {}
    without = [i for i, status in enumerate(explanations.status) if status == "none_found"]
    for rank, i in enumerate(without):
        known = rank < MOST_REASONS and i in why
        reason = why[i] if known else TEXTS["unknown_reason"]
        blocked.setdefault(reason, []).append(str(to_python(explanations.index[i])))
    return {
        "features": {name: float(share) for name, share in zip(names, shares, strict=True)},
        "options": {str(count): n for count, n in sorted(counts.items())},
        "blocked": blocked,
    }


def _features(explanations: Explanations, figures: Mapping[str, Any]) -> Section:
    shares = np.array(list(figures["features"].values()))
    order = np.argsort(-shares, kind="stable")
    order = order[shares[order] > 0][:MOST_FEATURES]
    labels = [name_of(explanations.coded.table.features[i]) for i in order]
    top = shares[order[0]] if len(order) else 1.0
    bars = [
        (shortened(label, 24), share / top, percent(share, Templates.read()))
        for label, share in zip(labels, shares[order], strict=True)
    ]
    text = ", ".join(f"{label} {bar[2]}" for label, bar in zip(labels, bars, strict=True))
    drawing = bars_svg(bars, TEXTS["features_alt"].format(bars=text))
    return _drawn(TEXTS["features"], drawing, TEXTS["features_caption"])


def _options(explanations: Explanations, figures: Mapping[str, Any]) -> Section:
    counts: dict[str, int] = figures["options"]
    most = max(counts.values(), default=1)
    bars = [(counted(int(k), "option"), n / most, f"{n:,}") for k, n in counts.items()]
    text = ", ".join(f"{name}: {value}" for name, _, value in bars)
    drawing = bars_svg(bars, TEXTS["options_alt"].format(bars=text))
    return _drawn(TEXTS["options"], drawing, TEXTS["options_caption"])


def _without_options(explanations: Explanations, figures: Mapping[str, Any]) -> Section:
    blocked: dict[str, list[str]] = figures["blocked"]
    if not blocked:
        return Section(TEXTS["without"], paragraphs(TEXTS["without_none"]))
    rows = [
        (
            reason,
            ", ".join(who[:MOST_INPUTS]) + (", …" if len(who) > MOST_INPUTS else ""),
            f"{len(who):,}",
        )
        for reason, who in sorted(blocked.items(), key=lambda item: -len(item[1]))
    ]
    headings = (TEXTS["reason"], TEXTS["which"], TEXTS["inputs"])
    return Section(TEXTS["without"], plain_table(TEXTS["without_caption"], headings, rows, 1))


def _groups(explanations: Explanations, groups: Any) -> tuple[str, Labels]:
    """Return the name of the groups, and the group of each input, as text."""
    table = explanations.coded.table
    if isinstance(groups, str) or (np.ndim(groups) == 0):
        at = table.position(groups)
        feature = table.features[at]
        codes = explanations.coded.inputs[:, at]
        return feature.label, np.array([feature.text_of(code) for code in codes], dtype=object)
    if len(groups) != len(explanations):
        raise InvalidInputError(
            f"groups holds {len(groups)} values for {len(explanations)} inputs. Pass one for each, "
            f"or the name of a feature."
        )
    name = str(getattr(groups, "name", None) or "group")
    return name, np.array([str(to_python(each)) for each in groups], dtype=object)


def _by_group(name: str, figures: Mapping[str, Mapping[str, Any]]) -> Section:
    rows = [
        (
            value,
            f"{each['inputs']:,}",
            percent(each["with_an_option"], Templates.read()),
            f"{each['mean_options']:.2f}",
            "-" if each["median_cost"] is None else f"{each['median_cost']:.3g}",
        )
        for value, each in figures.items()
    ]
    headings = (
        name, TEXTS["inputs"], TEXTS["share_with"], TEXTS["mean_options"], TEXTS["median_cost"],
    )  # fmt: skip
    table = plain_table(TEXTS["groups_caption"], headings, rows, 4)
    return Section(TEXTS["groups"].format(name=name), table)


def _stability(table: pd.DataFrame, figures: dict[str, Any], columns: Table) -> Section:
    known = StabilityDisplay.from_evaluation(table).table
    count = int(known["input"].nunique()) if "input" in known else len(known)
    measured = {name: float(known[name].mean()) for name in MEASURED}
    tail = float(known["set_distance_mean"].quantile(0.95))
    figures["stability"] = {
        "copies": len(known), "inputs": count, **measured,
        "set_distance_mean_95th_percentile": tail,
        "set_distance_max": float(known["set_distance_max"].max()),
    }  # fmt: skip
    templates = Templates.read()
    text = TEXTS["stability_text"].format(
        copies=f"{len(known):,}", count=f"{count:,}",
        covered=percent(measured["covered"], templates), kept=percent(measured["kept"], templates),
        moved=f"{measured['input_distance']:.3g}", mean=f"{measured['set_distance_mean']:.3g}",
        tail=f"{tail:.3g}",
    )  # fmt: skip
    differences = Writer(Templates.read(None)).differences(
        table.attrs.get("differences", {}), columns
    )
    if differences:
        text += TEXTS["stability_differences"].format(differences=differences)
    return Section(TEXTS["stability"], paragraphs(text))


def _drawn(heading: str, drawing: str, caption: str) -> Section:
    caption = f"<figcaption>{escape(caption)}</figcaption>"
    return Section(heading, f"<figure>{drawing}{caption}</figure>")
