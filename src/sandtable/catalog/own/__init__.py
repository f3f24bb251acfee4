"""Datasets that people add: uploads, names, records on disk, new versions and what changed, removal of old versions."""
