"""Which systems differ, and what other judges say of that."""
