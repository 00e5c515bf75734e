"""People without an option on a heavy-tailed table: does a plain random search find one for them?

python benchmarks/nobody.py --seeds 3
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from counterset import Constraints, CountersetWarning, DiverseExplainer

CONSTRAINTS = Constraints(
    immutable=["age"],
    decrease_only=["use", "debt"],
    increase_only=["late_30", "late_90"],
    ranges={"lines": (0, 30)},
    max_increase={"income": 1500},
)


def heavy_tails(seed: int, n: int = 20_000) -> tuple[pd.DataFrame, HistGradientBoostingClassifier]:
    """Make a table of consumer credit: heavy tails, ratios and amounts in one column, gaps."""
    rng = np.random.default_rng(seed)
    risk = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "use": np.where(rng.random(n) < 0.02, rng.lognormal(6, 1.2, n), rng.beta(0.6, 1.4, n)),
            "age": np.clip(rng.normal(52 - 3 * risk, 14), 21, 99).round(),
            "late_30": rng.poisson(np.exp(0.7 * risk - 1.7)),
            "debt": np.where(
                rng.random(n) < 0.2, rng.lognormal(7, 1, n), rng.lognormal(0.2 * risk - 1, 1)
            ),
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(8.6, 0.7, n).round()),
            "lines": rng.poisson(8, n),
            "late_90": rng.poisson(np.exp(risk - 2.7)),
        }
    )
    score = 1.5 * frame["use"].clip(upper=1.5) + 0.5 * frame["late_30"].clip(upper=5)
    score += 0.9 * frame["late_90"].clip(upper=4) - 0.03 * (frame["age"] - 50)
    bad = rng.random(n) < 1 / (1 + np.exp(2 - score - 0.2 * (frame["debt"] > 1)))
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0, class_weight="balanced")
    return frame, model.fit(frame, np.where(bad, "bad", "good"))


def random_rows(
    x: pd.Series, frame: pd.DataFrame, count: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw rows within the constraints: some values, each from its training column."""
    rows = pd.DataFrame({name: np.full(count, x[name]) for name in frame.columns})
    share = rng.random(count)
    for name in frame.columns.drop("age"):
        drawn = rng.choice(frame[name].dropna().to_numpy(), count)
        allowed = ~(drawn > x[name]) if name in ("use", "debt") else ~(drawn < x[name])
        allowed = {"lines": drawn <= 30, "income": ~(drawn > x["income"] + 1500)}.get(name, allowed)
        rows[name] = np.where((rng.random(count) < share) & allowed, drawn, rows[name])
    return rows


def measure(seed: int, people: int) -> dict[str, object]:
    frame, model = heavy_tails(seed)
    explainer = DiverseExplainer(model, constraints=CONSTRAINTS).fit(frame)
    declined = frame[model.predict(frame) == "bad"][:people]
    explainer.explain_many(declined[:2], if_none="ignore")  # what is learned first is learned now
    counts = explainer.explain_many(declined, if_none="ignore").counts
    found = 0
    for i in np.flatnonzero(counts == 0):
        rng = np.random.default_rng([seed, i])
        rows = random_rows(declined.iloc[i], frame, 20_000, rng)
        found += (model.predict(rows) == "good").any()
    seconds = []
    for some in (counts > 0, counts == 0):
        before = time.process_time()
        explainer.explain_many(declined[some], if_none="ignore")
        seconds.append((time.process_time() - before) / max(1, some.sum()))
    before = time.process_time()
    explainer.explain_many(declined, if_none="ignore")
    together = (time.process_time() - before) / len(declined)
    return {
        "seed": seed,
        "people": len(declined),
        "without an option": int((counts == 0).sum()),
        "of these, by 20,000 random rows": int(found),
        "without / with, time each": f"{seconds[1] / seconds[0]:.1f}",
        "all / with, time each": f"{together / seconds[0]:.1f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--people", type=int, default=300)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", CountersetWarning)
    table = pd.DataFrame([measure(seed, arguments.people) for seed in range(arguments.seeds)])
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
