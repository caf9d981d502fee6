"""Engines: one pure function over many parts, and one result: threads of this machine, or a cluster in their place."""
