"""Python in the sandbox: the only package that loads pandas and similar libraries, and only inside a `py` template."""
