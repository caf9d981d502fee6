"""What other tools write: one module for each, and in ``known`` the table by which their files are recognised."""
