"""Logs: a line of JSON for each request, without its values."""

from __future__ import annotations

import json
import logging
import math
import sys
import traceback
from collections import Counter
from datetime import UTC, datetime
from typing import Any, TextIO

__all__ = ["LOGGER", "JsonLines", "OnceInAWhile", "write_logs"]

#: The logger of the server.
LOGGER = logging.getLogger("counterset.serve")
#: What others log about connections, which any client can cause, is repeated every 10 s at most.
INTERVAL = 10.0


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    Of an error, it writes the type and the lines of code that it passed, but not the message:
    messages repeat values, and a value may be personal.

    Examples
    --------
    >>> record = logging.makeLogRecord({"msg": "request", "levelname": "INFO", "created": 0})
    >>> record.counts = {"status": 200}
    >>> JsonLines().format(record)
    '{"time": "1970-01-01T00:00:00.000+00:00", "level": "info", "event": "request", "status": 200}'
    """

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        written: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            # Only the first line: those after it show objects, with what they hold.
            "event": record.getMessage().partition("\n")[0],
            **getattr(record, "counts", {}),
        }
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            errors = [error] if error.__cause__ is None else [error, error.__cause__]
            written["error"] = " from ".join(type(each).__name__ for each in errors)
            written["at"] = [
                f"{line.filename}:{line.lineno} {line.name}"
                for each in errors
                for line in traceback.extract_tb(each.__traceback__)
            ]
        return json.dumps(written)


class OnceInAWhile(logging.Filter):
    """Lets each line of code log once in an interval, and counts what it drops.

    Examples
    --------
    >>> once = OnceInAWhile()
    >>> [once.filter(logging.makeLogRecord({"created": at})) for at in (0, 1, 9, 10)]
    [True, False, False, True]
    """

    def __init__(self, interval: float = INTERVAL) -> None:
        super().__init__()
        self._interval = interval
        self._last: dict[tuple[str, int], float] = {}
        self._dropped: Counter[tuple[str, int]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        place = (record.pathname, record.lineno)
        if record.created < self._last.get(place, -math.inf) + self._interval:
            self._dropped[place] += 1
            return False
        self._last[place] = record.created
        if dropped := self._dropped.pop(place, 0):
            record.counts = {"repeated": dropped}
        return True


def write_logs(stream: TextIO | None = None) -> None:
    """Write what the server, uvicorn and asyncio log to a stream, by default the error stream."""
    own = logging.StreamHandler(stream or sys.stderr)
    own.setFormatter(JsonLines())
    others = logging.StreamHandler(stream or sys.stderr)
    others.setFormatter(JsonLines())
    others.addFilter(OnceInAWhile())
    for name, handler in ((LOGGER.name, own), ("uvicorn.error", others), ("asyncio", others)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)
