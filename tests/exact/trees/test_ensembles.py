"""Trees as the solvers see them: cuts to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from counterset.exact import counterfactual_distance
from counterset.exact.trees.models import LEAF, Tree, TreeEnsemble, in_column, last_left


@settings(max_examples=100)
@given(
    threshold=st.floats(-1e6, 1e6).map(float),
    single=st.booleans(),
    strict=st.booleans(),
)
def test_the_last_double_to_the_left(threshold: float, single: bool, strict: bool) -> None:
    if single and strict:
        threshold = float(np.float32(threshold))
    cut = float(last_left(np.array([threshold]), single=single, strict=strict)[0])

    def goes_left(value: float) -> bool:
        seen = float(np.float32(value)) if single else value
        return seen < threshold if strict else seen <= threshold

    assert goes_left(cut)
    assert not goes_left(float(np.nextafter(cut, np.inf)))


def test_the_witness_is_on_the_right_side_in_single_precision() -> None:
    # 0.1 is above its neighbour in single precision, 0.3 below.
    X = np.array([[0.1], [0.3], [0.1], [0.3]])
    model = DecisionTreeClassifier().fit(X, [0, 1, 0, 1])
    for x in X[:2]:
        bounds = counterfactual_distance(model, x, "l1")
        assert model.predict(bounds.witness[None, :])[0] != model.predict(x[None, :])[0]
        step = np.nextafter(bounds.witness, x)
        assert model.predict(step[None, :])[0] == model.predict(x[None, :])[0]


def test_rows_go_left_by_cuts_and_by_sets_of_values() -> None:
    # The first feature is cut at 0.5; to its right, values 0 and 2 of the second go left.
    feature, left, right = np.array([0, 0, 1, 0, 0]), [1, LEAF, 3, LEAF, LEAF], [2, -1, 4, -1, -1]
    tree = Tree(
        feature,
        np.array([0.5, 0.0, 0.0, 0.0, 0.0]),
        np.array(left),
        np.array(right),
        in_column(np.array([0.0, 1.0, 0.0, 2.0, 4.0]), 0, 2),
        {2: 0b101},
    )
    ensemble = TreeEnsemble([tree, tree], np.array([0.5, 0.25]), np.array(["a", "b"]), 0.0)
    rows = ([0.5, 1.0], [0.6, 0.0], [0.6, 1.0], [0.6, 2.0])
    scores = [ensemble.scores(np.array(row)).tolist() for row in rows]
    assert scores == [[0.5, 2.25], [0.5, 4.25], [0.5, 8.25], [0.5, 4.25]]
