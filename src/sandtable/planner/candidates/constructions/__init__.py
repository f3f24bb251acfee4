"""Questions of a known form, each read by its own small rule: a simpler question, and what is done to its plan."""
