"""A folder of finished cells: what is in it is not run again."""

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

SETTINGS_FILE = "settings.json"


class CellError(Exception):
    """A cell that could not be run; the message goes into the table."""


@dataclass(frozen=True)
class ResultsFolder:
    """Finished cells, one CSV file each, and the settings they were run with.

    Parameters
    ----------
    path
        The folder; it is made if need be.
    settings
        What all cells have in common. A folder of other settings is refused.
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
                f"The results in {self.path} were run with {before}, now it is {self.settings}. "
                f"Choose another folder, or delete that one."
            )

    def run_all(
        self,
        cells: Iterable[Cell],
        run: Callable[[Cell], pd.DataFrame],
        *,
        retry: bool = False,
        progress: bool = False,
    ) -> None:
        """Run the cells that are not finished yet; keep each as soon as it is.

        A failure is kept like a result; ``retry`` runs those again.
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
        """Keep a finished cell."""
        file = self._file(cell)
        # Written aside first: an interrupted run leaves no half file behind.
        unfinished = file.with_name(f"{file.name}.{os.getpid()}.part")
        table.to_csv(unfinished, index=False)
        unfinished.replace(file)

    def summary(self, cells: Iterable[Cell]) -> pd.DataFrame:
        """Give one row per finished cell: its settings, its figures, or its error."""
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
