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
from counterset.batch.dask_frames import map_partitions
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


def test_explain_many_is_lazy_and_equal_to_a_frame_explainer() -> None:
    explainer, rows = lender(), loans(40)[FEATURES]
    lazy = explainer.explain_many(partitioned(rows), target="approved")
    assert isinstance(lazy, dd.DataFrame)
    expected = FrameExplainer(explainer, target="approved")(rows)
    assert lazy.dtypes.to_dict() == expected.dtypes.to_dict()
    assert lazy.index.name == "person"
    pd.testing.assert_frame_equal(computed(lazy), expected)


def test_partitions_without_rows_and_with_failures_come_back() -> None:
    rows = loans(40)
    rows["debt"] = rows["debt"].where(rows["case"] != 1011, 99.95)
    parts = partitioned(rows)
    some = parts[parts["case"] > 1009]  # the first partition is empty
    explain = FrameExplainer(lender(), keep=["case"])
    lazy = map_partitions(explain, some)
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
        lazy = explainer.explain_many(dd.from_pandas(X[:10], npartitions=2, sort=False))
        out = computed(lazy)
    assert out["town"].tolist() == FrameExplainer(explainer)(X[:10])["town"].tolist()


def test_all_tasks_share_one_explainer() -> None:
    explainer, rows = lender(), loans(40)[FEATURES]
    lazy: Any = explainer.explain_many(partitioned(rows))
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
    lazy = explainer.explain_many(partitioned(rows))
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
    once, again = (explainer.explain_many(partitioned(rows)) for _ in range(2))
    armed.touch()
    with pytest.raises(OSError, match="the file is gone"):
        client.compute(once).result(timeout=PATIENCE)
    armed.touch()
    out = client.compute(again, retries=1).result(timeout=PATIENCE)
    assert not armed.exists()
    pd.testing.assert_frame_equal(out, serial)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"if_none": "warn"}, "if_none and skip cannot be chosen for a dask DataFrame"),
        ({"skip": True}, "if_none and skip cannot be chosen for a dask DataFrame"),
        ({"constraints": [Constraints()] * 5}, "or a function of the row, because a frame may be"),
        ({"progress": True}, "progress cannot be shown for a dask DataFrame"),
        ({"memory": "much"}, "memory must be a number of bytes"),
        ({"target_probability": 3}, "target_probability must be"),
    ],
)
def test_what_makes_no_sense_later_is_refused_at_once(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        lender().explain_many(partitioned(loans(5)[FEATURES]), **options)


def test_columns_and_the_training_data_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="are not those that the explainer was fitted on"):
        lender().explain_many(partitioned(loans(5)))
    with pytest.raises(InvalidInputError, match="fitted on an array"):
        fitted().explain_many(partitioned(FRAME.set_axis(["x0", "x1"], axis=1)))
    explainer = DiverseExplainer(approve).fit(FRAME)
    assert len(computed(explainer.explain_many(partitioned(FRAME[:4])))) >= 4


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'counterset\[dask\]'"):
        map_partitions(FrameExplainer(lender()), None)
