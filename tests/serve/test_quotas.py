"""Quotas are counts, and a time."""

import pytest

from counterset import InvalidInputError
from counterset.serve.quotas import Quotas


@pytest.mark.parametrize("wrong", [{"body": 0}, {"seconds": -1}, {"threads": 1.5}])
def test_a_quota_that_is_not_positive_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        Quotas(**wrong)
