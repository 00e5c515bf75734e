"""The paper's experiments, and other explainers measured in the same way.

Begin with :mod:`counterset.paper.reproduce`. It runs the published settings
(:mod:`counterset.paper.cells`) one by one (:mod:`counterset.paper.experiment`) on the paper's
datasets and networks (:mod:`counterset.paper.setups`), saves each result, and makes tables and
plots of them (:mod:`counterset.paper.report`). Other explainers are in
:mod:`counterset.paper.peers`; each runs in its own process (:mod:`counterset.paper.isolation`).
:mod:`counterset.paper.comparison` measures them side by side on tables and models
(:mod:`counterset.paper.tasks`).
May import ``plots`` and what lies below it; only ``cli`` imports it.

>>> from counterset.paper import Experiment, reproduce, tune
"""

from counterset.evaluation.tuning import Tuning, tune
from counterset.paper.comparison import Comparer, Comparison
from counterset.paper.experiment import Experiment
from counterset.paper.isolation import IsolatedPeer, PeerRunner
from counterset.paper.peers import Peer
from counterset.paper.report import Report
from counterset.paper.reproduce import reproduce
from counterset.paper.tasks import Task, named_task, table_task

__all__ = [
    "Comparer",
    "Comparison",
    "Experiment",
    "IsolatedPeer",
    "Peer",
    "PeerRunner",
    "Report",
    "Task",
    "Tuning",
    "named_task",
    "reproduce",
    "table_task",
    "tune",
]
