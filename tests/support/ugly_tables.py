"""Tables as they come from files: codes among numbers, two scales in a column, tails and gaps.

Fixed ones after well-known public tables, and random ones for property tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer
from sklearn.tree import DecisionTreeClassifier

from counterset import Schema
from support.literal_checker import Column

LEVELS = ("low", "mid", "high", "top")
#: Kinds of work; some rows have none.
WORK = np.array(["Private", "State-gov", "Self-emp", None], dtype=object)
COLOURS = ("red", "green", "blue")
JOBS = ("job_none", "job_part", "job_full")


@dataclass(frozen=True)
class UglyTable:
    """A table, what a careful user declares about it, and what a person knows of its columns.

    Attributes
    ----------
    X
        The rows.
    columns
        Its features.
    schema
        What is declared: the codes among them.
    """

    X: pd.DataFrame
    columns: tuple[Column, ...]
    schema: Schema

    @property
    def codes(self) -> dict[str, tuple[float, ...]]:
        """The numbers that are no amounts, by column."""
        return {column.name: column.codes for column in self.columns if column.codes}


# --- Tables after public ones --------------------------------------------------------------------


def consumer_credit(n: int = 300, seed: int = 0) -> UglyTable:
    """Return rows like those of "Give Me Some Credit".

    Income is missing for one in five. Where it is, the debt ratio is the debt itself, in the
    hundreds and thousands, and else between 0 and 1. Counts of late payments hold 96 and 98, which
    are no counts. Utilisation is between 0 and 1, but for a few of up to 50,000.
    """
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(8.6, 0.7, n))
    without = rng.random(n) < 0.2
    debt = np.where(without, np.round(rng.lognormal(6.5, 1.2, n)), rng.beta(2, 4, n))
    used = np.where(rng.random(n) < 0.02, rng.uniform(100, 50_000, n), rng.beta(0.6, 1.4, n))
    late = [rng.poisson(mean, n).astype(np.int64) for mean in (0.4, 0.1, 0.2)]
    coded = rng.random(n) < 0.02
    code = rng.choice([96, 98], n)
    coded[:2], code[:2] = True, (96, 98)  # every table has both
    X = pd.DataFrame(
        {
            "RevolvingUtilization": used,
            "age": rng.integers(21, 90, n),
            "Late30-59Days": np.where(coded, code, late[0]),
            "DebtRatio": debt,
            "MonthlyIncome": np.where(without, np.nan, income),
            "OpenLines": rng.poisson(8, n),
            "Late90Days": np.where(coded, code, late[1]),
            "Dependents": np.where(without, np.nan, rng.poisson(0.8, n)),
        }
    )
    codes = {"Late30-59Days": (96, 98), "Late90Days": (96, 98)}
    return _declared(X, codes)


def home_credit(n: int = 300, seed: int = 0) -> UglyTable:
    """Return rows like those of the FICO challenge: -9 no record, -8 no usable one, -7 not met."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "ExternalRisk": rng.normal(72, 10, n).round().astype(np.int64),
            "MonthsSinceOldest": rng.gamma(4, 50, n).round().astype(np.int64),
            "MonthsSinceLate": rng.gamma(1, 20, n).round().astype(np.int64),
            "PercentNeverLate": np.minimum(100, rng.normal(93, 8, n).round()).astype(np.int64),
            "RevolvingBurden": rng.gamma(2, 16, n).round().astype(np.int64),
            "InstallBurden": rng.normal(68, 20, n).round().astype(np.int64),
        }
    )
    X.loc[rng.random(n) < 0.05, :] = -9  # the whole record
    never = rng.random(n) < 0.4
    X.loc[never & (X["ExternalRisk"] != -9), "MonthsSinceLate"] = -7
    X.loc[rng.random(n) < 0.3, "InstallBurden"] = -8
    X.loc[0, :] = -9
    X.loc[1, ["MonthsSinceLate", "RevolvingBurden", "InstallBurden"]] = (-7, -8, -8)
    codes = {str(name): tuple(c for c in (-9, -8, -7) if (X[name] == c).any()) for name in X}
    return _declared(X, codes)


def adult(n: int = 300, seed: int = 0) -> UglyTable:
    """Return rows like those of "Adult": a gain of 0 for most, and 99,999 for "at least that"."""
    rng = np.random.default_rng(seed)
    gain = np.where(rng.random(n) < 0.1, np.round(rng.lognormal(8.5, 0.8, n)), 0)
    gain = np.where(rng.random(n) < 0.02, 99_999, np.minimum(gain, 41_310))
    gain[:2] = (0, 99_999)
    work = rng.choice(WORK, n, p=[0.7, 0.12, 0.13, 0.05])
    X = pd.DataFrame(
        {
            "age": rng.integers(17, 80, n),
            "workclass": pd.Series(work, dtype=object),
            "education": pd.Categorical(
                rng.choice(LEVELS, n), categories=list(LEVELS), ordered=True
            ),
            "capital-gain": gain.astype(np.int64),
            "hours-per-week": np.clip(rng.normal(40, 11, n).round(), 1, 99).astype(np.int64),
            "fnlwgt": rng.lognormal(12, 0.5, n).round().astype(np.int64),
            "married": rng.random(n) < 0.5,
        }
    )
    return _declared(X, {"capital-gain": (99_999,)})


def every_kind(n: int = 160, seed: int = 0) -> UglyTable:
    """Return a table with a column of every kind that the library takes."""
    rng = np.random.default_rng(seed)
    names = [name for name in COLUMNS if name not in ("constant", "float_constant")]
    return build(names, n, int(rng.integers(2**31)))


def _declared(X: pd.DataFrame, codes: Mapping[str, Sequence[float]]) -> UglyTable:
    columns = tuple(
        Column(
            name,
            (name,),
            order=tuple(X[name].cat.categories) if X[name].dtype == "category" else None,
            codes=tuple(map(float, codes.get(name, ()))),
            switches=X[name].dtype == object or X[name].dtype == bool,
            whole=X[name].dtype == np.int64,
        )
        for name in map(str, X)
    )
    return UglyTable(X, columns, Schema(special=dict(codes)))


# --- Single columns ------------------------------------------------------------------------------

_Random = np.random.Generator
#: From the name of a column to how its cells are drawn.
_Draw = Callable[[_Random, int], Any]


@dataclass(frozen=True)
class _Kind:
    """How a column is drawn, and what a person knows of it."""

    draw: _Draw
    order: tuple[Any, ...] | None = None
    codes: tuple[float, ...] = ()
    switches: bool = False
    whole: bool = False
    written: bool = False  # text of digits, which is declared to be a number
    columns: tuple[str, ...] = field(default=())


def _with_gaps(values: Any, rng: _Random, share: float = 0.15) -> Any:
    gaps = rng.random(len(values)) < share
    gaps[0] = True  # every such table has one
    return pd.Series(values).mask(gaps)


def _with_codes(values: Any, codes: Sequence[float], rng: _Random) -> Any:
    coded = rng.random(len(values)) < 0.2
    coded[: len(codes)] = True
    drawn = np.concatenate([codes, rng.choice(codes, len(values))])[: len(values)]
    return np.where(coded, drawn, values)


def _days(rng: _Random, n: int) -> pd.Series:
    return pd.Series(pd.Timestamp("2015-03-01") + pd.to_timedelta(rng.integers(0, 3000, n), "D"))


def _one_hot(rng: _Random, n: int) -> pd.DataFrame:
    hot = rng.integers(0, len(JOBS), n)
    return pd.DataFrame({job: (hot == i).astype(np.int64) for i, job in enumerate(JOBS)})


COLUMNS: dict[str, _Kind] = {
    "uniform": _Kind(lambda rng, n: rng.random(n)),
    "two_scales": _Kind(
        lambda rng, n: np.where(rng.random(n) < 0.8, rng.random(n), rng.uniform(100, 900, n))
    ),
    "lognormal": _Kind(lambda rng, n: rng.lognormal(8, 1, n)),
    "pareto": _Kind(lambda rng, n: rng.pareto(1.2, n) * 10),
    "zeros": _Kind(lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.lognormal(5, 1, n))),
    "tiny": _Kind(lambda rng, n: rng.normal(5e-12, 1e-12, n)),
    "huge": _Kind(lambda rng, n: rng.normal(5e12, 1e12, n)),
    "far": _Kind(lambda rng, n: 1e6 + rng.random(n)),  # a small range far from 0
    "negative": _Kind(lambda rng, n: -rng.lognormal(3, 1, n)),
    "count": _Kind(lambda rng, n: rng.poisson(4, n), whole=True),
    "whole_float": _Kind(lambda rng, n: rng.integers(0, 40, n).astype(np.float64), whole=True),
    "single": _Kind(lambda rng, n: rng.normal(20, 5, n).astype(np.float32)),
    "gaps": _Kind(lambda rng, n: _with_gaps(rng.lognormal(3, 0.8, n), rng)),
    "nullable": _Kind(
        lambda rng, n: _with_gaps(rng.integers(1, 30, n), rng).astype("Int64"), whole=True
    ),
    "coded": _Kind(
        lambda rng, n: _with_codes(rng.poisson(9, n), (-9, -8, -7), rng).astype(np.int64),
        codes=(-9.0, -8.0, -7.0),
        whole=True,
    ),
    "coded_far": _Kind(
        lambda rng, n: _with_codes(rng.gamma(2, 500, n).round(2), (99_999.0,), rng),
        codes=(99_999.0,),
    ),
    "coded_gaps": _Kind(
        lambda rng, n: (
            _with_gaps(_with_codes(rng.random(n) * 10, (96.0, 98.0), rng), rng, 0.1)
            # The first row is a gap: the codes must be there in spite of it.
            .where(np.arange(n) != n - 1, 96.0)
        ),
        codes=(96.0, 98.0),
    ),
    "level": _Kind(
        lambda rng, n: pd.Categorical(rng.choice(LEVELS, n), categories=LEVELS, ordered=True),
        order=LEVELS,
    ),
    "colour": _Kind(lambda rng, n: pd.Series(rng.choice(COLOURS, n), dtype=object), switches=True),
    "shade": _Kind(  # with a category that no row has
        lambda rng, n: pd.Categorical(rng.choice(COLOURS, n), categories=[*COLOURS, "black"]),
        switches=True,
    ),
    "text_gaps": _Kind(
        lambda rng, n: pd.Series(
            rng.choice(np.array([*COLOURS, None], dtype=object), n), dtype=object
        ),
        switches=True,
    ),
    "member": _Kind(lambda rng, n: rng.random(n) < 0.4, switches=True),
    "flag": _Kind(lambda rng, n: (rng.random(n) < 0.5).astype(np.float64), switches=True),
    "job": _Kind(_one_hot, columns=JOBS),
    "since": _Kind(_days),
    "price": _Kind(
        lambda rng, n: pd.Series([f"{each:.2f}" for each in rng.gamma(2, 30, n)], dtype=object),
        written=True,
    ),
    "decimal": _Kind(
        lambda rng, n: pd.Series(
            [Decimal(f"{each:.3f}") for each in rng.normal(3, 1, n)], dtype=object
        )
    ),
    "constant": _Kind(lambda rng, n: np.full(n, 7)),
    "float_constant": _Kind(lambda rng, n: np.full(n, 0.1)),
}

#: Columns whose values have an order, so that they may rise and fall.
ORDERED = tuple(name for name, kind in COLUMNS.items() if not kind.switches and not kind.columns)
#: Columns that relations compute with.
NUMBERS = tuple(name for name in ORDERED if name not in ("level", "since"))


def build(names: Iterable[str], n: int, seed: int) -> UglyTable:
    """Return a table with columns of ``COLUMNS``."""
    names, parts = list(names), []
    for name in names:
        rng = np.random.default_rng([seed, list(COLUMNS).index(name)])
        drawn = COLUMNS[name].draw(rng, n)
        parts.append(drawn if isinstance(drawn, pd.DataFrame) else pd.DataFrame({name: drawn}))
    kinds = [COLUMNS[name] for name in names]
    return UglyTable(
        pd.concat(parts, axis=1),
        tuple(
            Column(name, kind.columns or (name,), kind.order, kind.codes, kind.switches, kind.whole)
            for name, kind in zip(names, kinds, strict=True)
        ),
        Schema(
            special={n: kind.codes for n, kind in zip(names, kinds, strict=True) if kind.codes},
            one_hot={n: kind.columns for n, kind in zip(names, kinds, strict=True) if kind.columns},
            continuous=[n for n, kind in zip(names, kinds, strict=True) if kind.written],
        ),
    )


@st.composite
def ugly_tables(draw: st.DrawFn) -> UglyTable:
    """Draw a table of two to six columns; the cells come from a seed, so that drawing is quick."""
    names = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=2, max_size=6, unique=True))
    return build(names, draw(st.integers(30, 90)), draw(st.integers(0, 2**31 - 1)))


# --- Models --------------------------------------------------------------------------------------


class Encoded:
    """A classifier behind an encoding to numbers, as a pipeline would have it.

    Numbers are as they are, times are days, each word is a column of its own. A missing value is
    NaN, which is left to the classifier. Rows must look like the training data.

    Parameters
    ----------
    classifier
        Fitted on the first call of ``fit``.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: pd.DataFrame, y: Any) -> Encoded:
        self.dtypes_ = X.dtypes
        self.words_ = {name: sorted(X[name].dropna().unique()) for name in X if _is_text(X[name])}
        self.classifier.fit(self.encode(X), y)
        self.classes_ = self.classifier.classes_
        return self

    def encode(self, X: pd.DataFrame) -> np.ndarray:
        parts = []
        for name in X:
            if name in self.words_:
                parts += [(X[name] == word).to_numpy(np.float64) for word in self.words_[name]]
            else:
                parts.append(numbers_of(X[name]))
        return np.column_stack(parts)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        pd.testing.assert_series_equal(X.dtypes, self.dtypes_)
        return np.asarray(self.classifier.predict(self.encode(X)))

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.classifier.predict_proba(self.encode(X)))


def numbers_of(column: pd.Series) -> np.ndarray:
    """Return a column as numbers: times as days, ordered words as ranks, NaN where missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(np.float64)
        return np.where(codes < 0, np.nan, codes)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return ((column - pd.Timestamp("2015-01-01")) / pd.Timedelta(days=1)).to_numpy(np.float64)
    if column.dtype == object:
        return column.map(float, na_action="ignore").to_numpy(np.float64)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _is_text(column: pd.Series) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return not column.cat.ordered
    known = column.dropna()
    return (
        column.dtype == object
        and any(isinstance(cell, str) for cell in known)
        and not all(re.fullmatch(r"-?[0-9.]+", cell) for cell in known)
    )


#: From names of models to new ones; they classify as the labels of :func:`labels_of` do.
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "tree": lambda: make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        DecisionTreeClassifier(max_depth=5, random_state=0),
    ),
    "boosting": lambda: HistGradientBoostingClassifier(
        max_iter=8, max_leaf_nodes=8, min_samples_leaf=5, random_state=0
    ),
    "logistic": lambda: make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        QuantileTransformer(n_quantiles=20),
        LogisticRegression(C=10.0),
    ),
}


def labels_of(X: pd.DataFrame, seed: int = 0) -> np.ndarray:
    """Return labels that depend on every column, by the ranks of its values, with some noise."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 0.3, len(X))
    for i, name in enumerate(X):
        words = X[name].astype(str) if _is_text(X[name]) else pd.Series(numbers_of(X[name]))
        ranks = words.rank(pct=True).fillna(0.5).to_numpy()
        score += (1.0, -0.7, 0.8, -1.1)[i % 4] * ranks
    return np.where(score > np.quantile(score, 0.6), "yes", "no")


def fitted(name: str, X: pd.DataFrame, seed: int = 0) -> Encoded:
    """Return a model of ``CLASSIFIERS``, fitted on labels that depend on every column."""
    return Encoded(CLASSIFIERS[name]()).fit(X, labels_of(X, seed))
