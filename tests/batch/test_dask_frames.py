"""Dask: lazy, of the right columns and dtypes, shared once, and nothing is lost with a worker."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from support.loan_frames import FEATURES, Deadly, Flaky, Flat, lender, loans
from support.toys import FRAME, approve, fitted

from counterset import Constraints, DiverseExplainer, InvalidInputError
from counterset.batch import FrameExplainer
from counterset.exceptions import MissingExtraError

#: The longest that a test waits for workers, in seconds: ten times what is usual.
PATIENCE = 120


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers, each a process of its own."""
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster, timeout=PATIENCE, set_as_default=False) as client,
    ):
        yield client


def partitioned(rows: pd.DataFrame, count: int = 4) -> Any:
    # Texts stay as they are in pandas, so that results can be compared.
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(rows, npartitions=count, sort=False)


def computed(lazy: Any) -> pd.DataFrame:
    rows: pd.DataFrame = lazy.compute(scheduler="synchronous")
    return rows


def test_a_dask_frame_is_explained_lazily_and_as_a_frame_in_memory() -> None:
    explain, rows = FrameExplainer(lender(), target="approved"), loans(40)[FEATURES]
    lazy = explain.explain_dask(partitioned(rows))
    assert isinstance(lazy, dd.DataFrame)
    expected = explain(rows)
    assert lazy.dtypes.to_dict() == expected.dtypes.to_dict()
    assert lazy.index.name == "person"
    pd.testing.assert_frame_equal(computed(lazy), expected)


def test_partitions_without_rows_and_with_failures_come_back() -> None:
    rows = loans(40)
    rows["debt"] = rows["debt"].where(rows["case"] != 1011, 99.95)
    parts = partitioned(rows)
    some = parts[parts["case"] > 1009]  # the first partition is empty
    explain = FrameExplainer(lender(), keep=["case"])
    lazy = explain.explain_dask(some)
    assert len(lazy.partitions[0].compute(scheduler="synchronous")) == 0
    out = computed(lazy)
    pd.testing.assert_frame_equal(out, explain(rows[rows["case"] > 1009]))
    assert out.loc["p11", "status"] == "model_error"
    one_line = some.map_partitions(explain, meta=explain(rows[:0]))
    pd.testing.assert_frame_equal(computed(one_line), out)


def test_texts_may_be_those_of_arrow() -> None:
    X = loans()[["income", "debt"]].assign(town=["Ulm", "Bonn"] * 60)
    explainer = DiverseExplainer(Flat()).fit(X)
    with dask.config.set({"dataframe.convert-string": True}):
        frame = dd.from_pandas(X[:10], npartitions=2, sort=False)
        lazy = FrameExplainer(explainer).explain_dask(frame)
        out = computed(lazy)
    assert out["town"].tolist() == FrameExplainer(explainer)(X[:10])["town"].tolist()


def test_all_tasks_share_one_explainer() -> None:
    explainer, rows = lender(), loans(40)[FEATURES]
    lazy = FrameExplainer(explainer).explain_dask(partitioned(rows))
    graph = dict(lazy.optimize().__dask_graph__())
    sizes = {str(key): len(pickle.dumps(task)) for key, task in graph.items()}
    whole = len(pickle.dumps(explainer))
    assert len(sizes) == 4 + 4 + 1
    assert [key for key, size in sizes.items() if size > whole / 2] == [
        key for key in sizes if "frame-explainer-" in key
    ]


def test_a_worker_that_is_killed_loses_nothing(client: Client, tmp_path: Path) -> None:
    armed = tmp_path / "armed"
    rows = loans(60)[FEATURES]
    rows.loc["p41", "debt"] = 55.55  # in the middle of the third of four partitions
    explainer = lender(model=Deadly(armed=str(armed)))
    serial = FrameExplainer(explainer)(rows)
    before = set(client.run(os.getpid).values())
    armed.touch()
    lazy = FrameExplainer(explainer).explain_dask(partitioned(rows))
    out = client.compute(lazy).result(timeout=PATIENCE)
    assert not armed.exists()
    client.wait_for_workers(2, timeout=PATIENCE)
    assert len(before - set(client.run(os.getpid).values())) == 1
    pd.testing.assert_frame_equal(out, serial)


def test_a_partition_that_fails_is_retried(client: Client, tmp_path: Path) -> None:
    armed = tmp_path / "armed"
    rows = loans(20)[["income", "debt"]]
    explainer = DiverseExplainer.paper(Flat(), distance=Flaky(str(armed))).fit(rows)
    serial = FrameExplainer(explainer)(rows)
    explain = FrameExplainer(explainer)
    once, again = (explain.explain_dask(partitioned(rows)) for _ in range(2))
    armed.touch()
    with pytest.raises(OSError, match="the file is gone"):
        client.compute(once).result(timeout=PATIENCE)
    armed.touch()
    out = client.compute(again, retries=1).result(timeout=PATIENCE)
    assert not armed.exists()
    pd.testing.assert_frame_equal(out, serial)


def test_explain_many_refuses_a_dask_frame_and_shows_the_line_that_explains_it() -> None:
    # It once returned something else than Explanations.
    explainer, frame = lender(), partitioned(loans(5)[FEATURES])
    line = r"counterset\.batch\.FrameExplainer\(explainer\)\.explain_dask\(X\)"
    with pytest.raises(InvalidInputError, match=line):
        explainer.explain_many(frame)


def test_each_kind_of_frame_has_its_own_call() -> None:
    explain, rows = FrameExplainer(lender()), loans(5)[FEATURES]
    with pytest.raises(InvalidInputError, match=r"Call explain_dask\(frame\)"):
        explain(partitioned(rows))
    with pytest.raises(InvalidInputError, match="explain_dask takes a dask DataFrame, got Dat"):
        explain.explain_dask(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraints": [Constraints()] * 5}, "or a function of the row, because a frame may be"),
        ({"memory": "much"}, "memory must be a number of bytes"),
        ({"target_probability": 3}, "target_probability must be"),
    ],
)
def test_what_makes_no_sense_later_is_refused_at_once(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        FrameExplainer(lender(), **options)


def test_columns_may_be_more_but_none_may_be_missing() -> None:
    explain = FrameExplainer(lender())
    more = explain.explain_dask(partitioned(loans(5)))
    pd.testing.assert_frame_equal(computed(more), explain(loans(5)[FEATURES]))
    with pytest.raises(InvalidInputError, match="The frame lacks the columns"):
        explain.explain_dask(partitioned(loans(5)[FEATURES[1:]]))
    with pytest.raises(InvalidInputError, match="fitted on an array"):
        FrameExplainer(fitted())
    explainer = DiverseExplainer(approve).fit(FRAME)
    assert len(computed(FrameExplainer(explainer).explain_dask(partitioned(FRAME[:4])))) >= 4


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'counterset\[dask\]'"):
        FrameExplainer(lender()).explain_dask(None)
