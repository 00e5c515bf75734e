"""Step 3 for answers that change few features."""

from __future__ import annotations

import numpy as np
from mixed_toys import FRAME, explain, lend
from toys import Recorder, fitted

from counterset import Constraints
from counterset.steps.sparse_choice import LANDMARK_STRIDE, NEAREST, _first_ones


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
    explainer = fitted(FRAME, model, sparsify=True, search=None, constraints=four)
    declined = FRAME[lend(FRAME) == "no"].head(12)
    together = explain(explainer, declined)
    for i in range(len(declined)):
        model.asked.clear()
        alone = explain(explainer, declined.iloc[[i]])[0]
        assert alone.counterfactuals.equals(together[i].counterfactuals)
        # The input, the candidates, what can be undone, and what is returned. It used to be two
        # calls for each round of undoing.
        assert len(model.asked) <= 4
