"""Find good parameters for a model and its data, with the grid of the paper."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from counterset._base.arrays import Mask, Matrix, Vector
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

    def to_table(self) -> ReportTable:
        """Return the Pareto-optimal settings, the recommended one first."""
        front = self.table[self.table["pareto"]].sort_values("from_ideal", kind="stable")
        shown = pd.DataFrame(
            {
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

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> tuning = tune(lambda rows: rows.sum(axis=1) > 1, X, X[:10], betas=[0, 0.5], gammas=[0.1])
    >>> len(tuning.table), bool(tuning.recommended["pareto"])
    (4, True)
    """
    unknown = [name for name in filters if name not in FILTERS]
    if unknown:
        raise InvalidInputError(
            f"filters has unknown names: {unknown}. Choose from {list(FILTERS)}."
        )
    if gammas is None:
        gammas = (*GAMMAS, None) if isinstance(strategy, Paper) else GAMMAS
    grid = list(product(filters, betas, gammas))
    if not grid:
        raise InvalidInputError(
            "filters, betas and gammas must each have at least one value: there is no setting to "
            "try."
        )
    records = []
    fitted = DiverseExplainer(model, strategy=strategy, **parameters).fit(X_train)
    with Progress(len(grid), "tune", shown=progress) as bar, warnings.catch_warnings():
        # Some settings leave few candidates; the table shows how many.
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        for filter_, beta, gamma in grid:
            explainer = fitted.with_strategy(_strategy(strategy, filter_, beta, gamma))
            table = evaluate(
                explainer,
                X,
                target=target,
                target_probability=target_probability,
                interval=interval,
                repeats=repeats,
                random_state=random_state,
            )
            record = {"filter": filter_, "beta": beta, "gamma": np.nan if gamma is None else gamma}
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
    return Tuning(found, fitted.with_strategy(_strategy(strategy, *best)))


def _strategy(strategy: Any, filter_: str, beta: float, gamma: float | None) -> Any:
    """Return a strategy with one setting of the grid."""
    search = None if gamma is None else LineSearch(gamma)
    return replace(strategy, diversity=FILTERS[filter_](beta), search=search)


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
