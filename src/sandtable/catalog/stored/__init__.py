"""Converted data on disk: copies of files, versions and their digests, what was checked and what was removed."""
