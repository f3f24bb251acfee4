"""Plan → SQL, deterministic: nodes are built, never text spliced."""
