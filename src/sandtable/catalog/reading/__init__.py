"""From source files to a version: names, the tables of a file, and the conversion."""
