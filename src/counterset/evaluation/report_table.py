"""A titled table, as text, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

__all__ = ["ReportTable"]


@dataclass(frozen=True)
class ReportTable:
    r"""A titled table of text cells.

    Attributes
    ----------
    name
        A short name, for files.
    title
        The heading.
    frame
        The cells, as they are shown.
    note
        Text below the table, or nothing.

    Examples
    --------
    >>> table = ReportTable("accuracy", "Accuracy", pd.DataFrame({"dataset": ["no2"], "%": ["60"]}))
    >>> print(table.to_text())
    Accuracy
    dataset  %
        no2 60
    >>> print(table.to_markdown())
    ### Accuracy
    <BLANKLINE>
    | dataset | % |
    |---|---|
    | no2 | 60 |
    >>> print(table.to_latex())
    % Accuracy
    \begin{tabular}{ll}
    \hline
    dataset & \% \\
    \hline
    no2 & 60 \\
    \hline
    \end{tabular}
    """

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""

    def to_text(self) -> str:
        """Return the table as text for a terminal."""
        body = self.frame.to_string(index=False) if len(self.frame) else "(no rows)"
        return "\n".join(part for part in (self.title, body, self.note) if part)

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        lines = [
            f"### {self.title}",
            "",
            _joined(self.frame.columns),
            "|" + "---|" * len(self.frame.columns),
            *(_joined(row) for row in self.frame.itertuples(index=False)),
        ]
        return "\n".join([*lines, "", self.note] if self.note else lines)

    def to_latex(self) -> str:
        """Return the table in LaTeX."""
        rows: list[Any] = [self.frame.columns, *self.frame.itertuples(index=False)]
        lines = [" & ".join(_escaped(value) for value in row) + r" \\" for row in rows]
        return "\n".join(
            [
                f"% {self.title}",
                rf"\begin{{tabular}}{{{'l' * len(self.frame.columns)}}}",
                r"\hline",
                lines[0],
                r"\hline",
                *lines[1:],
                r"\hline",
                r"\end{tabular}",
            ]
        )


def _joined(values: Iterable[object]) -> str:
    return "| " + " | ".join(str(value).replace("|", "/") for value in values) + " |"


def _escaped(value: object) -> str:
    text = str(value).replace("\\", "/")
    for sign in "&%$#_{}":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("±", r"$\pm$")
