"""A margin, literally: one option, one draw and one call of the model at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from counterset import Explanation, Margin
from counterset.models.goals import InInterval, OneOf

__all__ = ["hold_rate_of", "landings_of"]


def landings_of(margin: Margin, table: Any, before: Any, after: Any) -> list[list[float]]:
    """Return where a person lands beside an option in each draw, as codes."""
    random = np.random.default_rng(0)
    middles = [(2 * k + 1) / margin.draws - 1 for k in range(margin.draws)]
    shares = [random.permutation(middles).tolist() for _ in table.features]
    landings = []
    for k in range(margin.draws):
        row = list(after)
        for i, feature in enumerate(table.features):
            same = before[i] == after[i] or (math.isnan(before[i]) and math.isnan(after[i]))
            if same or feature.is_category or feature.kind == "binary":
                continue
            if math.isnan(after[i]) or after[i] in feature.special:
                continue
            low, high = feature.usual
            width = margin.noise * (high - low)
            short = 1 if before[i] not in feature.special and before[i] > after[i] else -1
            landed = after[i] + short * shares[i][k] * width
            landed = min(max(landed, min(feature.low, after[i])), max(feature.high, after[i]))
            if landed != after[i] and not table.is_plain:
                landed = float(feature.hold(np.array([landed]))[0])
            row[i] = after[i] if landed in feature.special else landed
        landings.append(row)
    return landings


def hold_rate_of(margin: Margin, explanation: Explanation, model: Any, i: int) -> float:
    """Return for which share of the draws an option of an explanation works."""
    coded, goal = explanation.coded, explanation.context.goal
    count = 0
    for row in landings_of(margin, coded.table, coded.input.tolist(), coded.matrix[i].tolist()):
        label = model.predict(coded.table.decode(np.array([row])))[0]
        if isinstance(goal, InInterval):
            count += goal.low <= label <= goal.high
        elif isinstance(goal, OneOf):
            count += label in goal.wanted.tolist()
        else:
            count += label != explanation.label
    return count / margin.draws
