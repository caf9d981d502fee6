"""Files and frames into data, and back."""
