"""Settings for the tests with the real frameworks, and the data that they share."""

from __future__ import annotations

import os

import pandas as pd
import pytest

from counterset.datasets import Dataset, load_diabetes, load_german_credit

os.environ["KERAS_BACKEND"] = "torch"  # read when keras is imported
# Some virtual machines announce matrix instructions that they refuse to run: torch would take them
# for half precision, and the process would end. Read when torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")

#: What the libraries warn about in one another, and no caller can help.
WARNINGS_OF_LIBRARIES = (
    "ignore:__array__ implementation doesn't accept a copy keyword:DeprecationWarning",
    "ignore:.*isinstance.treespec, LeafSpec.*:FutureWarning",
)


def pytest_configure(config: pytest.Config) -> None:
    for line in WARNINGS_OF_LIBRARIES:
        config.addinivalue_line("filterwarnings", line)
    config.addinivalue_line("filterwarnings", "ignore::counterset.FewerCounterfactualsWarning")


@pytest.fixture(scope="session")
def credit() -> Dataset:
    """German credit: 13 columns of dtype category, 3 of them ordered, and 7 of integers."""
    return load_german_credit()


@pytest.fixture(scope="session")
def credit_text(credit: Dataset) -> pd.DataFrame:
    """The same with plain text in place of the categories."""
    return credit.X.astype(dict.fromkeys(credit.X.select_dtypes("category"), "object"))


@pytest.fixture(scope="session")
def diabetes() -> Dataset:
    """Diabetes: 8 numeric columns, all as floats."""
    data = load_diabetes()
    return Dataset(data.name, data.X.astype("float64"), data.y, data.description)
