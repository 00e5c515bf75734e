"""Tests in a browser, run by their name: pytest tests/browser."""
