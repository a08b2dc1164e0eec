"""Vectors by the content that they stand for, in memory and, where a folder is named, on disk.

A text is known by the SHA-256 of its encoder's fingerprint and itself, so a vector is never out of date. On disk they
lie in packs, each written once and put in place whole; a damaged pack counts as missing. The folder is bounded: the
oldest packs go first. It may be removed at any time: it costs the encoding anew and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from toolsearch.search.semantic.encoder import Encoder, Vectors

MOST_BYTES = 128 * 1024 * 1024
"""Of all packs of a folder together: some 80,000 tools with a vector of 384 numbers."""
MOST_KEPT = 100_000
"""Vectors in memory."""
_KEY_BYTES = 32
_SUFFIX = ".npz"


class VectorStore:
    """The vectors of one encoder."""

    def __init__(self, encoder: Encoder, folder: Path | None = None, *, most_bytes: int = MOST_BYTES) -> None:
        """Take the encoder and where its vectors are kept.

        Args:
            encoder: Works out what is not known yet.
            folder: Holds the packs of any encoders; None keeps nothing beyond the process. Where it can't be written
                or read, the same.
            most_bytes: Of all packs in the folder together; checked when one is written.
        """
        self.encoder = encoder
        self.most_bytes = most_bytes
        self._folder = folder
        self._known: dict[bytes, Vectors] = {}
        self._read: set[str] = set()
        self._lock = threading.Lock()

    def of(self, texts: Sequence[str], *, keep: bool = True) -> Vectors:
        """A row for each text; what is not known is encoded, once for equal texts.

        Args:
            texts: The texts.
            keep: Whether new ones go to disk too.
        """
        keys = [self._key(text) for text in texts]
        with self._lock:
            if any(key not in self._known for key in keys):
                self._read_packs()
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
            if new:
                rows = self.encoder.encode(list(new.values()))
                fresh = dict(zip(new, rows, strict=True))
                if len(self._known) + len(fresh) > MOST_KEPT:
                    self._known = {key: self._known[key] for key in set(keys) if key in self._known}
                self._known |= fresh
                if keep:
                    self._write_pack(fresh)
            found = [self._known[key] for key in keys]
        return np.array(found, dtype=np.float32).reshape(len(found), self.encoder.dimension)

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.encoder.fingerprint}\n{text}".encode("utf-8", "surrogatepass")).digest()

    def _read_packs(self) -> None:
        if self._folder is None:
            return
        start = f"{self.encoder.fingerprint[:16]}-"
        try:
            packs = sorted(path for path in self._folder.iterdir() if path.name.startswith(start))
        except OSError:
            return
        for path in packs:
            if path.suffix == _SUFFIX and path.name not in self._read:
                self._read.add(path.name)
                self._known |= self._from_pack(path)

    def _from_pack(self, path: Path) -> dict[bytes, Vectors]:
        try:
            # From memory: the reader of archives leaves a damaged file open.
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as pack:
                keys, rows = pack["keys"], pack["vectors"]
        # A file that was cut or is somebody else's fails in many ways within the reader of archives.
        except Exception:
            return {}
        form = (keys.dtype, keys.ndim, rows.dtype, rows.shape)
        if form != (np.uint8, 2, np.float32, (len(keys), self.encoder.dimension)) or keys.shape[1] != _KEY_BYTES:
            return {}
        if not np.isfinite(rows).all():
            return {}
        return {key.tobytes(): row for key, row in zip(keys, rows, strict=True)}

    def _write_pack(self, fresh: Mapping[bytes, Vectors]) -> None:
        """Put a pack in place whole or not at all; a full disk costs the cache and not the search."""
        if self._folder is None:
            return
        content = io.BytesIO()
        keys = np.frombuffer(b"".join(fresh), dtype=np.uint8).reshape(len(fresh), _KEY_BYTES)
        np.savez(content, keys=keys, vectors=np.array(list(fresh.values()), dtype=np.float32))
        name = f"{self.encoder.fingerprint[:16]}-{hashlib.sha256(keys.tobytes()).hexdigest()[:32]}{_SUFFIX}"
        temporary = ""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".", suffix=".part")
            with os.fdopen(handle, "wb") as file:
                file.write(content.getbuffer())
            os.replace(temporary, self._folder / name)
            self._read.add(name)
            self._bound()
        except OSError:
            if temporary:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)

    def _bound(self) -> None:
        """Remove the oldest packs while all together are too large; the newest stays."""
        if self._folder is None:
            return
        packs = []
        for path in self._folder.iterdir():
            with contextlib.suppress(OSError):  # another process may remove it meanwhile
                if path.suffix == _SUFFIX:
                    about = path.stat()
                    packs.append((about.st_mtime_ns, path.name, about.st_size, path))
        packs.sort(key=lambda pack: pack[:2])
        total = sum(pack[2] for pack in packs)
        for _, _, size, path in packs[:-1]:
            if total <= self.most_bytes:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size
