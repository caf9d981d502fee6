"""Conditional labels: what a document is worth after another one."""
