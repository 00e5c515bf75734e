"""Other explainers, behind one small protocol, to be measured as ours are."""

from counterset.benchmark.peers.protocol import PEERS, Peer, find_peer

__all__ = ["PEERS", "Peer", "find_peer"]
