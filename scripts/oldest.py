"""Print the oldest releases that pyproject.toml allows, as constraints for pip.

python scripts/oldest.py > oldest.txt && pip install ".[test]" --constraint oldest.txt
"""

import re
import sys
import tomllib
from pathlib import Path

#: What users can install, and what the tests need.
EXTRAS = ("app", "dask", "exact", "onnx", "parquet", "plots", "test")


def main() -> None:
    path = Path(__file__).parents[1] / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra in EXTRAS:
        requirements += project["optional-dependencies"][extra]
    floors: dict[str, str] = {}
    for requirement in requirements:
        parts = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement)
        if parts is None:
            sys.exit(f"{requirement!r} has no lower bound. Write it as name>=version.")
        name, floor = parts.groups()
        if floors.setdefault(name, floor) != floor:
            sys.exit(f"{name} has two lower bounds, {floors[name]} and {floor}. Choose one.")
    sys.stdout.writelines(f"{name}=={floor}\n" for name, floor in floors.items())


if __name__ == "__main__":
    main()
