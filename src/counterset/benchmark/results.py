"""A folder of finished cells, which are not run again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from counterset._base.progress import Progress
from counterset.benchmark.experiment import summarise
from counterset.benchmark.published import METRICS, Cell
from counterset.exceptions import InvalidInputError

__all__ = ["CellError", "ResultsFolder"]

#: The file in the folder that holds the settings.
SETTINGS_FILE = "settings.json"


class CellError(Exception):
    """Raised when a cell cannot be run; the message goes into the table."""


@dataclass(frozen=True)
class ResultsFolder:
    """Finished cells, one CSV file each, and the settings they were run with.

    Parameters
    ----------
    path
        The folder. It is made if it does not exist.
    settings
        What all cells have in common. A folder with other settings is refused.
    """

    path: Path
    settings: dict[str, str]

    def __post_init__(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / SETTINGS_FILE
        if not file.exists():
            file.write_text(json.dumps(self.settings, indent=1) + "\n", encoding="utf-8")
        before = json.loads(file.read_text(encoding="utf-8"))
        if before != self.settings:
            raise InvalidInputError(
                f"The results in {self.path} were run with the settings {before}, but now the "
                f"settings are {self.settings}. Choose another folder, or delete that one."
            )

    def run_all(
        self,
        cells: Iterable[Cell],
        run: Callable[[Cell], pd.DataFrame],
        *,
        retry: bool = False,
        progress: bool = False,
    ) -> None:
        """Run the cells that are not finished yet, and save each as soon as it is.

        A failure is saved like a result; ``retry`` runs the failed cells again.
        """
        open_ = [cell for cell in cells if self._is_open(cell, retry)]
        with Progress(len(open_), "reproduce", shown=progress and bool(open_)) as bar:
            for cell in open_:
                bar.advance(0, label=cell.key)
                try:
                    table = run(cell)
                except CellError as failure:
                    table = pd.DataFrame({"error": [str(failure)]})
                self.save(cell, table)
                bar.advance()

    def save(self, cell: Cell, table: pd.DataFrame) -> None:
        """Save a finished cell."""
        file = self._file(cell)
        # Write to another name first: an interrupted run leaves no incomplete file behind.
        unfinished = file.with_name(f"{file.name}.{os.getpid()}.part")
        table.to_csv(unfinished, index=False)
        unfinished.replace(file)

    def summary(self, cells: Iterable[Cell]) -> pd.DataFrame:
        """Return one row per finished cell: its settings, and its figures or its error."""
        records: list[dict[str, object]] = []
        for cell in cells:
            if not (file := self._file(cell)).exists():
                continue
            record: dict[str, object] = asdict(cell) | {"minimised": cell.minimised, "error": ""}
            table = pd.read_csv(file)
            if "error" in table:
                record["error"] = str(table["error"].iloc[0])
            else:
                record |= summarise(table)
            records.append(record)
        columns = [*Cell.__dataclass_fields__, "minimised", "error", "pairs", "valid", "sparsity"]
        figures = [name for metric in METRICS for name in (metric, f"{metric}_std")]
        return pd.DataFrame(records, columns=[*columns, "time_s", *figures])

    def _is_open(self, cell: Cell, retry: bool) -> bool:
        file = self._file(cell)
        return not file.exists() or (retry and "error" in pd.read_csv(file))

    def _file(self, cell: Cell) -> Path:
        return self.path / f"{cell.key.replace(':', '.')}.csv"
