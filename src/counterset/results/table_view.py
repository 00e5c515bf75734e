"""The compact table that an explanation prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from counterset._base.arrays import Labels, Vector, to_python
from counterset.results.certificate import Certificate
from counterset.results.changes import Changes

__all__ = ["MOST_FEATURES", "UNCHANGED", "options_table", "rest_of"]

#: The mark of what does not change.
UNCHANGED = "·"
#: Up to 60 features that change are listed, those that change most often first: what is printed can
#: be typed in. Answers with few changes have fewer.
MOST_FEATURES = 60


def options_table(
    changes: Changes,
    distances: Vector,
    labels: Labels,
    certificate: Certificate | None,
    told_labels: Sequence[str],
) -> pd.DataFrame:
    """Return the changes as text, with a mark where nothing changes, and figures below them.

    Parameters
    ----------
    changes, distances, labels, certificate
        Of the explanation.
    told_labels
        The heading of the labels' row, and each label as text.
    """
    text = changes.frame(lambda feature, code: feature.format(code))
    text.iloc[:, 1:] = text.iloc[:, 1:].mask(~changes.mask[:, changes.features].T, UNCHANGED)
    text = text.head(MOST_FEATURES)
    text.columns = pd.Index(["input", *(f"option {i}" for i in range(1, len(labels) + 1))])
    rows: dict[str, list[Any]] = {
        "features changed": list(changes.mask.sum(axis=1)),
        "distance": [f"{distance:.3g}" for distance in distances],
    }
    if certificate is not None and certificate.safety is not None:
        rows["safe within"] = certificate.column()
    if certificate is not None and certificate.option_radii is not None:
        rows["works within"] = certificate.works_column()
    if len({str(to_python(label)) for label in labels}) > 1:
        rows[told_labels[0]] = list(told_labels[1:])
    summary = [["", *map(str, values)] for values in rows.values()]
    return pd.concat([text, pd.DataFrame(summary, columns=text.columns, index=list(rows))])


def rest_of(changes: Changes, certificate: Certificate | None) -> str:
    """Return the lines below the table: how much it leaves out, and what is certain."""
    more = len(changes.features) - MOST_FEATURES
    rest = [f"... and {more} more features that change."] if more > 0 else []
    certain = str(certificate) if certificate is not None else ""
    return "".join(f"\n{line}" for line in [*rest, *filter(None, [certain])])
