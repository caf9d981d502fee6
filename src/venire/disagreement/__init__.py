"""What one label says about other people."""
