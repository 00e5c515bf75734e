"""Literal, slow versions of what the library computes fast.

The four steps of the paper are those of the peer ``literal`` of the benchmark.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterset.paper.peers.literal import PAIR_DISTANCES
from counterset.paper.peers.literal import LiteralMethod as Oracle
from counterset.strategies.diversity import View
from counterset.tables.space import Embedded

__all__ = ["PAIR_DISTANCES", "Oracle", "swap_literally"]


def swap_literally(
    anchor: Any,
    region: Any,
    options: Any,
    chosen: list[int],
    price: float,
    distance: Any,
    diversity: Any,
) -> list[int]:
    """Swap one option for another, the best swap each time, until none makes the set better."""

    def value(numbers: list[int]) -> float:
        here = options[numbers]
        closeness = distance.pairwise(region, here).mean()
        between = distance.pairwise(here, here)[np.triu_indices(len(here), k=1)]
        return float(closeness - price * (between.mean() if len(between) else 0.0))

    def differ(a: int, b: int) -> bool:
        if (options[a] == options[b]).all():
            return False
        if diversity is None:
            return True
        nearest = distance.pairwise(anchor[None], options).min(keepdims=True)[0]
        view = View(
            Embedded(anchor[None], anchor[None]), Embedded(options, options), nearest, distance
        )
        return bool(diversity.differ(view, np.array([a]), np.array([b]))[0])

    while True:
        best, best_value = chosen, value(chosen) - 1e-9
        for i in range(len(chosen)):
            rest = chosen[:i] + chosen[i + 1 :]
            for option in range(len(options)):
                tried = [*chosen[:i], option, *chosen[i + 1 :]]
                if all(differ(option, other) for other in rest) and value(tried) < best_value:
                    best, best_value = tried, value(tried)
        if best is chosen:
            return chosen
        chosen = best
