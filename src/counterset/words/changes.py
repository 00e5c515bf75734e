"""Sentences about what one option changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterset._base.arrays import Vector
from counterset._base.bidi import isolated
from counterset.explanations.option import Option
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.tables.table import Table, changed
from counterset.words.templates import Templates
from counterset.words.values import Writer

__all__ = ["MOST_IN_ONE_SENTENCE", "ChangeWriter", "capitalised"]

#: Up to 5 changes stand in one sentence; more are listed, one a line.
MOST_IN_ONE_SENTENCE = 5
#: A first word of two letters or more, and nothing else in it.
FIRST_WORD = re.compile(r"[^\W\d_]{2,}(?!\w)")


@dataclass(frozen=True)
class ChangeWriter:
    """Write what an option changes.

    Examples
    --------
    >>> import numpy as np
    >>> table, rows = Table.learn([[5951.0, 48.0], [3200.0, 24.0]])
    >>> writer = ChangeWriter(table, Templates.read())
    >>> writer.sentence(rows[0], rows[1])
    'Reduce x0 from 5,951 to 3,200 and x1 from 48 to 24'
    """

    table: Table
    templates: Templates

    @property
    def writer(self) -> Writer:
        """What writes features and values."""
        return Writer(self.templates)

    def sentence(self, before: Vector, after: Vector) -> str:
        """Return all changes as one sentence without its point, equal verbs together."""
        groups: dict[str, list[str]] = {}
        for i in np.flatnonzero(changed(before, after)):
            verb, item = self._change(self.table.features[i], before[i], after[i])
            groups.setdefault(verb, []).append(item)
        clauses = [
            self.templates(verb, items=self.templates.join(items)) for verb, items in groups.items()
        ]
        # With several in one clause, "a and b and change c" would be hard to read.
        last = "list.and" if all(len(items) == 1 for items in groups.values()) else "list.last"
        return capitalised(self.templates.join(clauses, last=last))

    def headline(self, before: Vector, after: Vector) -> str:
        """Return what the option changes: the sentence, or only the number of many changes."""
        count = int(changed(before, after).sum())
        if not count:
            return self.templates("option.unchanged")
        if count > MOST_IN_ONE_SENTENCE:
            return self.templates("option.changes", count=count)
        return self.sentence(before, after)

    def lines(self, before: Vector, after: Vector) -> list[str]:
        """Return each change as an item of a list."""
        return [
            self.templates("change.line", clause=clause) for clause in self.clauses(before, after)
        ]

    def clauses(self, before: Vector, after: Vector) -> list[str]:
        """Return each change as a text of its own, such as "raise x0 from 3 to 5"."""
        clauses = []
        for i in np.flatnonzero(changed(before, after)):
            verb, item = self._change(self.table.features[i], before[i], after[i])
            clauses.append(self.templates(verb, items=item))
        return clauses

    def instead(self, before: Vector, after: Vector) -> list[str]:
        """Return each change as what would be different: "the age being 35 instead of 31"."""
        return [
            self._instead(self.table.features[i], before[i], after[i])
            for i in np.flatnonzero(changed(before, after))
        ]

    def usual(self, before: Vector, option: Option) -> str:
        """Return what usually helps in place of what an option does; nothing if it is usual."""
        directions = []
        for change in option.changes:
            if change.name in option.unusual:
                at = self.table.position(change.name)
                feature, raised = self.table.features[at], option.codes[at] > before[at]
                if feature.is_time:
                    name = "unusual.earlier" if raised else "unusual.later"
                else:
                    name = "unusual.lower" if raised else "unusual.higher"
                directions.append(self.templates(name, feature=self.writer.feature(feature)))
        return self.templates.join(directions)

    def asked(self, asks: Sequence[tuple[int, float, int]]) -> str:
        """Return what an option of a list asks for, such as "Income at least 3,000 EUR".

        Parameters
        ----------
        asks
            The position of each feature, a value, and 1 for at least, -1 for at most, 0 for that
            value only.
        """
        names = {1: "listed.at_least", -1: "listed.at_most", 0: "listed.is"}
        items = []
        for i, value, way in asks:
            feature = self.table.features[i]
            shown, label = self.writer.value(feature, value), isolated(feature.label)
            items.append(self.templates(names[way], feature=label, value=shown))
        return capitalised(self.templates.join(items))

    def _instead(self, feature: Feature, before: float, after: float) -> str:
        then, now = self.writer.pair_turned(feature, before, after)
        named = self.writer.feature(feature)
        return self.templates("change.instead", feature=named, before=then, after=now)

    def _change(self, feature: Feature, before: float, after: float) -> tuple[str, str]:
        """Return the template of a change's verb, and what it is done to."""
        named = self.writer.feature(feature)
        if np.isnan(before):
            text = self.writer.value(feature, after)
            return "change.state", self.templates("change.item_stated", feature=named, after=text)
        then, now = self.writer.pair(feature, before, after)
        item = self.templates("change.item", feature=named, before=then, after=now)
        if feature.is_time and feature.values is None:
            return "change.move", item
        moves = isinstance(feature, Number) and feature.kind != "binary"
        if moves and feature.is_known(np.array([before]))[0]:
            return ("change.raise" if after > before else "change.lower"), item
        return "change.change", item


def capitalised(text: str) -> str:
    """Return a text with a capital first letter, unless it begins with a name such as x0.

    Examples
    --------
    >>> capitalised("the age"), capitalised("x0 stays"), capitalised("a stays")
    ('The age', 'x0 stays', 'a stays')
    """
    return text[:1].upper() + text[1:] if FIRST_WORD.match(text) else text
