"""Find good parameters for a model and its data, with the grid of the paper."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from counterset._base.arrays import Mask, Matrix, Vector
from counterset._base.checks import check_count
from counterset._base.progress import Progress
from counterset.evaluation.evaluate import evaluate
from counterset.exceptions import (
    FewerCounterfactualsWarning,
    InvalidInputError,
    NoCounterfactualError,
)
from counterset.explainer import DiverseExplainer
from counterset.strategies.diversity import AngleDiversity, DistanceDiversity
from counterset.strategies.line_search import LineSearch
from counterset.strategies.nearest import Nearest
from counterset.strategies.paper import Paper
from counterset.strategies.ranking import Cutoff
from counterset.strategies.strategy import Strategy

__all__ = ["ReportTable", "Tuning", "tune"]

#: The grid of the paper's tuning. With the strategy Paper, no search is tried too.
BETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
GAMMAS = (0.1, 0.01, 0.001)
FILTERS = {"angle": AngleDiversity, "distance": DistanceDiversity}

#: The metrics to balance; 1: less is better, -1: more is better.
OBJECTIVES = {"k_distance": 1, "k_diversity": -1, "set_distance_max": 1}


@dataclass(frozen=True)
class Tuning:
    """The settings that were tried, and the recommended one.

    Attributes
    ----------
    table
        One row per setting.

        - ``filter``, ``beta``, ``gamma``: the setting; a gamma of NaN means no minimisation.
        - ``candidates``: step 2, with the strategy :class:`~counterset.Paper`.
        - ``max_counterfactuals``: the number of options asked for.
        - The means of the columns of :func:`counterset.evaluate`.
        - ``pareto``: whether no other setting is at least as good in k-distance, k-diversity and
          set-distance (max), and better in one of them.
        - ``from_ideal``: the distance to the ideal, see ``recommended``.
    explainer
        The explainer with the recommended setting, fitted.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> tuning = tune(lambda rows: rows.sum(axis=1) > 1, X, X[:10], betas=[0.5], gammas=[0.1])
    >>> sorted(tuning.table["filter"])
    ['angle', 'distance']
    """

    table: pd.DataFrame
    explainer: DiverseExplainer

    @property
    def recommended(self) -> pd.Series:
        """The setting nearest to the ideal.

        Each objective is scaled to [0, 1] over the grid. The ideal has the best value of each; the
        distance to it is Euclidean. The recommended setting is always Pareto-optimal.
        """
        return self.table.iloc[self._best]

    @property
    def _best(self) -> int:
        return int(self.table["from_ideal"].to_numpy().argmin())

    def _varies(self, name: str) -> bool:
        """Whether several values of a setting were tried."""
        return name in self.table and self.table[name].nunique() > 1

    def to_table(self) -> ReportTable:
        """Return the Pareto-optimal settings, the recommended one first."""
        front = self.table[self.table["pareto"]].sort_values("from_ideal", kind="stable")
        tried = [name for name in ("candidates", "max_counterfactuals") if self._varies(name)]
        shown = pd.DataFrame(
            {
                **{name: front[name].astype(str) for name in tried},
                "filter": front["filter"],
                "beta": front["beta"].map("{:g}".format),
                "gamma": front["gamma"].map(lambda gamma: "-" if np.isnan(gamma) else f"{gamma:g}"),
                **{
                    name: front[name].map("{:.4f}".format)
                    for name in (*OBJECTIVES, "set_distance_mean", "sparsity")
                },
                "": ["recommended", *[""] * (len(front) - 1)],
            }
        )
        return ReportTable("tuning", "Pareto-optimal settings, best balanced first", shown)


def tune(
    model: Any,
    X_train: Any,
    X: Any,
    *,
    strategy: Strategy = Nearest(),
    filters: Sequence[str] = ("angle", "distance"),
    betas: Sequence[float] = BETAS,
    gammas: Sequence[float | None] | None = None,
    candidates: Sequence[Cutoff] | None = None,
    counts: Sequence[int] | None = None,
    target: Any = None,
    target_probability: float | None = None,
    interval: tuple[float, float] | None = None,
    repeats: int = 1,
    random_state: int = 0,
    progress: bool = False,
    **parameters: Any,
) -> Tuning:
    """Try the paper's grid of parameters on a model, and recommend one setting.

    Parameters
    ----------
    model : object or callable
        The model to explain.
    X_train : table or array of shape (n_rows, n_features)
        The rows to fit the explainers on.
    X : table or array of shape (n_inputs, n_features)
        The rows to explain with each setting. Do not use rows that are to be explained later. The
        paper used 50.
    strategy : Nearest, Shared or Paper, default=Nearest()
        How options are chosen; its ``diversity`` and ``search`` are tried out.
    filters : sequence of {"angle", "distance"}, default=("angle", "distance")
        Step 3: the diversity filters to try.
    betas : sequence of float, default=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
        The values of beta to try with each filter.
    gammas : sequence of float or None, default=(0.1, 0.01, 0.001)
        Step 4: the values of gamma to try. With the strategy :class:`~counterset.Paper`, None among
        them stands for no search, and is tried by default too.
    candidates : sequence of NearestCandidates or CandidatesWithin, default=None
        Step 2: the candidates to try, of the strategy :class:`~counterset.Paper` only. None: those
        of the strategy.
    counts : sequence of int, default=None
        The numbers of options to try. None: that of the explainer, ``max_counterfactuals``.
    target : class, default=None
        The wanted class, as in :func:`counterset.evaluate`. None: any other class.
    target_probability : float, default=None
        The least probability that the wanted class must have.
    interval : tuple of (float, float), default=None
        The wanted range of a regression, which needs one.
    repeats : int, default=1
        The number of noisy copies of each row of ``X``.
    random_state : int, default=0
        The seed of the noise, which is the same for every setting.
    progress : bool, default=False
        Show a progress bar on the error stream.
    **parameters
        Other parameters of :class:`counterset.DiverseExplainer`, such as ``constraints``. They are
        the same for all settings.

    Returns
    -------
    Tuning
        The table of all settings, and the explainer with the recommended one.

    See Also
    --------
    counterset.evaluate : Measure one setting.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> tuning = tune(lambda rows: rows.sum(axis=1) > 1, X, X[:10], betas=[0, 0.5], gammas=[0.1])
    >>> len(tuning.table), bool(tuning.recommended["pareto"])
    (4, True)

    Step 2 by number and by distance, and sets of 2 and of 4:

    >>> from counterset import CandidatesWithin, NearestCandidates, Paper
    >>> tuning = tune(
    ...     lambda rows: rows.sum(axis=1) > 1, X, X[:10], strategy=Paper(), betas=[0.5],
    ...     gammas=[0.1], candidates=[NearestCandidates(50), CandidatesWithin(0.5)], counts=[2, 4],
    ... )
    >>> len(tuning.table), sorted(set(tuning.table["candidates"]))
    (8, ['CandidatesWithin(epsilon=0.5)', 'NearestCandidates(alpha=50)'])
    """
    unknown = [name for name in filters if name not in FILTERS]
    if unknown:
        raise InvalidInputError(
            f"filters has unknown names: {unknown}. Choose from {list(FILTERS)}."
        )
    if gammas is None:
        gammas = (*GAMMAS, None) if isinstance(strategy, Paper) else GAMMAS
    step_2: Sequence[Cutoff | None] = candidates or ()
    if candidates is None:
        step_2 = [getattr(strategy, "candidates", None)]
    elif not isinstance(strategy, Paper):
        raise InvalidInputError(
            f"candidates is step 2 of the strategy Paper, which {type(strategy).__name__} has not. "
            f"Pass strategy=Paper(), or leave candidates out."
        )
    for count in counts or ():
        check_count(count, "counts")
    fitted = DiverseExplainer(model, strategy=strategy, **parameters)
    if counts is None:
        counts = [fitted.max_counterfactuals]
    grid = [_Setting(*each) for each in product(step_2, counts, filters, betas, gammas)]
    if not grid:
        raise InvalidInputError(
            "filters, betas, gammas, candidates and counts must each have at least one value: "
            "there is no setting to try."
        )
    records = []
    fitted.fit(X_train)
    with Progress(len(grid), "tune", shown=progress) as bar, warnings.catch_warnings():
        # Some settings leave few candidates; the table shows how many.
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        for setting in grid:
            explainer = setting.of(fitted)
            table = evaluate(
                explainer,
                X,
                target=target,
                target_probability=target_probability,
                interval=interval,
                repeats=repeats,
                random_state=random_state,
            )
            record = setting.as_record()
            columns = table.columns.drop(["input", "repeat", "same_class"])
            means = table.loc[table["same_class"], columns].mean()
            if means[list(OBJECTIVES)].isna().any():
                raise NoCounterfactualError(
                    "None of the rows to explain has counterfactuals both for itself and for a "
                    "noisy copy, so there is nothing to compare. Choose more rows, or rows that do "
                    "not have the wanted class or value yet."
                )
            records.append(record | means.to_dict())
            bar.advance()
    found = pd.DataFrame(records)
    costs = found[list(OBJECTIVES)].to_numpy() * list(OBJECTIVES.values())
    found["pareto"] = _pareto(costs)
    found["from_ideal"] = _from_ideal(costs)
    best = grid[int(found["from_ideal"].to_numpy().argmin())]
    return Tuning(found, best.of(fitted))


class _Setting(NamedTuple):
    """One setting of the grid; the candidates are None for strategies without any."""

    candidates: Cutoff | None
    options: int
    filter: str
    beta: float
    gamma: float | None

    def as_record(self) -> dict[str, Any]:
        """Return the setting as columns of the table."""
        step_2 = {} if self.candidates is None else {"candidates": repr(self.candidates)}
        gamma = np.nan if self.gamma is None else self.gamma
        record = {"filter": self.filter, "beta": self.beta, "gamma": gamma}
        return record | step_2 | {"max_counterfactuals": self.options}

    def of(self, fitted: DiverseExplainer) -> DiverseExplainer:
        """Return a fitted explainer with this setting."""
        search = None if self.gamma is None else LineSearch(self.gamma)
        steps: dict[str, Any] = {"diversity": FILTERS[self.filter](self.beta), "search": search}
        if self.candidates is not None:
            steps["candidates"] = self.candidates
        strategy: Any = fitted.strategy
        fitted.set_params(max_counterfactuals=self.options)
        return fitted.with_strategy(replace(strategy, **steps))


def _pareto(costs: Matrix) -> Mask:
    """Mark the rows that no other row dominates; less is better in every column."""
    no_worse = (costs[:, None, :] <= costs[None, :, :]).all(axis=2)
    better = (costs[:, None, :] < costs[None, :, :]).any(axis=2)
    free: Mask = ~np.any(no_worse & better, axis=0)
    return free


def _from_ideal(costs: Matrix) -> Vector:
    """Return the distance of each row from the best of every column, each scaled to [0, 1]."""
    least, spread = costs.min(axis=0), np.ptp(costs, axis=0)
    scaled = (costs - least) / np.where(spread > 0, spread, 1.0)
    distances: Vector = np.linalg.norm(scaled, axis=1)
    return distances


@dataclass(frozen=True)
class ReportTable:
    r"""A titled table of text cells.

    Attributes
    ----------
    name
        A short name, for files.
    title
        The heading.
    frame
        The cells, as they are shown.
    note
        Text below the table; may be empty.

    Examples
    --------
    >>> table = ReportTable("accuracy", "Accuracy", pd.DataFrame({"dataset": ["no2"], "%": ["60"]}))
    >>> print(table.to_text())
    Accuracy
    dataset  %
        no2 60
    >>> print(table.to_markdown())
    ### Accuracy
    <BLANKLINE>
    | dataset | % |
    |---|---|
    | no2 | 60 |
    >>> print(table.to_latex())
    % Accuracy
    \begin{tabular}{ll}
    \hline
    dataset & \% \\
    \hline
    no2 & 60 \\
    \hline
    \end{tabular}
    """

    name: str
    title: str
    frame: pd.DataFrame
    note: str = ""

    def to_text(self) -> str:
        """Return the table as text for a terminal."""
        body = self.frame.to_string(index=False) if len(self.frame) else "(no rows)"
        return "\n".join(part for part in (self.title, body, self.note) if part)

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        lines = [
            f"### {self.title}",
            "",
            _joined(self.frame.columns),
            "|" + "---|" * len(self.frame.columns),
            *(_joined(row) for row in self.frame.itertuples(index=False)),
        ]
        return "\n".join([*lines, "", self.note] if self.note else lines)

    def to_latex(self) -> str:
        """Return the table in LaTeX."""
        rows: list[Any] = [self.frame.columns, *self.frame.itertuples(index=False)]
        lines = [" & ".join(_escaped(value) for value in row) + r" \\" for row in rows]
        return "\n".join(
            [
                f"% {self.title}",
                rf"\begin{{tabular}}{{{'l' * len(self.frame.columns)}}}",
                r"\hline",
                lines[0],
                r"\hline",
                *lines[1:],
                r"\hline",
                r"\end{tabular}",
            ]
        )


def _joined(values: Iterable[object]) -> str:
    return "| " + " | ".join(str(value).replace("|", "/") for value in values) + " |"


def _escaped(value: object) -> str:
    text = str(value).replace("\\", "/")
    for sign in "&%$#_{}":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("±", r"$\pm$")
