"""What features cost: the same as the weights of a distance."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from support.mixed_tables import DTYPES, Case, Model, constrained, models
from support.settings import explainer_by_steps
from support.toys import FRAME, Recorder, X, fitted

from counterset import (
    AngleDiversity,
    Constraints,
    DistanceDiversity,
    Explanations,
    FewerCounterfactualsWarning,
    InvalidInputError,
    counterfactual_distance,
)
from counterset.distances import L0, L1, L2, Distance, LInf
from counterset.exceptions import NotFittedError
from counterset.strategies.shared import SharedFinder

INFINITE = float("inf")


@dataclass(frozen=True)
class Own(Distance):
    """A distance of a user, with the weights of another."""

    inner: Distance

    @property
    def category_size(self) -> float | None:
        return self.inner.category_size

    def for_coordinates(self, feature_of: Any) -> Distance:
        return Own(self.inner.for_coordinates(feature_of))

    def pairwise(self, A: Any, B: Any) -> Any:
        return self.inner.pairwise(A, B)

    def rowwise(self, x: Any, own: Any) -> Any:
        return self.inner.rowwise(x, own)


NEVER_MISSING = [dtype for dtype in DTYPES if not dtype.endswith("?")]


@st.composite
def cases(draw: st.DrawFn, dtypes: Sequence[str] = DTYPES) -> tuple[Case, Model, list[float]]:
    """Draw a table, a model, and a cost for each feature.

    Costs are powers of 2, so that it does not matter when they are multiplied.
    """
    case = draw(constrained(dtypes))
    model = draw(models(case))
    assume(len(set(model.predict(case.X))) > 1)
    some = st.lists(
        st.sampled_from([0.25, 0.5, 1.0, 2.0, 8.0]),
        min_size=len(case.columns),
        max_size=len(case.columns),
    )
    return case, model, draw(some)


def explain(case: Case, model: Model, **parameters: Any) -> Explanations:
    parameters = {"schema": case.schema, "constraints": case.constraints, **parameters}
    explainer = explainer_by_steps(model, **parameters)
    try:
        explainer.fit(case.X)
    except InvalidInputError as error:
        # A range between two values that an ordinal has not; a condition that no row can have.
        if not re.search("holds no value|never applies|contradicts itself", str(error)):
            raise
        assume(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        return explainer.explain_many(case.inputs, if_none="warn")


def assert_equal(some: Explanations, others: Explanations) -> None:
    pd.testing.assert_frame_equal(some.to_frame(), others.to_frame(), check_exact=True)


@settings(max_examples=60)
@given(
    cases(),
    st.sampled_from([(L1, 1), (L2, 2), (LInf, 1), (L0, 1)]),
    st.sampled_from([None, DistanceDiversity(0.1)]),
    st.sampled_from(["robust", "range", None]),
    st.booleans(),
)
def test_costs_are_the_weights_of_a_weighted_distance(
    drawn: tuple[Case, Model, list[float]],
    norm: tuple[type[L1 | L2 | LInf | L0], int],
    diversity: DistanceDiversity | None,
    scale: str | None,
    sparsify: bool,
) -> None:
    case, model, costs = drawn
    kind, power = norm
    by_name = {column.name: cost for column, cost in zip(case.columns, costs, strict=True)}
    parameters = {"diversity": diversity, "scale": scale, "sparse": sparsify}
    weighted = Own(kind(np.array(costs) ** power))
    assert_equal(
        explain(case, model, distance=kind(), costs=by_name, **parameters),
        explain(case, model, distance=weighted, **parameters),
    )


@settings(max_examples=40)
@given(cases(NEVER_MISSING), st.sampled_from(["l1", "l2", "gower"]), st.booleans())
def test_without_a_scale_costs_are_weights_for_angles_too(
    drawn: tuple[Case, Model, list[float]], distance: str, sparsify: bool
) -> None:
    case, model, costs = drawn
    by_name = {column.name: cost for column, cost in zip(case.columns, costs, strict=True)}
    parameters = {"distance": distance, "diversity": AngleDiversity(0.5), "sparse": sparsify}
    assert_equal(
        explain(case, model, scale=None, costs=by_name, **parameters),
        explain(case, model, scale=by_name, **parameters),
    )


def test_an_infinite_cost_is_refused_with_the_line_to_write() -> None:
    line = r"write constraints=Constraints\(immutable=\['age'\]\)"
    with pytest.raises(InvalidInputError, match=line):
        fitted(FRAME, costs={"age": INFINITE})
    with pytest.raises(InvalidInputError, match=line):
        fitted(FRAME).with_costs({"age": INFINITE})


def test_the_sets_of_anchors_are_chosen_at_these_costs() -> None:
    costly = fitted(FRAME, regions=4, scale=None, costs={"age": 8.0})
    weighted = fitted(FRAME, regions=4, scale={"age": 8.0})
    assert_equal(costly.explain_many(FRAME), weighted.explain_many(FRAME))


def test_a_costly_feature_is_left_alone() -> None:
    changed = {
        cost: fitted(FRAME, costs={"age": cost}, sparse=True)
        .explain_many(FRAME)[0]
        .changed[0]
        .tolist()
        for cost in (0.01, 100.0)
    }
    assert changed == {0.01: [True, False], 100.0: [False, True]}


def test_the_distance_of_the_explainer_counts_costs() -> None:
    explainer = fitted(FRAME, costs={"income": 3.0}, scale=None)
    gap = np.abs(X[0] - X[1])
    assert explainer.distance_(X[:1], X[1:2])[0, 0] == pytest.approx(gap[0] + 3 * gap[1])


@pytest.mark.parametrize(("distance", "expected"), [("l1", 2.0), ("l0", 2.0), ("gower", 1.0)])
def test_a_changed_category_costs_what_it_says(distance: str, expected: float) -> None:
    frame = pd.DataFrame({"home": ["own", "rent"] * 5, "income": np.arange(10.0)})
    explainer = fitted(
        frame, lambda rows: rows["income"] > 4.5, distance=distance, costs={"home": 2.0}
    )
    other = frame.assign(home=frame["home"].map({"own": "rent", "rent": "own"}))
    assert explainer.distance_(frame[:1], other[:1])[0, 0] == expected


def test_becoming_known_costs_as_much_as_other_changes() -> None:
    frame = pd.DataFrame({"income": [np.nan, 0.0, 1.0, 2.0], "age": [0.0, 1.0, 2.0, 3.0]})
    explainer = fitted(frame, lambda rows: rows["age"] > 1.5, costs={"income": 4.0})
    there = frame[:1].assign(income=1.0)  # the median, for which a missing value stands
    assert explainer.distance_(frame[:1], there)[0, 0] == 4.0


@pytest.mark.parametrize("distance", ["l1", "l2", "linf", "l0"])
def test_exact_distances_count_costs(distance: str) -> None:
    model = LogisticRegression().fit(X, X.sum(axis=1) > 1)
    explainer = fitted(X, model, distance=distance, costs={"x0": 3.0})
    weighted = {"l1": L1([3, 1]), "l2": L2([9, 1]), "linf": LInf([3, 1]), "l0": L0([3, 1])}
    plain = fitted(X, model, distance=distance).distance_
    theirs_by_weights = replace(plain, inner=weighted[distance])
    for x in X[:5]:
        ours, theirs = (
            counterfactual_distance(model, x, each, explainer)
            for each in (explainer.distance_, theirs_by_weights)
        )
        assert ours.exact
        assert ours.upper == pytest.approx(theirs.upper, rel=1e-9)
        # No point of a fine grid that the model classifies differently is nearer.
        grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 101)] * 2), axis=-1).reshape(-1, 2)
        inside = grid[((grid >= X.min(axis=0)) & (grid <= X.max(axis=0))).all(axis=1)]
        flips = inside[model.predict(inside) != model.predict(x[None])]
        assert ours.lower <= explainer.distance_(x[None], flips).min()


def test_what_is_certified_counts_costs_and_holds_for_the_immutable() -> None:
    model = LogisticRegression().fit(X, X.sum(axis=1) > 1)
    explainer = fitted(X, model, costs={"x1": 2.0}, constraints=Constraints(immutable=["x0"]))
    explanation = explainer.certify(explainer.explain(X[0]), epsilon=1.0)
    assert explanation.certificate is not None
    bounds = explanation.certificate.distance_bounds
    assert bounds is not None
    assert bounds.exact
    # The free optimum may change x0, at cost 1, so it is no farther than what was found.
    assert bounds.upper <= explanation.distances[0]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"zip": 1.0}, r"costs names unknown features \['zip'\]. Known: \['age', 'income'\]"),
        ({"age": 0.0}, r"costs\['age'\] must be a number above 0, .*, got 0.0. For a feature"),
        ({"age": -1}, r"costs\['age'\] must be a number above 0, .*, got -1"),
        ({"age": -INFINITE}, r"costs\['age'\] must be a number above 0, .*, got -inf"),
        ({"age": float("nan")}, r"costs\['age'\] must be a number above 0, .*, got nan"),
        ({"age": "2"}, r"costs\['age'\] must be a number above 0, .*, got '2'"),
        ({"age": True}, r"costs\['age'\] must be a number above 0, .*, got True"),
        ({"age": [2.0]}, r"costs\['age'\] must be a number above 0, .*, got \[2.0\]"),
        ({"age": 10**400}, r"costs\['age'\] must be a number above 0, .*, got 1000"),
        ({"age": 1e300}, r"from 1e-12 to 1e\+12, got 1e\+300. For a feature that cannot change"),
        ([1.0, 2.0], r"costs must be a mapping from names to .*, got \[1.0, 2.0\]"),
        ("age", "costs must be a mapping from names to .*, got 'age'"),
        (2.0, "costs must be a mapping from names to .*, got 2.0"),
        (dict, "costs must be a mapping from names to .*, got <class 'dict'>"),
    ],
)
def test_costs_that_cannot_be_used_are_refused(costs: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(FRAME, costs=costs)


def test_a_feature_that_is_named_twice_is_refused() -> None:
    frame = FRAME.set_axis([0, 1], axis=1)
    with pytest.raises(InvalidInputError, match="costs names a feature twice"):
        fitted(frame, costs={0: 1.0, "0": 2.0})


def test_costs_that_change_after_fit_are_noticed() -> None:
    explainer = fitted(FRAME, costs={"age": 2.0})
    explainer.set_params(costs={"age": 2.0}).explain(FRAME.iloc[0])
    with pytest.raises(NotFittedError, match="costs changed after fit"):
        explainer.set_params(costs={"age": 3.0}).explain(FRAME.iloc[0])


@settings(max_examples=30)
@given(cases())
def test_other_costs_give_what_a_new_fit_gives_where_nothing_is_learned_by_costs(
    drawn: tuple[Case, Model, list[float]],
) -> None:
    case, model, prices = drawn
    costs = dict(zip([column.name for column in case.columns], prices, strict=True))
    # Recipes are learned with the first costs, so they are left out here.
    parameters: dict[str, Any] = {"schema": case.schema, "sparse": False}
    explainer = explainer_by_steps(model, **parameters, costs=dict.fromkeys(costs, 2.0)).fit(case.X)
    anew = explainer_by_steps(model, **parameters, costs=costs).fit(case.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        first = explainer.with_costs(costs).explain_many(case.X, if_none="warn")
        second = anew.explain_many(case.X, if_none="warn")
    assert [each.distances.tolist() for each in first] == [
        each.distances.tolist() for each in second
    ]
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())


def test_other_costs_ask_the_model_nothing_and_leave_the_explainer_as_it_is() -> None:
    model = Recorder()
    explainer = fitted(FRAME, model, sparse=True, max_counterfactuals=1)
    before, asked = explainer.explain(FRAME.iloc[0]), len(model.asked)
    other = explainer.with_costs({"age": 1e6})
    assert len(model.asked) == asked
    assert other.explain(FRAME.iloc[0]).changes.index.tolist() == ["income"]
    assert other.costs == {"age": 1e6}
    assert explainer.costs is None
    assert explainer.explain(FRAME.iloc[0]).distances.tolist() == before.distances.tolist()


def test_shared_lists_are_found_anew_for_other_costs() -> None:
    explainer = fitted(FRAME, sparse=True, regions=2).with_costs({"age": 4.0})
    finder = explainer.strategy_
    assert isinstance(finder, SharedFinder)
    assert finder.nearest.training.distance.space.costs.tolist() == [4.0, 1.0]
    assert explainer.explain(FRAME.iloc[0]).certificate is not None


@pytest.mark.parametrize("costs", [{"age": -1}, {"nobody": 2.0}, [1, 2]])
def test_other_costs_are_checked_as_in_fit(costs: Any) -> None:
    with pytest.raises(InvalidInputError):
        fitted(FRAME).with_costs(costs)
