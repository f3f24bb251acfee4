"""Questions of a known form, each read by a small rule that simplifies the question and then edits its plan."""
