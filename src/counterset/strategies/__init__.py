"""How options are chosen, and what the strategies have in common.

Begin with :mod:`counterset.strategies.strategy`, the seam: a ``Strategy`` learns in ``fit`` and
returns a ``Finder``, whose ``find`` takes a batch of inputs. The three strategies are ``nearest``
(with ``recipes``), ``shared`` (with ``regions``) and ``paper``.

What they share: ``training`` holds the training rows, ``batch`` the inputs and what a
counterfactual must satisfy. The paper's four steps are ``ranking`` (1 and 2), ``diversity`` and
``selection`` (3), ``line_search`` (4); ``candidates`` puts steps 1 to 3 together. ``sparsity``
undoes changes that are not needed. ``admissible`` and ``shortfall`` are for inputs with few options
or none. ``calls`` runs one call of an explainer. May import ``constraints``, ``explanations`` and
what lies below them.
"""

from counterset.strategies.batch import Chosen, QueryBatch, Requirements
from counterset.strategies.diversity import (
    AngleDiversity,
    DistanceDiversity,
    Diversity,
    FeatureDiversity,
    View,
)
from counterset.strategies.line_search import LineSearch, Search, Segments
from counterset.strategies.nearest import Nearest
from counterset.strategies.paper import Paper
from counterset.strategies.ranking import CandidatesWithin, Cutoff, NearestCandidates, Ranking
from counterset.strategies.shared import Shared
from counterset.strategies.strategy import Finder, Found, Strategy, verified
from counterset.strategies.training import TrainingData

__all__ = [
    "AngleDiversity",
    "CandidatesWithin",
    "Chosen",
    "Cutoff",
    "DistanceDiversity",
    "Diversity",
    "FeatureDiversity",
    "Finder",
    "Found",
    "LineSearch",
    "Nearest",
    "NearestCandidates",
    "Paper",
    "QueryBatch",
    "Ranking",
    "Requirements",
    "Search",
    "Segments",
    "Shared",
    "Strategy",
    "TrainingData",
    "View",
    "verified",
]
