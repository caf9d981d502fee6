"""What judgments can distinguish: discriminative power, pairwise discriminative power, label scales."""
