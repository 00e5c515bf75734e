"""The paper's sentences, checked against figures."""

from __future__ import annotations

import pandas as pd
import pytest

from counterset.paper.cells import published_results
from counterset.paper.claims import BETTER, CLAIMS, claims_table


def verdicts(summary: pd.DataFrame, column: str) -> dict[tuple[str, str], str]:
    frame = claims_table(summary).frame
    return {
        (sentence, counted): verdict
        for sentence, counted, verdict in zip(
            frame["the paper says"], frame["counted"], frame[column], strict=True
        )
    }


def test_the_published_figures_say_what_was_counted_by_hand(published: pd.DataFrame) -> None:
    found = verdicts(published, "published figures")
    angle = [value for (sentence, _), value in found.items() if sentence.startswith("Angle")]
    assert angle == ["4 of 10: does not hold", *["5 of 10: does not hold"] * 2]
    news = [value for (sentence, _), value in found.items() if "order of magnitude" in sentence]
    assert news == ["0 of 2: does not hold"]  # 1099 and 1160 times
    slight = [value for (sentence, _), value in found.items() if "slight increase" in sentence]
    assert slight == ["16 of 20: in most, not in all"]
    assert found == verdicts(published, "measured here")


@pytest.mark.parametrize("metric", ["k_distance", "set_distance_max"])
def test_a_single_cell_that_is_worse_refutes_always(published: pd.DataFrame, metric: str) -> None:
    row = published.query("stage == 'final' and minimised == True and dataset == 'no2'").index[0]
    published.loc[row, metric] = 9.0
    before = verdicts(
        published_results().query("method == 'ours'").assign(error=""), "measured here"
    )
    after = verdicts(published, "measured here")
    changed = {
        sentence
        for (sentence, _), verdict in after.items()
        if "always" in sentence and before[sentence, _] != verdict
    }
    assert len(changed) == 1


def test_what_was_not_run_has_a_dash(published: pd.DataFrame) -> None:
    found = verdicts(published.query("stage == 'final' and dataset == 'no2'"), "measured here")
    assert {value for (_, counted), value in found.items() if "tuning" in counted} == {"-"}
    assert {value for (_, counted), value in found.items() if "two set" in _} != {"-"}
    assert len(claims_table(published[:0]).frame) == 0


def test_dice_as_measured_here_is_what_ours_is_compared_with(published: pd.DataFrame) -> None:
    worse = published.query("stage == 'final' and minimised == True").assign(
        stage="peers", method="dice-gradient"
    )
    for metric, sign in BETTER.items():
        worse[metric] *= 1 - 0.5 * sign
    table = claims_table(pd.concat([published, worse]))
    first = table.frame["measured here"].iloc[0]
    assert first == "0 of 40: does not hold"
    assert "as it was measured here" in table.note


def test_each_sentence_is_counted_in_one_way() -> None:
    assert len({(claim.sentence, claim.looked_at) for claim in CLAIMS}) == len(CLAIMS)
