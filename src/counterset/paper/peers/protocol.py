"""What an explainer must offer to be measured, and the peers that are known by name."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from counterset.exceptions import InvalidInputError

__all__ = ["PEERS", "Peer", "check_peer", "find_peer", "takes"]

#: A peer is asked for up to 5 counterfactuals: as many as the library reports by default.
LIMIT = 5


class Peer(Protocol):
    """An explainer to be measured.

    Its constructor takes ``norm``, the norm to be measured in, 1 or 2.

    Attributes
    ----------
    name
        The name in the tables.
    uses_norm
        Whether the sets depend on the norm. If not, they are computed once for both norms.
    """

    name: str
    uses_norm: bool

    def fit(self, model: Any, X: Any) -> None:
        """Prepare for explaining a model, given the training rows, ``(n, d)``.

        The experiments of the paper pass a network and a matrix. The peers of this package, other
        than ``literal`` and ``prototype``, also take a DataFrame with a model for it.
        """
        ...

    def explain_many(self, X: Any) -> Sequence[Any]:
        """Return a set of counterfactuals for each row; an empty one where none is found."""
        ...


#: The known peers: the module, the class, and the arguments of its constructor.
PEERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nearest-rows": ("simple", "NearestRows", {}),
    "literal": ("literal", "LiteralPaper", {}),
    "counterset": ("simple", "Own", {}),
    "counterset-nearest": ("simple", "Own", {"strategy": "nearest"}),
    "counterset-shared": ("simple", "Own", {"strategy": "shared"}),
    "constant": ("simple", "Constant", {}),
    "prototype": ("simple", "Prototype", {}),
    "nice": ("nice", "Nice", {}),
    "nice-none": ("nice", "Nice", {"optimization": "none"}),
    "nice-sparsity": ("nice", "Nice", {"optimization": "sparsity"}),
    "wachter": ("wachter", "Wachter", {}),
    "roar": ("roar", "Roar", {}),
    "milp": ("proved", "Proved", {"solver": "milp"}),
    "cp-sat": ("proved", "Proved", {"solver": "cp-sat"}),
    "face": ("face", "Face", {}),
    "treecf": ("treecf", "TreeCF", {}),
    "treecf-exact": ("treecf", "TreeCF", {"exact": True}),
    **{
        f"dice-{method}{suffix}": ("dice", "Dice", {"method": method, "refined": bool(suffix)})
        for method in ("random", "genetic", "kdtree", "gradient")
        for suffix in ("", "-binary")
    },
}


def check_peer(name: str) -> None:
    """Check that a name is that of a known peer, or has the form ``package.module:Class``."""
    module, _, attribute = name.partition(":")
    if name not in PEERS and not all(map(str.isidentifier, [*module.split("."), attribute])):
        raise InvalidInputError(
            f"There is no peer named {name!r}. Choose from {', '.join(PEERS)}, or name a class of "
            f"your own as package.module:Class."
        )


def find_peer(
    name: str, norm: int, immutable: Sequence[str] = (), *, alpha: int | None = None
) -> Peer:
    """Make a peer: a known one, or any class given as ``package.module:Class``.

    Features that are immutable are passed to the constructor, if there are any; not all peers take
    them. Alpha, the number of nearest candidates in the paper's step 2, is passed to those that
    take it.

    Examples
    --------
    >>> find_peer("nearest-rows", norm=1).name
    'nearest-rows'
    """
    make, arguments = _constructor(name)
    if immutable:
        if not takes(name, "immutable"):
            raise InvalidInputError(
                f"The peer {name!r} cannot keep features as they are. Leave immutable out."
            )
        arguments = arguments | {"immutable": tuple(immutable)}
    if alpha is not None and takes(name, "alpha"):
        arguments = arguments | {"alpha": alpha}
    peer: Peer = make(norm=norm, **arguments)
    peer.name = name
    return peer


def takes(name: str, parameter: str) -> bool:
    """Return whether the constructor of a peer has this parameter.

    Examples
    --------
    >>> takes("dice-random", "immutable"), takes("nice", "immutable")
    (True, False)
    """
    return parameter in inspect.signature(_constructor(name)[0]).parameters


def _constructor(name: str) -> tuple[Any, dict[str, Any]]:
    """Return the class of a peer, and the arguments that its name stands for."""
    check_peer(name)
    if name in PEERS:
        file, attribute, arguments = PEERS[name]
        module = f"counterset.paper.peers.{file}"
    else:
        module, attribute = name.split(":")
        arguments = {}
    return getattr(import_module(module), attribute), arguments
