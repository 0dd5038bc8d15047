"""A collection of little matrices on this machine's loopback interface, served well or badly."""

from __future__ import annotations

import hashlib
import http.server
import io
import re
import tarfile
import threading
import time
from collections.abc import Callable, Mapping

import heddle
import numpy as np
import scipy.io
import scipy.sparse as sp
from heddle.data import Collection
from heddle.data.download import Patience

Answer = Callable[["Handler", bytes], None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the files of its site, with ranges. What a test has planned for a path comes first."""

    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.site.requests.append((self.path, self.headers.get("Range")))
        planned = self.site.plans.get(self.path)
        content = self.site.files.get(self.path)
        if planned:
            planned.pop(0)(self, content or b"")
        elif content is None:
            self.send(404, b"<!DOCTYPE html>gone")
        else:
            self.serve(content)

    def send(self, code: int, body: bytes, **headers: str):
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def serve(self, content: bytes, most: int | None = None, ranges: bool = True):
        """The file or the range that is asked for. The connection is closed after `most` bytes."""
        tag = f'"{hashlib.md5(content).hexdigest()}"'
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        same = self.headers.get("If-Range") in (None, tag)
        start = int(asked[1]) if asked and same and ranges else 0
        if start >= len(content) > 0:
            self.send(416, b"")
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.send_header("ETag", tag)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(content[start:] if most is None else content[start : start + most])
        self.close_connection = most is not None


def truncated(most: int, ranges: bool = True) -> Answer:
    return lambda handler, content: handler.serve(content, most, ranges)


def without_ranges(handler: Handler, content: bytes) -> None:
    handler.serve(content, ranges=False)


def instead(other: bytes) -> Answer:
    """Other bytes under the same name."""
    return lambda handler, _: handler.serve(other)


def code(number: int) -> Answer:
    return lambda handler, _: handler.send(number, b"no")


def redirect(address: str) -> Answer:
    return lambda handler, _: handler.send(301, b"", Location=address)


def silent(seconds: float) -> Answer:
    """Answers, sends one byte and then nothing for a while."""

    def answer(handler: Handler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[:1])
        handler.wfile.flush()
        time.sleep(seconds)
        handler.close_connection = True

    return answer


def slow(pause: float) -> Answer:
    """A few bytes at a time."""

    def answer(handler: Handler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        for start in range(0, len(content), 1 + len(content) // 8):
            handler.wfile.write(content[start : start + 1 + len(content) // 8])
            handler.wfile.flush()
            time.sleep(pause)

    return answer


class Site:
    """The files of a collection by their paths, and a server for them."""

    def __init__(self):
        self.files: dict[str, bytes] = {}
        self.plans: dict[str, list[Answer]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.lines: list[str] = []
        handler = type("HandlerOfSite", (Handler,), {"site": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.handle_error = lambda *_: None  # connections that a test breaks
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add(
        self,
        group: str,
        name: str,
        A: sp.sparray,
        kind: str,
        mesh: bool = False,
        parts: Mapping[str, str] | None = None,
    ) -> None:
        """Adds a matrix: its archive, and its line of the index."""
        members = {f"{name}/{name}.mtx": matrix_market(A)}
        for part, text in (parts or {}).items():
            members[f"{name}/{name}_{part}.mtx"] = text.encode()
        self.files[f"/MM/{group}/{name}.tar.gz"] = archive(members)
        self.lines.append(index_line(group, name, A, kind, mesh))
        self.publish_index()

    def publish_index(self) -> None:
        text = "\n".join([str(len(self.lines)), "31-Oct-2023 18:12:37", *self.lines, ""])
        self.files["/files/ssstats.csv"] = text.encode()

    def plan(self, path: str, *answers: Answer) -> None:
        """What the next requests for `path` get."""
        self.plans[path] = list(answers)

    def ranges(self, path: str) -> list[str | None]:
        """The ranges that were asked for, one per request for `path`."""
        return [asked for requested, asked in self.requests if requested == path]


def archive(members: Mapping[str, bytes]) -> bytes:
    """A .tar.gz with the bytes of these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def matrix_market(A: sp.sparray) -> bytes:
    buffer = io.BytesIO()
    scipy.io.mmwrite(buffer, sp.coo_array(A))
    return buffer.getvalue()


def index_line(group: str, name: str, A: sp.sparray, kind: str, mesh: bool) -> str:
    """What the collection's statistics say of A, computed from a dense copy."""
    D = A.toarray()
    square = D.shape[0] == D.shape[1]
    off = ~np.eye(*D.shape, dtype=bool)
    pattern = values = 0.0
    if square:
        nonzero = (D != 0) & off
        pattern = 1.0 if not nonzero.any() else (nonzero & nonzero.T).sum() / nonzero.sum()
        same = nonzero & (D == D.conj().T)
        values = 1.0 if not nonzero.any() else same.sum() / nonzero.sum()
    definite = values == 1 and bool(np.linalg.eigvalsh(D)[0] > 0)
    real = not np.iscomplexobj(D)
    binary = real and bool(np.isin(D, (0, 1)).all())
    facts = [*D.shape, np.count_nonzero(D), int(real), int(binary), int(mesh), int(definite)]
    return ",".join(
        [
            group,
            name,
            *map(str, facts),
            f"{pattern:.15g}",
            f"{values:.15g}",
            kind,
            str(np.count_nonzero(D)),
        ]
    )


def little_matrices(site: Site) -> None:
    """Thirty matrices of heddle's gallery and a few that no symmetric solver takes."""
    make = heddle.generate
    for n in (4, 7, 12):
        site.add("HB", f"line{n:02d}", make("laplace1d", n), "structural problem")
        site.add("Mesh", f"square{n}", make("laplace2d", n, n), "2D/3D problem", mesh=True)
        site.add("Mesh", f"cube-{n}", make("laplace3d", 3, 3, n), "2D/3D problem", mesh=True)
        site.add(
            "JGD",
            f"uniform_{n}",
            make("random_uniform", 3 * n, density=3, seed=n),
            "combinatorial problem",
        )
        site.add(
            "Rajat",
            f"sym{n}",
            make("random_symmetric", 3 * n, density=3, seed=n),
            "circuit simulation problem",
        )
        site.add("HB", f"band{n}", make("band", 2 * n, 2), "structural problem")
    site.add(
        "Rajat", "large", make("random_uniform", 2000, density=5), "circuit simulation problem"
    )
    site.add("SNAP", "geometric", adjacency(make("random_geometric", 30)), "undirected graph")
    site.add("SNAP", "kron5", adjacency(make("rmat", 5)), "undirected weighted graph")
    site.add("Pajek", "arcs", directed(make("rmat", 5, seed=3)), "directed graph")
    site.add("JGD", "trefethen", make("trefethen", 20), "combinatorial problem")
    site.add(
        "Oberwolfach",
        "mikota",
        make("mikota_stiffness", 9),
        "model reduction problem",
        parts={
            "M": matrix_market(make("mikota_mass", 9)).decode(),
            "coord": "%%MatrixMarket matrix array real general\n9 1\n" + "1\n" * 9,
        },
    )
    site.add("GHS_psdef", "wathen2", make("wathen", 2, 2), "random 2D/3D problem", mesh=True)
    site.add(
        "LPnetlib",
        "lp_tiny",
        make("random_uniform", 8, 14, density=3),
        "linear programming problem",
    )
    site.add(
        "HB", "zero_free", sp.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]])), "structural problem"
    )
    site.add(
        "Bai",
        "complex2",
        sp.csr_array(np.array([[2, 1j], [-1j, 2]])),
        "duplicate structural problem",
    )
    site.add(
        "Bai", "skew", sp.csr_array(np.array([[1.0, 1.0], [-1.0, 1.0]])), "2D/3D problem", mesh=True
    )


def adjacency(A: sp.sparray) -> sp.csr_array:
    """The symmetric pattern of A, of ones."""
    return sp.csr_array(((A + A.T) != 0).astype(float))


def directed(A: sp.sparray) -> sp.csr_array:
    """The upper triangle of the pattern of A."""
    return sp.csr_array(sp.triu(A != 0, 1).astype(float))


def open_collection(address, cache, **options):
    """A collection whose user waits for nothing long."""
    patience = Patience(connect=2, silence=0.3, attempts=3, pause=0.01)
    return Collection(address, cache, patience=patience, **options)


ARCHIVE = "/MM/Mesh/square12.tar.gz"
NAME = "Mesh/square12"
LARGE = "Rajat/large"
LARGE_ARCHIVE = "/MM/Rajat/large.tar.gz"


def original():
    return heddle.generate("laplace2d", 12, 12).toarray()


def large():
    return heddle.generate("random_uniform", 2000, density=5).toarray()


def read(path):
    return scipy.io.mmread(path).toarray()


def left_over(cache):
    """What is left of downloads, besides locks."""
    return [path.name for path in cache.downloads.iterdir() if path.name != "locks"]
