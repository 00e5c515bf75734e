"""The paper's experiments, side-by-side runs with other explainers, and tuning on one's own data.

>>> from counterset.benchmark import Experiment, reproduce, tune
"""

from counterset.benchmark.experiment import Experiment
from counterset.benchmark.isolation import PeerRunner
from counterset.benchmark.peers import Peer
from counterset.benchmark.report import Report
from counterset.benchmark.reproduce import reproduce
from counterset.evaluation.tuning import Tuning, tune

__all__ = ["Experiment", "Peer", "PeerRunner", "Report", "Tuning", "reproduce", "tune"]
