"""What is attached to an explanation: bounds and the safety of each counterfactual."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles_constraints import constraints, keeps, plain
from support.toys_exact import LINEAR, SQUARE

from counterset import Constraints, DiverseExplainer, InvalidInputError
from counterset.exact import Box, counterfactual_distance


def test_the_safety_is_what_the_lower_bound_proves() -> None:
    explainer = DiverseExplainer.paper(LINEAR, max_counterfactuals=2).fit(SQUARE)
    explanation = explainer.explain(SQUARE[0])
    domain, distance = Box(-1, 2), explainer.distance_
    certified = explainer.certify(explanation, 0.3, domain=domain)
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


def test_what_only_others_may_do_counts_for_their_optimum() -> None:
    # The first number may only rise. From (2, 0) that leaves (2, 3), from (0, 0) there is (1, 0).
    frame = pd.DataFrame(itertools.product(range(3), range(4)), columns=["a", "b"])

    def model(rows: Any) -> Any:
        return (rows["b"] == 3) & (rows["a"] == 2) | (rows["a"] == 1) & (rows["b"] == 0)

    explainer = DiverseExplainer.paper(
        model, max_counterfactuals=1, scale=None, constraints=Constraints(increase_only=["a"])
    ).fit(frame)
    explanation = explainer.explain(frame.iloc[8])
    certificate = explainer.certify(explanation, 4.0, domain=frame).certificate
    assert certificate is not None
    assert certificate.distance_bounds is not None
    assert certificate.distance_bounds.lower == 3
    # Not 3 + 4 - 3: for (0, 0), at a distance of 2, that option is 5 away and the optimum 1.
    assert certificate.safety is not None
    assert certificate.safety.tolist() == [1 + 4 - 3]


def test_an_option_outside_a_finite_domain_is_no_witness() -> None:
    explainer = DiverseExplainer.paper(LINEAR, max_counterfactuals=1).fit(SQUARE)
    x = SQUARE[LINEAR.predict(SQUARE) == 0][0]
    far_away = np.array([[0.99, 0.99]])
    certificate = explainer.certify(explainer.explain(x), 0.3, domain=far_away).certificate
    assert certificate is not None
    assert certificate.distance_bounds is not None
    assert certificate.distance_bounds.witness.tolist() == [0.99, 0.99]
    assert certificate.safety is not None
    assert np.isneginf(certificate.safety).all()


GRID = list(itertools.product(range(5), range(4)))


@given(
    others=st.dictionaries(st.sampled_from(GRID), st.integers(1, 2), max_size=4),
    at=st.integers(0, len(GRID) - 1),
    target=st.sampled_from([None, 1, [1, 2]]),
    kept=constraints(categories=False),
    epsilon=st.sampled_from([2.0, 3.0, 5.0]),
)
def test_safe_options_are_good_for_all_near_who_may_take_them(
    others: dict[tuple[int, int], int], at: int, target: Any, kept: dict[str, Any], epsilon: float
) -> None:
    # Proposition 2 for every input of a tiny domain that asks for the same, by the letter. What
    # is possible for another input may not be possible for this one.
    label_of = {**dict.fromkeys(GRID, 0), (4, 3): 1, (4, 2): 2, **others}
    frame = pd.DataFrame(GRID, columns=["a", "b"])

    def model(rows: Any) -> Any:
        return np.array([label_of[plain(row)] for row in rows.itertuples(index=False)])

    x = GRID[at]
    wanted = [k for k in range(3) if k != label_of[x]]
    if target is not None:
        wanted = target if isinstance(target, list) else [target]
    if label_of[x] in wanted or not set(wanted) <= set(label_of.values()):
        return
    explainer = DiverseExplainer.paper(
        model, max_counterfactuals=3, scale=None, search=None, diversity=None
    ).fit(frame)
    (explanation,) = explainer.explain_many(
        frame.iloc[[at]], target=target, constraints=Constraints(**kept), if_none="ignore"
    )
    certificate = explainer.certify(explanation, epsilon, domain=frame).certificate
    assert certificate is not None
    assert certificate.distance_bounds is not None
    assert certificate.safety is not None

    def possible(start: tuple[int, ...]) -> list[tuple[int, ...]]:
        good = (row for row in GRID if label_of[row] in wanted)
        rows = {(*row, "-") for row in GRID}
        return [row for row in good if keeps((*start, "-"), (*row, "-"), kept, rows)]

    def away(one: tuple[int, ...], other: tuple[int, ...]) -> int:
        return sum(abs(i - j) for i, j in zip(one, other, strict=True))

    best = min((away(x, row) for row in possible(x)), default=np.inf)
    assert certificate.distance_bounds.lower == best
    for c, delta in zip(explanation.values, certificate.safety, strict=True):
        for y in GRID:
            if label_of[y] != label_of[x] or not away(x, y) <= delta / 2:
                continue
            options = possible(y)
            if plain(c) in options:
                assert away(y, plain(c)) <= min(away(y, row) for row in options) + epsilon
