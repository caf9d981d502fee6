"""How much to judge, and what that will tell."""
