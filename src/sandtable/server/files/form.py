"""The body of `POST /upload`, parsed while it arrives: each `file` goes straight into an upload on disk.

Invariant: memory holds one block of a file and short fields. `discard` removes all that was written.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from sandtable.catalog.own.uploads import BLOCK, TooLarge, Uploads
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

MOST_FILES = 100
_FIELDS = ("dataset_id", "title")
_LONGEST_FIELD = 1000
_OVERHEAD = 1 << 20
"""What a body may have besides the bytes of its files."""


@dataclass
class Form:
    uploads: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)


class FormIntake:
    """All calls block: run them in threads, one after the other."""

    def __init__(self, content_type: str, uploads: Uploads, user: str) -> None:
        """Raises InvalidInput without a usable boundary."""
        boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
        if not boundary:
            raise _unreadable("its Content-Type has no boundary")
        self._uploads = uploads
        self._user = user
        self._form = Form()
        self._size = 0
        self._most = uploads.limits.file_bytes + _OVERHEAD
        self._whole = False
        self._header: dict[str, bytes] = {}
        self._name, self._value = b"", b""
        self._upload: str | None = None
        self._offset = 0
        self._field = ""
        self._held = bytearray()
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._header_name,
                    "on_header_value": self._header_value,
                    "on_header_end": self._header_end,
                    "on_headers_finished": self._open,
                    "on_part_data": self._take,
                    "on_part_end": self._close,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise _unreadable("its boundary cannot be used") from error

    def announce(self, length: str) -> None:
        """Raises TooLarge for a Content-Length that is too large."""
        if length.isdecimal() and (len(length) > 18 or int(length) > self._most):
            raise self._too_large()

    def feed(self, block: bytes) -> None:
        """Raises InvalidInput, TooLarge, NoSpace."""
        self._size += len(block)
        if self._size > self._most:
            raise self._too_large()
        try:
            self._parser.write(block)
        except FormParserError as error:
            raise _unreadable("it is malformed") from error

    def done(self) -> Form:
        """Raises InvalidInput for a body that is not whole, or has no file."""
        if not self._whole:
            raise _unreadable("it ends too early")
        if not self._form.uploads:
            raise InvalidInput(
                "no file was sent", suggestion="Send each file as a part `file` with a file name."
            )
        return self._form

    def discard(self) -> None:
        for upload_id in self._form.uploads:
            self._uploads.remove(upload_id)

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"the request is larger than {self._uploads.limits.file_bytes >> 20:,} MiB",
            suggestion="Send the files one by one to /uploads; the operator can raise SANDTABLE_MAX_UPLOAD_MB.",
            limit_bytes=self._uploads.limits.file_bytes,
        )

    # Called by the parser

    def _begin(self) -> None:
        self._header, self._name, self._value = {}, b"", b""

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._header[self._name.decode("latin-1").lower()] = self._value
        self._name, self._value = b"", b""

    def _open(self) -> None:
        _, options = parse_options_header(self._header.get("content-disposition", b""))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if name == "file" and b"filename" in options:
            if len(self._form.uploads) == MOST_FILES:
                raise InvalidInput(
                    f"there are more than {MOST_FILES} files",
                    suggestion="Send the rest with another request.",
                )
            given = options[b"filename"].decode("utf-8", "replace")
            self._upload, self._offset = self._uploads.begin(given, None, self._user).id, 0
            self._form.uploads.append(self._upload)
        elif name in _FIELDS and b"filename" not in options:
            self._field = name
        else:
            raise InvalidInput(
                f"the part {quote(name)} is not known here",
                suggestion=f"Send files as `file`, each with a file name, and the fields {' and '.join(_FIELDS)}.",
            )

    def _take(self, data: bytes, start: int, end: int) -> None:
        self._held += data[start:end]
        if self._upload is None:
            if len(self._held) > _LONGEST_FIELD:
                raise InvalidInput(
                    f"{quote(self._field)} is too long",
                    suggestion=f"Use at most {_LONGEST_FIELD} characters.",
                )
        elif len(self._held) >= BLOCK:
            self._write(self._upload)

    def _close(self) -> None:
        if self._upload is None:
            self._form.fields[self._field] = self._held.decode("utf-8", "replace")
        else:
            self._write(self._upload)
            self._uploads.complete(self._upload)
        self._upload, self._field = None, ""
        self._held.clear()

    def _end(self) -> None:
        self._whole = True

    def _write(self, upload_id: str) -> None:
        self._offset = self._uploads.append(upload_id, self._offset, bytes(self._held))
        self._held.clear()


def _unreadable(why: str) -> InvalidInput:
    return InvalidInput(
        f"the body cannot be read as multipart/form-data: {why}",
        suggestion="Send it as a browser's form does, or with `curl -F file=@orders.csv`.",
    )
