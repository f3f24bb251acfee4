"""Certificates of a kubeconfig, given as files or as text inside it, put into a TLS context."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path


def load_client_certificate(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """PEM text. The library reads files only: these exist for a moment, for this user alone."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in (("certificate", certificate), ("key", key)):
            path = Path(folder, name)
            path.touch(mode=0o600)
            path.write_text(text, encoding="ascii")
            paths.append(path)
        context.load_cert_chain(*paths)


def context_for(authority: str | None, *, insecure: bool) -> ssl.SSLContext:
    """`authority`: PEM text of who signs the server's certificate; the machine's own list when None."""
    context = ssl.create_default_context(cadata=authority)
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
