"""The explainer passes scikit-learn's own checks of estimators, but for those named here.

An explainer is neither a predictor nor a transformer: it has ``fit``, and ``explain`` in place of
``predict`` and ``transform``. So the checks are about parameters, ``fit`` and what can be read
after it; those of other methods pass it by.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.utils import estimator_checks
from support.toys import Stripes

from counterset import DiverseExplainer

pytest.importorskip(
    "sklearn", minversion="1.6", reason="older releases take no list of expected failures"
)

#: Each check that fails, and why it should.
EXPECTED_FAILURES = {
    "check_parameters_default_constructible": (
        "Defaults are frozen steps such as NearestCandidates(1000), which this check does not know."
    ),
    "check_sparsify_coefficients": (
        "sparsify is a parameter here; the check takes it for the method of linear predictors."
    ),
    "check_fit2d_1sample": (
        "One row has one class, so fit raises NoCounterfactualError; the check wants a ValueError."
    ),
}


@estimator_checks.parametrize_with_checks(  # type: ignore[untyped-decorator]
    [DiverseExplainer(Stripes()), DiverseExplainer.paper(Stripes())],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_checks_of_scikit_learn(
    estimator: DiverseExplainer, check: Callable[[DiverseExplainer], None]
) -> None:
    check(estimator)


def test_column_names_are_checked_as_scikit_learn_does() -> None:
    estimator_checks.check_dataframe_column_names_consistency(
        "DiverseExplainer", DiverseExplainer(Stripes())
    )
