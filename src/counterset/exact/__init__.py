"""Exact counterfactual distances: how near a counterfactual is, proved.

Begin with ``distance`` (the public function) and ``query`` (a model, a distance and a domain, ready
for any input). For each input the query makes a ``problem`` and hands it to one of the ``solvers``.

- ``domains`` and ``arguments`` read what users pass, ``norms`` reads distances. ``limits`` says
  what constraints leave of a domain, and ``targets`` what a goal asks of a model's scores.
- ``preprocessing`` reads the steps of a pipeline before the model, with ``column_sources``,
  ``scalers`` and ``category_codes``.
- ``finite``, ``sampling``, ``neighbours``, ``linear``, ``networks`` and ``trees`` are the solvers.
  ``boundary``, ``growing_balls`` and ``milp`` are tools that they share.
- ``batch`` solves many inputs at once.
- The paper's theory stands beside it: ``definitions``, ``exhaustive`` (the exhaustive explainer)
  and ``certify``.

The room imports models, tables, constraints, distances and results, and nothing of the explainer.
Inside it, ``linear`` and ``milp`` import no other sub-package; ``networks`` and ``trees`` use
``milp``; ``neighbours`` uses ``milp`` and ``linear``; ``solvers`` uses them all.
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
