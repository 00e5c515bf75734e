"""Explain a model's decision by a small set of diverse, close counterfactuals.

The names here are those that most users need. The others are in packages of their own:

- :mod:`counterset.exact`: domains, certificates and exact distances of many rows;
- :mod:`counterset.evaluation`: stability, survival, robustness, noise and tuning;
- :mod:`counterset.exceptions`: every error and warning;
- :mod:`counterset.plots`: pictures;
- :mod:`counterset.strategies`: the protocols for steps of your own.
"""

from counterset import datasets, distances, metrics
from counterset.constraints.constraints import Constraints
from counterset.constraints.plausibility import NearData
from counterset.evaluation.evaluate import evaluate
from counterset.evaluation.survival import survival
from counterset.exact import ExhaustiveExplainer, counterfactual_distance
from counterset.exceptions import (
    CountersetError,
    CountersetWarning,
    FewerCounterfactualsWarning,
    InvalidInputError,
    NoCounterfactualError,
)
from counterset.explainer import DiverseExplainer
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.explanations.option import Option
from counterset.explanations.reasons import Reason
from counterset.models.margin import Margin
from counterset.strategies.diversity import AngleDiversity, DistanceDiversity, FeatureDiversity
from counterset.strategies.line_search import LineSearch
from counterset.strategies.nearest import Nearest
from counterset.strategies.paper import Paper
from counterset.strategies.ranking import CandidatesWithin, NearestCandidates
from counterset.strategies.shared import Shared
from counterset.tables.schema import Schema

__all__ = [
    "AngleDiversity",
    "CandidatesWithin",
    "Constraints",
    "CountersetError",
    "CountersetWarning",
    "DistanceDiversity",
    "DiverseExplainer",
    "ExhaustiveExplainer",
    "Explanation",
    "Explanations",
    "FeatureDiversity",
    "FewerCounterfactualsWarning",
    "InvalidInputError",
    "LineSearch",
    "Margin",
    "NearData",
    "Nearest",
    "NearestCandidates",
    "NoCounterfactualError",
    "Option",
    "Paper",
    "Reason",
    "Schema",
    "Shared",
    "__version__",
    "counterfactual_distance",
    "datasets",
    "distances",
    "evaluate",
    "metrics",
    "survival",
]

__version__ = "0.1.0"
