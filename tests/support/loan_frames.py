"""A mixed table of loans, and models of it that fail in several ways.

They stand here because other processes can import this module, but no module of tests.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterset import DiverseExplainer
from support.settings import explainer_by_steps

__all__ = ["FEATURES", "Deadly", "Flaky", "Flat", "Interrupted", "Lender", "lender", "loans"]

FEATURES = ["income", "debt", "home", "member", "since"]


def loans(count: int = 120, seed: int = 0) -> pd.DataFrame:
    """Return loans of several dtypes, each with the number of its case."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "case": np.arange(1000, 1000 + count),
            "income": random.integers(1, 100, count),
            "debt": random.integers(0, 1000, count) / 10,
            "home": pd.Categorical(random.choice(["own", "rent"], count)),
            "member": random.random(count) > 0.5,
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(random.integers(0, 999, count), "D"),
        },
        index=pd.Index([f"p{i}" for i in range(count)], name="person"),
    )


@dataclass(frozen=True)
class Lender:
    """Approve where the income, with a bonus for owners, exceeds the debt.

    A row whose debt is ``fails_at`` makes the model fail.
    """

    fails_at: float = -1.0

    def predict(self, rows: Any) -> Any:
        if (rows["debt"] == self.fails_at).any():
            raise RuntimeError("the server is tired")
        bonus = np.where(rows["home"] == "own", 10, 0)
        return np.where(rows["income"] + bonus > rows["debt"], "approved", "declined")


class Flat(Lender):
    """A lender that does not look at homes."""

    def predict(self, rows: Any) -> Any:
        return np.where(rows["income"] > rows["debt"], "approved", "declined")


@dataclass(frozen=True)
class Deadly(Lender):
    """A model that kills its process, once, when it is asked about a debt of 55.55."""

    armed: str = ""

    def predict(self, rows: Any) -> Any:
        if (rows["debt"] == 55.55).any() and is_disarmed(self.armed):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().predict(rows)


@dataclass(frozen=True)
class Interrupted(Lender):
    """A model that is interrupted, once, at a debt of 77.77; it writes down the debts it sees."""

    armed: str = ""
    asked: str = ""

    def __init__(self, armed: str, asked: str) -> None:
        super().__init__()
        object.__setattr__(self, "armed", armed)
        object.__setattr__(self, "asked", asked)

    def predict(self, rows: Any) -> Any:
        with open(self.asked, "a", encoding="utf-8") as file:
            file.write("\n".join(map(str, rows["debt"])) + "\n")
        if (rows["debt"] == 77.77).any() and is_disarmed(self.armed):
            raise KeyboardInterrupt
        return super().predict(rows)


@dataclass(frozen=True)
class Flaky:
    """A distance that fails once, as a file on a network would."""

    armed: str

    def __call__(self, A: Any, B: Any) -> Any:
        if is_disarmed(self.armed):
            raise OSError("the file is gone")
        return np.abs(A[:, None] - B[None]).sum(axis=2)


def is_disarmed(armed: str) -> bool:
    """Remove the file of this name; tell whether it was there."""
    try:
        os.unlink(armed)
    except FileNotFoundError:
        return False
    return True


def lender(**parameters: Any) -> DiverseExplainer:
    """Return an explainer of the model, fitted on 120 loans."""
    options: dict[str, Any] = {"max_counterfactuals": 3, "model": Lender(fails_at=99.95)}
    return explainer_by_steps(**options | parameters).fit(loans()[FEATURES])
