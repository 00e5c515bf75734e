"""What one call asks for is checked before anything is computed."""

from __future__ import annotations

from typing import Any

import pytest
from support.toys import FRAME, fitted

from counterset import InvalidInputError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skip": "yes"}, "skip must be True or False, got 'yes'"),
        ({"skip": None}, "skip must be True or False, got None"),
        ({"if_none": "skip"}, "if_none must be 'raise', 'warn' or 'ignore', got 'skip'"),
        ({"target_probability": 2}, "target_probability"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(FRAME).explain_many(FRAME[:2], **options)
