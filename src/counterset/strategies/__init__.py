"""The four steps of the paper, and the pipeline that takes them in order.

1. ``pool``, ``nearest`` and ``ranking``: training rows of other classes, ordered by distance.
2. ``cutoffs``: keep the nearest ones.
3. ``diversity`` and ``selection``: keep those that differ from the ones already kept.
4. ``line_search`` along ``paths``: move each towards the input, up to the decision boundary.

Begin with :mod:`counterset.strategies.paper`. ``choosers`` are the ways to take steps 1 to 3,
``batch`` says which rows count as counterfactuals, and ``shortfall`` why there are few.
A step of your own is an object with the methods of ``Cutoff``, ``Diversity`` or ``Search``.

May import ``constraints``, ``results`` and what lies below them. The four steps do not import each
other.
"""

from counterset.strategies.diversity import (
    AngleDiversity,
    DistanceDiversity,
    Diversity,
    FeatureDiversity,
    View,
)
from counterset.strategies.line_search import LineSearch, Search, Segments
from counterset.strategies.ranking import CandidatesWithin, Cutoff, NearestCandidates, Ranking

__all__ = [
    "AngleDiversity",
    "CandidatesWithin",
    "Cutoff",
    "DistanceDiversity",
    "Diversity",
    "FeatureDiversity",
    "LineSearch",
    "NearestCandidates",
    "Ranking",
    "Search",
    "Segments",
    "View",
]
