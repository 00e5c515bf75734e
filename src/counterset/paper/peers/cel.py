"""CEL (ce-library): counterfactuals for groups, by GLOBE-CE, AReS, T-CREx and GLANCE."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from counterset._base.arrays import Labels, Mask, Matrix, Vector
from counterset.exceptions import MissingExtraError
from counterset.paper.peers.columns import Columns, seed_for
from counterset.paper.peers.protocol import LIMIT, import_library

__all__ = ["Ares", "Glance", "GlobeCe", "TCrex"]

#: Says of rows of columns whether they have left the class that is explained (1 or 0).
Leaves: TypeAlias = Callable[[Any], Labels]

#: CEL's packages import all of its methods, with TensorFlow, and with GPyOpt, which it does not
#: ask pip for. These four methods need neither: their packages are not executed.
PACKAGES = (
    "cel", "cel.models", "cel.cf_methods", "cel.cf_methods.global_methods",
    "cel.cf_methods.group_methods",
)  # fmt: skip

#: The number of points along a direction that GLOBE-CE compares, its own default.
STEPS = 1000
#: AReS compares 300 rules, and GLANCE begins with 10 groups: with more, they are not learned
#: within the time limit of a peer.
RULES, CENTRES = 300, 10
#: For the same reason, GLOBE-CE and AReS learn from at most 200 rows of each class.
ROWS = 200


@dataclass
class _OfGroups(ABC):
    """What the methods of CEL have in common: they learn from all rows of a class at once.

    Categories are one-hot columns, and the numbers of frames are scaled to the range from 0 to 1.

    Parameters
    ----------
    norm
        Not used: they have costs of their own.
    name, uses_norm
        See :class:`~counterset.paper.peers.protocol.Peer`.
    """

    norm: int
    name: str = "cel"
    uses_norm: bool = False

    def fit(self, model: Any, X: Matrix | pd.DataFrame) -> None:
        """Learn for the inputs of each class, from the training rows and the model's labels."""
        self._model = model
        self._columns, rows = Columns.learn(X)
        labels = np.asarray(model.predict(X))
        self._learned: dict[Any, Any] = {}
        self._leaves: dict[Any, Leaves] = {}
        for label in np.unique(labels).tolist():
            away = labels != label
            seed_for(rows[0])
            if away.any():
                self._leaves[label] = self._leaving(label)
                self._learned[label] = self._learn(rows, away, self._leaves[label])

    def explain_many(self, X: Matrix | pd.DataFrame) -> Sequence[Any]:
        """Return a set for each row; an empty one where nothing applies to it."""
        return self._columns.sets(X, self._explain)

    def _explain(self, row: Vector) -> Matrix:
        [label] = np.asarray(self._model.predict(self._columns.decode(row))).tolist()
        if label not in self._learned:
            return np.zeros((0, len(row)))
        return self._find(self._learned[label], row, self._leaves[label])

    def _leaving(self, label: Any) -> Leaves:
        def leaves(rows: Any) -> Labels:
            rows = np.asarray(rows, dtype=np.float64).reshape(-1, len(self._columns.low))
            asked = np.asarray(self._model.predict(self._columns.decode(rows)))
            left: Labels = (asked != label).astype(int)
            return left

        return leaves

    @abstractmethod
    def _learn(self, rows: Matrix, away: Mask, leaves: Leaves) -> Any:
        """Return what is learned for the rows that are not away."""

    @abstractmethod
    def _find(self, learned: Any, row: Vector, leaves: Leaves) -> Matrix:
        """Return the options of an input."""

    def _described(self) -> SimpleNamespace:
        """Return the description of the columns that CEL takes.

        It tells a category by the text before the first space of a column's name.
        """
        tree: dict[str, list[str]] = {}
        names: list[str] = []
        for i, places in enumerate(self._columns.places):
            is_number = places[0] in self._columns.numbers
            own = [] if is_number else [f"f{i} = {k}" for k in range(len(places))]
            tree[f"f{i}"] = own
            names += own or [f"f{i}"]
        return SimpleNamespace(
            features_tree=tree,
            features=names,
            categorical_features=[name for name, own in tree.items() if own],
            categorical_columns=[i for group in self._columns.groups for i in group],
            numerical_columns=self._columns.numbers,
        )


@dataclass
class GlobeCe(_OfGroups):
    """GLOBE-CE (Ley, Mishra and Magazzeni 2023): one direction for a class, scaled for each input.

    The direction is the best of 1000 random ones that change two features, as in CEL's own
    ``explain``. A set is one counterfactual: the first along the direction.
    """

    name: str = "globe-ce"

    def _learn(self, rows: Matrix, away: Mask, leaves: Leaves) -> Any:
        described = self._described()
        own = pd.DataFrame(_spread(rows[~away]), columns=described.features)
        explainer = _module("global_methods.globe_ce.globe_ce").GLOBE_CE(leaves, described, own)
        direction = explainer.get_best_delta()
        farthest = max(explainer.bisection(direction), 1.0)
        return explainer, np.linspace(0.0, farthest, STEPS)[:, None] * direction

    def _find(self, learned: Any, row: Vector, leaves: Leaves) -> Matrix:
        explainer, moves = learned
        # "Rounding" sets the largest column of each category to 1.
        moved: Matrix = explainer.round_categorical(row + moves)
        first = np.flatnonzero(leaves(moved))[:1]
        return moved[first]


@dataclass
class Ares(_OfGroups):
    """AReS (Rawal and Lakkaraju 2020): rules "if in the group, and if of a value, then another".

    Numbers are cut into 5 ranges, and a rule moves them by whole ranges. A set is what the rules
    that apply to the input make of it, as far as that leaves its class: at most 5.

    Other than in CEL's own ``explain``, whose numbers suit tables of categories, conditions hold
    for 10 % of the rows (not 60 %) and have one part each, and 300 rules are compared (not 5000;
    CEL fails where there are fewer).
    """

    name: str = "ares"

    def _learn(self, rows: Matrix, away: Mask, leaves: Leaves) -> Any:
        import_library("cel", "matplotlib").use("agg")
        described = self._described()
        both = np.concatenate([_spread(rows[~away]), _spread(rows[away])])
        frame = pd.DataFrame(both, columns=described.features)
        explainer = _module("global_methods.ares.ares").AReS(leaves, described, frame, n_bins=5)
        share = 0.1
        explainer.generate_itemsets(share, max_width=1)
        explainer.generate_groundset(max_width=2, then_generation=share)
        count = min(RULES, explainer.V.length)
        if not count:
            return None
        weights = [1, 10]  # of correct rules, and of low costs
        explainer.evaluate_groundset(
            weights, r=count, save_mode=1, disable_tqdm=True, plot_accuracy=False
        )
        explainer.select_groundset(s=len(explainer.V.triples_array))
        explainer.optimise_groundset(weights, plot_accuracy=False)
        return explainer, sorted(
            explainer.R.triples, key=lambda rule: [sorted(part) for part in rule]
        )

    def _find(self, learned: Any, row: Vector, leaves: Leaves) -> Matrix:
        if learned is None:
            return np.zeros((0, len(row)))
        explainer, rules = learned
        frame = pd.DataFrame(row[None, :], columns=self._described().features)
        cut = explainer.bin_X_test(frame).iloc[0]
        options = [
            explainer.V.triple_cost(rule, explainer, frame)[2].to_numpy(dtype=np.float64)[0]
            for rule in rules
            if all(cut[value] for value in (*rule[0], *rule[1]))
        ]
        found = np.unique(np.array(options).reshape(-1, len(row)), axis=0)
        found = found[leaves(found) == 1] if len(found) else found
        nearest = np.argsort(np.abs(found - row).sum(axis=1), kind="stable")[:LIMIT]
        best: Matrix = found[nearest]
        return best


@dataclass
class TCrex(_OfGroups):
    """T-CREx (Bewley et al. 2024): the nearest point of a box in which the wanted class prevails.

    Boxes are leaves of a tree that is fitted to the model's labels. Which box serves an input is
    told by a second tree. A set is one counterfactual. Left to itself, CEL takes any box in which
    tree and model agree, so it is told that only rows of the wanted class count. The ends of its
    boxes are corrected: CEL 0.1.1 takes the lower for the upper one.
    """

    name: str = "t-crex"

    def _learn(self, rows: Matrix, away: Mask, leaves: Leaves) -> Any:
        wanted = SimpleNamespace(predict=lambda asked: np.ones(len(asked), dtype=int))

        class Boxes(_module("group_methods.tcrex.tcrex").TCREx):  # type: ignore[misc]
            def _get_node_bounds(self, tree: Any, node: int) -> list[tuple[float, float]]:
                return box_of(tree.tree_, node)

            def _assign_optimal_rules(self) -> Any:
                if not self.maximal_rules_:  # CEL would end in a KeyError
                    raise _NoBoxError
                return super()._assign_optimal_rules()

        boxes = Boxes(wanted, surrogate_tree_params={"max_leaf_nodes": 8, "random_state": 0})
        try:
            return boxes.fit(rows, away.astype(int))
        except _NoBoxError:
            return None

    def _find(self, learned: Any, row: Vector, leaves: Leaves) -> Matrix:
        if learned is None:
            return np.zeros((0, len(row)))
        found: Matrix = np.asarray(learned.explain(row[None, :]))
        moved: Matrix = found[(found != row).any(axis=1)]
        return moved


class _NoBoxError(Exception):
    """Raised when the wanted class prevails in no box."""


def box_of(tree: Any, node: int) -> list[tuple[float, float]]:
    """Return the least and the greatest value of each feature in a leaf of scikit-learn's tree."""
    low, high = np.full(tree.n_features, -np.inf), np.full(tree.n_features, np.inf)
    while node:
        [parent] = np.flatnonzero((tree.children_left == node) | (tree.children_right == node))
        feature, end = tree.feature[parent], tree.threshold[parent]
        if tree.children_left[parent] == node:
            high[feature] = min(high[feature], end)
        else:  # the threshold itself is on the left
            low[feature] = max(low[feature], np.nextafter(np.float32(end), np.float32(np.inf)))
        node = int(parent)
    return list(zip(low.tolist(), high.tolist(), strict=True))


@dataclass
class Glance(_OfGroups):
    """GLANCE (Emmanouilidis et al. 2024): 4 actions, each for the inputs near a centre.

    Rows of the class are clustered into 10 groups, DiCE finds a counterfactual for each centre,
    and groups are merged until 4 are left. A set is one counterfactual: the input, moved by the
    mean action of the nearest group. CEL passes all columns to DiCE as numbers.
    """

    name: str = "glance"

    def _learn(self, rows: Matrix, away: Mask, leaves: Leaves) -> Any:
        torch = import_library("cel", "torch")

        def probability(asked: Any) -> Any:  # DiCE asks a model of torch
            return torch.tensor(leaves(asked.detach().numpy()), dtype=torch.float32)[:, None]

        module = torch.nn.Module()
        module.forward = probability
        labels = away.astype(int)
        explainer = _module("group_methods.glance.glance").GLANCE(
            rows, labels, module, self._columns.names, k=min(CENTRES, int((~away).sum())), s=4
        )
        explainer.prep(rows, labels)
        return explainer

    def _find(self, learned: Any, row: Vector, leaves: Leaves) -> Matrix:
        if not learned.final_clusters:
            return np.zeros((0, len(row)))
        found: Matrix = np.asarray(learned.get_counterfactual(row[None, :]))[None, :]
        return found


def _spread(rows: Matrix) -> Matrix:
    """Return some rows, evenly spread over all of them."""
    at = np.linspace(0, len(rows) - 1, min(ROWS, len(rows))).astype(np.intp)
    spread: Matrix = rows[np.unique(at)]
    return spread


def _module(path: str) -> Any:
    """Import a module of CEL without its packages."""
    if "cel" not in sys.modules:
        spec = find_spec("cel")
        if spec is None or spec.submodule_search_locations is None:
            raise MissingExtraError(
                "This peer needs CEL, which is not installed. Install it with: "
                "counterset peers --install cel"
            )
        folder = Path(next(iter(spec.submodule_search_locations))).parent
        for name in PACKAGES:
            package = ModuleType(name)
            package.__path__ = [str(folder.joinpath(*name.split(".")))]
            sys.modules[name] = package
    return import_library("cel", f"cel.cf_methods.{path}")
