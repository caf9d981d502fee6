"""Migrations of the tables, run by ``judging.database.migrate``."""
