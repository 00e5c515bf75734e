"""How long a worker takes to start: it loads a saved explainer, in place of fitting one.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/start_up.py

German credit with gradient boosting behind encoders, and a million rows of 20 numbers with a
logistic regression. Each worker is a new process. Processor times in seconds; "import" is Python
with counterset and scikit-learn. Both explainers must give the same answers. Prints a Markdown
table.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from common import fit_model, load, print_row

from counterset import DiverseExplainer

#: What a worker does; it prints the seconds of each part, and what it found.
WORKER = """
import json, sys, time
import joblib, sklearn.pipeline
from counterset import DiverseExplainer
times = [time.process_time()]
path, model, row = sys.argv[1:]
model, row = joblib.load(model), joblib.load(row)
times.append(time.process_time())
explainer = DiverseExplainer.load(path, model)
times.append(time.process_time())
for _ in range(2):
    found = explainer.explain(row)
    times.append(time.process_time())
print(json.dumps([times, found.to_json()]))
"""


def tables() -> dict[str, tuple[Any, Any, Any]]:
    """Return models, training rows and an input."""
    train, y, test = load("german_credit")
    rng = np.random.default_rng(0)
    many = pd.DataFrame(rng.normal(size=(1_000_000, 20))).add_prefix("x")
    wanted = pd.Series(many.iloc[:5000] @ rng.normal(size=20) > 0)
    logistic = fit_model("logistic", many.iloc[:5000], wanted)
    return {
        "german_credit, boosting": (fit_model("boosting", train, y), train, test.iloc[0]),
        "1,000,000 x 20, logistic": (logistic, many, many.iloc[0]),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    heading = True
    for name, (model, train, row) in tables().items():
        with tempfile.TemporaryDirectory() as folder:
            path, *others = (Path(folder) / each for each in ("explainer", "model", "row"))
            start = time.process_time()
            explainer = DiverseExplainer(model).fit(train)
            fitted = time.process_time() - start
            explainer.save(path)
            saved = time.process_time() - start - fitted
            for file, each in zip(others, (model, row), strict=True):
                joblib.dump(each, file)
            files = [str(each) for each in (path, *others)]
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", WORKER, *files],
                check=True,
                capture_output=True,
                text=True,
            )
            times, found = json.loads(done.stdout)
            assert found == explainer.explain(row).to_json(), "the answers differ"
            size = path.stat().st_size
        line = {
            "what": name,
            "fit": f"{fitted:.2f}",
            "save": f"{saved:.2f}",
            "file, MB": f"{size / 1e6:.1f}",
            "import": f"{times[0]:.2f}",
            "load": f"{times[2] - times[1]:.2f}",
            "first explanation": f"{times[3] - times[2]:.3f}",
            "second explanation": f"{times[4] - times[3]:.3f}",
        }
        print_row(line, heading=heading)
        heading = False


if __name__ == "__main__":
    main()
