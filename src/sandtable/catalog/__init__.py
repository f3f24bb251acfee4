"""What may be asked about: the model of datasets, the registry, the data store, and how files get into it."""
