"""Explain a model's decision by a small set of diverse, close counterfactuals."""

from counterset import datasets, distances, metrics
from counterset.constraints.constraints import Constraints
from counterset.constraints.plausibility import NearData
from counterset.evaluation.evaluate import evaluate
from counterset.evaluation.noise import GaussianNoise
from counterset.evaluation.robustness import empirical_robustness, weak_robustness
from counterset.exact import (
    Box,
    DistanceBounds,
    Grid,
    Points,
    counterfactual_distance,
    counterfactual_distances,
)
from counterset.exact.definitions import Answer
from counterset.exact.exhaustive import ExhaustiveExplainer
from counterset.exceptions import (
    CountersetError,
    CountersetWarning,
    DataUnavailableError,
    DomainError,
    FewerCounterfactualsWarning,
    InconsistentModelWarning,
    InvalidInputError,
    MissingExtraError,
    ModelError,
    NoCounterfactualError,
    NoCounterfactualExistsError,
    NotFittedError,
    OutOfTimeError,
    TooManyCounterfactualsError,
    UndecidedError,
    UndeclaredCodesWarning,
    UnsuitableScaleWarning,
    UnsupportedDistanceError,
    UnsupportedModelError,
    UnusedColumnsWarning,
)
from counterset.explainer import DiverseExplainer
from counterset.explanations.certificate import Certificate
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.explanations.stability import Steadiness
from counterset.strategies.diversity import AngleDiversity, DistanceDiversity, FeatureDiversity
from counterset.strategies.line_search import LineSearch
from counterset.strategies.ranking import CandidatesWithin, NearestCandidates
from counterset.tables.schema import Schema

__all__ = [
    "AngleDiversity",
    "Answer",
    "Box",
    "CandidatesWithin",
    "Certificate",
    "Constraints",
    "CountersetError",
    "CountersetWarning",
    "DataUnavailableError",
    "DistanceBounds",
    "DistanceDiversity",
    "DiverseExplainer",
    "DomainError",
    "ExhaustiveExplainer",
    "Explanation",
    "Explanations",
    "FeatureDiversity",
    "FewerCounterfactualsWarning",
    "GaussianNoise",
    "Grid",
    "InconsistentModelWarning",
    "InvalidInputError",
    "LineSearch",
    "MissingExtraError",
    "ModelError",
    "NearData",
    "NearestCandidates",
    "NoCounterfactualError",
    "NoCounterfactualExistsError",
    "NotFittedError",
    "OutOfTimeError",
    "Points",
    "Schema",
    "Steadiness",
    "TooManyCounterfactualsError",
    "UndecidedError",
    "UndeclaredCodesWarning",
    "UnsuitableScaleWarning",
    "UnsupportedDistanceError",
    "UnsupportedModelError",
    "UnusedColumnsWarning",
    "__version__",
    "counterfactual_distance",
    "counterfactual_distances",
    "datasets",
    "distances",
    "empirical_robustness",
    "evaluate",
    "metrics",
    "weak_robustness",
]

__version__ = "0.1.0"
