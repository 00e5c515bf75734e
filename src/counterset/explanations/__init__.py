"""What explainers return: explanations, certificates, and bounds on distances.

Begin with :mod:`counterset.explanations.explanation`; every explanation is made by
``make_explanations`` in :mod:`counterset.explanations.explanations`. What it remembers of how it
was made is a :mod:`counterset.explanations.context`. May import ``models`` and what lies below it.
"""

from counterset.explanations.certificate import Certificate, DistanceBounds
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.explanations.option import Change, Option

__all__ = ["Certificate", "Change", "DistanceBounds", "Explanation", "Explanations", "Option"]
