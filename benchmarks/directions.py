"""What it costs that no answer asks for more and for less of a feature.

    COUNTERSET_DATA=folder python benchmarks/directions.py [--people 60] [--seed 7]
        [--tables german_credit,adult,mortgages,diabetes] [--models boosting,forest,logistic]

People whom the model declines, from test rows that it was not trained on, are explained twice by
the default strategy: with `both_ways=True`, as it used to be, and without. Age, sex and the like
are immutable. The share that makes a direction usual (4 of 5) was chosen on German credit, diabetes
and 6,000 rows of the credit data, with seed 1.

- contradictory: answers in which one option raises a feature and another one lowers it
- against: options that move a feature against the direction that usually helps, and in brackets
  the answers in which one does so without coming last
- options: how many each person is offered, of 5
- k-distance, nearest: means over the people who have options with both settings; the ratio is of
  the means
- covered: near copies (three of each person) whose first option is one of the person's
- jump: how far the sets of a person and a copy are apart beyond the two themselves
- rows: asked of the model for one person of the batch
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from common import fit_model, print_row
from sklearn.model_selection import train_test_split
from strategies import IMMUTABLE, WANTED
from strategies import load as load_table

from counterset import Constraints, DiverseExplainer, Explanation, Nearest, datasets, evaluate


def load(name: str, seed: int) -> tuple[Any, ...]:
    """Return training rows, their classes, test rows, a schema, and the wanted class."""
    if name != "diabetes":
        return *load_table(name, seed), WANTED[name]
    data = datasets.load(name)
    train, test, y, _ = train_test_split(data.X, data.y, test_size=0.3, random_state=seed)
    return train, y, test, data.schema, 0


def moves(explanation: Explanation) -> np.ndarray:
    """Return which features each option raises (1) and lowers (-1)."""
    coded = explanation.coded
    return coded.table.moves(np.repeat(coded.input[None], len(explanation), axis=0), coded.matrix)


def is_contradictory(explanation: Explanation) -> bool:
    """Return whether one option raises a feature that another one lowers."""
    each = moves(explanation)
    return bool(((each > 0).any(axis=0) & (each < 0).any(axis=0)).any())


def against(explanation: Explanation, usual: np.ndarray) -> np.ndarray:
    """Return which options move a feature against the usual directions."""
    return np.asarray((moves(explanation) * usual < 0).any(axis=1))


def figures(explanations: Any, usual: np.ndarray, both: np.ndarray) -> dict[str, Any]:
    """Return the figures of one setting."""
    unusual = [against(each, usual) for each in explanations]
    offered = sum(map(len, unusual))
    early = sum(bool((np.diff(each.astype(int)) < 0).any()) for each in unusual)
    found = [each for each, has in zip(explanations, both, strict=True) if has]
    return {
        "contradictory": f"{np.mean([is_contradictory(each) for each in explanations]):.0%}",
        "against": f"{sum(int(each.sum()) for each in unusual) / offered:.0%} ({early})",
        "options": f"{explanations.counts.mean():.2f}",
        "k-distance": float(np.mean([each.distances.mean() for each in found])),
        "nearest": float(np.mean([each.distances.min() for each in found])),
        "rows": round(explanations.model_rows / len(explanations)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="german_credit,adult,mortgages,diabetes")
    parser.add_argument("--models", default="boosting,forest,logistic")
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    heading = True
    for name in asked.tables.split(","):
        X, y, test, schema, wanted = load(name, asked.seed)
        fixed = Constraints(immutable=IMMUTABLE.get(name, []))
        for kind in asked.models.split(","):
            model = fit_model(kind, X, y)
            people = test[model.predict(test) != wanted].head(asked.people)
            explainer = DiverseExplainer(model, schema=schema, constraints=fixed).fit(X)
            directions = explainer.directions(target=wanted)["direction"]
            signs = directions.map({"up": 1, "down": -1, "": 0})
            names = [feature.name for feature in explainer.training_.table.features]
            usual = signs.reindex(names).fillna(0).to_numpy(dtype=int)
            free = explainer.with_strategy(Nearest(both_ways=True))
            results = [
                each.explain_many(people, target=wanted, if_none="ignore")
                for each in (free, explainer)
            ]
            stable = [
                evaluate(each, people, repeats=3, random_state=asked.seed, target=wanted)
                for each in (free, explainer)
            ]
            both = (results[0].counts > 0) & (results[1].counts > 0)
            before, after = (
                {**figures(each, usual, both), "covered": f"{table['covered'].mean():.0%}"}
                | {"jump": float(table["jump"].mean())}
                for each, table in zip(results, stable, strict=True)
            )
            row = {"table": name, "model": kind, "people": len(people)}
            for key in ("contradictory", "against", "options", "covered", "rows"):
                row[key] = f"{before[key]} -> {after[key]}"
            for key in ("k-distance", "nearest", "jump"):
                ratio = after[key] / before[key]
                row[key] = f"{before[key]:.3f} -> {after[key]:.3f} ({ratio:.2f}x)"
            print_row(row, heading=heading)
            heading = False


if __name__ == "__main__":
    main()
