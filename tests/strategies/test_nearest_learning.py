"""Where recipes come from, and that everyone gets the same ones."""

from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from support.mixed_toys import FRAME, lend
from support.settings import explainer_by_steps

from counterset import Constraints, DiverseExplainer, FewerCounterfactualsWarning, LineSearch
from counterset.models.goals import OneOf
from counterset.strategies import recipes as learning
from counterset.strategies.recipes import Recipes, learn_recipes

LABELS = np.array(["no", "yes"])


def sparse(model: Any = lend, data: Any = FRAME, **parameters: Any) -> DiverseExplainer:
    settings: dict[str, Any] = {"sparse": True, "search": LineSearch(0.01), **parameters}
    return explainer_by_steps(model, **settings).fit(data)


def learned(explainer: DiverseExplainer) -> list[Recipes]:
    return explainer._recipes._learned.values()


def equal(a: list[Recipes], b: list[Recipes]) -> bool:
    return len(a) == len(b) > 0 and all(
        np.array_equal(one.features, other.features)
        and np.array_equal(one.values, other.values)
        and np.array_equal(one.pool_index, other.pool_index)
        for one, other in zip(a, b, strict=True)
    )


def declined() -> Any:
    return FRAME[lend(FRAME) == "no"]


def explain(explainer: DiverseExplainer, data: Any, **wanted: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerCounterfactualsWarning)
        return explainer.explain_many(data, **wanted)


def test_recipes_are_learned_when_they_are_first_needed_and_only_for_the_class_in_question() -> (
    None
):
    explainer = sparse()
    assert learned(explainer) == []
    explain(explainer, declined().head(2))
    assert len(learned(explainer)) == 1
    explain(explainer, declined().head(3))
    assert len(learned(explainer)) == 1


def test_dense_answers_learn_no_recipes() -> None:
    explainer = sparse(sparse=False)
    explain(explainer, declined().head(2))
    assert learned(explainer) == []


def test_each_recipe_works_for_a_row_of_the_class_within_the_constraints() -> None:
    explainer = sparse(constraints=Constraints(immutable=["age"]))
    training, rules = explainer._training, explainer._training.rules(explainer.constraints)
    no = training.classes.labels == "no"
    recipes = learn_recipes(training, no, OneOf(LABELS[1:]), rules)
    rows = training.pool.matrix[no[training.pool.codes]]
    assert len(recipes)
    assert not recipes.features[:, training.table.position("age")].any()
    for features, values in zip(recipes.features, recipes.values, strict=True):
        changed = training.table.decode(np.where(features, values, rows))
        assert (lend(changed) == "yes").any()


def test_fitting_twice_and_asking_in_another_order_give_the_same_recipes() -> None:
    one, other = sparse(), sparse()
    explain(one, declined().head(2))
    explain(other, declined().tail(3), target="yes")
    assert equal(learned(one), learned(other))


def test_threads_share_what_is_learned() -> None:
    alone, shared = sparse(), sparse()
    explain(alone, declined().head(1))
    people = [declined().iloc[[i]] for i in range(4)]
    # warnings.catch_warnings is not for threads: these people have all the options they ask for.
    shared.set_params(max_counterfactuals=1)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(shared.explain_many, people))
    assert equal(learned(alone), learned(shared))


def test_a_pickle_keeps_what_was_learned_and_explains_alike() -> None:
    explainer = sparse()
    expected = explain(explainer, declined().head(5)).to_frame()
    copy = pickle.loads(pickle.dumps(explainer))
    assert equal(learned(explainer), learned(copy))
    assert explain(copy, declined().head(5)).to_frame().equals(expected)


def test_constraints_set_after_fit_get_recipes_of_their_own() -> None:
    explainer = sparse()
    explain(explainer, declined().head(2))
    explainer.set_params(constraints=Constraints(immutable=["income"]))
    after = explain(explainer, declined().head(10), if_none="warn").to_frame()
    fresh = sparse(constraints=Constraints(immutable=["income"]))
    assert after.equals(explain(fresh, declined().head(10), if_none="warn").to_frame())
    assert len(learned(explainer)) == 2
    assert equal(learned(explainer)[1:], learned(fresh))


def test_only_the_recipes_of_the_last_goals_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "MOST_LEARNED", 1)
    explainer = sparse()
    first = explain(explainer, declined().head(3)).to_frame()
    explain(explainer, FRAME[lend(FRAME) == "yes"].head(1))
    assert len(learned(explainer)) == 1
    assert explain(explainer, declined().head(3)).to_frame().equals(first)


def test_a_class_with_a_single_row_has_its_recipes() -> None:
    X = np.concatenate([np.linspace(0, 1, 30), [9.0]])[:, None]
    explainer = sparse(lambda rows: np.asarray(rows)[:, 0] > 5, X, max_counterfactuals=1)
    for x, label in ((8.0, True), (0.5, False)):
        explanation = explainer.explain([x])
        assert explanation.label == label
        assert (explanation.values[0, 0] > 5) != label


def test_an_interval_has_recipes_from_outside_to_inside() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((120, 3))
    explainer = sparse(lambda rows: np.asarray(rows) @ [1.0, 2.0, 4.0], X)
    found = explain(explainer, X[:10] / 4, interval=(3.0, 4.0))
    for explanation in found:
        predicted = explanation.values @ [1.0, 2.0, 4.0]
        assert ((predicted >= 3) & (predicted <= 4)).all()
    (recipes,) = learned(explainer)
    assert len(recipes) > 20


def test_a_target_beyond_the_nearest_class_has_recipes_of_its_own() -> None:
    # From class 0 the nearest other class is 1; the rows of class 2 are far.
    X = np.concatenate([np.linspace(0, 1, 40), np.linspace(10, 11, 5)])[:, None]
    explainer = sparse(
        lambda rows: np.digitize(np.asarray(rows)[:, 0], [0.5, 5.0]), X, max_counterfactuals=1
    )
    assert explainer.explain([0.2], target=2).values[0, 0] >= 5
    assert 0.5 <= explainer.explain([0.2]).values[0, 0] < 5
