"""Exact counterfactual distances: for models that a solver can read, and for finite domains."""

from counterset.exact.bounds import DistanceBounds
from counterset.exact.distance import counterfactual_distance
from counterset.exact.domains import Box, Grid, Points
from counterset.exact.many import ManyBounds, counterfactual_distances
from counterset.exact.networks import ReluNetwork

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
