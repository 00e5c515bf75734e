"""When something fails, the request gets an answer, and the log tells where."""

from __future__ import annotations

import logging

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from served_loans import DECLINED, approve

from counterset import DiverseExplainer
from counterset.serve.app import create_app
from counterset.serve.served import Served


def test_a_model_that_fails_is_an_answer_without_its_message(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    def fragile(rows: pd.DataFrame) -> object:
        if (rows["income"] == 66).any():
            raise RuntimeError("Eve earns 66")
        return approve(rows)

    training = served.training[served.training["income"] != 66]
    explainer = DiverseExplainer(fragile).fit(training)
    app = create_app(Served("fragile", explainer, served.cases, training))
    with caplog.at_level(logging.INFO, "counterset.serve"):
        answer = TestClient(app, base_url="http://127.0.0.1").post(
            "/explain", json={"instances": [DECLINED | {"income": 66}]}
        )
    assert answer.status_code == 500
    assert answer.json()["error"].startswith("The server failed.")
    assert "Eve" not in answer.text
    assert answer.headers["X-Request-ID"] in answer.text
    failed, request = caplog.records
    assert (failed.message, request.message) == ("failed", "request")
    assert request.counts["status"] == 500  # type: ignore[attr-defined]
