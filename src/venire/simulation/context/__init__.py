"""Collections in context: documents that repeat or complete each other, and users who compare lists."""
