"""Four people, a model that approves two of them, and explainers without a search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from counterset import DiverseExplainer
from support.settings import paper_by_steps

# Declined below 3000. The search is off, so the counterfactuals are the rows with 3000 and more.
FRAME = pd.DataFrame(
    {"age": [30, 40, 30, 50], "income": [1000.0, 2000.0, 3000.0, 4000.0]},
    index=["ann", "bob", "cem", "dee"],
)


def approve(rows: Any) -> Any:
    return np.where(np.asarray(rows)[:, 1].astype(float) >= 3000, "yes", "no")


def explainer_of(X: Any, model: Any = approve, **parameters: Any) -> DiverseExplainer:
    options: dict[str, Any] = {"search": None, "diversity": None, "max_counterfactuals": 2}
    return paper_by_steps(model, **{**options, **parameters}).fit(X)
