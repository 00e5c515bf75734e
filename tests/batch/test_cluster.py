"""Chunks on the workers of a cluster, and schedulers that do not answer."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator

import pandas as pd
import pytest
from distributed import LocalCluster
from support.loan_frames import lender, loans

from counterset import InvalidInputError, MissingExtraError
from counterset.batch import FrameExplainer
from counterset.batch.cluster import connected, explain_chunks


def cluster_of(workers: int) -> LocalCluster:
    return LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=None
    )


def test_every_chunk_comes_back_with_its_number_and_few_are_taken_ahead() -> None:
    explain, rows = FrameExplainer(lender(), keep=["case"]), loans(60)
    taken = []

    def chunks() -> Iterator[tuple[int, pd.DataFrame]]:
        for number in range(12):
            taken.append(number)
            yield number, rows[5 * number : 5 * number + 5]

    with cluster_of(2) as cluster, connected(cluster.scheduler_address) as client:
        ready = explain_chunks(client, explain, chunks())
        number, out = next(ready)
        assert len(taken) <= 2 * 2 + 1
        found = {number: out} | dict(ready)
    assert sorted(found) == list(range(12))
    pd.testing.assert_frame_equal(pd.concat([found[i] for i in range(12)]), explain(rows))


def test_a_scheduler_that_does_not_answer_is_told_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it listens, but never says a word
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(ConnectionError, match=f"No Dask scheduler answered at {address} within"),
            connected(address, seconds=0.5),
        ):
            pass


def test_a_scheduler_without_workers_is_told_in_time() -> None:
    with (
        cluster_of(0) as cluster,
        pytest.raises(ConnectionError, match=r"has no worker\. Start one with 'dask worker"),
        connected(cluster.scheduler_address, seconds=5),
    ):
        pass


@pytest.mark.parametrize("address", ["ftp://a", "10.0.0.1", "tcp://a:b"])
def test_what_is_no_address_is_refused_before_there_is_a_client(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A client that never began waited for 20 seconds when Python ended, and then complained.
    monkeypatch.setattr("distributed.Client", None)
    with (
        pytest.raises(InvalidInputError, match=f"'{address}' is not the address of a Dask sch"),
        connected(address, seconds=0.5),
    ):
        pass


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(MissingExtraError, match=r"pip install 'counterset\[dask\]'"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass
