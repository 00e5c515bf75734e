"""The paper's experiments, and other explainers measured in the same way.

Begin with :mod:`counterset.benchmark.reproduce`. It runs the published settings
(:mod:`counterset.benchmark.published`) one by one (:mod:`counterset.benchmark.experiment`), saves
each result (:mod:`counterset.benchmark.results`), and makes tables and plots of them
(:mod:`counterset.benchmark.report`). Other explainers live in :mod:`counterset.benchmark.peers`.
May import ``plots`` and what lies below it; only ``cli`` imports it.

>>> from counterset.benchmark import Experiment, reproduce, tune
"""

from counterset.benchmark.experiment import Experiment
from counterset.benchmark.isolation import PeerRunner
from counterset.benchmark.peers import Peer
from counterset.benchmark.report import Report
from counterset.benchmark.reproduce import reproduce
from counterset.evaluation.tuning import Tuning, tune

__all__ = ["Experiment", "Peer", "PeerRunner", "Report", "Tuning", "reproduce", "tune"]
