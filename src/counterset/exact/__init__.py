"""Exact counterfactual distances: for models that a solver can read, and for finite domains."""

from counterset.exact.batch import ManyBounds, counterfactual_distances
from counterset.exact.distance import counterfactual_distance
from counterset.exact.domains import Box, Grid, Points
from counterset.exact.networks.models import ReluNetwork
from counterset.results.bounds import DistanceBounds

__all__ = [
    "Box",
    "DistanceBounds",
    "Grid",
    "ManyBounds",
    "Points",
    "ReluNetwork",
    "counterfactual_distance",
    "counterfactual_distances",
]
