"""The explorer's own requests: what the page in ``static/`` asks.

Every answer follows from its request alone: nothing is kept between requests, so that people with
different limits cannot see each other's answers.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Path
from starlette.responses import HTMLResponse

from counterset.explainer import DiverseExplainer
from counterset.results.explanation import Explanation
from counterset.serve.bodies import StrictRoute
from counterset.serve.cards import decision_on, describe_explanation
from counterset.serve.case_requests import (
    CaseRequest,
    NearbyRequest,
    RowRequest,
    changed_codes,
    codes_of,
    constraints_of,
    explainer_of,
    goal_of,
    row_of,
    to_wire,
)
from counterset.serve.lifting import find_in_the_way
from counterset.serve.limits import Limits
from counterset.serve.nearby import ask_nearby
from counterset.serve.page_features import describe_start
from counterset.serve.page_map import draw_map
from counterset.serve.refusals import RefusedError
from counterset.serve.served import Served
from counterset.serve.workers import Workers

__all__ = ["explorer_router"]


def explorer_router(served: Served, workers: Workers, limits: Limits) -> APIRouter:
    """Return the routes that the page asks, all below ``/explorer``.

    Parameters
    ----------
    served
        What is served.
    workers
        The threads that explain: ``await workers.run(function, ...)``.
    limits
        How much a request may take.
    """
    router = APIRouter(prefix="/explorer", tags=["explorer"], route_class=StrictRoute)

    @router.get("/start")
    async def start() -> dict[str, Any]:
        """Tell what the page needs before its first question: features, classes, cases."""
        return await workers.run(describe_start, served)

    @router.get("/cases/{position}")
    async def case(position: int = Path(ge=0)) -> dict[str, Any]:
        """Return the values of a case; the first is at position 0."""
        return await workers.run(_case, position, served)

    @router.post("/explain")
    async def explain(request: CaseRequest) -> dict[str, Any]:
        """Say what the model decides, and which ways lead to what is wanted."""
        return await workers.run(_explain, request, served)

    @router.post("/predict")
    async def predict(request: RowRequest) -> dict[str, Any]:
        """Say what the model decides on other values."""
        return await workers.run(_predict, request, served)

    @router.post("/lift")
    async def lift(request: CaseRequest) -> dict[str, Any]:
        """Find the limit that stands in the way of more ways."""
        return await workers.run(find_in_the_way, request, served)

    @router.post("/map")
    async def map_(request: CaseRequest) -> dict[str, Any]:
        """Return a map of the ways, and what the model says between them."""
        return await workers.run(_map, request, served)

    @router.post("/nearby")
    async def nearby(request: NearbyRequest) -> dict[str, Any]:
        """Say which of the ways people almost like this one are offered too."""
        return await workers.run(ask_nearby, request, served)

    @router.post("/report", response_class=HTMLResponse)
    async def report(request: CaseRequest) -> HTMLResponse:
        """Return the report of a case, to be saved."""
        page = await workers.run(_report, request, served)
        headers = {"Content-Disposition": 'attachment; filename="explanation.html"'}
        return HTMLResponse(page, headers=headers)

    return router


def _case(position: int, served: Served) -> dict[str, Any]:
    if position >= len(served.cases):
        raise RefusedError(
            f"There is no case at position {position}: there are {len(served.cases)}, and the "
            f"first is at position 0."
        )
    table = served.table
    (codes,), index = table.encode(served.cases.iloc[[position]])
    pairs = zip(table.features, codes, strict=True)
    return {
        "number": str(index[0]),
        "values": {feature.name: to_wire(feature, code) for feature, code in pairs},
    }


def _predict(request: RowRequest, served: Served) -> dict[str, Any]:
    return decision_on(codes_of(request.values, served.table), served)


def _explain(request: CaseRequest, served: Served) -> dict[str, Any]:
    codes = codes_of(request.values, served.table)
    _, explanation = _found(request, served)
    kept = [changed_codes(codes, changes, served.table) for changes in request.kept]
    decision = decision_on(codes, served, explanation.label)
    return decision | describe_explanation(explanation, served, kept)


def _map(request: CaseRequest, served: Served) -> dict[str, Any]:
    explainer, explanation = _found(request, served)
    if not len(explanation):
        raise RefusedError("There is no way to draw a map of.")
    return draw_map(explanation, explainer, served)


def _report(request: CaseRequest, served: Served) -> str:
    # Only a report says which case it is about: to find out costs as much as asking the model.
    _, explanation = _found(request, served, request.case)
    return explanation.to_html(outcomes=served.outcomes)


def _found(
    request: CaseRequest, served: Served, case: int | None = None
) -> tuple[DiverseExplainer, Explanation]:
    """Explain a case; there may be no way, and that is an answer too."""
    explainer = explainer_of(request, served)
    (explanation,) = explainer.explain_many(
        row_of(codes_of(request.values, served.table), served, case),
        constraints=constraints_of(request.limits, served),
        if_none="ignore",
        skip=True,
        **goal_of(request, served),
    )
    return explainer, explanation
