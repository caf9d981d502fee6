"""What Venire talks about: scales, judgments, runs, gains.  Data knows no statistics and opens no files."""
