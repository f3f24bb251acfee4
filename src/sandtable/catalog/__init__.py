"""What may be asked about: the model of datasets, the registry, the data store, how files get into it, and how a
dataset is opened by id."""
