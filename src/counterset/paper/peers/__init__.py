"""Other explainers behind one small protocol, so that all are measured in the same way.

Begin with :mod:`counterset.paper.peers.protocol`: what a peer must offer (``fit`` and
``explain_many``), and the names of the known ones. Each other module is one library or idea, and is
imported when its peer is asked for. A peer may import :mod:`counterset.paper.setups` and what lies
below ``paper``.
"""

from counterset.paper.peers.protocol import PEERS, Peer, find_peer

__all__ = ["PEERS", "Peer", "find_peer"]
