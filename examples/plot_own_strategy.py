"""
A strategy of one's own
=======================

A bank's lawyers say: every option must be a customer whom we really approved, and no row
that a program made up. Yuki writes that as a strategy of her own, in thirty lines. This
example is for everybody who wants another search, but the same checks, texts and reports.
"""

# %%
# What a strategy is
# ------------------
#
# A strategy has ``learn``, which reads the training rows and returns a finder. A finder has
# ``find``, which takes a batch of people. ``batch.ask`` says which rows are counterfactuals
# for whom: it knows the model, the goal and the constraints. ``verified`` drops repeats, puts
# the nearest first and asks the model once more.

from dataclasses import dataclass, replace

import numpy as np

from counterset.strategies.batch import REFUSED, Chosen
from counterset.strategies.strategy import verified


@dataclass(frozen=True)
class RealCustomers:
    """Offer the nearest training rows that reach the goal and keep the constraints."""

    count: int = 3

    def learn(self, training, recipes, requirements, advance):
        return RealCustomersFinder(training.pool.matrix, self.count)


@dataclass(frozen=True)
class RealCustomersFinder:
    rows: np.ndarray
    count: int

    def prepare(self, requirements):
        """Nothing is left to learn."""

    def find(self, batch):
        people = np.arange(len(batch.inputs))
        owners, rows = np.repeat(people, len(self.rows)), np.tile(self.rows, (len(people), 1))
        possible = batch.is_possible(rows, owners)
        owners, rows = owners[possible], rows[possible]
        codes = batch.ask(rows, owners)
        owners, rows, codes = (each[codes != REFUSED] for each in (owners, rows, codes))
        embedded = batch.distance.embed(rows)
        chosen = replace(
            Chosen.empty(batch),
            owners=owners,
            pool_index=np.zeros(len(rows), dtype=np.intp),
            rows=rows,
            codes=codes,
            embedded=embedded,
            lengths=batch.lengths(embedded, owners),
            settled=np.ones(len(rows), dtype=bool),
        ).nearest_first(batch)
        place = np.arange(len(chosen.owners)) - np.searchsorted(chosen.owners, chosen.owners)
        chosen = chosen.take(np.flatnonzero(place < self.count))
        return verified(chosen, batch, chosen.counts)

    def numbers_held(self, batch):
        return self.rows.size
