"""A job as it travels to its pod: an annotation, shown to the container as a file."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib

from sandtable.errors import InvalidInput
from sandtable.sandbox.job import Job
from sandtable.sandbox.wire import order_of

MOST_BYTES = 200 << 10
"""All annotations of an object together may have 256 KiB."""


def packed_order(job: Job) -> str:
    """Raises InvalidInput when it does not fit."""
    text = json.dumps(order_of(job), separators=(",", ":")).encode()
    packed = base64.b64encode(zlib.compress(text, 9)).decode()
    if len(packed) > MOST_BYTES:
        raise InvalidInput(
            f"this text is too long for a Kubernetes Job: {len(packed):,} bytes compressed, {MOST_BYTES:,} fit",
            suggestion="shorten it: long lists of values belong into a table that is joined",
        )
    return packed


def digest_of(job: Job) -> str:
    """Of what is to be done, whichever attempt it is."""
    order = order_of(job.model_copy(update={"id": ""}))
    return hashlib.sha256(json.dumps(order, sort_keys=True).encode()).hexdigest()
