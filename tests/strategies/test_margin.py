"""With a margin, every option works where a person lands near it rather than on it."""

import pickle
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from support.literal_checker import broken, records
from support.mixed_tables import Case, constrained, models
from support.oracles_margin import hold_rate_of, landings_of

from counterset import (
    Constraints,
    CountersetWarning,
    DiverseExplainer,
    Explanation,
    InvalidInputError,
    LineSearch,
    Margin,
    Nearest,
    NoCounterfactualError,
    Paper,
    Schema,
    Shared,
    datasets,
)
from counterset.batch import FrameExplainer
from counterset.strategies import Strategy

#: Some people have fewer options than asked for.
pytestmark = pytest.mark.filterwarnings("ignore::counterset.FewerCounterfactualsWarning")

STRATEGIES: list[Strategy] = [
    Nearest(),
    Shared(own=1),
    Paper(),
    Paper(regions=2),
    Paper(search=None),
    Nearest(search=LineSearch(0.2, first_crossing=True)),
]
MARGIN = Margin(0.05)


class Counting:
    """A model that counts the rows it is asked about."""

    def __init__(self, model: Any) -> None:
        self.model, self.rows = model, 0

    def predict(self, X: Any) -> Any:
        self.rows += len(X)
        return self.model(X) if callable(self.model) else self.model.predict(X)


def german() -> tuple[Any, pd.DataFrame, Any]:
    data = datasets.load("german_credit")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder="passthrough",
    )
    model = make_pipeline(encode, GradientBoostingClassifier(n_estimators=30, random_state=0))
    return model.fit(data.X, data.y), data.X, data.schema


def rates_of(found: Iterable[Explanation]) -> list[float]:
    """Return the hold rates of all options, which must be known."""
    return [float(option.hold_rate or 0) for each in found for option in each.options]


@pytest.fixture(scope="module")
def declined() -> tuple[DiverseExplainer, pd.DataFrame, Any]:
    model, X, schema = german()
    explainer = DiverseExplainer(model, schema=schema).fit(X)
    return explainer, X[model.predict(X) == "bad"].head(8), model


@st.composite
def margins(draw: st.DrawFn) -> Margin:
    noise = draw(st.sampled_from([0.02, 0.1, 0.4]))
    return Margin(noise, draw(st.sampled_from([0.5, 0.9, 1.0])), draw(st.integers(1, 30)))


@given(constrained(), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_every_option_of_every_strategy_holds_literally(case: Case, data: st.DataObject) -> None:
    model = data.draw(models(case))
    assume(len(set(model.predict(case.X))) > 1)
    margin, strategy = data.draw(margins()), data.draw(st.sampled_from(STRATEGIES))
    explainer = DiverseExplainer(
        model,
        schema=case.schema,
        constraints=case.constraints,
        strategy=strategy,
        max_counterfactuals=2,
        margin=margin,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CountersetWarning)
        try:
            explainer.fit(case.X)
        except InvalidInputError:  # a range between two values that an ordinal has not
            assume(False)
        explanations = explainer.explain_many(case.inputs, if_none="warn")
    training = records(case.X)
    for explanation, x in zip(explanations, records(case.inputs), strict=True):
        for c in records(explanation.counterfactuals):
            assert broken(case.limits, case.features, training, x, c) == []
        for option in explanation.options:
            rate = hold_rate_of(margin, explanation, model, option.rank - 1)
            assert option.hold_rate == pytest.approx(rate, abs=1e-12)
            assert rate >= margin.hold - 1e-9


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_draws_of_all_options_are_those_of_the_oracle(
    strategy: Strategy, declined: tuple[DiverseExplainer, pd.DataFrame, Any]
) -> None:
    explainer, people, model = declined
    explainer = explainer.with_strategy(strategy)
    explanations = explainer.explain_many(people.head(4), margin=MARGIN, if_none="warn")
    assert explanations.counts.sum() > 0
    for explanation in explanations:
        coded = explanation.coded
        for i, option in enumerate(explanation.options):
            landed = MARGIN.landings(
                coded.table, coded.input[None], coded.matrix[[i]], np.arange(100)[None]
            )
            literal = landings_of(
                MARGIN, coded.table, coded.input.tolist(), coded.matrix[i].tolist()
            )
            np.testing.assert_allclose(landed, literal)
            kept = model.predict(coded.table.decode(np.array(literal))) != explanation.label
            assert option.hold_rate == pytest.approx(kept.mean())
            assert kept.mean() >= 0.95


def test_holds_asks_no_more_than_it_takes_and_agrees_with_the_rates(
    declined: tuple[DiverseExplainer, pd.DataFrame, Any],
) -> None:
    explainer, people, model = declined
    coded = explainer.explain_many(people).coded
    starts = coded.inputs[coded.owners]
    asked = []

    def accepts(rows: Any, which: Any) -> Any:
        asked.append(len(rows))
        return model.predict(coded.table.decode(rows)) == "good"

    for hold in (0.5, 0.8, 0.95, 1.0):
        margin = Margin(0.1, hold)
        rates = margin.rates(coded.table, starts, coded.matrix, accepts)
        most = asked[-1]
        asked.clear()
        holds = margin.holds(coded.table, starts, coded.matrix, accepts)
        assert holds.tolist() == (rates >= hold - 1e-9).tolist()
        assert sum(asked) <= most
        asked.clear()


def test_a_line_search_ends_where_the_option_holds() -> None:
    X = np.linspace(0, 1, 201)[:, None]
    explainer = DiverseExplainer(lambda rows: rows[:, 0] >= 0.5, max_counterfactuals=1).fit(X)
    for strategy in (Nearest(), Shared(), Paper(search=LineSearch(0.001))):
        for noise in (0.02, 0.1, 0.3):
            asked = explainer.with_strategy(strategy)
            option = asked.explain([0.1], margin=Margin(noise, 1.0)).options[0]
            low, high = asked.training_.table.features[0].usual
            # The draw that falls shortest is the middle of the last hundredth.
            short = 0.99 * noise * (high - low)
            assert option.codes[0] == pytest.approx(0.5 + short, abs=0.0015)


def test_without_a_margin_nothing_more_is_asked() -> None:
    X = np.random.default_rng(0).random((200, 3)).round(2)
    model = Counting(lambda rows: rows.sum(axis=1) > 1.5)
    explainer = DiverseExplainer(model, margin=0.1).fit(X)
    plain = DiverseExplainer(model).fit(X)
    rows = {}
    for name, each, more in (
        ("none", plain, {}),
        ("zero", explainer, {"margin": 0}),
        ("own", explainer, {}),
        ("call", plain, {"margin": 0.1}),
    ):
        before = model.rows
        found = each.explain([0.2, 0.3, 0.4], **more)
        rows[name] = model.rows - before
        before = model.rows
        found.to_json(reasons=False)
        assert model.rows - before == (0 if name in ("none", "zero") else 100 * len(found))
    assert rows["none"] == rows["zero"] < rows["own"] == rows["call"]


def test_an_option_without_a_margin_tells_how_often_it_holds() -> None:
    X = np.random.default_rng(0).random((200, 2)).round(2)
    model = Counting(lambda rows: rows[:, 0] > 0.5)
    explanation = DiverseExplainer(model, max_counterfactuals=1).fit(X).explain([0.2, 0.3])
    before = model.rows
    assert explanation.options[0].hold_rate == pytest.approx(0.5, abs=0.2)
    assert explanation.options[0].hold_rate == hold_rate_of(
        Margin(), explanation, model.__class__(model.model), 0
    )
    assert model.rows - before == 100
    assert "draws" not in explanation.describe() + explanation.letter()
    assert Explanation.from_json(explanation.to_json()).options[0].hold_rate is None


def test_batches_orders_and_processes_change_nothing(
    declined: tuple[DiverseExplainer, pd.DataFrame, Any],
) -> None:
    explainer, people, _ = declined
    asked: dict[str, Any] = {"margin": 0.05, "if_none": "ignore"}
    together = explainer.explain_many(people, **asked)
    backwards = explainer.explain_many(people.iloc[::-1], **asked)
    processes = explainer.explain_many(people, n_jobs=2, **asked)
    alone = [explainer.explain_many(people.iloc[[i]], **asked)[0] for i in range(3)]
    for i, explanation in enumerate(together):
        for other in (backwards[-1 - i], processes[i], *alone[i : i + 1]):
            pd.testing.assert_frame_equal(explanation.counterfactuals, other.counterfactuals)


def test_options_are_farther_and_hold_more_often(
    declined: tuple[DiverseExplainer, pd.DataFrame, Any],
) -> None:
    explainer, people, _ = declined
    plain, near = explainer.explain_many(people), explainer.explain_many(people, margin=0.05)
    assert min(rates_of(near)) >= 0.95 > min(rates_of(plain))
    assert near.coded.distances.mean() > plain.coded.distances.mean()


def test_a_row_quota_counts_draws_and_what_is_returned_still_holds(
    declined: tuple[DiverseExplainer, pd.DataFrame, Any],
) -> None:
    explainer, people, model = declined
    limited = DiverseExplainer(model, schema=explainer.schema, max_model_rows=3000, margin=0.05)
    limited.fit(explainer.training_.table.decode(explainer.training_.pool.matrix))
    found = limited.explain_many(people.head(3), if_none="ignore")
    # Asked once more at the end, without a quota.
    assert found.model_rows <= 3 * (3000 + 6 * 101)
    assert min(rates_of(found)) >= 0.95
    with pytest.warns(CountersetWarning, match="max_model_rows=3000"):
        limited.explain_many(people.head(3), if_none="warn")


def test_no_option_names_the_margin_if_lifting_it_opens_one() -> None:
    X = np.linspace(0, 1, 101)[:, None]

    def inside(rows: Any) -> Any:
        return (rows[:, 0] > 0.5) & (rows[:, 0] < 0.54)

    explainer = DiverseExplainer(inside).fit(X)
    assert len(explainer.explain([0.2]))
    with pytest.raises(NoCounterfactualError, match=r"margin=0\.1 rules out all that was found"):
        explainer.explain([0.2], margin=0.1)
    low = Constraints(ranges={"x0": (0, 0.3)})
    with pytest.raises(NoCounterfactualError, match=r"the constraint .*x0.* rules out"):
        explainer.explain([0.2], constraints=low, margin=0.001)


def test_fewer_options_than_asked_for_name_the_margin() -> None:
    X = np.linspace(0, 1, 101)[:, None]
    explainer = DiverseExplainer(lambda rows: rows[:, 0] > 0.5).fit(X)
    with pytest.warns(CountersetWarning, match=r"leads to what is wanted with margin=0\.1"):
        explainer.explain_many([[0.2]], margin=0.1)


LOANS = pd.DataFrame(
    {
        "income": np.random.default_rng(0).integers(10, 90, 400) * 100,
        "since": pd.to_datetime("2020-01-01")
        + pd.to_timedelta(np.random.default_rng(1).integers(0, 1000, 400), unit="D"),
        "home": np.random.default_rng(2).choice(["rent", "own"], 400),
    }
)


def pays(rows: pd.DataFrame) -> Any:
    days = (pd.to_datetime("2023-01-01") - rows["since"]).dt.days
    return np.where(rows["income"] + 5 * days + 900 * (rows["home"] == "own") > 7000, "yes", "no")


def test_what_is_printed_is_true_of_every_step() -> None:
    schema = Schema(units={"income": "EUR"})
    explainer = DiverseExplainer(pays, schema=schema, margin=0.05).fit(LOANS)
    person = {"income": 2000, "since": "2022-06-01", "home": "rent"}
    explanation = explainer.explain(person)
    text = explanation.describe(width=None)
    seen = 0
    for option in explanation.options:
        for room in option.rooms:
            seen += 1
            step = 100 if room.name == "income" else pd.Timedelta(days=1)
            width = 0.05 * 8000 if room.name == "income" else 0.05 * 1000 * 86_400_000_000
            assert 0 <= room.less <= width + 1
            assert 0 <= room.more <= width + 1
            unit = 100 if room.name == "income" else 86_400_000_000
            for k in range(-round(room.less / unit), round(room.more / unit) + 1):
                row = option.row.to_frame().T.astype(LOANS.dtypes)
                row[room.name] += k * step
                assert pays(row)[0] == "yes"
            assert f"ption {option.rank} still leads to 'yes' if" in text
    assert seen >= 2
    assert "EUR lower or higher" in text or "EUR lower" in text or "EUR higher" in text
    assert "A draw moves each number" in text
    letter = explanation.letter()
    assert "still leads to 'yes' if" in letter
    assert "draw" not in letter
    assert "draws near it" in explanation.letter("reviewer")


def test_files_and_pickles_keep_how_often_options_hold() -> None:
    explainer = DiverseExplainer(pays, margin=Margin(0.03, 0.9, 40)).fit(LOANS)
    explanation = explainer.explain({"income": 2000, "since": "2022-06-01", "home": "rent"})
    rates = [option.hold_rate for option in explanation.options]
    loaded = Explanation.from_json(explanation.to_json())
    assert [option.hold_rate for option in loaded.options] == rates
    assert loaded.context.margin == Margin(0.03, 0.9, 40)
    assert "of 40 draws near it" in loaded.describe(width=None)
    assert "still leads" not in loaded.describe()  # there is no model to ask about the values
    assert [option.hold_rate for option in pickle.loads(pickle.dumps(explanation)).options] == rates
    back = loaded.with_model(pays)
    assert back.describe() == explanation.describe()
    assert loaded.nearest(1).options[0].hold_rate == rates[0]


def test_frames_take_a_margin() -> None:
    explainer = DiverseExplainer(pays).fit(LOANS)
    people = LOANS[pays(LOANS) == "no"].head(3)
    wide = FrameExplainer(explainer, target="yes", margin=0.05)(people)
    same = explainer.explain_many(people, target="yes", margin=0.05, if_none="ignore")
    assert len(wide) == same.counts.sum()
    with pytest.raises(InvalidInputError, match="margin must be"):
        FrameExplainer(explainer, target="yes", margin=2)


def test_a_regression_keeps_its_interval_near_options() -> None:
    X = np.random.default_rng(0).random((300, 2)).round(2)
    model = LinearRegression().fit(X, 10 * X[:, 0] + 5 * X[:, 1])
    explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
    explanation = explainer.explain(X[0], interval=(11, 13), margin=0.03)
    for i in range(len(explanation)):
        assert hold_rate_of(Margin(0.03), explanation, model, i) >= 0.95


@pytest.mark.parametrize("value", [-0.1, 1.5, "much", True, np.nan, Margin])
def test_nonsense_is_refused(value: Any) -> None:
    explainer = DiverseExplainer(lambda rows: rows[:, 0] > 0.5, max_counterfactuals=1)
    explainer.fit(np.linspace(0, 1, 50)[:, None])
    with pytest.raises(InvalidInputError, match="margin must be"):
        explainer.explain([0.1], margin=value)
    with pytest.raises(InvalidInputError, match="margin must be"):
        explainer.set_params(margin=value).explain([0.1])


@pytest.mark.parametrize("wrong", [{"noise": 0}, {"hold": 0}, {"hold": 1.1}, {"draws": 0}])
def test_margins_have_sensible_parts(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        Margin(**wrong)
