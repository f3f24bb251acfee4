"""Metrics and traces of a server: what implements the seam `observing`, by Prometheus' and OpenTelemetry's clients."""
