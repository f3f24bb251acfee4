"""Writes the caller's DataFrame to a file, with the DataFrame's own methods: its library is never imported here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sandtable.errors import InvalidInput
from sandtable.quoting import quote

_NOT_WRITABLE = (ValueError, TypeError, OverflowError, NotImplementedError, AttributeError)


def is_frame(value: Any) -> bool:
    """A DataFrame of pandas or Polars, or something that behaves like one."""
    # Checked on the type: reading `columns` of a LazyFrame starts its computation.
    kind = type(value)
    return hasattr(kind, "columns") and (hasattr(kind, "to_parquet") or hasattr(kind, "write_parquet"))


def write_frame(frame: Any, folder: Path, name: str) -> Path:
    """`<name>.parquet`, or CSV if pandas has no Parquet engine. Raises InvalidInput."""
    path = folder / f"{name}.parquet"
    try:
        if len(frame.columns) == 0 and not hasattr(frame, "index"):
            raise InvalidInput(f"the DataFrame {quote(name)} has no columns")
        if hasattr(frame, "write_parquet"):
            frame.write_parquet(path)
            return path
        return _write_pandas(frame, path)
    except _NOT_WRITABLE as error:
        raise InvalidInput(
            f"the DataFrame {quote(name)} cannot be written to a file: {error}",
            suggestion="Give each column values of one kind, such as `frame[c] = frame[c].astype(str)`.",
        ) from error


def _write_pandas(frame: Any, path: Path) -> Path:
    plain = _labels_as_columns(frame)
    if len(plain.columns) == 0:
        raise InvalidInput(f"the DataFrame {quote(path.stem)} has no columns")
    plain = plain.set_axis([_column_name(column) for column in plain.columns], axis=1)
    # A frame's `attrs` are not data, and not all of them can be serialized.
    plain.attrs = {}
    try:
        plain.to_parquet(path, index=False)
    except ImportError:
        path.unlink(missing_ok=True)
        path = path.with_suffix(".csv")
        plain.to_csv(path, index=False)
    return path


def _labels_as_columns(frame: Any) -> Any:
    """A meaningful index becomes columns; row numbers do not."""
    index = frame.index
    named = any(name is not None for name in index.names)
    numbers = index.nlevels == 1 and str(index.dtype).startswith(("int", "uint", "range"))
    return frame if numbers and not named else frame.reset_index()


def _column_name(column: Any) -> str:
    """Levels of a name are joined: `("amount", "sum")` is `amount_sum`."""
    if isinstance(column, tuple):
        return "_".join(str(level) for level in column if str(level)) or "column"
    return str(column)
