"""How good explainers are: the paper's robustness protocol, stability, pairs of inputs, tuning.

Begin with :mod:`counterset.evaluation.evaluate`, which measures an explainer on inputs and noisy
copies of them (:mod:`counterset.evaluation.noise` draws the copies).
:mod:`counterset.evaluation.stability` counts the copies of one input that are offered the same
options. :mod:`counterset.evaluation.survival` counts the retrained models for which options still
work, and :mod:`counterset.evaluation.retraining` trains them.
:mod:`counterset.evaluation.recourse` counts who has no option by group, and
:mod:`counterset.evaluation.reach` finds the features that can lead nobody there.
:mod:`counterset.evaluation.robustness` checks the paper's definitions on pairs of inputs, and
:mod:`counterset.evaluation.tuning` compares settings. May import ``explainer`` and what lies below
it.
"""

from counterset.evaluation.evaluate import evaluate
from counterset.evaluation.noise import GaussianNoise
from counterset.evaluation.reach import Reach, reach
from counterset.evaluation.recourse import few_options, recourse
from counterset.evaluation.retraining import retrainings
from counterset.evaluation.robustness import empirical_robustness, weak_robustness
from counterset.evaluation.stability import stability
from counterset.evaluation.survival import survival
from counterset.evaluation.tuning import Tuning, tune
from counterset.explanations.stability import Stability
from counterset.explanations.survival import Survival

__all__ = [
    "GaussianNoise",
    "Reach",
    "Stability",
    "Survival",
    "Tuning",
    "empirical_robustness",
    "evaluate",
    "few_options",
    "reach",
    "recourse",
    "retrainings",
    "stability",
    "survival",
    "tune",
    "weak_robustness",
]
