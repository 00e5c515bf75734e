"""A table with a feature of every kind, and a way to make explanations of it by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from counterset import Schema
from counterset._base.lazy import Lazy
from counterset.explanations.context import Context, TrainingSummary
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import make_explanations
from counterset.explanations.reasons import Background
from counterset.models.goals import AnyOther, Classes, Goal
from counterset.tables.table import Table

ROWS = pd.DataFrame(
    {
        "credit_amount": [5951.0, 3200.0, np.nan, 1250.5],
        "duration": [48, 24, 1, 12],
        "score": [-9, 620, 580, 700],
        "purpose": ["business", "used car", None, "bed, table"],
        "savings": pd.Categorical(["<100", ">500", "<100", ">500"], ["<100", ">500"], ordered=True),
        "late": [True, False, True, False],
        "telephone": ["no", "yes", "no", "yes"],
        "start": pd.to_datetime(["2024-02-29", "2025-01-01", "2024-06-01", "2023-01-01"]),
        "h_own": [1, 0, 0, 0],
        "h_rent": [0, 1, 0, 1],
        "x1": [0.25, 0.5, 0.125, 2.0],
    }
)
SCHEMA = Schema(
    special={"score": [-9]},
    one_hot={"housing": ["h_own", "h_rent"]},
    units={"credit_amount": "DM", "duration": "months"},
    texts={
        "score": {-9: "no record"},
        "savings": {"<100": "less than 100 DM"},
        "housing": {"h_own": "own home", "h_rent": "rented"},
    },
)
TABLE, MATRIX = Table.learn(ROWS, SCHEMA)


def by_hand(
    rows: Any = (1,),
    *,
    goal: Goal | None = None,
    label: Any = "bad",
    labels: Any = None,
    classes: Any = ("bad", "good"),
    distances: Any = None,
    table: Table = TABLE,
    matrix: Any = MATRIX,
    input: int = 0,
    **changes: Any,
) -> Explanation:
    """Return an explanation of one row of a table by others, without any search."""
    rows = list(rows)
    wanted_label = "good" if labels is None else labels[0]
    context: dict[str, Any] = {
        "model": lambda X: np.array([label] * len(X)),
        "table": table,
        "distance": None,
        "classes": Classes(np.array(classes)),
        "goal": AnyOther() if goal is None else goal,
        "probability": None,
        "constraints": {},
        "costs": {},
        "settings": Lazy(lambda: {"distance": "l1", "scale": "robust", "max_counterfactuals": 1}),
        "training": Lazy(lambda: TrainingSummary(4, {"bad": 1, "good": 3}, None, None, "0" * 64)),
        "background": Lazy(
            lambda: Background(matrix[1:], np.array([wanted_label] * (len(matrix) - 1)))
        ),
    }
    return make_explanations(
        table,
        matrix[[input]],
        np.array([label]),
        pd.RangeIndex(1),
        owners=np.zeros(len(rows), dtype=np.intp),
        rows=matrix[rows].reshape(len(rows), matrix.shape[1]),
        row_labels=np.array(["good"] * len(rows) if labels is None else labels),
        distances=np.arange(1.0, len(rows) + 1) / 4 if distances is None else np.array(distances),
        context=Context(**(context | changes)),
    )[0]
