"""Models of how assessors disagree, and what their labels say about users."""
