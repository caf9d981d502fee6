"""Venire in other tools: each module needs the tool of its name, and is imported by itself when it is used."""
