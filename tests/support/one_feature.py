"""Learn one feature from one column, for the tests of each kind."""

from __future__ import annotations

from typing import Any

import pandas as pd

from counterset import Schema
from counterset.tables.features.feature import Feature
from counterset.tables.table import Table


def learn(column: Any, **schema: Any) -> Feature:
    """Learn the feature ``a``."""
    frame = pd.DataFrame({"a": column})
    return Table.learn(frame, Schema(**schema))[0].features[0]
