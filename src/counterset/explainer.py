"""DiverseExplainer: the four steps of the paper, in order."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from counterset import distances
from counterset._base.arrays import Mask, Matrix, to_python
from counterset._base.checks import check_count
from counterset.anchors.anchors import Anchors
from counterset.anchors.search import find_anchors
from counterset.constraints.constraints import Constraints
from counterset.constraints.plausibility import NearData
from counterset.constraints.rules import Rules
from counterset.distances import DistanceLike
from counterset.exact import Box
from counterset.exact.certify import certify
from counterset.exact.domains import DomainLike
from counterset.exceptions import (
    FewerCounterfactualsWarning,
    InvalidInputError,
    NoCounterfactualError,
    NotFittedError,
)
from counterset.models.adapter import ModelAdapter
from counterset.models.answers import Answers
from counterset.models.classes import Classes
from counterset.models.goals import AnyOther, Goal, check_probability, is_confident, set_goal
from counterset.results.explanation import Explanation, Explanations
from counterset.steps.acceptance import Questions, Wishes
from counterset.steps.cutoffs import Cutoff, NearestCandidates
from counterset.steps.diversity import AngleDiversity, Diversity
from counterset.steps.line_search import LineSearch
from counterset.steps.pipeline import CLOSING_IN, Candidates, Pipeline, settings_of
from counterset.steps.pool import CandidatePool
from counterset.steps.selection import Selector
from counterset.steps.shortfall import why_fewer, why_nothing
from counterset.tables.schema import Schema
from counterset.tables.space import ScaleLike, Space, TableDistance
from counterset.tables.table import Table

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
    schema
        The kinds of features where the dtypes do not tell, see :class:`Schema`.
    constraints
        What may change, see :class:`Constraints`.
    sparsify
        Undo every change that a counterfactual does not need, so that it names few things.
    anchors
        None: the paper's selection, from the input's own point of view. A number: up to that many
        training rows of each class get a set each, in ``fit``, and an input takes the nearest set
        of its class, so that nearly equal inputs get the same. ``"auto"`` finds the number, see
        ``docs/anchors.md``.
    plausibility
        :class:`NearData` requires counterfactuals to lie near training rows.

    Attributes
    ----------
    anchors_
        The anchors that were found, with their sets, or None.
    classes_
        The labels that the model gives to the training rows.
    schema_
        The kinds and ranges of the features, as learned; print it.
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
        schema: Schema | None = None,
        constraints: Constraints | None = None,
        sparsify: bool = False,
        plausibility: NearData | None = None,
        anchors: int | Literal["auto"] | None = None,
    ) -> None:
        self.model = model
        self.distance = distance
        self.candidates = candidates
        self.diversity = diversity
        self.search = search
        self.max_counterfactuals = max_counterfactuals
        self.scale = scale
        self.schema = schema
        self.constraints = constraints
        self.sparsify = sparsify
        self.plausibility = plausibility
        self.anchors = anchors

    def fit(self, X: Any, y: Any = None, *, progress: bool = False) -> Self:
        """Ask the model about the training rows, once, and keep them as candidates.

        Parameters
        ----------
        X
            The training rows: a DataFrame or a 2-d array.
        y
            Not used: labels come from the model, as in the paper.
        progress
            Show a progress bar on the error stream while anchors are looked for.
        """
        self._check_parameters()
        table, matrix = Table.learn(X, self.schema)
        inner = distances.get(self.distance)
        labels = ModelAdapter(self.model, table).labels(matrix)
        classes, codes = Classes.learn(labels)
        if len(classes) == 1:
            raise NoCounterfactualError(
                f"The model predicts {to_python(classes.labels[0])!r} for all {len(matrix)} training "
                f"rows, so there is nothing to move towards. Fit on data of which the model "
                f"decides some rows otherwise."
            )
        self.schema_ = table
        self.distance_ = TableDistance(table, Space.learn(matrix, table, self.scale), inner)
        self.pool_ = CandidatePool.build(matrix, codes, self.distance_)
        self.classes_ = classes.labels
        self._classes = classes
        self.support_ = None
        self._plausible: Mask | None = None  # which rows of the pool; None: all
        self._confidence: Answers | None = None  # asked for when it is first needed
        if self.plausibility is not None:
            places, measure = self.pool_.embedded.coordinates, self.distance_.in_space
            self.support_ = self.plausibility.learn(places, measure)
            self._plausible = self.support_.has(places)
        self.n_features_in_ = len(table.columns)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if table.array_dtype is None:
            self.feature_names_in_ = np.asarray(table.columns, dtype=object)
        self.anchors_ = self._find_anchors(progress=progress)
        self._no_constraints = Constraints().compile(table, matrix)
        self._rules(None)  # a constraint that does not fit the data shows now, not later
        return self

    def explain(
        self,
        x: Any,
        *,
        target: Any = None,
        target_probability: float | None = None,
        interval: tuple[float, float] | None = None,
        constraints: Constraints | None = None,
    ) -> Explanation:
        """Explain the decision on one row.

        Parameters
        ----------
        x
            A 1-d array, a Series, or a table of one row.
        target
            The wanted class, or several that are acceptable; None accepts any class but the
            input's own.
        target_probability
            How probable the model's ``predict_proba`` must find the class of a counterfactual.
        interval
            For a regression: the wanted range (low, high) of the prediction.
        constraints
            In place of the explainer's own.
        """
        self._check_fitted()
        wanted = _Wanted(target, target_probability, interval, constraints)
        return self._explain(*self.schema_.encode_one(x), wanted, "raise")[0]

    def explain_many(
        self,
        X: Any,
        *,
        target: Any = None,
        target_probability: float | None = None,
        interval: tuple[float, float] | None = None,
        constraints: Constraints | None = None,
        if_none: Literal["raise", "warn"] = "raise",
    ) -> Explanations:
        """Explain the decisions on many rows; each gets the explanation that it would get alone.

        Parameters
        ----------
        X
            A table like the training data.
        target, target_probability, interval, constraints
            As in ``explain``.
        if_none
            What to do when an input has no counterfactual: raise, or warn and give it an empty
            explanation.
        """
        self._check_fitted()
        if if_none not in ("raise", "warn"):
            raise InvalidInputError(f"if_none must be 'raise' or 'warn', got {if_none!r}.")
        wanted = _Wanted(target, target_probability, interval, constraints)
        return self._explain(*self.schema_.encode(X), wanted, if_none)

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

        Notes
        -----
        Constraints are no part of the domain. An optimum that keeps them is no nearer than one that
        need not, so what is certified holds for it as well, for all who may take that option.

        Returns
        -------
        explanation
            The same with a :class:`~counterset.results.certificate.Certificate`. A counterfactual of
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
        if not isinstance(explanation, Explanation):
            raise InvalidInputError(
                f"certify takes one explanation, as explain gives it, got "
                f"{type(explanation).__name__}. Of several, certify each."
            )
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

    def _explain(
        self, matrix: Matrix, index: pd.Index, wanted: _Wanted, if_none: str
    ) -> Explanations:
        self._check_parameters()  # set_params may have come after fit
        probability = wanted.probability
        check_probability(probability)
        model = ModelAdapter(self.model, self.schema_, with_confidence=probability is not None)
        rules = self._rules(wanted.constraints)
        answers = model.answers(matrix)
        goal = set_goal(answers, self._classes, wanted.target, wanted.interval, probability)
        wishes = Wishes(goal, probability, rules, self.support_)
        questions = Questions(model, self.distance_, wishes, matrix, answers.labels)
        pipeline = self._pipeline(goal, probability)
        found = pipeline.run(questions)
        self._check_counts(found, questions, pipeline, if_none)
        return Explanations(
            labels=answers.labels,
            counts=found.counts,
            input_index=index,
            model_calls=model.calls,
            model_rows=model.rows,
            _table=self.schema_,
            _inputs=matrix,
            _matrix=found.rows,
            _labels=questions.recall(found.answers),
            _distances=found.lengths,
            _examples=self.pool_.training_index[found.pool_index],
            _plausibility=None
            if self.support_ is None
            else self.support_.scores(self.distance_.coordinates(found.rows)),
            _stable_radius=found.stable_radius,
        )

    def _pipeline(self, goal: Goal, probability: float | None) -> Pipeline:
        usable = self._plausible
        if probability is not None:
            if self._confidence is None:
                model = ModelAdapter(self.model, self.schema_, with_confidence=True)
                self._confidence = model.answers(self.pool_.matrix)
            confident = is_confident(self._confidence, probability)
            usable = confident if usable is None else usable & confident
        paper = Pipeline(self._selector(), self.search, self.sparsify, self._classes, usable)
        if self.anchors is None or self.anchors_ is None:
            return paper
        usual = isinstance(goal, AnyOther) and probability is None
        kept = usual and self.anchors_.settings == settings_of(paper)
        return replace(paper, anchors=self.anchors_, sets_are_kept=kept, finer=CLOSING_IN)

    def _selector(self) -> Selector:
        return Selector(
            self.pool_,
            self.candidates,
            self.diversity,
            self.max_counterfactuals,
            find_reach=self.search is not None and self.search.needs_reach,
        )

    def _find_anchors(self, *, progress: bool) -> Anchors | None:
        """Find the anchors of each class, and choose their sets."""
        if self.anchors is None:
            return None
        model = ModelAdapter(self.model, self.schema_)
        wishes = Wishes(AnyOther(), None, self._rules(Constraints()), self.support_)

        def ask(rows: Matrix) -> Questions:
            return Questions(model, self.distance_, wishes, rows, model.answers(rows).labels)

        pipeline = Pipeline(self._selector(), self.search, False, self._classes, self._plausible)
        return find_anchors(self.anchors, pipeline, ask, progress=progress)

    def _rules(self, constraints: Constraints | None) -> Rules:
        constraints = constraints if constraints is not None else self.constraints
        if constraints is None:
            return self._no_constraints
        return constraints.compile(self.schema_, self.pool_.matrix)

    def _check_counts(
        self, found: Candidates, questions: Questions, pipeline: Pipeline, if_none: str
    ) -> None:
        """Raise or warn if an input has no counterfactual; warn if it has fewer than asked."""
        counts = found.counts
        if not counts.all():
            nothing = np.flatnonzero(counts == 0)
            reason = why_nothing(pipeline, questions, int(nothing[0]))
            message = (
                f"No counterfactual for {len(nothing)} of {len(counts)} inputs (first at position "
                f"{nothing[0]}): {reason}"
            )
            if if_none == "raise":
                raise NoCounterfactualError(message)
            warnings.warn(message, FewerCounterfactualsWarning, stacklevel=4)
        shortage = why_fewer(found, self.max_counterfactuals)
        if shortage:
            warnings.warn(shortage, FewerCounterfactualsWarning, stacklevel=4)

    def _check_parameters(self) -> None:
        check_count(self.max_counterfactuals, "max_counterfactuals")
        if isinstance(self.anchors, str) and self.anchors != "auto":
            raise InvalidInputError(
                f"anchors must be None, 'auto' or a number of anchors per class, got "
                f"{self.anchors!r}."
            )
        if self.anchors is not None and self.anchors != "auto":
            check_count(self.anchors, "anchors")
        for name, value, method, examples in (
            ("candidates", self.candidates, "cut", "NearestCandidates or CandidatesWithin"),
            ("diversity", self.diversity, "differ", "AngleDiversity, DistanceDiversity or None"),
            ("search", self.search, "search", "LineSearch or None"),
            ("schema", self.schema, "kind_of", "Schema or None"),
            ("constraints", self.constraints, "compile", "Constraints or None"),
            ("plausibility", self.plausibility, "learn", "NearData or None"),
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


@dataclass(frozen=True)
class _Wanted:
    """What one call asks for."""

    target: Any
    probability: float | None
    interval: tuple[float, float] | None
    constraints: Constraints | None
