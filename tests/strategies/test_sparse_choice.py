"""Step 3 for answers that change few features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.mixed_toys import FRAME, explain, lend
from support.toys import Recorder, fitted

from counterset import Constraints, DiverseExplainer
from counterset.strategies.sparsity import LANDMARK_STRIDE, NEAREST, _first_ones


def test_sparse_answers_start_from_the_nearest_and_from_landmarks() -> None:
    many = NEAREST + 5
    owners = np.array([0] * many + [2] * many)
    places = np.ones(2 * many, dtype=np.intp)
    places[[many - 2, 2 * many - 1]] = 3 * LANDMARK_STRIDE  # one far landmark for each
    landmark, open_ = places % LANDMARK_STRIDE == 0, np.ones(2 * many, dtype=bool)
    picked = _first_ones(owners, landmark, open_, 1).tolist()
    assert picked == [*range(NEAREST), many - 2, *range(many, many + NEAREST), 2 * many - 1]
    open_[0] = False  # refused: the next one takes its place
    picked = _first_ones(owners, landmark, open_, 1).tolist()
    assert picked[:NEAREST] == [*range(1, NEAREST + 1)]
    assert _first_ones(owners[:0], landmark[:0], open_[:0], 1).tolist() == []


def test_one_input_asks_as_few_calls_as_it_can_and_gets_what_it_gets_in_a_batch() -> None:
    model = Recorder(lend)
    four = Constraints(immutable=["age"])  # of five features
    explainer = fitted(FRAME, model, sparse=True, search=None, constraints=four)
    declined = FRAME[lend(FRAME) == "no"].head(12)
    together = explain(explainer, declined)
    for i in range(len(declined)):
        model.asked.clear()
        alone = explain(explainer, declined.iloc[[i]])[0]
        assert alone.counterfactuals.equals(together[i].counterfactuals)
        # The input, the candidates, what can be undone, and what is returned. It used to be two
        # calls for each round of undoing.
        assert len(model.asked) <= 4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_single_member_of_a_group_can_be_undone_either(seed: int) -> None:
    # A group was undone whole or not at all, although part of it may be a known combination.
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.integers(0, 3, (300, 5)) * [1, 1, 1, 10, 10], columns=list("abcde"), dtype=float
    )
    weights = rng.integers(-1, 4, 5) / [1, 1, 1, 10, 10]

    def accept(rows: pd.DataFrame) -> Any:
        return rows.to_numpy() @ weights > weights.clip(0) @ frame.mean().to_numpy()

    group = ["a", "b", "c"]
    known = set(map(tuple, frame[group].to_numpy()))
    explainer = fitted(
        frame, accept, sparse=True, constraints=Constraints(together=[group], immutable=["d"])
    )
    inputs = frame[~accept(frame)][:40]
    checked = 0
    for one in explain(explainer, inputs):
        x = inputs.loc[one.index]
        for row in pd.DataFrame(one.counterfactuals).to_dict("records"):
            for name in frame:
                undone = row | {name: x[name]}
                combination = tuple(undone[each] for each in group)
                is_kept = combination == tuple(x[group]) or combination in known
                if row[name] == x[name] or undone == x.to_dict() or not is_kept:
                    continue
                checked += 1
                assert not accept(pd.DataFrame([undone]))[0]
    assert checked > 0


def test_the_rows_asked_do_not_grow_with_the_square_of_the_features() -> None:
    # 150 features took 1.4 million rows for one explanation, and 500 did not end in minutes.
    asked = {}
    for width in (20, 200):
        random = np.random.default_rng(0)
        data, weights = random.normal(size=(500, width)), random.normal(size=width)
        model = Recorder(lambda rows, weights=weights: rows @ weights > 0)
        explainer = DiverseExplainer(model).fit(data)
        model.asked.clear()
        (one,) = explainer.explain_many(data[data @ weights < 0][:1], if_none="ignore")
        assert len(one) == 5
        asked[width] = model.rows
    assert asked[200] <= asked[20]
