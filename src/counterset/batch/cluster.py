"""Explain chunks on the workers of a Dask scheduler, and return each as soon as it is ready."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from queue import Empty, Queue
from threading import Thread
from typing import Any

import pandas as pd

from counterset.batch.frame_explainer import FrameExplainer
from counterset.exceptions import InvalidInputError, MissingExtraError

__all__ = ["connected", "explain_chunks"]

#: A scheduler must answer within 10 seconds.
SECONDS = 10
#: A chunk that fails is tried twice more: a worker may have lost its network for a moment.
RETRIES = 2
#: Each thread of a worker has one chunk at work and one waiting; more would only fill its memory.
WAITING = 2


@contextmanager
def connected(address: str, seconds: float = SECONDS) -> Iterator[Any]:
    """Connect to a Dask scheduler that has workers, and yield the client.

    Parameters
    ----------
    address
        Where it listens, such as ``tcp://10.0.0.1:8786``.
    seconds
        How long to wait for it, and for its first worker.
    """
    with _connect(address, seconds) as client:
        try:
            client.wait_for_workers(1, timeout=seconds)
        except TimeoutError:
            raise ConnectionError(
                f"The Dask scheduler at {address} has no worker. Start one with 'dask worker "
                f"{address}'."
            ) from None
        yield client


def _connect(address: str, seconds: float) -> Any:
    """Return a client of a scheduler, or raise an error when the time is up."""
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
        from distributed.comm import get_address_host  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(
            "A cluster needs dask and distributed: pip install 'counterset[dask]'."
        ) from None
    try:
        # Checked before a client is made: closing one that never connected takes 20 seconds.
        get_address_host(address)
    except ValueError as error:
        raise InvalidInputError(
            f"{address!r} is not the address of a Dask scheduler, such as tcp://10.0.0.1:8786: "
            f"{error}"
        ) from error
    results: Queue[Any] = Queue()

    def connect() -> None:
        try:
            results.put(Client(address, timeout=seconds, set_as_default=False))
        except (OSError, TimeoutError) as error:
            results.put(error)

    # Dask's own timeout does not end the wait for a server that listens but never answers.
    Thread(target=connect, daemon=True).start()
    try:
        result = results.get(timeout=seconds)
    except Empty:
        result = TimeoutError()
    if isinstance(result, OSError):  # so is a TimeoutError
        raise ConnectionError(
            f"No Dask scheduler answered at {address} within {seconds:g} seconds. Start one with "
            f"'dask scheduler', or check the address."
        )
    return result


def explain_chunks(
    client: Any, function: FrameExplainer, chunks: Iterable[tuple[int, pd.DataFrame]]
) -> Iterator[tuple[int, pd.DataFrame]]:
    """Explain chunks on the workers of a cluster; yield each with its number when it is ready.

    Parameters
    ----------
    client
        The client of a cluster.
    function
        The function that explains a chunk. Each worker gets it once.
    chunks
        The chunks with their numbers. Only a few more are read than the workers are busy with.
    """
    from distributed import as_completed  # noqa: PLC0415 - an extra

    with warnings.catch_warnings():
        # Sent once, as the result of a task: scattered data would be lost with its worker.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        shared = client.submit(_itself, function, pure=False)
    left = iter(chunks)
    numbers: dict[Any, int] = {}
    ready = as_completed(loop=client.loop)

    def submit_next() -> None:
        for number, chunk in left:
            future = client.submit(_explain, chunk, shared, pure=False, retries=RETRIES)
            numbers[future] = number
            ready.add(future)
            return

    for _ in range(WAITING * sum(client.nthreads().values())):
        submit_next()
    for future in ready:
        number = numbers.pop(future)
        rows = future.result()
        future.release()
        submit_next()
        yield number, rows


def _itself(function: FrameExplainer) -> FrameExplainer:
    return function


def _explain(chunk: pd.DataFrame, function: FrameExplainer) -> pd.DataFrame:
    return function(chunk)
