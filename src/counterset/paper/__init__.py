"""The paper's experiments, and other explainers measured in the same way.

Begin with :mod:`counterset.paper.reproduce`. It runs the published settings
(:mod:`counterset.paper.cells`) one by one (:mod:`counterset.paper.experiment`), saves
each result (:mod:`counterset.paper.reproduce`), and makes tables and plots of them
(:mod:`counterset.paper.report`). Other explainers live in :mod:`counterset.paper.peers`.
May import ``plots`` and what lies below it; only ``cli`` imports it.

>>> from counterset.paper import Experiment, reproduce, tune
"""

from counterset.evaluation.tuning import Tuning, tune
from counterset.paper.experiment import Experiment
from counterset.paper.isolation import PeerRunner
from counterset.paper.peers import Peer
from counterset.paper.report import Report
from counterset.paper.reproduce import reproduce

__all__ = ["Experiment", "Peer", "PeerRunner", "Report", "Tuning", "reproduce", "tune"]
