"""DiverseExplainer: fit on training rows, then explain decisions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from inspect import Signature, signature
from pathlib import Path
from typing import Any, NoReturn, Self, overload

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from counterset._base.arrays import Matrix, to_python
from counterset._base.callbacks import CallbackSupportMixin, tell_callbacks
from counterset._base.checks import check_count, check_positive, check_type
from counterset._base.progress import Progress
from counterset.constraints.constraints import Constraints, RowConstraints, is_per_row
from counterset.constraints.plausibility import NearData
from counterset.distances import DistanceLike
from counterset.exact.certify import certify
from counterset.exact.domains import DomainLike
from counterset.exact.ranges import RangeFinder
from counterset.exceptions import InvalidInputError, NotFittedError
from counterset.explanations.explanation import Explanation
from counterset.explanations.explanations import Explanations
from counterset.models.adapter import warn_of_unused
from counterset.models.goals import AnyOther, read_goal, set_goal
from counterset.models.margin import Margin, MarginLike, read_margin
from counterset.saving.files import Saved, read_explainer, write_explainer
from counterset.strategies.batch import Requirements
from counterset.strategies.calls import IfNone, Request, Workload, explain_rows
from counterset.strategies.directions import directions_table
from counterset.strategies.diversity import AngleDiversity, Diversity
from counterset.strategies.line_search import LineSearch, Search
from counterset.strategies.listing import lists_table
from counterset.strategies.nearest import Nearest
from counterset.strategies.paper import Paper
from counterset.strategies.ranking import Cutoff, NearestCandidates
from counterset.strategies.recipes import RecipeBook
from counterset.strategies.shared import SharedFinder
from counterset.strategies.strategy import Strategy
from counterset.strategies.training import TrainingData
from counterset.tables.codes import warn_of_codes
from counterset.tables.frames import is_dask_frame
from counterset.tables.scaling import ScaleLike, warn_of_scale
from counterset.tables.schema import Schema

__all__ = ["DiverseExplainer"]

#: The type of each parameter, and what to say if it is something else.
_ALLOWED: dict[str, tuple[Any, str]] = {
    "strategy": (Strategy, "Nearest(...), Shared(...), Paper(...) or an object with learn"),
    "schema": (Schema | None, "Schema or None"),
    "constraints": (Constraints | None, "Constraints or None"),
    "costs": (Mapping | None, "a mapping from names to numbers above 0, or None"),
    "plausibility": (NearData | None, "NearData or None"),
}
#: Parameters that ``fit`` uses; the others are read when a row is explained.
_USED_BY_FIT = ("model", "strategy", "distance", "scale", "costs", "schema", "plausibility")
#: How options are chosen used to be said by these parameters.
_MOVED = ("candidates", "diversity", "search", "sparsify", "anchors")
#: A progress bar appears when learning takes longer than two seconds.
BAR_AFTER = 2.0


class _SignatureOfInit:
    """The signature of a class, read from its ``__init__``."""

    def __get__(self, instance: Any, owner: Any) -> Signature:
        _, *others = signature(owner.__init__).parameters.values()
        return Signature(others)


class DiverseExplainer(CallbackSupportMixin, BaseEstimator):
    """Explain a decision by a small set of diverse, close counterfactuals.

    The approach of "Promoting Counterfactual Robustness through Diversity" (AAAI 2024): several
    options that differ from each other, in place of the nearest one alone. How they are chosen is
    said by ``strategy``.

    Parameters
    ----------
    model : object
        Anything with ``predict``, or a function from rows to labels. It is asked in the
        container, columns and dtypes of the training data.
    strategy : Nearest, Shared, Paper or Strategy, default=Nearest()
        How options are chosen: :class:`Nearest`, few changes as seen from the input;
        :class:`Shared`, with options from a list that people alike share; :class:`Paper`, the
        paper's four steps; or a strategy of your own, see :class:`~counterset.strategies.Strategy`.
    distance : str, Distance or callable, default="l1"
        ``"l1"``, ``"l2"``, ``"linf"``, ``"l0"``, ``"gower"``, a
        :class:`~counterset.distances.Distance`, or a function from (n, d) and (m, d) to (n, m).
        Taken in the scaled space.
    max_counterfactuals : int, default=5
        The most to report for one input.
    scale : str, array of shape (n_features,) or None, default="robust"
        What counts 1 in each feature. ``"robust"``: its range without outliers; ``"range"``: its
        range; ``"mad"``: its median absolute deviation; None: 1; or one number per feature.
    costs : mapping, default=None
        From names to how much more than usual a change counts, on top of any scale.
    schema : Schema, default=None
        The kinds of features where the dtypes do not tell, see :class:`Schema`.
    constraints : Constraints, default=None
        What may change, see :class:`Constraints`.
    plausibility : NearData, default=None
        :class:`NearData` requires counterfactuals to lie near training rows.
    anonymity : int, default=1
        An option may equal a training row, in all features together, only if at least this many
        training rows are equal. With 2, no option is the row of one person alone: a number goes a
        little farther, or another option takes its place.
    max_model_rows : int, default=None
        The most rows to ask the model about for one input; when they are used up, the search ends,
        and a warning says so. Answers stay valid, but may be fewer or farther, and depend on the
        inputs that are explained with it. What ``fit`` asks is not counted. None: as many as the
        search takes, some thousands to ten thousands.
    margin : Margin or float, default=None
        How far from an option a person may land, and it still works: :class:`Margin`, or its
        ``noise``, a share of the usual range of each feature. The model is asked about many more
        rows. None: options need to work only where they are.

    Attributes
    ----------
    classes_ : ndarray
        The labels that the model gives to the training rows.
    schema_ : Schema
        The kinds and ranges of the features, as learned; print it.
    distance_ : object
        The distance, for rows in the model's own units: pass it to the metrics.
    strategy_ : Finder
        What the strategy learned.
    lists_ : DataFrame
        The shared lists as a table, with :class:`Shared` only.
    training_ : TrainingData
        The training rows as the library holds them, for code that extends it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    ExhaustiveExplainer : All counterfactuals that are nearly as close as the nearest.

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

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse parameters that moved to a strategy, and show the line to write instead."""
        moved = {name: given[name] for name in _MOVED if name in given}
        if moved:
            _refuse(moved)
        new: Self = super().__new__(cls)
        return new

    #: That of ``__init__``, for help texts and scikit-learn, which would look at ``__new__``.
    __signature__ = _SignatureOfInit()

    def __init__(
        self,
        model: Any,
        *,
        strategy: Strategy = Nearest(),
        distance: DistanceLike = "l1",
        max_counterfactuals: int = 5,
        scale: ScaleLike = "robust",
        costs: Mapping[Any, float] | None = None,
        schema: Schema | None = None,
        constraints: Constraints | None = None,
        plausibility: NearData | None = None,
        anonymity: int = 1,
        max_model_rows: int | None = None,
        margin: MarginLike = None,
    ) -> None:
        self.model = model
        self.strategy = strategy
        self.distance = distance
        self.max_counterfactuals = max_counterfactuals
        self.scale = scale
        self.costs = costs
        self.schema = schema
        self.constraints = constraints
        self.plausibility = plausibility
        self.anonymity = anonymity
        self.max_model_rows = max_model_rows
        self.margin = margin

    @classmethod
    def paper(
        cls,
        model: Any,
        *,
        candidates: Cutoff = NearestCandidates(1000),
        diversity: Diversity | None = AngleDiversity(0.5),
        search: Search | None = LineSearch(0.1),
        **rest: Any,
    ) -> Self:
        """Return an explainer with the settings of the paper.

        That is the strategy :class:`Paper`, ``scale="range"``, and numbers without a step,
        ``Schema(step=0)``.

        Parameters
        ----------
        model : object
            As for the explainer itself.
        candidates, diversity, search
            Steps 2 to 4, as for :class:`Paper`.
        rest
            Other parameters of the explainer, and ``regions`` of :class:`Paper`.

        Examples
        --------
        >>> DiverseExplainer.paper(lambda rows: rows[:, 0] > 1).strategy.search
        LineSearch(gamma=0.1, halvings='segment', first_crossing=False)
        """
        if "strategy" in rest:
            raise InvalidInputError(
                "DiverseExplainer.paper has the strategy Paper. For another one, write "
                "DiverseExplainer(model, strategy=...)."
            )
        settings = {"scale": "range", "schema": None} | rest
        strategy = Paper(candidates, diversity, search, settings.pop("regions", None))
        if isinstance(settings["schema"], Schema | None):
            settings["schema"] = (settings["schema"] or Schema()).without_steps()
        return cls(model, strategy=strategy, **settings)

    def fit(self, X: Any, y: Any = None, *, progress: bool | None = None) -> Self:
        """Ask the model about the training rows, once, and learn what the strategy needs.

        Parameters
        ----------
        X : DataFrame, Table, array of shape (n, d) or list of mappings
            The training rows: a DataFrame of pandas or polars, a pyarrow Table, a 2-d array, or a
            list of mappings from columns to values. Answers come in the same container.
        y : ignored
            Labels come from the model, as in the paper.
        progress : bool, default=None
            Show a progress bar on the error stream if learning takes longer than two seconds.
            None: if that is a terminal.

        Notes
        -----
        With scikit-learn 1.9 or later, ``set_callbacks`` adds callbacks, such as its
        ``ProgressBar``. They are told of each part that is learned. That is an experiment of
        scikit-learn. No callback can end the learning early.
        """
        self._check_parameters()
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
        recipes = RecipeBook(training)
        tell_callbacks(self, X, lambda told: self._learn(training, recipes, progress, told))
        return self

    def with_costs(self, costs: Mapping[Any, float] | None) -> Self:
        """Return a fitted explainer with other costs, without asking the model again.

        For a person's own costs: what is hard for one is easy for another. Options are looked for
        among what was learned with this explainer's costs, so they can differ from those of a new
        ``fit``. Regions and their shared lists are found anew.

        Parameters
        ----------
        costs : mapping or None
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
        check_type("costs", costs, *_ALLOWED["costs"])
        other: Self = clone(self).set_params(costs=costs)
        training = self.training_.with_costs(costs, self.distance, self.plausibility)
        return other._learn(training, self._recipes)

    def with_strategy(self, strategy: Strategy) -> Self:
        """Return a fitted explainer with another strategy, without asking about the rows again.

        What strategies have in common is learned once.

        Parameters
        ----------
        strategy : Nearest, Shared, Paper or Strategy
            As for the explainer itself, in place of its own.

        Examples
        --------
        >>> import numpy as np
        >>> from counterset import DiverseExplainer, Shared
        >>> X = np.random.default_rng(0).random((200, 2))
        >>> explainer = DiverseExplainer(lambda rows: rows.sum(axis=1) > 1).fit(X)
        >>> explainer.with_strategy(Shared(own=1)).strategy.own
        1
        """
        self._check_fitted()
        check_type("strategy", strategy, *_ALLOWED["strategy"])
        other: Self = clone(self).set_params(strategy=strategy)
        return other._learn(self.training_, self._recipes)

    @property
    def lists_(self) -> pd.DataFrame:
        """The shared lists as a table, with ``strategy=Shared()``; made when it is read.

        One row for each option of the list of each class and region, in the order in which people
        go down the list:

        - ``label``, ``list``: the class of the people who go down it, and the number of the list.
        - ``rank``, ``option``: what the option asks for. Who has more already keeps it. People are
          offered it in four strengths, from half the way to twice as far, and take the weakest that
          works for them.
        - ``support``: how many training rows have what it asks for.
        - ``works_for``: the share of the training people of this list for whom it works in some
          strength, within the explainer's own constraints, counted on 500 people at most.
        - ``together``: the share for whom it or an option before it works.

        The lists are those for any other class.

        Examples
        --------
        >>> import numpy as np
        >>> from counterset import DiverseExplainer, Shared
        >>> X = np.random.default_rng(0).random((200, 2))
        >>> explainer = DiverseExplainer(lambda rows: rows[:, 0] > 0.5, strategy=Shared()).fit(X)
        >>> explainer.lists_[["label", "rank", "option", "support", "works_for"]].head(2)
           label  rank             option  support  works_for
        0  False     1  x0 at least 0.501      113        1.0
        1  False     2  x0 at least 0.502      113        1.0
        """
        self._check_fitted()
        if not isinstance(self.strategy_, SharedFinder):
            raise AttributeError(
                f"Only strategy=Shared() has shared lists, this explainer has {self.strategy!r}. "
                f"Write explainer.with_strategy(Shared()).lists_."
            )
        training, count = self.training_, self.max_counterfactuals
        rules = training.rules(self.constraints)
        return lists_table(
            self.strategy_, Requirements(AnyOther(), None, rules, training.support, count)
        )

    def prepare(
        self,
        *,
        target: Any = None,
        target_probability: float | None = None,
        interval: tuple[float, float] | None = None,
    ) -> Self:
        """Learn now what explanations for a goal need, so that the first one need not wait.

        ``fit`` learns what is needed for any other class. For a model of two classes nothing is
        left to learn. For another goal, ``explain`` learns what it needs when it is first asked.

        Parameters
        ----------
        target, target_probability, interval
            As in ``explain``.
        """
        self.check_goal(target, interval)
        goal = read_goal(self.training_.classes, target, interval)
        rules = self.training_.rules(self.constraints)
        support, count = self.training_.support, self.max_counterfactuals
        self.strategy_.prepare(Requirements(goal, target_probability, rules, support, count))
        return self

    def directions(
        self, target: Any = None, *, interval: tuple[float, float] | None = None
    ) -> pd.DataFrame:
        """Return in which direction each feature usually helps people to reach a goal.

        ``fit`` finds out what a few hundred training rows would have had to change. A direction
        is usual if a feature had to be moved in it in 4 of 5 cases, and at least 10 times. With
        :class:`Nearest` and :class:`Shared`, options against it come last, and are marked.

        Parameters
        ----------
        target, interval
            As in ``explain``. One of them is needed: what helps to leave a class is what hinders
            to reach it.

        Returns
        -------
        DataFrame
            One row for each number, time and ordinal, by its name. ``raised`` and ``lowered`` say
            how often it had to be moved in each direction, ``direction`` is ``"up"``, ``"down"``
            or ``""``. ``higher`` is the share of pairs, of a training row with the wanted result
            and one without, in which the first has the higher value (equal values count half).
            ``supported`` says whether that agrees with the direction, 95 % sure.

        See Also
        --------
        Constraints.suggest : Constraints that hold features to these directions.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).random((300, 2))
        >>> approve = lambda rows: rows[:, 0] > 0.5
        >>> explainer = DiverseExplainer(approve).fit(X)
        >>> explainer.directions(target=True)[["direction", "supported"]]
           direction  supported
        x0        up       True
        x1                False
        """
        self._check_fitted()
        goal = set_goal(self.training_.classes, target, interval)
        if isinstance(goal, AnyOther):
            raise InvalidInputError(
                "directions needs to know what is wanted: what helps to leave a class hinders to "
                "reach it. Name the wanted class, such as directions(target="
                f"{to_python(self.classes_[-1])!r}), or pass interval=(low, high)."
            )
        training = self.training_
        rules = training.rules(self.constraints)
        requirements = Requirements(goal, None, rules, training.support)
        raised, lowered = np.zeros((2, len(training.table.features)), dtype=np.intp)
        for _, recipes in self._recipes.of_all_classes(requirements):
            raised, lowered = raised + recipes.raised, lowered + recipes.lowered
        labels, rows = training.classes.labels[training.pool.codes], training.pool.matrix
        wanted = goal.accepts(labels, labels)
        return directions_table(raised, lowered, training.table, rows, wanted)

    def check_goal(self, target: Any = None, interval: tuple[float, float] | None = None) -> None:
        """Raise if no training row has what is wanted: it is wrong for every row that is asked.

        Parameters
        ----------
        target, interval
            As in ``explain``.
        """
        self._check_fitted()
        set_goal(self.training_.classes, target, interval)

    def explain(
        self,
        x: Any,
        *,
        target: Any = None,
        target_probability: float | None = None,
        interval: tuple[float, float] | None = None,
        constraints: Constraints | None = None,
        margin: MarginLike = None,
    ) -> Explanation:
        """Explain the decision on one row.

        Parameters
        ----------
        x : array, Series, mapping or table of one row
            A 1-d array, a Series, a mapping from columns to values, or a table of one row.
        target : label or list of labels, default=None
            The wanted class, or several that are acceptable; None accepts any class but the
            input's own.
        target_probability : float, default=None
            How probable the model's ``predict_proba`` must find the class of a counterfactual.
        interval : pair of float, default=None
            For a regression: the wanted range (low, high) of the prediction.
        constraints : Constraints, default=None
            In place of the explainer's own.
        margin : Margin or float, default=None
            In place of the explainer's own; 0: none.
        """
        self._check_fitted()
        if is_per_row(constraints):
            check_type("constraints", constraints, *_ALLOWED["constraints"])
        request = Request(
            target,
            target_probability,
            interval,
            constraints,
            self.constraints,
            max_rows=self.max_model_rows,
            margin=self._margin(margin),
            anonymity=self.anonymity,
        )
        return self._explain(*self.training_.table.encode_one(x), request)[0]

    def explain_many(
        self,
        X: Any,
        *,
        target: Any = None,
        target_probability: float | None = None,
        interval: tuple[float, float] | None = None,
        constraints: RowConstraints = None,
        margin: MarginLike = None,
        if_none: IfNone = "raise",
        skip: bool = False,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
        progress: bool = False,
    ) -> Explanations:
        """Explain the decisions on many rows; each gets the explanation that it would get alone.

        Parameters
        ----------
        X : DataFrame, Table, array of shape (n, d) or list of mappings
            A table like the training data, or a list of mappings from columns to values. For a
            dask DataFrame, see :meth:`counterset.batch.FrameExplainer.explain_dask`.
        target, target_probability, interval
            As in ``explain``.
        constraints : Constraints, list of Constraints or callable, default=None
            In place of the explainer's own: :class:`Constraints` for all rows, a list of them, one
            for each row, or a function of the row. The function gets a Series (a 1-d array for an
            array, a dict for polars and pyarrow) and returns Constraints. None stands for the
            explainer's own.
        margin : Margin or float, default=None
            In place of the explainer's own; 0: none.
        if_none : "raise", "warn" or "ignore", default="raise"
            What to do when an input has no counterfactual, or has what is wanted already: raise,
            or return an empty explanation for it, whose ``status`` says which, and warn.
            ``"ignore"`` does not warn, nor where there are fewer than asked for.
        skip : bool, default=False
            Pass over inputs that have what is wanted already: their explanations are empty, with
            the status ``"already_reached"``, without an error or a warning.
        n_jobs : int, default=None
            How many processes share the rows, as in scikit-learn: None is 1, -1 all cores. With
            ``joblib.parallel_config(backend="threading")`` they are threads.
        memory : str or int, default="512MB"
            About how much memory the rows that are worked on at once may take, such as ``"2GB"``.
        progress : bool, default=False
            Show a progress bar on the error stream.
        """
        self._check_fitted()
        work = Workload(n_jobs, memory, progress)
        goal = target, target_probability, interval, constraints
        limits = self.max_model_rows, self.anonymity, self._margin(margin)
        request = Request(*goal, self.constraints, if_none, skip, *limits, workload=work)
        if is_dask_frame(X):
            raise InvalidInputError(
                "explain_many takes rows in memory, got a dask DataFrame. Explain its partitions "
                "where they are: counterset.batch.FrameExplainer(explainer).explain_dask(X)."
            )
        return self._explain(*self.training_.table.encode(X), request)

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
        explanation : Explanation
            An explanation by this explainer.
        epsilon : float, default=None
            How much worse than the optimum a counterfactual may be to count as an option; None
            proves nothing about that.
        options : bool, default=False
            Whether to prove how far the input may move before a counterfactual stops working. That
            is a distance more to solve for each counterfactual.
        domain : Box, Grid, Points or table, default=None
            Where counterfactuals may lie, as for :func:`~counterset.counterfactual_distance`; by
            default the range of the training data, widened where the input or an option lies
            outside it.
        time_limit : float, default=60.0
            In seconds, for each distance of the input (a second one is computed if what others may
            do differs) and again for all counterfactuals together; when they are up, less may be
            proved.

        Notes
        -----
        The goal and the constraints are those that the explanation was asked for.
        ``certificate.distance_bounds`` is about counterfactuals that reach the goal and keep the
        constraints, and so is its witness. What a solver cannot consider, such as plausibility, is
        left out of the lower bound only, and ``reason`` names it.

        An explanation without counterfactuals can be certified too, without ``epsilon``. If
        ``distance_bounds.none_exists``, it is proved that there is none in the domain.

        The safety of an option is about other inputs that ask for the same and may take it. What
        a constraint allows others may depend on their own values (``increase_only``,
        ``max_increase``, ``forbidden_changes``, ``together``): such constraints are left out of
        the optimum that the safety compares with. No optimum that keeps them is nearer, so the
        safety holds for those too. Other inputs are those of the domain: rows like the training
        rows, without missing values.

        Returns
        -------
        Explanation
            The same with a :class:`~counterset.exact.Certificate`. A counterfactual of safety delta
            is within epsilon of the optimum of every input of the same class that is nearer than
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
        >>> (empty,) = explainer.explain_many(X[:1], **asked)
        >>> explainer.certify(empty).certificate.distance_bounds.none_exists
        True
        """
        self._check_fitted()
        return certify(explanation, epsilon, options, self.training_, domain, time_limit)

    def save(self, path: str | Path, *, with_model: bool = False) -> None:
        """Save what the explainer learned to a file, so that other processes need not fit.

        What :meth:`prepare` and explanations made it learn since ``fit`` is saved too.

        Parameters
        ----------
        path : str or Path
            Where to write it. A file that is there is replaced.
        with_model : bool, default=False
            Whether to write the model too, by skops (``pip install 'counterset[skops]'``).
            Otherwise it must be passed to :meth:`load`.

        Notes
        -----
        The file holds the training rows. It is read by the release of counterset that wrote it. It
        is written whole or not at all, also if it replaces one that other processes use.

        Functions and objects of your own, such as a distance, cannot be saved; an error names them.

        Examples
        --------
        >>> import tempfile
        >>> X = np.random.default_rng(0).random((200, 2))
        >>> def approve(rows):
        ...     return rows.sum(axis=1) > 1
        >>> path = Path(tempfile.mkdtemp()) / "loans.counterset"
        >>> DiverseExplainer(approve, max_counterfactuals=2).fit(X).save(path)
        >>> DiverseExplainer.load(path, approve).explain([0.2, 0.5]).values[0]
        array([0.2  , 0.801])
        """
        self._check_fitted()
        given = {name: each for name, each in self._parameters().items() if name != "model"}
        saved = Saved(given, self.training_, self._recipes, self.strategy_)
        write_explainer(saved, Path(path), with_model=with_model)

    @classmethod
    def load(cls, path: str | Path, model: Any = None, *, trust: bool = False) -> Self:
        """Load an explainer from a file: it answers as the one that was saved.

        No code in the file is run, so that it may come from anyone. The training rows are mapped
        into memory: processes on one machine that load the same file share them.

        Parameters
        ----------
        path : str or Path
            A file that :meth:`save` wrote.
        model : object, default=None
            The model. It is asked about up to 1000 training rows, and must answer as the one that
            was explained. None: the model in the file.
        trust : bool, default=False
            Whether a model in the file may be of types that are not known to be safe, such as the
            trees of scikit-learn. Say so only if you know where the file comes from.
        """
        saved = read_explainer(Path(path), model, trust=trust)
        explainer = cls(saved.training.model, **saved.parameters)
        explainer._check_parameters()
        explainer.strategy_ = saved.finder
        return explainer._keep(saved.training, saved.recipes)

    @overload
    def with_ranges(self, explanations: Explanation, *, time_limit: float = ...) -> Explanation: ...
    @overload
    def with_ranges(
        self, explanations: Explanations, *, time_limit: float = ...
    ) -> Explanations: ...
    def with_ranges(
        self, explanations: Explanation | Explanations, *, time_limit: float = 10.0
    ) -> Explanation | Explanations:
        """Find ranges in place of points: between which values each option may choose.

        Texts then say "at most 3,900 DM" where everything on that side works, and "between 2,500
        DM and 3,900 DM" otherwise. What they say is true at every point: whichever value is chosen
        from each range of an option, the row reaches the goal and keeps the constraints.

        Parameters
        ----------
        explanations : Explanation or Explanations
            By this explainer.
        time_limit : float, default=10.0
            In seconds, for the options of one explanation. When they are up, fewer ranges are
            proved.

        Returns
        -------
        Explanation or Explanations
            The same, with ``option.ranges``.

        Notes
        -----
        Numbers, times and ordinals that an option changes get a range. It lies within the
        constraints and the range of the training data, on the same side of the input's value as
        the option, and ends on the steps of the feature. Features that a condition or an equality
        names, or that change ``together``, stay points. So do numbers with ``allowed`` values.

        Ranges are proved for ensembles of trees, linear models and ReLU networks, alone or behind
        scalers and encoders, and for any model where the points of the ranges are few. For trees
        and linear models, an end at the edge of the training data is dropped if it is proved that
        everything beyond works too. Other ranges were checked at thousands of points, and say so:
        ``range.proved`` is false.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.random.default_rng(0).random((200, 2)).round(2)
        >>> model = LogisticRegression(C=100).fit(X, X.sum(axis=1) > 1)
        >>> explainer = DiverseExplainer(model, max_counterfactuals=1).fit(X)
        >>> (option,) = explainer.with_ranges(explainer.explain([0.2, 0.5])).options
        >>> [(each.name, each.text, each.proved) for each in option.ranges]
        [('x0', 'at least 0.31', True), ('x1', 'at least 0.69', True)]
        """
        self._check_fitted()
        check_positive(time_limit, "time_limit")
        finder = self._range_finder
        if isinstance(explanations, Explanations):
            return explanations.with_spans([finder.spans(e, time_limit) for e in explanations])
        spans = finder.spans(explanations, time_limit)
        return explanations.with_spans(spans)

    def _learn(
        self,
        training: TrainingData,
        recipes: RecipeBook,
        progress: bool | None = False,
        told: Callable[[], None] | None = None,
    ) -> Self:
        """Let the strategy learn, and keep what was learned.

        ``told`` is called after each part, besides the progress bar.
        """
        rules = training.rules(
            self.constraints
        )  # a constraint that does not fit the data shows now
        count, support = self.max_counterfactuals, training.support
        shown = sys.stderr.isatty() if progress is None else progress
        with Progress(0, "fit", shown=shown, after=BAR_AFTER) as bar:

            def advance(total: int) -> None:
                bar.total = total
                bar.advance()
                if told is not None:
                    told()

            requirements = Requirements(AnyOther(), None, rules, support, count)
            self.strategy_ = self.strategy.learn(training, recipes, requirements, advance)
        return self._keep(training, recipes)

    def _keep(self, training: TrainingData, recipes: RecipeBook) -> Self:
        """Keep what was learned, in a file or now, and what scikit-learn expects."""
        training.rare(self.anonymity)
        self.training_, self._recipes = training, recipes
        self._range_finder = RangeFinder(training)
        self._fitted_with = {name: getattr(self, name) for name in _USED_BY_FIT}
        self._checked = self._parameters()
        self.schema_ = training.table.schema()
        self.distance_ = training.distance
        self.classes_ = training.classes.labels
        self.n_features_in_ = len(training.table.columns)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if training.table.array_dtype is None:
            self.feature_names_in_ = np.asarray(training.table.columns, dtype=object)
        return self

    def _explain(self, matrix: Matrix, index: pd.Index, request: Request) -> Explanations:
        return explain_rows(
            self.training_, self.strategy_, matrix, index, request, self._parameters()
        )

    def _margin(self, asked: MarginLike) -> Margin | None:
        """Return the margin of one call."""
        return read_margin(self.margin if asked is None else asked)

    def _check_parameters(self) -> None:
        """Check that the parameters are what the explainer can use."""
        read_margin(self.margin)
        check_count(self.max_counterfactuals, "max_counterfactuals")
        check_count(self.anonymity, "anonymity")
        if self.max_model_rows is not None:
            check_count(self.max_model_rows, "max_model_rows")
        for name, (kind, allowed) in _ALLOWED.items():
            check_type(name, getattr(self, name), kind, allowed)

    def _check_fitted(self) -> None:
        if not hasattr(self, "training_"):
            raise NotFittedError(
                f"This {type(self).__name__} is not fitted yet. Call fit with the training rows "
                f"first."
            )
        now = self._parameters()
        if all(now[name] is value for name, value in self._checked.items()):
            return
        self._check_parameters()  # set_params may have come after fit
        changed = [name for name, value in self._fitted_with.items() if not _same(now[name], value)]
        if changed:
            raise NotFittedError(
                f"{' and '.join(changed)} changed after fit, so what was learned no longer "
                f"applies. Call fit again."
            )
        self._checked = now

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters as they are now; faster than ``get_params``."""
        kind: Any = type(self)
        return {name: getattr(self, name) for name in _parameter_names(kind)}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "training_")

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


def _same(value: Any, other: Any) -> bool:
    if value is other:
        return True
    if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(value, other)
    return type(value) is type(other) and bool(value == other)


def _refuse(given: Mapping[str, Any]) -> NoReturn:
    """Refuse parameters that used to say how options are chosen; show how to say it now."""
    steps = {name: given[name] for name in ("candidates", "diversity", "search") if name in given}
    anchors = given.get("anchors")
    name = "Nearest"
    if "candidates" in given or not given.get("sparsify", True) or given.get("search", 1) is None:
        name = "Paper"
        steps |= {} if anchors is None else {"regions": anchors}
    elif anchors is not None:
        name, steps = "Shared", {"own": 0, "regions": anchors} | steps
    arguments = ", ".join(f"{key}={value!r}" for key, value in steps.items())
    raise InvalidInputError(
        f"How options are chosen is said by strategy=, no longer by {' and '.join(given)}. Write "
        f"DiverseExplainer(model, strategy={name}({arguments}))."
    )
