"""The command line: every command parses, calls the library, and renders."""
