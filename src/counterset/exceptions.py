"""Every error and warning of counterset.

::

    CountersetError (Exception)
    ├── InvalidInputError (ValueError)        what was passed in cannot be used
    ├── MissingExtraError (ImportError)       an optional dependency is not installed
    ├── ModelError (RuntimeError)             the model failed, or answered something unusable
    ├── NoCounterfactualError (LookupError)   nothing acceptable exists to move towards
    └── NotFittedError (sklearn's)            ``explain`` before ``fit``

    CountersetWarning (UserWarning)
    └── FewerCounterfactualsWarning           fewer counterfactuals than asked for
"""

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

__all__ = [
    "CountersetError",
    "CountersetWarning",
    "FewerCounterfactualsWarning",
    "InvalidInputError",
    "MissingExtraError",
    "ModelError",
    "NoCounterfactualError",
    "NotFittedError",
]


class CountersetError(Exception):
    """Base of every error that counterset raises on purpose."""


class InvalidInputError(CountersetError, ValueError):
    """A parameter or a table that cannot be used as it is."""


class MissingExtraError(CountersetError, ImportError):
    """What was asked for needs an optional dependency that is not installed."""


class ModelError(CountersetError, RuntimeError):
    """The model raised, or its answer has the wrong shape or content."""


class NoCounterfactualError(CountersetError, LookupError):
    """There is nothing acceptable to move towards."""


class NotFittedError(CountersetError, _SklearnNotFittedError):
    """The explainer has not been fitted yet."""


class CountersetWarning(UserWarning):
    """Base of every warning that counterset gives."""


class FewerCounterfactualsWarning(CountersetWarning):
    """An explanation holds fewer counterfactuals than were asked for."""
