"""How long the server works on what a person does on the explorer page.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/explorer.py [--cases 25]

The bundled data, each with gradient boosting: German credit as `counterset serve` serves it (a
pipeline that encodes a frame of 20 columns), diabetes and spambase (numbers). Each request is put
to the app without a network, one after the other, and its processor time is taken, of all threads:
the machine may have other work. Before it is measured, each kind of request is made once, so that
what is learned once is learned. An edit locks another feature of each case.

- edit: `/explorer/explain`, what every change on the page waits for
- model: the share of the edit that the model takes, and how often it is called
- what-if: `/explorer/predict`; map: `/explorer/map`
- shake: `/explorer/nearby`, for each person alone, and from shared lists
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

from counterset import DiverseExplainer, datasets
from counterset.cli.demo import load_credit
from counterset.serve import app
from counterset.serve.app import create_app
from counterset.serve.served import Served

GOALS = {"diabetes": 0, "spambase": "nonspam"}


class Timed:
    """A model that counts its calls and their processor time."""

    def __init__(self, model: Any) -> None:
        self.model, self.classes_ = model, model.classes_
        self.calls, self.seconds = 0, 0.0

    def predict(self, rows: Any) -> Any:
        return self._call(self.model.predict, rows)

    def predict_proba(self, rows: Any) -> Any:
        return self._call(self.model.predict_proba, rows)

    def _call(self, function: Any, rows: Any) -> Any:
        before = time.thread_time()
        try:
            return function(rows)
        finally:
            self.calls += 1
            self.seconds += time.thread_time() - before


def served(name: str) -> Served:
    if name == "german_credit":
        credit = load_credit()
        found = Served(name, credit.explainer, credit.X_test, goal={"target": "good"})
        return timed(found, credit.explainer.model, credit.X_train)
    data = datasets.load(name)
    X, cases, y, _ = train_test_split(data.X, data.y, test_size=0.2, random_state=0)
    model = GradientBoostingClassifier(random_state=0).fit(X, y)
    explainer = DiverseExplainer(model, schema=data.schema).fit(X)
    return timed(Served(name, explainer, cases, goal={"target": GOALS[name]}), model, X)


def timed(given: Served, model: Any, training: Any) -> Served:
    settings = given.explainer.get_params(deep=False) | {"model": Timed(model)}
    explainer = DiverseExplainer(**settings).fit(training)
    return Served(given.name, explainer, given.cases, goal=given.goal)


def edits(client: TestClient, count: int) -> Iterator[dict[str, Any]]:
    """Yield requests for cases whose decision is not the goal, each with another lock."""
    start = client.get("/explorer/start").json()
    decisions = start["cases"]["decisions"]
    positions = [i for i, each in enumerate(decisions) if each != start["target"]][:count]
    names = [each["name"] for each in start["features"]]
    first = {each["name"]: each["constraint"] for each in start["features"] if each["constraint"]}
    for number, position in enumerate(positions):
        case = client.get(f"/explorer/cases/{position}").json()
        locks = first | {names[number % len(names)]: {"locked": True}}
        yield {
            "case": position, "values": case["values"], "constraints": locks,
            "target": start["classes"][start["target"]]["value"], "options": 5,
        }  # fmt: skip


def measure(client: TestClient, path: str, bodies: list[dict[str, Any]]) -> list[float]:
    taken = []
    for body in bodies:
        before = time.process_time()
        client.post(f"/explorer/{path}", json=body)
        taken.append(1000 * (time.process_time() - before))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=25)
    count = parser.parse_args().cases
    print("| data | edit, median ms | 90 % | model | calls | what-if | map | shake | with lists |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ("german_credit", "diabetes", "spambase"):
        what = served(name)
        what.warm_up()
        with TestClient(create_app(what), base_url="http://127.0.0.1") as client:
            bodies = list(edits(client, count))
            model = what.model
            model.calls, model.seconds = 0, 0.0
            taken = measure(client, "explain", bodies)
            calls = model.calls / len(bodies)
            share = 1000 * model.seconds / sum(taken)
            rows = [{"values": each["values"]} for each in bodies]
            lists = [each | {"strategy": "shared"} for each in bodies[:8]]
            others = [
                measure(client, "predict", rows),
                measure(client, "map", bodies[:8]),
                measure(client, "nearby", bodies[:8]),
                measure(client, "nearby", lists),
            ]
        told = " | ".join(f"{statistics.median(each):.0f}" for each in others)
        last = statistics.quantiles(taken, n=10)[-1]
        middle = statistics.median(taken)
        print(f"| {name} | {middle:.0f} | {last:.0f} | {share:.0%} | {calls:.0f} | {told} |")
    files = list((Path(app.__file__).parent / "static").iterdir())
    size = sum(file.stat().st_size for file in files)
    print(f"\nThe page: {len(files)} files, {size / 1000:.1f} kB.")


if __name__ == "__main__":
    main()
