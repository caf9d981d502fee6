"""Agreement: how far assessors say the same, with themselves and with each other."""
