"""Running one pure function over many partitions: on this machine; a cluster could take its place."""
