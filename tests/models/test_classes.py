"""The classes that a model predicts on the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from counterset.models.goals import Classes


@given(
    st.one_of(
        st.lists(st.integers(-3, 3), min_size=1),
        st.lists(st.sampled_from(["yes", "no", "maybe", ""]), min_size=1),
        st.lists(st.booleans(), min_size=1),
        st.lists(st.sampled_from([0.5, -1.0, 2.0]), min_size=1),
    )
)
def test_classes_are_the_sorted_labels_and_codes_point_at_them(labels: list[Any]) -> None:
    classes, codes = Classes.learn(np.array(labels))
    assert classes.labels.tolist() == sorted(set(labels))
    assert len(classes) == len(set(labels))
    assert [classes.labels.tolist()[code] for code in codes] == labels
    assert classes.codes(np.array(labels)).tolist() == codes.tolist()


def test_classes_that_do_not_compare_keep_their_order_of_appearance() -> None:
    labels = np.array(["b", 1, "a", "b", 1], dtype=object)
    classes, codes = Classes.learn(labels)
    assert classes.labels.tolist() == ["b", 1, "a"]
    assert codes.tolist() == [0, 1, 2, 0, 1]


def test_a_label_never_seen_has_the_code_minus_one() -> None:
    classes, _ = Classes.learn(np.array([1, 3, 1]))
    assert classes.codes(np.array([3, 2, 1])).tolist() == [1, -1, 0]
