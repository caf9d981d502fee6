"""Bytes of runs in, ranks of judged items out."""
