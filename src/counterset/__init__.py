"""Explain a model's decision by a small set of diverse, close counterfactuals."""

from counterset import datasets, distances, metrics
from counterset.candidates import CandidatesWithin, NearestCandidates
from counterset.certificate import Certificate
from counterset.constraints import Constraints
from counterset.diversity import AngleDiversity, DistanceDiversity
from counterset.evaluation import evaluate
from counterset.exceptions import (
    CountersetError,
    CountersetWarning,
    FewerCounterfactualsWarning,
    InvalidInputError,
    ModelError,
    NoCounterfactualError,
    NotFittedError,
)
from counterset.explainer import DiverseExplainer
from counterset.explanation import Explanation, Explanations
from counterset.line_search import LineSearch
from counterset.noise import GaussianNoise
from counterset.plausibility import NearData
from counterset.schema import Schema

__all__ = [
    "AngleDiversity",
    "CandidatesWithin",
    "Certificate",
    "Constraints",
    "CountersetError",
    "CountersetWarning",
    "DistanceDiversity",
    "DiverseExplainer",
    "Explanation",
    "Explanations",
    "FewerCounterfactualsWarning",
    "GaussianNoise",
    "InvalidInputError",
    "LineSearch",
    "ModelError",
    "NearData",
    "NearestCandidates",
    "NoCounterfactualError",
    "NotFittedError",
    "Schema",
    "__version__",
    "datasets",
    "distances",
    "evaluate",
    "metrics",
]

__version__ = "0.1.0"
