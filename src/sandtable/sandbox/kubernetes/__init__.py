"""The Kubernetes tier: every run is its own Job, made from a restricted template and read from its pod's log."""
