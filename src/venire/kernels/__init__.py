"""Arrays in, arrays out: kernels know no names, files or texts."""
