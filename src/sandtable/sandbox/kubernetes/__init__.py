"""The Kubernetes tier: every run is a Job of its own, made from a restricted template and read from its pod's log."""
