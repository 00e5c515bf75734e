"""The small network, and a cache of each test's own."""

from paper_toys import network, own_cache, weights

__all__ = ["network", "own_cache", "weights"]
