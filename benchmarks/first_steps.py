"""A newcomer's walk: from an empty folder to an answer on a table of one's own, timed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What comes from somewhere else: a table that the library never saw.
TABLE = """
from sklearn.datasets import load_breast_cancer
table = load_breast_cancer(as_frame=True).frame
table["target"] = table["target"].map({0: "malignant", 1: "benign"})
table.to_csv("own.csv", index=False)
"""


def blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def main() -> None:
    print("| step | seconds | processor seconds |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder) / "venv" / "bin" / "python")
        usual = [sys.executable, "-m", "venv", str(Path(folder) / "venv")]
        install = [python, "-m", "pip", "install", "--quiet", str(ROOT)]
        steps = {
            "`python -m venv`": usual,
            "`pip install .`": install,
            "the code of the first page": [python, "-c", blocks("docs/index.md")[0]],
            "": [python, "-c", TABLE],
            "the code below, for one's own table": [
                python, "-c", blocks("benchmarks/first_steps.md")[0],
            ],
        }  # fmt: skip
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        for name, command in steps.items():
            before, start = os.times(), time.perf_counter()
            subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True)
            after, seconds = os.times(), time.perf_counter() - start
            used = sum(after[2:4]) - sum(before[2:4])
            if name:
                print(f"| {name} | {seconds:.0f} | {used:.1f} |", flush=True)


if __name__ == "__main__":
    main()
