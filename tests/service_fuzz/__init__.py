"""Made-up requests, run by their name: pytest tests/service_fuzz."""
