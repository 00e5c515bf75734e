"""The wording of a learned feature: its label, its unit and the texts of its values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterset.exceptions import InvalidInputError
from counterset.tables.features.feature import Feature
from counterset.tables.features.number import Number
from counterset.tables.schema import Schema
from counterset.tables.wording import Wording, check_unit, readable

__all__ = ["with_wording"]


def with_wording(feature: Feature, schema: Schema) -> Feature:
    """Return a feature with the wording that a schema declares; its names are texts.

    Examples
    --------
    >>> from counterset.tables.table import Table
    >>> schema = Schema(labels={"x0": "age"}, units={"x0": "years"})
    >>> feature = Table.learn([[31.0], [52.0]], schema)[0].features[0]
    >>> feature.label, feature.unit, feature.text_of(31.0)
    ('age', 'years', '31')
    """
    name = feature.name
    if name not in {*schema.labels, *schema.units, *schema.texts}:
        return feature
    many = one = ""
    if name in schema.units:
        if not isinstance(feature, Number):
            raise InvalidInputError(
                f"units[{name!r}] is for numbers, but {name!r} is {feature.kind}. Leave it out, or "
                f"name the unit in texts[{name!r}]."
            )
        many, one = check_unit(name, schema.units[name])
    texts = dict(schema.texts.get(name, {}))
    of_missing = texts.pop(None, None)
    codes = tuple((feature.code_of(value), text) for value, text in texts.items())
    if any(np.isinf(code) for code, _ in codes):
        raise InvalidInputError(f"texts[{name!r}] names an infinite value.")
    label = schema.labels.get(name, readable(name))
    return replace(feature, wording=Wording(label, many, one, codes, of_missing))
