"""Explain a model's decision by a small set of diverse, close counterfactuals."""

from counterset import datasets, distances, metrics
from counterset.candidates import CandidatesWithin, NearestCandidates
from counterset.certificate import Certificate
from counterset.constraints import Constraints
from counterset.definitions import Answer
from counterset.diversity import AngleDiversity, DistanceDiversity
from counterset.evaluation import evaluate
from counterset.exact import (
    Box,
    DistanceBounds,
    Grid,
    Points,
    counterfactual_distance,
    counterfactual_distances,
)
from counterset.exceptions import (
    CountersetError,
    CountersetWarning,
    DataUnavailableError,
    DomainError,
    FewerCounterfactualsWarning,
    InvalidInputError,
    MissingExtraError,
    ModelError,
    NoCounterfactualError,
    NoCounterfactualExistsError,
    NotFittedError,
    OutOfTimeError,
    TooManyCounterfactualsError,
    UndecidedError,
    UnsupportedDistanceError,
    UnsupportedModelError,
)
from counterset.exhaustive import ExhaustiveExplainer
from counterset.explainer import DiverseExplainer
from counterset.explanation import Explanation, Explanations
from counterset.line_search import LineSearch
from counterset.noise import GaussianNoise
from counterset.plausibility import NearData
from counterset.robustness import empirical_robustness, weak_robustness
from counterset.schema import Schema

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
    "FewerCounterfactualsWarning",
    "GaussianNoise",
    "Grid",
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
    "TooManyCounterfactualsError",
    "UndecidedError",
    "UnsupportedDistanceError",
    "UnsupportedModelError",
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
