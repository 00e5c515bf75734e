"""Exact counterfactual distances: how near a counterfactual is, proved.

Begin with ``distance`` (the public functions) and ``query`` (a model, a distance and a domain,
ready for any input). For each input the query makes a ``problem`` and hands it to one of the
``solvers``.

- ``domains`` reads where counterfactuals may lie, and ``norms`` reads distances. ``constraints``
  says what constraints leave of a domain, and ``targets`` what a goal asks of a model's scores.
- ``preprocessing`` reads the steps of a pipeline before the model.
- ``finite``, ``sampling``, ``neighbours``, ``linear``, ``networks`` and ``trees`` are the solvers;
  ``milp`` is a tool that they share.
- The paper's theory stands beside it: ``definitions``, ``exhaustive`` (the exhaustive explainer)
  and ``certify``.
- ``ranges`` finds the box around an option of which every point reaches the goal, and
  ``box_checks`` proves it.

The room imports strategies and what lies below, and nothing of the explainer. Inside it, ``linear``
and ``milp`` import no other solver; ``networks`` and ``trees`` use ``milp``; ``neighbours`` uses
``milp`` and ``linear``; ``solvers`` uses them all.
"""

from counterset.exact.definitions import Answer
from counterset.exact.distance import ManyBounds, counterfactual_distance, counterfactual_distances
from counterset.exact.domains import Box, Grid, Points
from counterset.exact.exhaustive import ExhaustiveExplainer
from counterset.exact.networks import ReluNetwork
from counterset.explanations.certificate import Certificate, DistanceBounds

__all__ = [
    "Answer",
    "Box",
    "Certificate",
    "DistanceBounds",
    "ExhaustiveExplainer",
    "Grid",
    "ManyBounds",
    "Points",
    "ReluNetwork",
    "counterfactual_distance",
    "counterfactual_distances",
]
