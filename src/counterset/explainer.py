"""DiverseExplainer: fit on training rows, then explain decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import pandas as pd
from sklearn.base import clone

from counterset._base.arrays import Matrix
from counterset.anchors.chooser import anchored
from counterset.anchors.fitting import find_anchors
from counterset.constraints.constraints import Constraints
from counterset.constraints.per_row import RowConstraints, is_per_row
from counterset.constraints.plausibility import NearData
from counterset.distances import DistanceLike
from counterset.exact.certify import certify
from counterset.exact.domains import DomainLike
from counterset.models.unused_columns import warn_of_unused
from counterset.recipes.chooser import with_recipes
from counterset.recipes.learning import RecipeBook
from counterset.results.explanation import Explanation
from counterset.results.explanations import Explanations
from counterset.steps.acceptance import Requirements
from counterset.steps.batch import explain_batch
from counterset.steps.cutoffs import Cutoff, NearestCandidates
from counterset.steps.diversity import AngleDiversity, Diversity
from counterset.steps.estimator import ModelEstimator
from counterset.steps.line_search import LineSearch, Search
from counterset.steps.parameters import (
    check_parameter,
    check_parameters,
    paper_settings,
)
from counterset.steps.pipeline import Pipeline, paper_pipeline
from counterset.steps.requests import IfNone, Request
from counterset.steps.training import TrainingData
from counterset.steps.workload import Workload
from counterset.tables.codes import warn_of_codes
from counterset.tables.frames import is_dask_frame
from counterset.tables.scaling import ScaleLike, warn_of_scale
from counterset.tables.schema import Schema

__all__ = ["DiverseExplainer"]


class DiverseExplainer(ModelEstimator):
    """Explain a decision by a small set of diverse, close counterfactuals.

    The approximation of "Promoting Counterfactual Robustness through Diversity" (AAAI 2024).
    Training rows that the model puts in another class are ordered by distance (step 1), cut off
    (step 2) and filtered by diversity (step 3). Each is then moved towards the input, up to the
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
        Step 2: :class:`NearestCandidates`, :class:`CandidatesWithin`, or a step of your own, see
        :class:`~counterset.steps.Cutoff`.
    diversity
        Step 3: :class:`AngleDiversity`, :class:`DistanceDiversity`, :class:`FeatureDiversity`, or
        a step of your own, see :class:`~counterset.steps.Diversity`; None keeps the nearest.
    search
        Step 4: :class:`LineSearch` or a step of your own, see :class:`~counterset.steps.Search`;
        None reports the training rows themselves.
    max_counterfactuals
        The most to report for one input.
    scale
        What counts 1 in each feature. ``"robust"``: its range without outliers; ``"range"``: its
        range; ``"mad"``: its median absolute deviation; None: 1; or give one weight per feature.
    costs
        From names to what a change costs, on top of any scale; ``float("inf")``: never changed.
    schema
        The kinds of features where the dtypes do not tell, see :class:`Schema`.
    constraints
        What may change, see :class:`Constraints`.
    sparsify
        Undo the changes that a counterfactual does not need, so that few features change.
    max_model_rows
        The most rows to ask the model about for one input; when they are used up, the search ends,
        and a warning says so. Answers stay valid, but may be fewer or farther, and depend on the
        inputs that are explained with it. Rows that are asked about once for all inputs, in ``fit``
        and for the first input of a class, are not counted. None: as many as the search takes, some
        thousands to ten thousands.
    anchors
        None: options are chosen for each input. A number: ``fit`` divides the inputs of each class
        into that many regions, and an input gets its options from a list that is fixed for its
        region, so that nearly equal inputs get the same. ``"auto"``: see ``docs/anchors.md``.
    plausibility
        :class:`NearData` requires counterfactuals to lie near training rows.

    Attributes
    ----------
    anchors_
        The regions that were found, with what is offered to each, or None.
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
    >>> explanation.values[0]
    array([0.25 , 0.751])
    """

    def __init__(
        self,
        model: Any,
        *,
        distance: DistanceLike = "l1",
        candidates: Cutoff = NearestCandidates(1000),
        diversity: Diversity | None = AngleDiversity(0.5),
        search: Search | None = LineSearch(0.001),
        max_counterfactuals: int = 5,
        scale: ScaleLike = "robust",
        costs: Mapping[Any, float] | None = None,
        schema: Schema | None = None,
        constraints: Constraints | None = None,
        sparsify: bool = True,
        plausibility: NearData | None = None,
        max_model_rows: int | None = None,
        anchors: int | Literal["auto"] | None = None,
    ) -> None:
        self.model = model
        self.distance = distance
        self.candidates = candidates
        self.diversity = diversity
        self.search = search
        self.max_counterfactuals = max_counterfactuals
        self.scale = scale
        self.costs = costs
        self.schema = schema
        self.constraints = constraints
        self.sparsify = sparsify
        self.plausibility = plausibility
        self.max_model_rows = max_model_rows
        self.anchors = anchors

    @classmethod
    def paper(cls, model: Any, **changes: Any) -> Self:
        """Return an explainer with the settings of the paper.

        That is ``NearestCandidates(1000)``, ``AngleDiversity(0.5)``, ``LineSearch(0.1)``,
        ``scale="range"``, ``sparsify=False``, and numbers without a step, ``Schema(step=0)``.

        Parameters
        ----------
        model
            As for the explainer itself.
        changes
            Parameters in place of the paper's.

        Examples
        --------
        >>> DiverseExplainer.paper(lambda rows: rows[:, 0] > 1, sparsify=True).search
        LineSearch(gamma=0.1, halvings='segment', first_crossing=False)
        """
        return cls(model, **paper_settings(changes))

    def fit(self, X: Any, y: Any = None, *, progress: bool = False) -> Self:
        """Ask the model about the training rows, once, and keep them as candidates.

        Parameters
        ----------
        X
            The training rows: a DataFrame of pandas or polars, a pyarrow Table, a 2-d array, or a
            list of mappings from columns to values. Answers come in the same container.
        y
            Not used: labels come from the model, as in the paper.
        progress
            Show a progress bar on the error stream while anchors are looked for.
        """
        check_parameters(self)
        training = TrainingData.learn(
            X,
            self.model,
            schema=self.schema,
            distance=self.distance,
            scale=self.scale,
            costs=self.costs,
            plausibility=self.plausibility,
        )
        known = training.table.without_special(training.pool.matrix)
        known_ones = warn_of_codes(known, training.table, self.schema, stacklevel=2)
        warn_of_scale(known, training.table, self.scale, stacklevel=2, but=known_ones)
        if training.table.array_dtype is None:
            warn_of_unused(self.model, list(training.table.columns), stacklevel=2)
        training.rules(self.constraints)  # a constraint that does not fit the data shows now
        return self._keep(training, RecipeBook(training), progress=progress)

    def with_costs(self, costs: Mapping[Any, float] | None) -> Self:
        """Return a fitted explainer with other costs, without asking the model again.

        For a person's own costs: what is hard for one is easy for another. Options are looked for
        among what was learned with this explainer's costs, so they can differ from those of a new
        ``fit``. Anchors are found anew.

        Parameters
        ----------
        costs
            As for the explainer itself, in place of its own.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).random((200, 2))
        >>> def approve(rows):
        ...     return rows.sum(axis=1) > 1
        >>> explainer = DiverseExplainer(approve, max_counterfactuals=1).fit(X)
        >>> explainer.with_costs({"x1": 9.0}).explain([0.2, 0.5]).changes.index.tolist()
        ['x0']
        """
        self._check_fitted()
        check_parameter("costs", costs)
        other: Self = clone(self).set_params(costs=costs)
        training = self._training.with_costs(costs, self.distance, self.plausibility)
        training.rules(self.constraints)
        recipes = self._recipes if self.anchors is None else RecipeBook(training)
        return other._keep(training, recipes)

    def _keep(self, training: TrainingData, recipes: RecipeBook, *, progress: bool = False) -> Self:
        """Keep what was learned from the training rows, after finding anchors in it."""
        anchors = None
        if self.anchors is not None:
            paper = paper_pipeline(self, training, training.usable(None), training.no_rules)
            anchors = find_anchors(
                self.anchors, paper, recipes, self.constraints, progress=progress
            )
        self._keep_training(training)
        self._recipes, self.anchors_ = recipes, anchors
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
            A 1-d array, a Series, a mapping from columns to values, or a table of one row.
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
        if is_per_row(constraints):
            check_parameter("constraints", constraints)
        request = Request(
            target,
            target_probability,
            interval,
            constraints,
            self.constraints,
            max_rows=self.max_model_rows,
        )
        return self._explain(*self.schema_.encode_one(x), request)[0]

    def explain_many(
        self,
        X: Any,
        *,
        target: Any = None,
        target_probability: float | None = None,
        interval: tuple[float, float] | None = None,
        constraints: RowConstraints = None,
        if_none: IfNone = "raise",
        skip: bool = False,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
        progress: bool = False,
    ) -> Explanations:
        """Explain the decisions on many rows; each gets the explanation that it would get alone.

        Parameters
        ----------
        X
            A table like the training data, or a list of mappings from columns to values. For a dask
            DataFrame, a lazy one comes back, as :class:`~counterset.batch.FrameExplainer` makes it.
        target, target_probability, interval
            As in ``explain``.
        constraints
            In place of the explainer's own: :class:`Constraints` for all rows, a list of them, one
            for each row, or a function of the row. The function gets a Series (a 1-d array for an
            array, a dict for polars and pyarrow) and returns Constraints. None stands for the
            explainer's own.
        if_none
            What to do when an input has no counterfactual, or has what is wanted already: raise,
            or return an empty explanation for it, whose ``status`` says which, and warn.
            ``"ignore"`` does not warn, nor where there are fewer than asked for.
        skip
            Pass over inputs that have what is wanted already: their explanations are empty, with
            the status ``"already_reached"``, without an error or a warning.
        n_jobs
            How many processes share the rows, as in scikit-learn: None is 1, -1 all cores. With
            ``joblib.parallel_config(backend="threading")`` they are threads.
        memory
            About how much memory the rows that are worked on at once may take, such as ``"2GB"``.
        progress
            Show a progress bar on the error stream.
        """
        self._check_fitted()
        work = Workload(n_jobs, memory, progress)
        goal = target, target_probability, interval, constraints
        request = Request(
            *goal, self.constraints, if_none, skip, self.max_model_rows, workload=work
        )
        if is_dask_frame(X):
            from counterset.batch.dask_frames import explain_lazily  # noqa: PLC0415 - a room above

            lazy: Explanations = explain_lazily(self, X, request)
            return lazy
        return self._explain(*self.schema_.encode(X), request)

    def certify(
        self,
        explanation: Explanation,
        epsilon: float | None = None,
        *,
        options: bool = False,
        domain: DomainLike = None,
        time_limit: float = 60.0,
    ) -> Explanation:
        """Prove how safe each counterfactual is, and for whom else it works, from exact distances.

        Parameters
        ----------
        explanation
            An explanation by this explainer.
        epsilon
            How much worse than the optimum a counterfactual may be to count as an option; None
            proves nothing about that.
        options
            Whether to prove how far the input may move before a counterfactual stops working. That
            is a distance more to solve for each counterfactual.
        domain
            Where counterfactuals may lie, as for :func:`counterfactual_distance`; by default the
            range of the training data, widened where the input or an option lies outside it.
        time_limit
            In seconds, for each distance of the input (a second one is computed if what others may
            do differs) and again for all counterfactuals together; when they are up, less may be
            proved.

        Notes
        -----
        The goal, the constraints and infinite costs are those that the explanation was asked for.
        ``certificate.distance_bounds`` is about counterfactuals that reach the goal and keep the
        constraints, and so is its witness. What a solver cannot consider, such as plausibility, is
        left out of the lower bound only, and ``reason`` names it.

        An explanation without counterfactuals can be certified too, without ``epsilon``. If
        ``distance_bounds.none_exists``, it is proved that there is none in the domain.

        The safety of an option is about other inputs that ask for the same and may take it. What
        a constraint allows others may depend on their own values (``increase_only``,
        ``max_increase``, ``together``): such constraints are left out of the optimum that the
        safety compares with. No optimum that keeps them is nearer, so the safety holds for those
        too. Other inputs are those of the domain: rows like the training rows, without missing
        values.

        Returns
        -------
        explanation
            The same with a :class:`~counterset.Certificate`. A counterfactual of safety delta is
            within epsilon of the optimum of every input of the same class that is nearer than
            delta / 2, asks for the same and may take it (proposition 2). With ``options``,
            ``certificate.option_radii`` says how near an input must be to get the same class by the
            same change.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.random.default_rng(0).random((200, 2))
        >>> model = LogisticRegression().fit(X, X.sum(axis=1) > 1)
        >>> explainer = DiverseExplainer(model, max_counterfactuals=2).fit(X)
        >>> explanation = explainer.certify(explainer.explain(X[0]), epsilon=0.5, options=True)
        >>> explanation.certificate.distance_bounds.exact
        True
        >>> explanation.certificate.option_radii.round(4)
        array([0.001 , 0.0007])

        A proof that there is none:

        >>> asked = {"constraints": Constraints(immutable=["x0", "x1"]), "if_none": "ignore"}
        >>> (nothing,) = explainer.explain_many(X[:1], **asked)
        >>> explainer.certify(nothing).certificate.distance_bounds.none_exists
        True
        """
        self._check_fitted()
        return certify(explanation, epsilon, options, self, domain, time_limit)

    def _explain(self, matrix: Matrix, index: pd.Index, request: Request) -> Explanations:
        rows = self._training, matrix, index, request, self._pipeline
        return explain_batch(*rows, self._parameters())

    def _pipeline(self, requirements: Requirements) -> Pipeline:
        """Return the pipeline of one call."""
        usable = self._training.usable(requirements.probability)
        paper = paper_pipeline(self, self._training, usable, requirements.rules)
        if self.anchors_ is None:
            return with_recipes(paper, self._recipes, self.constraints)
        return anchored(paper, self.anchors_, self.constraints)
