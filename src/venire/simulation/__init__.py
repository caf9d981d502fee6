"""Collections whose truth is known."""
