"""Python in the sandbox: the only place that loads pandas and its kin, and only inside a `py` template."""
