"""WhyNone: why an input has no counterfactual, in words and for code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self, TypeAlias

__all__ = ["Cause", "WhyNone"]

#: "constraint": any one of the named constraints, lifted alone, opens an option; "several": no
#: single one does; "no_example": no training row has the wanted result, or none that is probable
#: and plausible enough; "implausible": what leads there is not plausible enough; "stopped": the
#: search ended at the number of rows that the model may be asked about; "contradiction": the model
#: gives equal rows different labels; "anonymity": all that was found is the row of few people.
Cause: TypeAlias = Literal[
    "constraint",
    "several",
    "no_example",
    "implausible",
    "stopped",
    "contradiction",
    "anonymity",
]


class WhyNone(str):
    """Why an input has no counterfactual: a text for users of the library, with its cause.

    Attributes
    ----------
    cause : str
        ``"constraint"``, ``"several"``, ``"no_example"``, ``"implausible"``, ``"stopped"``,
        ``"contradiction"`` or ``"anonymity"``.
    constraints : tuple of str
        The constraints of which each, lifted alone, opens an option, as messages name them.

    Examples
    --------
    >>> why = WhyNone("immutable 'age' rules it out", "constraint", ["immutable 'age'"])
    >>> why.startswith("immutable"), why.cause, why.constraints
    (True, 'constraint', ("immutable 'age'",))
    """

    __slots__ = ("cause", "constraints")

    cause: Cause
    constraints: tuple[str, ...]

    def __new__(cls, text: str, cause: Cause, constraints: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, text)
        made.cause, made.constraints = cause, tuple(constraints)
        return made

    def __reduce__(self) -> tuple[type[WhyNone], tuple[str, Cause, tuple[str, ...]]]:
        return WhyNone, (str(self), self.cause, self.constraints)
