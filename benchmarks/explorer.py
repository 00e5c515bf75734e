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

The second table is about edits while the server has other work: four more pages shake a case, or
show all cases, without a pause. It asks a server over the network of this machine, and shows the
processor time of an edit, and how long its answer takes: each alone, and as a multiple beside the
other work, all in one run. The third says how long all cases take. "200 trees" is German credit
with a forest of 200 trees.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx2
import pandas as pd
import uvicorn
from fastapi.testclient import TestClient
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from counterset import DiverseExplainer, datasets
from counterset.cli.demo import load_credit
from counterset.serve import app, explorer
from counterset.serve.app import create_app
from counterset.serve.served import Served

#: Beside the edits, four pages ask at a time: more than there are threads.
PAGES = 4
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
    if name in ("german_credit", "200 trees"):
        credit = load_credit()
        model = credit.explainer.model
        if name == "200 trees":
            forest = RandomForestClassifier(200, random_state=0)
            model = make_pipeline(*model[:-1], forest).fit(credit.X_train, credit.y_train)
        found = Served("german_credit", credit.explainer, credit.X_test, goal={"target": "good"})
        return timed(found, model, credit.X_train)
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


@contextmanager
def serving(what: Served) -> Iterator[str]:
    """Serve on a free port, and yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(create_app(what), log_config=None, access_log=False)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def working(address: str, path: str, bodies: list[dict[str, Any]]) -> Iterator[None]:
    """Have four pages ask for something else again and again."""
    over, begun = Event(), Event()

    def ask() -> None:
        with httpx2.Client(base_url=address, timeout=600) as client:
            while not over.is_set():
                for body in bodies:
                    begun.set()
                    client.post(f"/explorer/{path}", json=body)
                    if over.is_set():
                        return

    threads = [Thread(target=ask) for _ in range(PAGES)]
    for thread in threads:
        thread.start()
    begun.wait()
    yield
    over.set()
    for thread in threads:
        thread.join()


def edits_beside(address: str, bodies: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the processor time of an edit and how long it takes: medians in milliseconds."""
    spent: list[float] = []
    describe = explorer.describe_case

    def timed_case(*arguments: Any) -> Any:
        before = time.thread_time()
        try:
            return describe(*arguments)
        finally:
            spent.append(1000 * (time.thread_time() - before))

    explorer.describe_case = timed_case
    taken = []
    with httpx2.Client(base_url=address, timeout=600) as client:
        for body in bodies:
            before = time.perf_counter()
            client.post("/explorer/explain", json=body)
            taken.append(1000 * (time.perf_counter() - before))
            time.sleep(0.15)  # what else is done goes on, as between two keystrokes
    explorer.describe_case = describe
    return statistics.median(spent), statistics.median(taken)


def tell_beside(count: int) -> None:
    """Print how long edits take beside other work, and how long all cases take."""
    print("\n| data | edit: processor, ms | until its answer | beside a shake | beside all cases |")
    print("|---|---|---|---|---|")
    seconds = {}
    for name in ("german_credit", "200 trees", "diabetes", "spambase"):
        what = served(name)
        what.warm_up()
        repeated = pd.concat([what.cases] * 10, ignore_index=True).iloc[:1000]
        what = Served(what.name, what.explainer, repeated, goal=what.goal)
        what.warm_up()
        with serving(what) as address:
            with httpx2.Client(base_url=address, timeout=600) as client:
                bodies = list(edits(client, 4 * count))
                goal = {key: bodies[0][key] for key in ("target", "options")}
            parts = [bodies[at : at + count] for at in range(0, 4 * count, count)]
            edits_beside(address, parts[0][:3])
            alone = edits_beside(address, parts[0])
            shakes = [each | {"strategy": "shared", "noise": 0.05} for each in parts[3]]
            with working(address, "nearby", shakes):
                shaken = edits_beside(address, parts[1])
            asked = [goal | {"first": 10**6, "options": at} for at in range(2, 11)]
            with working(address, "group", asked):
                beside = edits_beside(address, parts[2])
            seconds[name] = all_cases(address, goal)
        told = " | ".join(
            f"{each[0] / alone[0]:.1f} x, {each[1] / alone[1]:.1f} x" for each in (shaken, beside)
        )
        print(f"| {name} | {alone[0]:.0f} | {alone[1]:.0f} | {told} |")
    print("\n| data | cases without what is wanted, of 1,000 | processor, ms for each |")
    print("|---|---|---|")
    for name, (total, spent) in seconds.items():
        print(f"| {name} | {total} | {1000 * spent / total:.1f} |")


def all_cases(address: str, goal: dict[str, Any]) -> tuple[int, float]:
    """Return how many cases do not have what is wanted, and the processor time to explain them."""
    before, first = time.process_time(), 0
    with httpx2.Client(base_url=address, timeout=600) as client:
        while True:
            answer = client.post("/explorer/group", json=goal | {"first": first}).json()
            first += len(answer["rows"])
            if first == answer["total"]:
                return first, time.process_time() - before


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
    tell_beside(count)
    print(f"\nThe page: {len(files)} files, {size / 1000:.1f} kB.")


if __name__ == "__main__":
    main()
