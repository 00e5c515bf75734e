"""Callbacks of scikit-learn during ``fit``, where it has them: since 1.9, as an experiment.

Older releases have no ``set_callbacks``, and neither has an explainer then. Nothing of scikit-learn
that may change is called unless callbacks were set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["CallbackSupportMixin", "tell_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ModuleNotFoundError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

    with_callbacks = None


def tell_callbacks(
    estimator: Any, X: Any, learn: Callable[[Callable[[], None] | None], object]
) -> None:
    """Learn, and tell the callbacks of an estimator when each part is done.

    Parameters
    ----------
    X
        The training rows, which callbacks may ask for.
    learn
        Is called with a function to be called after each part; None: nobody wants to know.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        learn(None)
        return

    def run(estimator: Any) -> None:
        # How many parts there are depends on the strategy, which says so after the first.
        whole = estimator._init_callback_context(max_subtasks=None)
        whole.call_on_fit_task_begin(estimator=estimator, X=X)

        def tell() -> None:
            part = whole.subcontext(task_name="part")
            part.call_on_fit_task_begin(estimator=estimator)
            # Learning cannot end early, so that no callback can ask for that.
            part.call_on_fit_task_end(estimator=estimator)

        learn(tell)
        whole.call_on_fit_task_end(estimator=estimator, X=X)

    with_callbacks(run)(estimator)
