"""What the parameters of an explainer may be."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from counterset._base.arrays import Matrix
from counterset._base.checks import check_count
from counterset.constraints.constraints import Constraints, RowConstraints, is_per_row
from counterset.constraints.plausibility import NearData
from counterset.distances import DistanceLike
from counterset.exact.certify import certify
from counterset.exact.domains import DomainLike
from counterset.exceptions import InvalidInputError, NotFittedError
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.models.adapter import warn_of_unused
from counterset.models.goals import set_goal
from counterset.strategies.batch import Requirements
from counterset.strategies.calls import IfNone, Request, Workload, explain_batch
from counterset.strategies.diversity import AngleDiversity, Diversity
from counterset.strategies.line_search import LineSearch, Search
from counterset.strategies.nearest import with_recipes
from counterset.strategies.paper import Pipeline, paper_pipeline
from counterset.strategies.ranking import Cutoff, NearestCandidates
from counterset.strategies.recipes import RecipeBook
from counterset.strategies.shared import anchored, find_anchors
from counterset.strategies.training import TrainingData
from counterset.tables.codes import warn_of_codes
from counterset.tables.frames import is_dask_frame
from counterset.tables.scaling import ScaleLike, warn_of_scale
from counterset.tables.schema import Schema

__all__ = [
    "DiverseExplainer",
    "ModelEstimator",
    "check_parameter",
    "check_parameters",
    "paper_settings",
    "used_by_fit",
]

#: The type of each parameter, and what to say if it is something else.
_ALLOWED: dict[str, tuple[Any, str]] = {
    "candidates": (Cutoff, "NearestCandidates, CandidatesWithin or an object with cut(ranking)"),
    "diversity": (
        Diversity | None,
        "AngleDiversity, DistanceDiversity, FeatureDiversity, an object with differ(view, a, b), "
        "or None",
    ),
    "search": (
        Search | None,
        "LineSearch, an object with search(segments, ask) and needs_farthest, or None",
    ),
    "schema": (Schema | None, "Schema or None"),
    "constraints": (Constraints | None, "Constraints or None"),
    "costs": (Mapping | None, "a mapping from names to numbers above 0, or None"),
    "sparsify": (bool | np.bool_, "True or False"),
    "plausibility": (NearData | None, "NearData or None"),
}


#: Parameters that ``fit`` uses; the others are read when a row is explained.
_USED_BY_FIT = ("model", "distance", "scale", "costs", "schema", "plausibility", "anchors")


def used_by_fit(explainer: Any) -> dict[str, Any]:
    """Return the parameters of an explainer that ``fit`` uses."""
    return {name: getattr(explainer, name) for name in _USED_BY_FIT}


def _check_unchanged(explainer: Any, fitted_with: dict[str, Any]) -> None:
    """Check that the parameters that ``fit`` used are still those of the explainer."""
    changed = [
        name for name in _USED_BY_FIT if not _same(getattr(explainer, name), fitted_with[name])
    ]
    if changed:
        raise NotFittedError(
            f"{' and '.join(changed)} changed after fit, so what was learned no longer applies. "
            f"Call fit again."
        )


def _same(value: Any, other: Any) -> bool:
    if value is other:
        return True
    if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(value, other)
    return type(value) is type(other) and bool(value == other)


def check_parameters(explainer: Any, fitted_with: dict[str, Any] | None = None) -> None:
    """Check that the parameters of an explainer are what it can use.

    Parameters
    ----------
    fitted_with
        After ``fit``: what ``used_by_fit`` returned then, which must not have changed.
    """
    check_count(explainer.max_counterfactuals, "max_counterfactuals")
    if explainer.max_model_rows is not None:
        check_count(explainer.max_model_rows, "max_model_rows")
    anchors = explainer.anchors
    if isinstance(anchors, str) and anchors != "auto":
        raise InvalidInputError(
            f"anchors must be None, 'auto' or a number of anchors per class, got {anchors!r}."
        )
    if anchors is not None and anchors != "auto":
        check_count(anchors, "anchors")
    for name in _ALLOWED:
        check_parameter(name, getattr(explainer, name))
    if fitted_with is not None:
        _check_unchanged(explainer, fitted_with)


def check_parameter(name: str, value: Any) -> None:
    """Check that one parameter is of the type that an explainer can use."""
    kind, allowed = _ALLOWED[name]
    # A class has the methods of its objects: NearestCandidates is meant as NearestCandidates().
    if isinstance(value, type) or not isinstance(value, kind):
        raise InvalidInputError(f"{name} must be {allowed}, got {value!r}.")


def paper_settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the paper, with changes in their place.

    Examples
    --------
    >>> paper_settings({"sparsify": True})["search"]
    LineSearch(gamma=0.1, halvings='segment', first_crossing=False)
    """
    settings: dict[str, Any] = {
        "candidates": NearestCandidates(1000),
        "diversity": AngleDiversity(0.5),
        "search": LineSearch(0.1),
        "scale": "range",
        "schema": Schema(),
        "sparsify": False,
        **changes,
    }
    if isinstance(settings["schema"], Schema | None):
        settings["schema"] = (settings["schema"] or Schema()).without_steps()
    return settings


class ModelEstimator(BaseEstimator):
    """An estimator whose first parameter is a model that is fitted already.

    A subclass calls ``_keep_training`` in its ``fit``.
    """

    def _keep_training(self, training: TrainingData) -> None:
        """Keep what was learned from the training rows, and what scikit-learn expects of it."""
        self._training = training
        self._fitted_with, self._checked = used_by_fit(self), self._parameters()
        self.schema_ = training.table
        self.distance_ = training.distance
        self.pool_ = training.pool
        self.classes_ = training.classes.labels
        self.support_ = training.support
        self.n_features_in_ = len(training.table.columns)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if training.table.array_dtype is None:
            self.feature_names_in_ = np.asarray(training.table.columns, dtype=object)

    def _check_fitted(self) -> None:
        if not hasattr(self, "pool_"):
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet. Call fit with the training rows "
                f"first."
            )
        now = self._parameters()
        if any(now[name] is not value for name, value in self._checked.items()):
            check_parameters(self, self._fitted_with)  # set_params may have come after fit
            self._checked = now

    def _check_goal(self, target: Any = None, interval: tuple[float, float] | None = None) -> None:
        """Raise if no training row has what is wanted: it is wrong for every row that is asked."""
        set_goal(self._training.classes, target, interval)

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters as they are now; faster than ``get_params``."""
        kind: Any = type(self)
        return {name: getattr(self, name) for name in _parameter_names(kind)}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pool_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes = tags.input_tags
        takes.allow_nan = takes.categorical = takes.string = True
        return tags

    def __sklearn_clone__(self) -> Self:
        # A clone explains the same model: cloning the model too would throw its training away.
        return type(self)(**self.get_params(deep=False))


@cache
def _parameter_names(kind: Any) -> tuple[str, ...]:
    return tuple(kind._get_param_names())


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
        :class:`~counterset.strategies.Cutoff`.
    diversity
        Step 3: :class:`AngleDiversity`, :class:`DistanceDiversity`, :class:`FeatureDiversity`, or
        a step of your own, see :class:`~counterset.strategies.Diversity`; None keeps the nearest.
    search
        Step 4: :class:`LineSearch` or a step of your own, see
        :class:`~counterset.strategies.Search`;
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
            A table like the training data, or a list of mappings from columns to values. For a
            dask DataFrame, see :meth:`counterset.batch.FrameExplainer.explain_dask`.
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
            raise InvalidInputError(
                "explain_many takes rows in memory, got a dask DataFrame. Explain its partitions "
                "where they are: counterset.batch.FrameExplainer(explainer).explain_dask(X)."
            )
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
