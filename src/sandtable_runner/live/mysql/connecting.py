"""A connection. A server that could read the password gets it only if it proved its name or is this machine."""

from __future__ import annotations

import encodings.idna
import socket
import ssl
from typing import Any

import pymysql
from cryptography.hazmat.backends import default_backend

from sandtable_runner.live.worker import ROOTS

# Loaded while modules can still be found: the first encodes the name of a server, the second encrypts for its key.
_LOADED = encodings.idna.__name__, default_backend()

_SCRAMBLED = frozenset({"", "mysql_native_password", "client_ed25519"})
"""Methods by which a server learns that the client has the password, and not the password."""
_ASKING_FOR_IT = frozenset({"caching_sha2_password", "sha256_password"})
"""These give it to a server that does not remember its digest: over TLS as it is, else encrypted for a key that the
server sends, and that nothing vouches for."""
_CLEAR = frozenset({"mysql_clear_password", "dialog"})
_PLAIN = "mysql_native_password"


def connect(request: dict[str, Any], port: int) -> DriverConnection:
    """`request` names the real host: the server's certificate must be for it, although the socket leads to a port of
    this process's own loopback."""
    mode: str = request["sslmode"]
    connection = DriverConnection(
        _methods(verified=mode.startswith("verify-"), here=request["here"]),
        host=request["host"],
        user=request["user"],
        password=request["password"].encode(),
        database=request["database"],
        ssl=_context(mode) if mode != "disable" else None,
        ssl_disabled=mode == "disable",
        charset="utf8mb4",
        use_unicode=False,
        conv={},
        autocommit=None,
        local_infile=False,
        read_timeout=request["connect_s"],
        program_name="sandtable",
        defer_connect=True,
    )
    channel = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        channel.connect(("127.0.0.1", port))
        channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.connect(channel)
    except BaseException:
        channel.close()
        raise
    connection.wait_long()
    return connection


def _methods(*, verified: bool, here: bool) -> frozenset[str]:
    more = _ASKING_FOR_IT if verified or here else frozenset()
    return _SCRAMBLED | more | (_CLEAR if verified else frozenset())


def _context(mode: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = mode == "verify-full"
    if mode == "require":
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_verify_locations(cafile=ROOTS)
    return context


class DriverConnection(pymysql.Connection):
    """Uses methods of PyMySQL that are not public, which is why its version is pinned."""

    def __init__(self, methods: frozenset[str], **options: Any) -> None:
        self._methods = methods
        super().__init__(**options)

    def _get_server_information(self) -> None:
        super()._get_server_information()  # pyright: ignore[reportAttributeAccessIssue]  # not in its stubs
        # A server's default method is a proposal. Another answer makes it name the one of this account.
        if self._auth_plugin_name not in self._methods:
            self._auth_plugin_name = _PLAIN

    def _process_auth(self, plugin_name: bytes, *rest: Any) -> Any:
        method = plugin_name.decode("ascii", "replace")
        if method not in self._methods:
            raise pymysql.OperationalError(
                0, f"the authentication method {method} gives the password to a server that can read it"
            )
        return super()._process_auth(plugin_name, *rest)  # pyright: ignore[reportAttributeAccessIssue]  # not in its stubs

    def wait_long(self) -> None:
        """The server's process ends what takes too long from here on."""
        self._read_timeout = None

    @property
    def encrypted(self) -> bool:
        return isinstance(self._sock, ssl.SSLSocket)  # pyright: ignore[reportAttributeAccessIssue]  # not in its stubs
