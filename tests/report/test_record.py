"""The record of a report."""

from __future__ import annotations

import json

from support.displays import mixed

from counterset import Explanation
from counterset.report.page import read_record
from counterset.report.verify import record_of, record_of_many


def test_the_record_of_one_explanation_holds_all_of_it() -> None:
    explanation, _ = mixed()
    record = read_record(explanation.to_html(), "It")
    assert record == json.loads(json.dumps(record_of(explanation)))
    again = Explanation.from_dict(record["explanation"])
    assert again.describe() == explanation.describe()
    assert record["fingerprint"]["digest"] == explanation.context.fingerprint().digest
    assert record["explanation"]["constraints"] == {"immutable": ["age"]}


def test_the_record_of_many_holds_settings_and_hashes_but_no_rows() -> None:
    explanation, explainer = mixed()
    row = explanation.coded.table.decode(explanation.coded.input[None, :])
    record = record_of_many(explainer.explain_many(row), {"options": {}})
    assert record["figures"] == {"options": {}}
    assert record["constraints"] == {"immutable": ["age"]}
    assert record["settings"]["max_counterfactuals"] == 4
    assert record["training"] == {
        "rows": len(explainer.training_.pool.matrix),
        "hash": explainer.training_.summary.value.hash,
    }
    assert "explanation" not in record
    assert set(record["versions"]) >= {"counterset", "numpy", "python"}
