"""What explainers return: explanations, options, certificates, and bounds on distances.

Begin with :mod:`counterset.explanations.explanation`, then :mod:`counterset.explanations.option`:
everything that shows an option reads ``explanation.options``. What counted against an input is in
:mod:`counterset.explanations.reasons`, by :mod:`counterset.explanations.shapley`. Every explanation
is made by ``make_explanations`` in :mod:`counterset.explanations.explanations`; how it was made is
its :mod:`counterset.explanations.context`. :mod:`counterset.explanations.json_form` is the form of
files and of the service. May import ``models`` and what lies below it.
"""

from counterset.explanations.certificate import Certificate, DistanceBounds
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.explanations.option import Change, Option
from counterset.explanations.reasons import Reason
from counterset.explanations.why_none import WhyNone

__all__ = [
    "Certificate",
    "Change",
    "DistanceBounds",
    "Explanation",
    "Explanations",
    "Option",
    "Reason",
    "WhyNone",
]
