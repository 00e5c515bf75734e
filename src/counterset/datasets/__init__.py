"""Datasets to try an explainer on: bundled, from a folder of yours, or from OpenML.

Begin with :mod:`counterset.datasets.loading`, which finds a dataset by its name.
:mod:`counterset.datasets.bundled` has those that ship with the package. May import ``tables`` and
what lies below it.

>>> from counterset import datasets
>>> datasets.load("german_credit")
Dataset('german_credit', 1000 rows x 20 features, class: bad 300, good 700)
"""

from counterset.datasets.bundled import Dataset, load_diabetes, load_german_credit, load_spambase
from counterset.datasets.loading import load, names

__all__ = ["Dataset", "load", "load_diabetes", "load_german_credit", "load_spambase", "names"]
