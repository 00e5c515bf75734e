"""What is attached to an explanation: bounds and the safety of each counterfactual."""

import numpy as np
import pytest
from toys_exact import LINEAR, SQUARE

from counterset import Box, DiverseExplainer, InvalidInputError
from counterset.exact import counterfactual_distance
from counterset.exact.certify import certify


def test_the_safety_is_what_the_lower_bound_proves() -> None:
    explainer = DiverseExplainer.paper(LINEAR, max_counterfactuals=2).fit(SQUARE)
    explanation = explainer.explain(SQUARE[0])
    domain, distance = Box(-1, 2), explainer.distance_
    certified = certify(explanation, 0.3, False, explainer, domain, 10.0)
    bounds = counterfactual_distance(LINEAR, SQUARE[0], distance, domain)
    certificate = certified.certificate
    assert certificate is not None
    assert certificate.epsilon == 0.3
    assert certificate.safety is not None
    np.testing.assert_allclose(certificate.safety, bounds.lower + 0.3 - explanation.distances)
    assert explanation.certificate is None  # the explanation itself stays as it was


def test_a_negative_epsilon_is_refused() -> None:
    explainer = DiverseExplainer.paper(LINEAR, max_counterfactuals=2).fit(SQUARE)
    with pytest.raises(InvalidInputError, match="epsilon"):
        explainer.certify(explainer.explain(SQUARE[0]), epsilon=-0.1)
