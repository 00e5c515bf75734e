"""Errors can be caught by what they are, here and after a journey between processes."""

from __future__ import annotations

import pickle

import pytest
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from counterset import exceptions


@pytest.mark.parametrize(
    ("error", "usual"),
    [
        (exceptions.DataUnavailableError, LookupError),
        (exceptions.InvalidInputError, ValueError),
        (exceptions.DomainError, exceptions.InvalidInputError),
        (exceptions.UnsupportedDistanceError, exceptions.InvalidInputError),
        (exceptions.UnsupportedModelError, exceptions.InvalidInputError),
        (exceptions.MissingExtraError, ImportError),
        (exceptions.ModelError, RuntimeError),
        (exceptions.NoCounterfactualError, LookupError),
        (exceptions.NoCounterfactualExistsError, exceptions.NoCounterfactualError),
        (exceptions.NotFittedError, SklearnNotFittedError),
        (exceptions.OutOfTimeError, TimeoutError),
        (exceptions.TooManyCounterfactualsError, RuntimeError),
        (exceptions.UndecidedError, TypeError),
        (exceptions.FewerCounterfactualsWarning, exceptions.CountersetWarning),
        (exceptions.UnsuitableScaleWarning, exceptions.CountersetWarning),
        (exceptions.UnusedColumnsWarning, exceptions.CountersetWarning),
        (exceptions.CountersetWarning, UserWarning),
    ],
)
def test_each_error_is_also_one_of_the_usual_kind(
    error: type[Exception], usual: type[Exception]
) -> None:
    assert issubclass(error, usual)


@pytest.mark.parametrize(
    "kind", [exceptions.OutOfTimeError, exceptions.TooManyCounterfactualsError]
)
def test_what_was_found_before_giving_up_survives_pickling(
    kind: type[exceptions.OutOfTimeError | exceptions.TooManyCounterfactualsError],
) -> None:
    error = pickle.loads(pickle.dumps(kind("stopped", 7)))
    assert (type(error), str(error), error.count) == (kind, "stopped", 7)
