"""DiverseExplainer: the four steps of the paper, in order."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from counterset import distances
from counterset.arrays import Codes, Labels, Matrix
from counterset.candidates import CandidatePool, Cutoff, NearestCandidates
from counterset.certification import certify
from counterset.checks import check_count
from counterset.distances import DistanceLike
from counterset.diversity import NONE_LEFT, AngleDiversity, Diversity
from counterset.exact import Box
from counterset.exact.domains import DomainLike
from counterset.exceptions import (
    FewerCounterfactualsWarning,
    InvalidInputError,
    NoCounterfactualError,
    NotFittedError,
)
from counterset.explanation import Explanation, Explanations
from counterset.goals import Goal
from counterset.line_search import REFUSED, LineSearch, Segments
from counterset.models import Classes, ModelAdapter, plain
from counterset.schema import Table
from counterset.selection import Selection, Selector
from counterset.space import ScaleLike, Space, TableDistance

__all__ = ["DiverseExplainer"]


class DiverseExplainer(BaseEstimator):
    """Explain a decision by a small set of close, diverse inputs that the model decides otherwise.

    The approximation of "Promoting Counterfactual Robustness through Diversity" (AAAI 2024):
    training rows that the model decides otherwise are ordered by distance (step 1), cut off
    (step 2), filtered by diversity (step 3), and each is moved towards the input up to the
    decision boundary (step 4).

    Parameters
    ----------
    model
        Anything with ``predict``, or a function from rows to labels. It is asked in the
        container, columns and dtypes of the training data.
    distance
        ``"l1"``, ``"l2"``, ``"linf"``, ``"l0"``, a :class:`~counterset.distances.Distance`, or a
        function from (n, d) and (m, d) to (n, m). Taken in the scaled space.
    candidates
        Step 2: :class:`NearestCandidates` or :class:`CandidatesWithin`.
    diversity
        Step 3: :class:`AngleDiversity` or :class:`DistanceDiversity`; None keeps the nearest.
    search
        Step 4: :class:`LineSearch`; None reports the training rows themselves.
    max_counterfactuals
        The most to report for one input.
    scale
        ``"range"``: each feature spans [0, 1] over the training data; ``"mad"``: each is divided
        by its median absolute deviation; None: as it is; or one weight per feature.

    Attributes
    ----------
    classes_
        The labels that the model gives to the training rows.
    distance_
        The distance, for rows in the model's own units: pass it to the metrics.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    A toy model approves when two numbers add up to more than 1:

    >>> import numpy as np
    >>> from counterset import DiverseExplainer
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> def approve(rows):
    ...     return np.where(rows.sum(axis=1) > 1, "yes", "no")
    >>> explainer = DiverseExplainer(approve, max_counterfactuals=2).fit(X)
    >>> explanation = explainer.explain([0.25, 0.5])
    >>> explanation.label, explanation.labels.tolist()
    ('no', ['yes', 'yes'])
    >>> explanation.values.sum(axis=1).round(2)
    array([1.01, 1.01])
    """

    def __init__(
        self,
        model: Any,
        *,
        distance: DistanceLike = "l1",
        candidates: Cutoff = NearestCandidates(1000),
        diversity: Diversity | None = AngleDiversity(0.5),
        search: LineSearch | None = LineSearch(0.1),
        max_counterfactuals: int = 5,
        scale: ScaleLike = "range",
    ) -> None:
        self.model = model
        self.distance = distance
        self.candidates = candidates
        self.diversity = diversity
        self.search = search
        self.max_counterfactuals = max_counterfactuals
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> Self:
        """Ask the model about the training rows, once, and keep them as candidates.

        Parameters
        ----------
        X
            The training rows: a DataFrame or a 2-d array.
        y
            Not used: labels come from the model, as in the paper.
        """
        self._check_parameters()
        table, matrix = Table.learn(X)
        inner = distances.get(self.distance)
        labels = ModelAdapter(self.model, table).labels(matrix)
        classes, codes = Classes.learn(labels)
        if len(classes) == 1:
            raise NoCounterfactualError(
                f"The model predicts {plain(classes.labels[0])!r} for all {len(matrix)} training "
                f"rows, so there is nothing to move towards. Fit on data of which the model "
                f"decides some rows otherwise."
            )
        space = Space.learn(matrix, table, self.scale)
        self.pool_ = CandidatePool.build(matrix, codes, len(classes), space)
        self.table_ = table
        self.distance_ = TableDistance(table, space, inner)
        self.classes_ = classes.labels
        self.n_features_in_ = len(table.features)
        if table.columns is not None:
            self.feature_names_in_ = np.asarray(table.columns, dtype=object)
        return self

    def explain(self, x: Any, *, target: Any = None) -> Explanation:
        """Explain the decision on one row.

        Parameters
        ----------
        x
            A 1-d array, a Series, or a table of one row.
        target
            The wanted class; None accepts any class but the input's own.
        """
        self._check_fitted()
        return self._explain(*self.table_.encode_one(x), target)[0]

    def explain_many(self, X: Any, *, target: Any = None) -> Explanations:
        """Explain the decisions on many rows; each gets the explanation that it would get alone.

        Parameters
        ----------
        X
            A table like the training data.
        target
            The wanted class; None accepts any class but the input's own.
        """
        self._check_fitted()
        return self._explain(*self.table_.encode(X), target)

    def certify(
        self,
        explanation: Explanation,
        epsilon: float,
        *,
        domain: DomainLike = None,
        time_limit: float = 60.0,
    ) -> Explanation:
        """Prove how safe each counterfactual is, from the input's exact counterfactual distance.

        Parameters
        ----------
        explanation
            An explanation by this explainer.
        epsilon
            How much worse than the optimum a counterfactual may be to count as an option.
        domain
            Where counterfactuals may lie, as for :func:`counterfactual_distance`; by default the
            range of the training data, widened where the input lies outside it.
        time_limit
            In seconds; when they are up, less may be proved.

        Returns
        -------
        explanation
            The same with a :class:`~counterset.certificate.Certificate`. A counterfactual of
            safety delta is within epsilon of the optimum of every input of the same class that is
            nearer than delta / 2 (proposition 2).

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.random.default_rng(0).random((200, 2))
        >>> model = LogisticRegression().fit(X, X.sum(axis=1) > 1)
        >>> explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
        >>> explanation = explainer.certify(explainer.explain(X[0]), epsilon=0.5)
        >>> explanation.certificate.distance_bounds.exact
        True
        """
        self._check_fitted()
        own_range = domain is None
        return certify(
            explanation,
            epsilon,
            model=self.model,
            distance=self.distance_,
            domain=Box.of(self).holding(explanation.input) if own_range else domain,
            start=explanation.counterfactuals if own_range else None,
            time_limit=time_limit,
        )

    def _explain(self, matrix: Matrix, index: pd.Index, target: Any) -> Explanations:
        model = ModelAdapter(self.model, self.table_)
        goal = Goal.set(model.labels(matrix), target, Classes(self.classes_))
        selection = self._select(matrix, goal)
        owners, ranks = np.nonzero(selection.positions != NONE_LEFT)
        places = selection.positions[owners, ranks]
        questions = _Questions(model, goal, matrix, owners)
        segments = Segments(
            starts=matrix[owners],
            ends=self.pool_.matrix[places],
            lengths=selection.lengths[owners, ranks],
            owners=owners,
            answers=questions.remember(self.classes_[self.pool_.classes_at(places)]),
        )
        if self.search is not None:
            segments = self.search.search(segments, questions)
        return self._collect(matrix, index, segments, places, selection, questions)

    def _select(self, matrix: Matrix, goal: Goal) -> Selection:
        """Take steps 1 to 3, for all inputs of one label together."""
        selector = Selector(
            self.pool_,
            self.distance_.inner,
            self.candidates,
            self.diversity,
            self.max_counterfactuals,
        )
        points = self.pool_.space.embed(matrix)
        selection = Selection.empty(len(matrix), self.max_counterfactuals)
        known, groups = Classes.learn(goal.labels)
        for group, label in enumerate(known.labels):
            members = np.flatnonzero(groups == group)
            classes = goal.acceptable_classes(label, Classes(self.classes_))
            selection.put(members, selector.select(points[members], self.pool_.of_classes(classes)))
        return selection

    def _collect(
        self,
        matrix: Matrix,
        index: pd.Index,
        segments: Segments,
        places: Codes,
        selection: Selection,
        questions: _Questions,
    ) -> Explanations:
        """Put the found points in order of distance, each once."""
        owners, found = segments.owners, self.table_.snap(segments.ends)
        lengths = self.distance_.to_own(matrix[owners], found[:, None, :])[:, 0]
        order = np.lexsort((np.arange(len(owners)), lengths, owners))
        # Rounded to whole numbers, two searches can end on the same point.
        keyed = pd.DataFrame(found[order])
        keyed.insert(0, "owner", owners[order], allow_duplicates=True)
        order = order[~keyed.duplicated().to_numpy()]

        counts = np.bincount(owners[order], minlength=len(matrix))
        self._check_counts(counts, selection)
        return Explanations(
            labels=questions.goal.labels,
            counts=counts,
            input_index=index,
            model_calls=questions.model.calls,
            model_rows=questions.model.rows,
            _table=self.table_,
            _inputs=matrix,
            _matrix=found[order],
            _labels=questions.recall(segments.answers[order]),
            _distances=lengths[order],
            _examples=self.pool_.rows[places[order]],
        )

    def _check_counts(self, counts: Codes, selection: Selection) -> None:
        """Raise if an input has no counterfactual; warn if one has fewer than asked, and why."""
        if not counts.all():
            nothing = np.flatnonzero(counts == 0)
            raise NoCounterfactualError(
                f"Every candidate is equal to the input, for {len(nothing)} of {len(counts)} "
                f"inputs (first at position {nothing[0]}): the model gives one row two labels. "
                f"Pass a model that answers the same row always alike."
            )
        wanted = self.max_counterfactuals
        short = counts < wanted
        if not short.any():
            return
        chosen = (selection.positions != NONE_LEFT).sum(axis=1)
        reasons = (
            (
                short & (selection.n_candidates < wanted),
                "step 2 left too few candidates: raise alpha or epsilon, or fit on more rows",
            ),
            (
                short & (selection.n_candidates >= wanted) & (chosen < wanted),
                "step 3 found too few that differ enough: lower beta, or raise alpha or epsilon",
            ),
            (
                short & (chosen == wanted),
                "step 4 led several candidates to the same point",
            ),
        )
        told = "; ".join(
            f"{int(who.sum())} because {reason}" for who, reason in reasons if who.any()
        )
        fewest = int(counts.min())
        warnings.warn(
            f"{int(short.sum())} of {len(counts)} inputs have fewer than {wanted} "
            f"counterfactuals (the fewest: {fewest}): {told}.",
            FewerCounterfactualsWarning,
            stacklevel=5,
        )

    def _check_parameters(self) -> None:
        check_count(self.max_counterfactuals, "max_counterfactuals")
        for name, value, method, examples in (
            ("candidates", self.candidates, "keep", "NearestCandidates or CandidatesWithin"),
            ("diversity", self.diversity, "compare", "AngleDiversity, DistanceDiversity or None"),
            ("search", self.search, "search", "LineSearch or None"),
        ):
            optional = name != "candidates"
            if not (optional and value is None) and not callable(getattr(value, method, None)):
                raise InvalidInputError(f"{name} must be {examples}, got {value!r}.")

    def _check_fitted(self) -> None:
        if not hasattr(self, "pool_"):
            raise NotFittedError(
                "This DiverseExplainer is not fitted yet. Call fit with the training rows first."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pool_")

    def __sklearn_clone__(self) -> DiverseExplainer:
        # A clone explains the same model: cloning the model too would throw its training away.
        return type(self)(**self.get_params(deep=False))


class _Questions:
    """Asks the model about points on segments and remembers its answers."""

    def __init__(self, model: ModelAdapter, goal: Goal, inputs: Matrix, owners: Codes) -> None:
        self.model = model
        self.goal = goal
        self._inputs = inputs
        self._owners = owners
        self._answers: list[Labels] = []
        self._size = 0

    def remember(self, labels: Labels) -> Codes:
        """Keep answers, and give the numbers to recall them by."""
        numbers = np.arange(self._size, self._size + len(labels))
        self._answers.append(labels)
        self._size += len(labels)
        return numbers

    def recall(self, numbers: Codes) -> Labels:
        """Give the answers behind the numbers."""
        return np.concatenate(self._answers)[numbers]

    def __call__(self, points: Matrix, segments: Codes) -> Codes:
        points = self.model.table.snap(points)
        owners = self._owners[segments]
        labels = self.model.labels(points)
        accepted = self.goal.accepts(labels, owners)
        accepted &= (points != self._inputs[owners]).any(axis=1)
        return np.where(accepted, self.remember(labels), REFUSED)
