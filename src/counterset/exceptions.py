"""Every error and warning of counterset.

::

    CountersetError (Exception)
    ├── DataUnavailableError (LookupError)    a dataset is not here, and cannot be fetched
    ├── InvalidInputError (ValueError)        what was passed in cannot be used
    │   ├── DomainError                       the domain is empty, or the input lies outside it
    │   ├── UnsupportedDistanceError          no exact method takes this distance
    │   └── UnsupportedModelError             no exact method reads this model
    ├── MissingExtraError (ImportError)       an optional dependency is not installed
    ├── ModelError (RuntimeError)             the model failed, or its answer cannot be used
    ├── NoCounterfactualError (LookupError)   nothing acceptable exists to move towards
    │   └── NoCounterfactualExistsError       proved: the whole domain has one class
    ├── NotFittedError (sklearn's)            ``explain`` before ``fit``
    ├── OutOfTimeError (TimeoutError)         an exhaustive explanation was not complete in time
    ├── TooManyCounterfactualsError           an exhaustive explanation passed its cap
    └── UndecidedError (TypeError)            "unknown" was used as yes or no

    CountersetWarning (UserWarning)
    ├── FewerCounterfactualsWarning           fewer counterfactuals than asked for
    ├── InconsistentModelWarning              the model classifies one row in two ways
    ├── UndeclaredCodesWarning                some values look like codes, not numbers
    ├── UnsuitableScaleWarning                the scale means nothing for some features
    └── UnusedColumnsWarning                  the model does not look at some columns
"""

from __future__ import annotations

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

__all__ = [
    "CountersetError",
    "CountersetWarning",
    "DataUnavailableError",
    "DomainError",
    "FewerCounterfactualsWarning",
    "InconsistentModelWarning",
    "InvalidInputError",
    "MissingExtraError",
    "ModelError",
    "NoCounterfactualError",
    "NoCounterfactualExistsError",
    "NotFittedError",
    "OutOfTimeError",
    "TooManyCounterfactualsError",
    "UndecidedError",
    "UndeclaredCodesWarning",
    "UnsuitableScaleWarning",
    "UnsupportedDistanceError",
    "UnsupportedModelError",
    "UnusedColumnsWarning",
]


class CountersetError(Exception):
    """Base of every error that counterset raises on purpose.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> try:
    ...     DiverseExplainer(len).explain([1.0])
    ... except CountersetError as error:
    ...     print(error)
    This DiverseExplainer is not fitted yet. Call fit with the training rows first.
    """


class DataUnavailableError(CountersetError, LookupError):
    """A dataset is neither bundled nor in a folder nor reachable."""


class InvalidInputError(CountersetError, ValueError):
    """A parameter or a table that cannot be used as it is.

    Examples
    --------
    >>> from counterset import NearestCandidates
    >>> NearestCandidates(alpha=0)
    Traceback (most recent call last):
        ...
    counterset.exceptions.InvalidInputError: alpha must be a whole number of at least 1, got 0.
    """


class DomainError(InvalidInputError):
    """A domain without points, or an input that lies outside it."""


class UnsupportedDistanceError(InvalidInputError):
    """A distance that no exact method takes for this model."""


class UnsupportedModelError(InvalidInputError):
    """A model that no exact method reads."""


class MissingExtraError(CountersetError, ImportError):
    """Something optional is needed that is not installed; the message names the extra."""


class ModelError(CountersetError, RuntimeError):
    """The model raised, or its answer has the wrong shape or content."""


class NoCounterfactualError(CountersetError, LookupError):
    """There is nothing acceptable to move towards.

    Examples
    --------
    >>> from counterset import DiverseExplainer
    >>> try:
    ...     DiverseExplainer(lambda rows: rows[:, 0] > 9).fit([[1.0], [2.0]])
    ... except NoCounterfactualError as error:
    ...     print(str(error).split(".")[0])
    The model predicts False for all 2 training rows, so there is nothing to move towards
    """


class NoCounterfactualExistsError(NoCounterfactualError):
    """Proved: the whole domain has the class of the input."""


class _IncompleteError(CountersetError):
    """An exhaustive explanation that was stopped before it was complete."""

    def __init__(self, message: str, count: int) -> None:
        super().__init__(message)
        self.count = count

    def __reduce__(self) -> tuple[type[_IncompleteError], tuple[str, int]]:
        return type(self), (str(self), self.count)  # pickled between processes, with its count


class OutOfTimeError(_IncompleteError, TimeoutError):
    """An exhaustive explanation was not complete when the time was up.

    Attributes
    ----------
    count : int
        The number of counterfactuals found until then.
    """


class TooManyCounterfactualsError(_IncompleteError, RuntimeError):
    """An exhaustive explanation holds more counterfactuals than its cap.

    Attributes
    ----------
    count : int
        The number of counterfactuals found before it was stopped.
    """


class UndecidedError(CountersetError, TypeError):
    """The answer is unknown, and was used as if it were yes or no."""


class NotFittedError(CountersetError, _SklearnNotFittedError):
    """The explainer has not been fitted yet."""


class CountersetWarning(UserWarning):
    """Base of every warning of counterset.

    Examples
    --------
    Turn all of them into errors for a while:

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", CountersetWarning)
    """


class FewerCounterfactualsWarning(CountersetWarning):
    """An explanation holds fewer counterfactuals than were asked for.

    Examples
    --------
    >>> import warnings
    >>> from counterset import DiverseExplainer
    >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] > 1, max_counterfactuals=2)
    >>> explainer = explainer.fit([[1.0], [2.0]])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     explanation = explainer.explain([1.0])
    >>> len(explanation), caught[0].category.__name__
    (1, 'FewerCounterfactualsWarning')
    """


class InconsistentModelWarning(CountersetWarning):
    """The model classified the same row in two ways, depending on the batch it was asked in."""


class UndeclaredCodesWarning(CountersetWarning):
    """Some values of a column look like codes, such as 99 for "not asked", not like numbers."""


class UnsuitableScaleWarning(CountersetWarning):
    """The chosen scale means nothing for some features, because of outliers or equal values."""


class UnusedColumnsWarning(CountersetWarning):
    """The model drops some columns of the training data unseen."""
