"""RecourseBench's protocol for the paper's method: German credit, a network, 50 declined rows.

    python benchmarks/recoursebench.py --seeds 5

RecourseBench (arXiv 2606.16113, github.com/charmlab/recourse_bench) has a reimplementation of the
paper, `diverse_dist`. Known from its configuration and its results: 600 rows with as many bad as
good ones, 7 columns after one-hot encoding, numbers scaled to [0, 1], one row in five for testing,
a network of 64 and 32 units (Adam, learning rate 0.01, batches of 32, 50 epochs), 50 test rows that
are predicted bad, K = 5, alpha = 50, beta = 0.5, gamma = 0.1, the angle-based filter, L1.

Guessed: which columns these are (age, amount, duration, sex, housing: steps of 1/56, of 1/18174,
of 1 and of 2 are in its results), and its random draws: the good rows, the split, the weights and
the 50 inputs. So all is done with several seeds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from common import print_row
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from counterset import CountersetWarning, DiverseExplainer, NearestCandidates, Schema, datasets
from counterset.paper.experiment import PrototypeExplainer
from counterset.paper.tasks import fitted

NUMBERS = ["age", "credit_amount", "duration"]
INPUTS, OPTIONS, ALPHA = 50, 5, 50


def table(seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return 300 bad and 300 good rows: numbers in [0, 1], the sex as 0 or 1, and the housing."""
    data = datasets.load("german_credit")
    good = data.y[data.y == "good"].sample(300, random_state=seed).index
    kept = data.y.index[(data.y == "bad") | data.y.index.isin(good)]
    X = data.X.loc[kept]
    numbers = X[NUMBERS].astype(float)
    scaled = (numbers - numbers.min()) / (numbers.max() - numbers.min())
    female = X["personal_status"].astype(str).str.startswith("female").astype(float)
    housing = X["housing"].astype(str)
    return scaled.assign(female=female, housing=housing), data.y.loc[kept]


def measure(
    explain: Callable[[Any], list[Any]], inputs: Any, encode: Callable[[Any], Any], model: Any
) -> dict[str, float]:
    """Explain the inputs, and measure in the space of the 7 columns."""
    started = time.process_time()
    found = explain(inputs)
    seconds = time.process_time() - started
    rows = encode(inputs)
    options, nearest, mean, apart, valid = [], [], [], [], []
    for x, S in zip(rows, found, strict=True):
        options.append(len(S))
        if not len(S):
            continue
        valid.append(float(np.mean(model.predict(S) == "good")))
        E = encode(S)
        far = np.abs(E - x).sum(axis=1)
        nearest.append(far.min())
        mean.append(far.mean())
        pairs = np.triu_indices(len(E), 1)
        if len(E) > 1:
            apart.append(np.abs(E[:, None] - E[None]).sum(axis=2)[pairs].mean())
    return {
        "inputs": len(rows),
        "found": float(np.mean(np.array(options) > 0)),
        "valid": float(np.mean(valid)),
        "options": float(np.mean(options)),
        "nearest L1": float(np.mean(nearest)),
        "mean L1": float(np.mean(mean)),
        "pairwise L1": float(np.mean(apart)) if apart else np.nan,
        "CPU seconds for all": seconds,
    }


def one_seed(seed: int) -> list[dict[str, Any]]:
    X, y = table(seed)
    train, test, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=seed)
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["housing"]), remainder="passthrough"
    ).fit(X)
    columns: Callable[[Any], Any] = encoder.transform
    network = MLPClassifier(
        (64, 32), learning_rate_init=0.01, batch_size=32, max_iter=50, random_state=seed
    )
    fitted(network, columns(train), y_train)
    declined = test[network.predict(columns(test)) == "bad"]
    declined = declined.sample(min(INPUTS, len(declined)), random_state=seed)

    def own(explainer: DiverseExplainer) -> Callable[[Any], list[Any]]:
        return lambda rows: [each.values for each in explainer.explain_many(rows, if_none="ignore")]

    arrays = columns(train), columns(declined)
    paper = DiverseExplainer.paper(
        network,
        distance="l1",
        candidates=NearestCandidates(ALPHA),
        scale=None,
        max_counterfactuals=OPTIONS,
    )
    prototype = PrototypeExplainer(network, 1, ALPHA, "angle", 0.5, 0.1, OPTIONS)
    free = Schema(step=0)
    nearest = DiverseExplainer(
        network, scale=None, schema=free, max_counterfactuals=OPTIONS, distance="l1"
    )
    # As a table, the housing stays one of three words, and the sex 0 or 1.
    whole = make_pipeline(encoder, network)
    words = train.astype({"female": int}), declined.astype({"female": int})
    as_table = DiverseExplainer(
        whole, scale=None, schema=free, max_counterfactuals=OPTIONS, distance="l1"
    ).fit(words[0])
    same: Callable[[Any], Any] = np.asarray
    cases = {
        "the prototype's choices": (
            prototype.fit(arrays[0]).explain_many,
            arrays[1],
            same,
            network,
        ),
        "the paper's definitions": (own(paper.fit(arrays[0])), arrays[1], same, network),
        "our default, on the 7 columns": (own(nearest.fit(arrays[0])), arrays[1], same, network),
        "our default, on the table": (
            lambda rows: [
                each.counterfactuals for each in as_table.explain_many(rows, if_none="ignore")
            ],
            words[1],
            columns,
            whole,
        ),
    }
    return [{"method": name} | measure(*case) for name, case in cases.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore", CountersetWarning)
    found = pd.DataFrame([row for seed in range(given.seeds) for row in one_seed(seed)])
    for i, (method, rows) in enumerate(found.groupby("method", sort=False)):
        shown = {"method": method}
        for name in found.columns[1:]:
            mean, low, high = rows[name].mean(), rows[name].min(), rows[name].max()
            shown[name] = f"{mean:.3g} ({low:.3g} to {high:.3g})"
        print_row(shown, heading=not i)


if __name__ == "__main__":
    main()
