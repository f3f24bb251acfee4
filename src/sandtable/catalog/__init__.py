"""Datasets that can be queried: their model, the registry, the data store, ingestion of files, and opening by id."""
