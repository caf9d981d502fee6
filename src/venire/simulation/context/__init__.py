"""Collections of labels in context: documents that repeat or complement each other, users who compare lists."""
