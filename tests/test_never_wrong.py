"""Whatever the table, the constraints and the model: no counterfactual is ever wrong."""

from __future__ import annotations

import re
import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.literal_checker import broken, records, same_row, strange_values
from support.mixed_tables import Case, Model, constrained, models
from support.settings import explainer_by_steps, paper_by_steps

from counterset import (
    AngleDiversity,
    CandidatesWithin,
    CountersetWarning,
    DistanceDiversity,
    DiverseExplainer,
    Explanation,
    Explanations,
    FewerCounterfactualsWarning,
    InvalidInputError,
    LineSearch,
    NearData,
    NearestCandidates,
    NoCounterfactualError,
    Shared,
)
from counterset.strategies.ranking import Cutoff

REGIONS: list[int | Literal["auto"]] = [1, 2, "auto"]


@st.composite
def drawn_settings(draw: st.DrawFn, case: Case) -> dict[str, Any]:
    """Draw settings of the explainer: each on its own, whether people would combine them or not."""
    cutoffs: list[Cutoff] = [NearestCandidates(3), NearestCandidates(1000), CandidatesWithin(1.0)]
    return {
        "distance": draw(st.sampled_from(["gower", "l1", "l2", "linf", "l0"])),
        "candidates": draw(st.sampled_from(cutoffs)),
        "diversity": draw(st.sampled_from([None, AngleDiversity(0.5), DistanceDiversity(0.1)])),
        "search": draw(st.sampled_from([None, LineSearch(0.3), LineSearch(0.02)])),
        "scale": draw(st.sampled_from(["robust", "range", "mad", None])),
        "costs": draw(st.sampled_from([None, {case.columns[0].name: 3.0}])),
        "max_counterfactuals": draw(st.integers(1, 4)),
        "sparse": draw(st.booleans()),
        "plausibility": draw(st.sampled_from([None, None, NearData(2, 0.8)])),
        "regions": draw(st.sampled_from([None, None, 1])),
    }


@st.composite
def explainers(draw: st.DrawFn) -> tuple[Case, Model, DiverseExplainer]:
    case = draw(constrained())
    model = draw(models(case))
    assume(len(set(model.predict(case.X))) > 1)
    # What most people use is drawn most often: the default settings, and shared lists.
    kind = draw(st.sampled_from(["default", "shared", "any", "paper"]))
    make: Any = paper_by_steps if kind == "paper" else explainer_by_steps
    more: dict[str, Any] = {}
    if kind == "shared":
        own, regions = draw(st.integers(0, 3)), draw(st.sampled_from(REGIONS))
        more = {"strategy": Shared(own=own, regions=regions)}
    elif kind != "default":
        more = draw(drawn_settings(case))
    explainer = make(model, schema=case.schema, constraints=case.constraints, **more)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CountersetWarning)  # of scales, and of codes
            explainer.fit(case.X)
    except InvalidInputError as error:  # a range between two values that an ordinal has not
        if not re.search("holds no value|never applies|contradicts itself", str(error)):
            raise
        assume(False)
    return case, model, explainer


def explain(explainer: DiverseExplainer, rows: pd.DataFrame) -> Explanations:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        return explainer.explain_many(rows, if_none="warn")


@given(explainers())
def test_every_counterfactual_is_valid_and_keeps_what_was_promised(
    drawn: tuple[Case, Model, DiverseExplainer],
) -> None:
    case, model, explainer = drawn
    explanations = explain(explainer, case.inputs)
    assert len(explanations) == len(case.inputs)
    some = explanations._take(np.flatnonzero(explanations.counts)).to_frame()
    pd.testing.assert_series_equal(some.dtypes[: case.X.shape[1]], case.X.dtypes)
    training = records(case.X)
    for explanation, x in zip(explanations, records(case.inputs), strict=True):
        assert isinstance(repr(explanation), str)
        assert isinstance(explanation._repr_html_(), str)
        frame = explanation.counterfactuals
        assert isinstance(frame, pd.DataFrame)
        pd.testing.assert_series_equal(frame.dtypes, case.X.dtypes)
        assert list(frame.columns) == list(case.X.columns)
        unusual = np.array([bool(option.unusual) for option in explanation.options], dtype=bool)
        assert (np.diff(unusual.astype(int)) >= 0).all()  # they come last
        for part in (unusual, ~unusual):
            assert (np.diff(explanation.distances[part]) >= 0).all()
        if explanation.plausibility is not None:
            assert explainer.training_.support is not None
            assert (explanation.plausibility <= explainer.training_.support.threshold).all()
        if len(explanation):
            labels = model.predict(frame)
            np.testing.assert_array_equal(labels, explanation.labels)
            assert not (labels == explanation.label).any()
        rows = records(frame)
        for i, c in enumerate(rows):
            assert not same_row(x, c), "equal to the input"
            assert not any(same_row(c, other) for other in rows[:i]), "given twice"
            assert broken(case.limits, case.features, training, x, c) == []
            assert strange_values(case.limits, case.features, case.X, x, c) == []


@given(explainers())
def test_an_explanation_does_not_depend_on_the_rest_of_the_batch(
    drawn: tuple[Case, Model, DiverseExplainer],
) -> None:
    case, _, explainer = drawn
    together = explain(explainer, case.inputs)
    backwards = explain(explainer, case.inputs[::-1])
    for i in range(len(case.inputs)):
        alone = explain(explainer, case.inputs.iloc[[i]])[0]
        assert_same(together[i], alone)
        assert_same(backwards[len(case.inputs) - 1 - i], alone)


def assert_same(a: Explanation, b: Explanation) -> None:
    assert isinstance(a.counterfactuals, pd.DataFrame)
    assert isinstance(b.counterfactuals, pd.DataFrame)
    pd.testing.assert_frame_equal(a.counterfactuals, b.counterfactuals, check_exact=True)
    np.testing.assert_array_equal(a.distances, b.distances)
    np.testing.assert_array_equal(a.labels, b.labels)


@given(explainers())
def test_what_rules_everything_out_is_named_and_really_there(
    drawn: tuple[Case, Model, DiverseExplainer],
) -> None:
    case, _, explainer = drawn
    explanations = explain(explainer, case.inputs)
    for empty in np.flatnonzero(explanations.counts == 0).tolist():
        with pytest.raises(NoCounterfactualError) as caught:
            explainer.explain(case.inputs.iloc[[empty]])
        named = re.search(r"the constraints? (.*) rules out", str(caught.value))
        if named is None:
            other = r"plausible|no single constraint|equal to the input|few people share"
            assert re.search(other, str(caught.value))
        else:
            assert set(named.group(1).split("; ")) <= texts(case)


def texts(case: Case) -> set[str]:
    given_ = case.constraints
    moves = {"max_increase": given_.max_increase, "max_decrease": given_.max_decrease}
    return {
        "known values stay known",
        *(f"immutable {name!r}" for name in given_.immutable),
        *(f"increase_only {name!r}" for name in given_.increase_only),
        *(f"decrease_only {name!r}" for name in given_.decrease_only),
        *(f"ranges[{name!r}]" for name in given_.ranges),
        *(f"allowed[{name!r}]" for name in given_.allowed),
        *(
            " and ".join(f"{each}[{name!r}]" for each, limits in moves.items() if name in limits)
            for name in [*given_.max_increase, *given_.max_decrease]
        ),
        *(f"relation {text!r}" for text in given_.relations),
        *(f"together {list(group)!r}" for group in given_.together),
        *(f"forbidden_changes[{name!r}]" for name in given_.forbidden_changes),
        *(f"condition {text!r}" for text in given_.conditions),
    }
