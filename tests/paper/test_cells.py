"""The published runs as cells, and their figures."""

from __future__ import annotations

import numpy as np

from counterset.paper.cells import Cell, published_results, select_cells
from counterset.paper.setups import PAPER_DATASETS


def test_every_published_run_is_a_cell() -> None:
    names = ["diabetes", "no2", "credit", "spambase", "news"]
    assert len(select_cells("final", names)) == 20
    tuning = select_cells("tuning", names)
    assert len(tuning) == len({cell.key for cell in tuning}) == 490


def test_cells_come_in_the_order_of_the_datasets_asked_for() -> None:
    cells = select_cells("final", ["news", "diabetes"], [2])
    assert [cell.dataset for cell in cells] == ["news", "news", "diabetes", "diabetes"]
    assert {cell.norm for cell in cells} == {2}
    assert np.isin([cell.dataset for cell in cells], PAPER_DATASETS).all()
    assert Cell("final", "no2", 1).key == "final-ours-no2-L1-angle-beta0.5-unminimised"


def test_validity_is_read_in_percent() -> None:
    published = published_results()
    assert published["valid"].between(0, 100).all()
    dice = published.query("stage == 'tuning' and method == 'dice' and dataset == 'spambase'")
    assert dice["valid"].tolist() == [96, 96]
