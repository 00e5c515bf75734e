"""Logs: a line of JSON for each request, without what it said."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

__all__ = ["LOGGER", "JsonLines", "write_logs"]

#: What the server writes to.
LOGGER = logging.getLogger("counterset.serve")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    Of an error it tells the type and the lines of code that it passed, and not its message:
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
        told: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "counts", {}),
        }
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            errors = [error] if error.__cause__ is None else [error, error.__cause__]
            told["error"] = " from ".join(type(each).__name__ for each in errors)
            told["at"] = [
                f"{line.filename}:{line.lineno} {line.name}"
                for each in errors
                for line in traceback.extract_tb(each.__traceback__)
            ]
        return json.dumps(told)


def write_logs(stream: TextIO | None = None) -> None:
    """Write what the server and uvicorn log to a stream, by default the error stream."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    for name in (LOGGER.name, "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO)
