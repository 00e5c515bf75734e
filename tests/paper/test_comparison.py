"""The comparison with what was published."""

from __future__ import annotations

import pandas as pd

from counterset.paper.report import compare, deviations


def test_the_published_figures_equal_themselves(published: pd.DataFrame) -> None:
    table = compare(published)
    assert (table["equal"] == table["figures"]).all()
    assert table["figures"].sum() == (20 + 490) * 4
    assert table["largest deviation"].max() == 0


def test_a_figure_counts_as_equal_only_to_four_decimals(published: pd.DataFrame) -> None:
    row = published.query("stage == 'final' and dataset == 'credit'").index[0]
    published.loc[row, "k_distance"] += 0.00004
    assert deviations(published)["equal"].all()
    published.loc[row, "k_distance"] += 0.0001
    both = deviations(published)
    assert (~both["equal"]).sum() == 1
