"""How good explainers are: the paper's robustness protocol, same ways, checks on pairs, tuning.

Begin with :mod:`counterset.evaluation.evaluate`, which measures an explainer on noisy copies of
inputs; :mod:`counterset.evaluation.evaluate` computes the figures.
:mod:`counterset.evaluation.stability` counts the copies of one input that are offered the same
ways. :mod:`counterset.evaluation.robustness` checks the paper's definitions on pairs of inputs, and
:mod:`counterset.evaluation.tuning` compares settings. May import ``explainer`` and what lies below
it.
"""

from counterset.evaluation.evaluate import evaluate
from counterset.evaluation.robustness import empirical_robustness, weak_robustness
from counterset.evaluation.stability import stability
from counterset.evaluation.tuning import Tuning, tune

__all__ = ["Tuning", "empirical_robustness", "evaluate", "stability", "tune", "weak_robustness"]
