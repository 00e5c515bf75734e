"""The bundled loan applications with their model."""

from counterset.cli.demo import load_credit


def test_the_model_is_explained_on_rows_that_it_was_trained_on() -> None:
    credit = load_credit()
    assert sorted([*credit.X_train.index, *credit.X_test.index]) == list(credit.X.index)
    assert len(credit.explainer.pool_.matrix) == len(credit.X_train)
    assert list(credit.explainer.classes_) == ["bad", "good"]
