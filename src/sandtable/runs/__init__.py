"""The life of a run: accepted, judged, executed, sealed; queued, cached, cancelled, recovered after a crash."""
