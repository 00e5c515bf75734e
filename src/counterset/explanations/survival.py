"""Survival: which options still work after a model was trained again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from counterset._base.arrays import Counts, Indices, Mask, Vector
from counterset._base.checks import check_count
from counterset.exceptions import InvalidInputError
from counterset.explanations.stability import least_shares

__all__ = ["Survival"]


@dataclass(frozen=True, eq=False, repr=False)
class Survival:
    """Which options of some inputs still lead to what was asked for after retraining.

    What was measured on some retrained models proves nothing about the next one. The least shares
    are 95 % sure for retrainings of the same kind.

    Attributes
    ----------
    works : ndarray of shape (n_options, n_models)
        Whether each option still leads to what is wanted, by each retrained model. Options stand
        in the order of the inputs, and nearest first.
    reached : ndarray of shape (n_inputs, n_models)
        Whether each retrained model gives the input itself, unchanged, what is wanted.
    counts : ndarray of shape (n_inputs,)
        How many options each input has.
    index : pandas.Index
        The inputs' index labels.

    Examples
    --------
    One input with two options, and four retrained models:

    >>> works = np.array([[True, True, False, True], [True, False, True, False]])
    >>> one = Survival(works, np.zeros((1, 4), dtype=bool), np.array([2]), pd.Index(["Ada"]))
    >>> print(one)
    option 1: still works after 3 of 4 retrainings (95% sure: after at least 24%)
    option 2: still works after 2 of 4 retrainings (95% sure: after at least 9%)
    at least one of these: after 4 of 4 retrainings (95% sure: after at least 47%)
    >>> one.share, one.set_share
    (0.625, 1.0)
    """

    works: Mask
    reached: Mask
    counts: Counts
    index: pd.Index

    def __post_init__(self) -> None:
        for array in (self.works, self.reached, self.counts):
            array.setflags(write=False)

    @property
    def retrainings(self) -> int:
        """The number of retrained models."""
        return int(self.works.shape[1])

    @property
    def kept(self) -> Counts:
        """For each option, the number of retrainings after which it still works."""
        kept: Counts = self.works.sum(axis=1, dtype=np.intp)
        return kept

    @property
    def shares(self) -> Vector:
        """For each option, the share of the retrainings after which it still works."""
        return self.kept / self.retrainings

    @property
    def least_shares(self) -> Vector:
        """For each option, the share of all such retrainings at least, 95 % sure."""
        return least_shares(self.kept, self.retrainings)

    @property
    def sets_kept(self) -> Counts:
        """For each input, the number of retrainings after which an option of it still works."""
        kept: Counts = self._any_works.sum(axis=1, dtype=np.intp)
        return kept

    @property
    def set_shares(self) -> Vector:
        """For each input, the same as a share of the retrainings; NaN if it has no option."""
        return np.where(self.counts > 0, self.sets_kept / self.retrainings, np.nan)

    @property
    def least_set_shares(self) -> Vector:
        """For each input, the share of all such retrainings at least, 95 % sure; or NaN."""
        least = least_shares(self.sets_kept, self.retrainings)
        return np.where(self.counts > 0, least, np.nan)

    @property
    def share(self) -> float:
        """In how many pairs of an option and a retraining the option still works; NaN if none."""
        return float(self.works.mean()) if self.works.size else math.nan

    @property
    def set_share(self) -> float:
        """In how many pairs of an input and a retraining an option still works; NaN if none.

        Inputs without an option are left out.
        """
        works = self._any_works[self.counts > 0]
        return float(works.mean()) if works.size else math.nan

    @property
    def nearest_share(self) -> float:
        """In how many pairs of an input and a retraining its nearest option still works."""
        nearest = self.works[self._starts[self.counts > 0]]
        return float(nearest.mean()) if nearest.size else math.nan

    def of_nearest(self, count: int) -> Survival:
        """Return the same for the nearest options of each input only."""
        check_count(count, "count")
        rank = np.arange(len(self.works)) - self._starts[self._owners]
        counts = np.minimum(self.counts, count)
        return replace(self, works=self.works[rank < count], counts=counts)

    def to_frame(self, of: Literal["options", "sets"] = "options") -> pd.DataFrame:
        """Return one row for each option, or for each input.

        Parameters
        ----------
        of : {"options", "sets"}, default="options"
            ``"options"``: indexed by the input's index and the rank. ``"sets"``: indexed by the
            input's index; an option of the set has to work. ``reached`` then counts the retrainings
            after which the input has what is wanted without any change.
        """
        if of == "sets":
            columns = {
                "options": self.counts,
                "kept": self.sets_kept,
                "share": self.set_shares,
                "least_share": self.least_set_shares,
                "reached": self.reached.sum(axis=1, dtype=np.intp),
            }
            return pd.DataFrame(columns, index=self.index)
        if of != "options":
            raise InvalidInputError(f"of must be 'options' or 'sets', got {of!r}.")
        rank = np.arange(len(self.works)) - self._starts[self._owners] + 1
        inputs = self.index[self._owners]
        name = self.index.name or "input"
        index = pd.MultiIndex.from_arrays([inputs, rank], names=[name, "rank"])
        columns = {"kept": self.kept, "share": self.shares, "least_share": self.least_shares}
        return pd.DataFrame(columns, index=index)

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, i: int) -> Survival:
        """Return the survival of the options of one input, by its position."""
        i = range(len(self))[i]
        part = slice(self._starts[i], self._starts[i] + self.counts[i])
        one = slice(i, i + 1)
        return Survival(self.works[part], self.reached[one], self.counts[one], self.index[one])

    def __repr__(self) -> str:
        if len(self) == 1:
            return self._of_one()
        options = f"{len(self.works):,} option{'' if len(self.works) == 1 else 's'}"
        lines = [f"{options} of {len(self):,} inputs, after {self.retrainings} retrainings:"]
        if len(self.works):
            always = int((self.sets_kept == self.retrainings)[self.counts > 0].sum())
            lines += [
                f"an option still works in {_percent(self.share)} of the cases",
                f"at least one option of an input in {_percent(self.set_share)}",
                f"always at least one for {always:,} of the {int((self.counts > 0).sum()):,} "
                f"inputs that have options",
            ]
        return "\n".join(lines)

    def _of_one(self) -> str:
        if not len(self.works):
            return "there is no option"
        each = zip(self.kept.tolist(), self.least_shares.tolist(), strict=True)
        named = [(f"option {rank}: still works", *figures) for rank, figures in enumerate(each, 1)]
        named.append(
            ("at least one of these:", int(self.sets_kept[0]), float(self.least_set_shares[0]))
        )
        return "\n".join(
            f"{what} after {kept} of {self.retrainings} retrainings "
            f"(95% sure: after at least {math.floor(100 * least)}%)"
            for what, kept, least in named
        )

    @cached_property
    def _owners(self) -> Indices:
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def _starts(self) -> Indices:
        """The position of each input's first option."""
        starts: Indices = self.counts.cumsum() - self.counts
        return starts

    @cached_property
    def _any_works(self) -> Mask:
        """Whether any option of each input works after each retraining."""
        works = np.zeros((len(self.counts), self.retrainings), dtype=bool)
        np.logical_or.at(works, self._owners, self.works)
        return works


def _percent(share: float) -> str:
    """Return a share in percent; only 1 is written as 100%, and only 0 as 0%."""
    if 0 < share < 1:
        return f"{min(max(share, 0.001), 0.999):.1%}"
    return f"{share:.0%}"
