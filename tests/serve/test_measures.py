"""What Prometheus reads."""

from __future__ import annotations

from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from support.served_loans import DECLINED


def test_requests_and_rows_are_counted_by_route_and_by_what_became_of_them(
    client: TestClient,
) -> None:
    rich = DECLINED | {"income": 90}
    client.post("/explain", json={"instances": [DECLINED, rich, DECLINED]})
    client.get("/nowhere/1")
    client.get("/nowhere/2")
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    samples = {
        (each.name, *sorted(each.labels.values())): each.value
        for family in text_string_to_metric_families(answer.text)
        for each in family.samples
    }
    assert samples["counterset_requests_total", "/explain", "200", "POST"] == 1
    assert samples["counterset_requests_total", "404", "GET", "other"] == 2
    assert samples["counterset_instances_total", "explained"] == 2
    assert samples["counterset_instances_total", "already_reached"] == 1
    assert samples["counterset_request_seconds_count", "/explain"] == 1
    assert samples["counterset_requests_waiting",] == 0
