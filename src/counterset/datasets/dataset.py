"""The form in which every dataset is returned, whatever its source."""

from dataclasses import dataclass, field

import pandas as pd

from counterset.tables.schema import Schema

__all__ = ["Dataset"]


# No generated equality: comparing frames gives a frame, which has no truth value.
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named table of features with the class of each row.

    Parameters
    ----------
    name
        The name under which :func:`counterset.datasets.load` finds it.
    X
        The features, one row per case.
    y
        The class of each row of `X`, on the same index; its name is the target's name.
    description
        What a row is, what the target means, and the licence.
    schema
        How people call the features, their units and their values, for ``schema=`` of an explainer.

    Examples
    --------
    >>> import pandas as pd
    >>> Dataset(
    ...     name="loans",
    ...     X=pd.DataFrame({"income": [20, 35, 50]}),
    ...     y=pd.Series(["declined", "approved", "approved"], name="decision"),
    ...     description="Three invented loan applications.",
    ... )
    Dataset('loans', 3 rows x 1 features, decision: approved 2, declined 1)
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    description: str
    schema: Schema = field(default_factory=Schema)

    def __repr__(self) -> str:
        """Return the name, the shape and the class counts, but no rows."""
        n_rows, n_features = self.X.shape
        counts = self.y.value_counts().sort_index()
        classes = ", ".join(f"{label} {count}" for label, count in counts.items())
        return (
            f"Dataset({self.name!r}, {n_rows} rows x {n_features} features, "
            f"{self.y.name}: {classes})"
        )
