"""treecf: counterfactuals of tree ensembles, found by reading the trees."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from counterset._base.arrays import Matrix, Vector
from counterset.exceptions import InvalidInputError, MissingExtraError
from counterset.paper.peers.protocol import LIMIT
from counterset.tables.schema import Schema
from counterset.tables.space import Space
from counterset.tables.table import Table

__all__ = ["TreeCF"]

#: Beyond the decision boundary by a billionth of the score: at the boundary itself the class is a
#: matter of rounding.
BEYOND = 1e-9
#: A search for a proof ends after 5 seconds, with the best that it has found.
SECONDS = 5.0


@dataclass
class TreeCF:
    """treecf on a tree ensemble, or on a pipeline of encoders and a tree ensemble.

    It minimises the library's own default distance: each feature has its weight there. An ordered
    category counts as an unordered one.

    Parameters
    ----------
    norm
        Not used: treecf minimises a weighted sum of changes.
    exact
        Search for one counterfactual with a proof that it is the nearest. Otherwise: up to 5, by
        treecf's default search.
    immutable
        Names of features that may not change.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    exact: bool = False
    immutable: Sequence[str] = ()
    name: str = "treecf"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Pass the trees to treecf, with the weights of the distance and what may not change."""
        try:
            import treecf  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError(
                f"This peer needs treecf, which cannot be imported ({error}). Install it with: "
                f"pip install treecf"
            ) from error
        self._treecf, self._model = treecf, model
        trees = model[-1] if isinstance(model, Pipeline) else model
        self._columns = _Columns.of(model, X)
        n_columns = len(self._columns.weights)
        names = getattr(trees, "feature_names_in_", [f"f{i}" for i in range(n_columns)])
        constraints: list[Any] = [
            treecf.OneHot(tuple(names[i] for i in group)) for group in self._columns.groups
        ]
        frozen = [i for name in self.immutable for i in self._columns.of_feature[name]]
        constraints += [treecf.Freeze(names[i]) for i in frozen]
        self._explainer = treecf.Explainer(
            trees,
            constraints=constraints,
            normalizers=1 / self._columns.weights,
            value_policy={names[i]: "integer" for i in self._columns.integers},
        )
        # A forest's score is a probability; that of boosting is a logarithm of odds.
        self._boundary = 0.0 if self._explainer.ir.link.name == "SIGMOID" else 0.5

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; an empty one where treecf finds none."""
        classes = list(self._model.classes_)
        found = []
        for x, label in zip(self._columns.encode(X), self._model.predict(X), strict=True):
            up = classes.index(label) == 0
            target = self._treecf.Target.raw(
                op=">=" if up else "<=", value=self._boundary + (BEYOND if up else -BEYOND)
            )
            found.append(self._columns.decode(self._explain(x, target)))
        return found

    def _explain(self, x: Vector, target: Any) -> Matrix:
        with warnings.catch_warnings():
            # It warns where a proof was not finished, and of one-hot columns that it rounds.
            warnings.simplefilter("ignore", self._treecf.TreecfWarning)
            if self.exact:
                answers = [
                    self._explainer.explain(
                        x, target, backend="exact", seed=0, time_budget_s=SECONDS
                    )
                ]
            else:
                answers = list(
                    self._explainer.explain_batch(x[None, :], target, n_per_example=LIMIT, seed=0)
                )
        rows = [each.x_cf for each in answers if getattr(each, "x_cf", None) is not None]
        return np.array(rows, dtype=np.float64).reshape(-1, len(x))


@dataclass(frozen=True)
class _Columns:
    """The columns that the trees see, and how the columns of a table become them.

    Attributes
    ----------
    like
        No rows of the training data: its container, columns and dtypes.
    encoder
        The pipeline's first step; None: the trees see the rows as they are.
    weights
        What a change of each column by 1 costs.
    groups
        The positions of each category's one-hot columns.
    of_feature
        The positions of each feature's columns.
    integers
        The positions of columns that hold integers.
    """

    like: Any
    encoder: ColumnTransformer | None
    weights: Vector
    groups: list[list[int]]
    of_feature: dict[str, list[int]]
    integers: list[int]

    @classmethod
    def of(cls, model: Any, X: Matrix | pd.DataFrame) -> _Columns:
        """Read the columns of a model."""
        table, rows = Table.learn(X, Schema(step=0))
        scale = "robust" if isinstance(X, pd.DataFrame) else None  # arrays are scaled already
        factor = Space.learn(rows, table, scale).factor
        if not isinstance(model, Pipeline):
            own = {str(name): [i] for i, name in enumerate(table.names)}
            return cls(X[:0], None, factor, [], own, _integers(X, own))
        encoder = model[0]
        weights = np.zeros(encoder.transform(X[:1]).shape[1])
        groups, of_feature = [], {}
        for transformer, names, places in _parts(encoder):
            counts = [1] * len(names)
            if isinstance(transformer, OneHotEncoder):
                counts = [len(values) for values in transformer.categories_]
            ends = places.start + np.cumsum(counts)
            for name, count, end in zip(names, counts, ends.tolist(), strict=True):
                own_places = list(range(end - count, end))
                of_feature[str(name)] = own_places
                if isinstance(transformer, OneHotEncoder):
                    groups.append(own_places)
                # Another category changes two columns, and counts as one change.
                share = 0.5 if isinstance(transformer, OneHotEncoder) else 1.0
                weights[own_places] = share * factor[table.position(name)]
        return cls(X[:0], encoder, weights, groups, of_feature, _integers(X, of_feature))

    def encode(self, X: Any) -> Matrix:
        """Return rows as the trees see them."""
        rows: Matrix = np.asarray(
            X if self.encoder is None else self.encoder.transform(X), dtype=np.float64
        )
        return rows

    def decode(self, rows: Matrix) -> Any:
        """Return rows of the trees in the container, the columns and the dtypes of the table."""
        if not isinstance(self.like, pd.DataFrame):
            return rows
        if self.encoder is None:
            return pd.DataFrame(rows, columns=self.like.columns).astype(self.like.dtypes.to_dict())
        columns: dict[Any, Any] = {}
        for transformer, names, places in _parts(self.encoder):
            part = rows[:, places]
            if isinstance(transformer, OneHotEncoder) and len(rows):
                part = transformer.inverse_transform(part)
            columns |= {name: part[:, i] for i, name in enumerate(names)}
        return pd.DataFrame(columns)[list(self.like.columns)].astype(self.like.dtypes.to_dict())


def _integers(X: Any, of_feature: dict[str, list[int]]) -> list[int]:
    """Return the columns of the features whose dtype is that of integers."""
    if not isinstance(X, pd.DataFrame):
        return []
    return [i for name in X.select_dtypes("integer") for i in of_feature[str(name)]]


def _parts(encoder: ColumnTransformer) -> list[tuple[Any, list[Any], slice]]:
    """Return the transformer, the features and the columns of each part."""
    parts = []
    for name, transformer, features in encoder.transformers_:
        if not len(features):  # a selector that found none: its transformer is not fitted
            continue
        if not isinstance(transformer, OneHotEncoder | FunctionTransformer):
            raise InvalidInputError(
                f"treecf's counterfactuals can be read back through one-hot columns and columns "
                f"that pass unchanged, got {type(transformer).__name__} for {list(features)}. "
                f"Trees need no other encoder."
            )
        parts.append((transformer, list(features), encoder.output_indices_[name]))
    return parts
