"""The small network, and a separate cache for each test."""

from support.paper_toys import network, own_cache, weights

__all__ = ["network", "own_cache", "weights"]
