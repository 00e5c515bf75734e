"""What explainers return: explanations, certificates, and bounds on distances.

Begin with :mod:`counterset.results.explanation`; every explanation is made by
``make_explanations`` in :mod:`counterset.results.explanations`. What it remembers of how it was
made is a :mod:`counterset.results.context`. May import ``models`` and what lies below it.
"""

from counterset.results.bounds import DistanceBounds
from counterset.results.certificate import Certificate
from counterset.results.explanation import Explanation
from counterset.results.explanations import Explanations

__all__ = ["Certificate", "DistanceBounds", "Explanation", "Explanations"]
