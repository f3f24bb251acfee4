"""Plans that a question may mean, each way of making them in a room of its own that does not know the others."""
