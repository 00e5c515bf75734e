"""What an explainer must offer to be measured, and the peers that are known by name."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from counterset.exceptions import InvalidInputError, MissingExtraError

__all__ = ["PEERS", "Known", "Peer", "check_peer", "find_peer", "import_library", "takes"]

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


@dataclass(frozen=True)
class Known:
    """A known peer.

    Attributes
    ----------
    module, attribute
        Its module in this package, and its class.
    about
        What it is, in a few words.
    arguments
        The arguments of its constructor.
    """

    module: str
    attribute: str
    about: str
    arguments: dict[str, Any] = field(default_factory=dict)


def _of_dice(method: str, about: str) -> dict[str, Known]:
    """Return the two settings of a method of DiCE."""
    arguments = {"method": method}
    return {
        f"dice-{method}": Known("dice", "Dice", f"{about}, with its defaults", arguments),
        f"dice-{method}-binary": Known(
            "dice", "Dice", f"{about}, sparse by bisection", arguments | {"refined": True}
        ),
    }


#: The known peers.
PEERS: dict[str, Known] = {
    "nearest-rows": Known("simple", "NearestRows", "the 5 nearest training rows of another class"),
    "constant": Known("simple", "Constant", "the same 5 rows for every input of a class"),
    "literal": Known("literal", "LiteralPaper", "the paper's method in plain loops, on arrays"),
    "counterset": Known("simple", "Own", "the paper's four steps"),
    "counterset-nearest": Known(
        "simple", "Own", "the defaults of this library", {"strategy": "nearest"}
    ),
    "counterset-shared": Known(
        "simple", "Own", "options from a list that people alike share", {"strategy": "shared"}
    ),
    "prototype": Known("simple", "Prototype", "the prototype behind the published figures"),
    "wachter": Known("wachter", "Wachter", "Wachter's gradients; networks and linear models"),
    "roar": Known("roar", "Roar", "ROAR: holds for all models near this one"),
    "milp": Known(
        "proved",
        "Proved",
        "nearest by a proof; networks and linear models",
        {"solver": "milp"},
    ),
    "cp-sat": Known("proved", "Proved", "nearest by a proof; tree ensembles", {"solver": "cp-sat"}),
    "cemsp": Known("cemsp", "Cemsp", "CEMSP: fewest features, moved into their normal ranges"),
    "face": Known("face", "Face", "FACE: rows at the ends of paths through dense data"),
    "treecf": Known("treecf", "TreeCF", "treecf's default search; tree ensembles"),
    "treecf-exact": Known("treecf", "TreeCF", "one, nearest by treecf's proof", {"exact": True}),
    "nice": Known("nice", "Nice", "NICE for proximity: one, from the nearest row"),
    "nice-none": Known("nice", "Nice", "NICE's nearest row itself", {"optimization": "none"}),
    "nice-sparsity": Known("nice", "Nice", "NICE for sparsity", {"optimization": "sparsity"}),
    "alibi-proto": Known("alibi", "Alibi", "proto: one, drawn to training rows by k-d trees"),
    "alibi-counterfactual": Known(
        "alibi", "Alibi", "alibi's Wachter: one, moves numbers only", {"prototypes": False}
    ),
    "cfnow": Known("cfnow", "Cfnow", "CFNOW by its default random search"),
    "ellice": Known(
        "ellice", "Ellice", "ElliCE: one that holds for near models; networks, linear models"
    ),
    "ellice-rows": Known("ellice", "Ellice", "ElliCE: training rows that hold", {"rows": True}),
    "recourse": Known("recourse", "Recourse", "actionable recourse; linear models"),
    "globe-ce": Known("cel", "GlobeCe", "one direction for a whole class"),
    "ares": Known("cel", "Ares", "a list of at most 20 if-then rules"),
    "t-crex": Known("cel", "TCrex", "the nearest point of a box, from a tree of rules"),
    "glance": Known("cel", "Glance", "4 shared actions, one for each group of inputs"),
    **_of_dice("random", "DiCE by random search"),
    **_of_dice("genetic", "DiCE by a genetic search"),
    **_of_dice("kdtree", "DiCE by nearest rows"),
    **_of_dice("gradient", "DiCE by gradients; networks on arrays"),
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


def import_library(name: str, module: str) -> Any:
    """Import a module of the library that a peer needs.

    Parameters
    ----------
    name
        What ``counterset peers --install`` calls the library.
    module
        The module.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"This peer needs {name}, and {module} cannot be imported ({error}). Install it with: "
            f"counterset peers --install {name}"
        ) from error


def _constructor(name: str) -> tuple[Any, dict[str, Any]]:
    """Return the class of a peer, and the arguments that its name stands for."""
    check_peer(name)
    if name in PEERS:
        known = PEERS[name]
        attribute, arguments = known.attribute, known.arguments
        module = f"counterset.paper.peers.{known.module}"
    else:
        module, attribute = name.split(":")
        arguments = {}
    return getattr(import_module(module), attribute), arguments
