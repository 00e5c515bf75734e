"""What `counterset explain --out` takes of memory, and what a second worker gains.

python benchmarks/cluster.py memory --rows 100000   # the adult data, in COUNTERSET_DATA
python benchmarks/cluster.py workers                # two Dask workers against one
python benchmarks/cluster.py jobs                   # two threads and two processes
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from counterset import DiverseExplainer
from counterset.batch import FrameExplainer
from counterset.batch.cluster import explain_chunks


def memory(count: int, training: int) -> None:
    """Explain rows of the adult data by the command, and show its peak memory."""
    adult = pd.read_csv(Path(os.environ["COUNTERSET_DATA"]) / "adult.csv.gz")
    X, y = adult.drop(columns="income"), adult["income"]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        remainder=StandardScaler(),
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=1000)).fit(X, y)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        joblib.dump(model, folder / "model.joblib")
        X[:training].to_parquet(folder / "train.parquet")
        repeated = np.arange(count) % len(X)
        X.iloc[repeated].assign(case=np.arange(count)).to_parquet(folder / "data.parquet")
        command = [
            *("counterset", "explain", "model.joblib", "data.parquet", "--trust"),
            *("--train", "train.parquet", "--out", "out.parquet", "--target", ">50K"),
            *("--keep", "case", "--immutable", "race", "sex", "native-country"),
        ]
        start = time.perf_counter()
        run = subprocess.Popen(command, cwd=folder)
        _, code, used = os.wait4(run.pid, 0)
        seconds, processor = time.perf_counter() - start, used.ru_utime + used.ru_stime
        out = pd.read_parquet(folder / "out.parquet", columns=["case", "status"])
        inputs = out.drop_duplicates("case")
        print(f"exit code {os.waitstatus_to_exitcode(code)}, peak {used.ru_maxrss / 2**20:.2f} GB")
        print(f"{seconds:.0f} s, {processor:.0f} s of the processor, {len(inputs)} inputs")
        print(inputs["status"].value_counts().to_string())
        assert sorted(inputs["case"]) == list(range(count))


class Interpreted:
    """A model that holds the interpreter: a loop of Python over each row."""

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        answers = []
        for row in rows.to_numpy().tolist():
            total = 0.0
            for value in row:
                for _ in range(20):
                    total += value
            answers.append(total > 20 * len(row) / 2)
        return np.array(answers)


def workers(count: int, size: int) -> None:
    """Explain the same chunks on one worker and on two, one after the other, three times."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.random((2000, 8)), columns=[f"f{i}" for i in range(8)])
    explain = FrameExplainer(DiverseExplainer(Interpreted()).fit(X))
    rows = pd.DataFrame(random.random((count * size, 8)), columns=X.columns)
    chunks = [(i, rows[i * size : (i + 1) * size]) for i in range(count)]
    busy = os.getloadavg()[0]
    print(f"{count} chunks of {size} rows; load of the machine {busy:.1f}, {os.cpu_count()} cores")
    for turn in range(3):
        seconds = {}
        for n_workers in (1, 2):
            with (
                LocalCluster(
                    n_workers=n_workers, threads_per_worker=1, dashboard_address=None
                ) as cluster,
                Client(cluster, set_as_default=False) as client,
            ):
                dict(explain_chunks(client, explain, chunks[:n_workers]))  # each has its copy
                start = time.perf_counter()
                found = dict(explain_chunks(client, explain, chunks))
                seconds[n_workers] = time.perf_counter() - start
            assert len(found) == count
        ratio = seconds[1] / seconds[2]
        print(f"turn {turn}: {seconds[1]:.1f} s, {seconds[2]:.1f} s: {ratio:.2f} times", flush=True)


def jobs(count: int) -> None:
    """Explain the same rows with one job, two threads and two processes, three times."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.random((2000, 8)), columns=[f"f{i}" for i in range(8)])
    y, rows = X.sum(axis=1) > 4, pd.DataFrame(random.random((count, 8)), columns=X.columns)
    busy = os.getloadavg()[0]
    print(f"{count} rows; load of the machine {busy:.1f}, {os.cpu_count()} cores")
    for model in (
        RandomForestClassifier(random_state=0).fit(X, y),
        HistGradientBoostingClassifier(random_state=0).fit(X, y),
        Interpreted(),
    ):
        explainer = DiverseExplainer(model).fit(X)
        for turn in range(3):
            seconds = {}
            for n_jobs, backend in ((1, "loky"), (2, "threading"), (2, "loky")):
                with joblib.parallel_config(backend=backend):
                    # What is learned once, and the start of processes.
                    explainer.explain_many(rows[:50], n_jobs=n_jobs, if_none="ignore")
                    start = time.perf_counter()
                    explainer.explain_many(rows, n_jobs=n_jobs, if_none="ignore")
                    seconds[n_jobs, backend] = time.perf_counter() - start
            one, threads, processes = seconds.values()
            print(
                f"{type(model).__name__}, turn {turn}: {one:.1f} s, threads {one / threads:.2f} "
                f"times, processes {one / processes:.2f} times",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["memory", "workers", "jobs"])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--training", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=24)
    parser.add_argument("--size", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.what == "memory":
        memory(arguments.rows, arguments.training)
    elif arguments.what == "workers":
        workers(arguments.chunks, arguments.size)
    else:
        jobs(arguments.chunks * arguments.size)


if __name__ == "__main__":
    sys.exit(main())
