"""The small network, the data, the published figures, and a separate cache for each test."""

from support.paper_toys import network, own_cache, published, split, weights

__all__ = ["network", "own_cache", "published", "split", "weights"]
