"""What several tests share: tables, models, literal oracles, checkers."""
