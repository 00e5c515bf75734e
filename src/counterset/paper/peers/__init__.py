"""Other explainers behind one small protocol, so that all are measured in the same way.

Begin with :mod:`counterset.paper.peers.protocol`: what a peer must offer, and the names of the
known ones. Each other module is one peer. A peer may import
:mod:`counterset.paper.setups` and what lies below ``benchmark``.
"""

from counterset.paper.peers.protocol import PEERS, Peer, find_peer

__all__ = ["PEERS", "Peer", "find_peer"]
