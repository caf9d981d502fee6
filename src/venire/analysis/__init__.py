"""What scores and judgments say, and collections to try it on."""
