"""Measures with alpha: utility in the context of the document read before."""
