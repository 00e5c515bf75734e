"""Tests with the real frameworks, run by their name: pytest tests/frameworks."""
