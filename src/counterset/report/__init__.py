"""Reports: one HTML file that people read and machines check.

Begin with :mod:`counterset.report.single`, the report of one explanation, and
:mod:`counterset.report.many`, that of many, which groups people by :mod:`counterset.report.groups`.
Both end with :mod:`counterset.report.technical`. :mod:`counterset.report.page` puts a page together
and seals it; :mod:`counterset.report.verify` checks one again later, and
:mod:`counterset.report.cases` the decisions on many people. The report of one says the sentences of
``words``; those about many are in :mod:`counterset.report.texts`. The template and the style are in
``templates/``. Needs no matplotlib. May import ``plots`` and what lies below it.
"""

from counterset.report.many import report_of_many
from counterset.report.single import report_of_one
from counterset.report.verify import Verification, verify_report

__all__ = ["Verification", "report_of_many", "report_of_one", "verify_report"]
