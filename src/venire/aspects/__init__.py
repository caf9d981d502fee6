"""Labels on several aspects of relevance."""
