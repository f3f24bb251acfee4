"""The one error of signing in with a provider: the person sees that it did not work, the log why."""

from __future__ import annotations

from sandtable.errors import ErrorCode, SandtableError


class ProviderRefused(SandtableError):
    """The provider, or what a browser brought from it, proves no identity."""

    code = ErrorCode.UNAUTHORIZED
