"""Requests made up from the service's own description: no failure, and no undescribed answer."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from support.served_loans import serve_loans

from counterset.serve.app import create_app

CHECKS = [
    content_type_conformance,
    negative_data_rejection,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]

loans = serve_loans()
loans.warm_up()
schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(loans, hosts=None))


@schema.parametrize()
@settings(
    # 60 requests for each address, the same in each run; some are slow to make up.
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_every_answer_is_as_described(case: Any) -> None:
    case.call_and_validate(checks=CHECKS)
