"""A Hub-shaped HTTP server on loopback that counts what it sends and can misbehave.

It serves folders as models: `/api/models/<repo>/revision/<rev>`, `/api/models/<repo>/tree/<commit>` (in pages)
and `/<repo>/resolve/<rev>/<file>` with HEAD, Range, ETag and X-Repo-Commit. Large files are redirected to a
second server, as a Hub redirects to its content servers.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

LARGE = 2048  # bytes from which a file is kept on the content server


class HubServer:
    """Serves the models of `models`, a dict of `owner/name` -> folder.

    Attributes
    ----------
    url : the Hub's address; `elsewhere` that of the content server
    sent : bytes of bodies sent, by path in the model (`api` for the programming interface)
    requests : (method, host, path, headers) of each request
    token : asked for where it is not None
    status : path in the model, or `api` -> (HTTP status, X-Error-Code) to answer instead
    drop_after : path -> list of byte counts: each answer in turn breaks off after so many
    ignore_range : answers 200 with the whole file
    extra : entries put into the file list
    """

    def __init__(self, models: dict[str, Path]) -> None:
        self.models = models
        self.sent: Counter[str] = Counter()
        self.requests: list[tuple[str, str, str, dict[str, str]]] = []
        self.token: str | None = None
        self.status: dict[str, tuple[int, str]] = {}
        self.drop_after: dict[str, list[int]] = {}
        self.ignore_range = False
        self.page = 3
        self.extra: list[dict[str, Any]] = []
        self._servers = [self._serve("hub"), self._serve("content")]
        self.url, self.elsewhere = (f"http://127.0.0.1:{server.server_address[1]}" for server in self._servers)

    def _serve(self, host: str) -> ThreadingHTTPServer:
        handler = type("Handler", (_Handler,), {"hub": self, "host": host})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = False
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        return server

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    @property
    def total(self) -> int:
        """Bytes of files sent, without the programming interface's answers."""
        return sum(count for path, count in self.sent.items() if path != "api")

    def commit(self, repo: str) -> str:
        folder = self.models[repo]
        facts = "".join(f"{path.name}{path.stat().st_size}" for path in sorted(folder.rglob("*")))
        return hashlib.sha1(facts.encode()).hexdigest()

    def entries(self, repo: str) -> list[dict[str, Any]]:
        folder = self.models[repo]
        found: list[dict[str, Any]] = []
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_dir():
                found.append({"type": "directory", "path": name, "oid": "0" * 40, "size": 0})
                continue
            data = path.read_bytes()
            entry = {"type": "file", "path": name, "size": len(data), "oid": git_name(data)}
            if len(data) >= LARGE:
                entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
            found.append(entry)
        return found + self.extra


def git_name(data: bytes) -> str:
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer
    host: str
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body is not held back for the acknowledgement of its headers
    timeout = 5

    def log_message(self, *_: Any) -> None:
        """Nothing to the terminal."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionResetError):  # a client that has seen enough
            super().handle()

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        parts = urlsplit(self.path)
        path = unquote(parts.path).strip("/")
        self.hub.requests.append((self.command, self.host, path, {k.lower(): v for k, v in self.headers.items()}))
        try:
            if self.host == "content":
                repo, _, file = path.partition("/-/")
                self._file(repo, file, body)
            elif self._refused(path):
                return
            elif path.startswith("api/models/"):
                self._api(path.removeprefix("api/models/"), parse_qs(parts.query))
            else:
                repo, _, rest = path.partition("/resolve/")
                self._resolve(repo, rest.partition("/")[2], body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _refused(self, path: str) -> bool:
        if self.hub.token is not None and self.headers.get("Authorization") != f"Bearer {self.hub.token}":
            self._say(401, {"X-Error-Code": "GatedRepo"}, b"")
            return True
        return False

    def _planned(self, what: str) -> bool:
        if what in self.hub.status:
            status, code = self.hub.status[what]
            self._say(status, {"X-Error-Code": code} if code else {}, b"")
            return True
        return False

    def _api(self, path: str, query: dict[str, list[str]]) -> None:
        if self._planned("api"):
            return
        repo = "/".join(path.split("/")[:2])
        if repo not in self.hub.models:
            self._say(404, {"X-Error-Code": "RepoNotFound"}, b"")
            return
        what, _, revision = path.removeprefix(repo).strip("/").partition("/")
        commit = self.hub.commit(repo)
        if revision not in ("main", commit):
            self._say(404, {"X-Error-Code": "RevisionNotFound"}, b"")
        elif what == "revision":
            self._say(200, {}, json.dumps({"id": repo, "sha": commit}).encode(), "api")
        else:
            entries, begin = self.hub.entries(repo), int(query.get("cursor", ["0"])[0])
            end = begin + self.hub.page
            more = f'<{self.hub.url}/api/models/{repo}/tree/{commit}?recursive=true&cursor={end}>; rel="next"'
            headers = {"Link": more} if end < len(entries) else {}
            self._say(200, headers, json.dumps(entries[begin:end]).encode(), "api")

    def _resolve(self, repo: str, file: str, body: bool) -> None:
        if self._planned(file):
            return
        path = self.hub.models[repo] / file
        if not path.is_file():
            self._say(404, {"X-Error-Code": "EntryNotFound"}, b"")
        elif path.stat().st_size >= LARGE:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            location = f"{self.hub.elsewhere}/{repo}/-/{quote(file)}"
            headers = {"Location": location, "X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(path.stat().st_size)}
            self._say(302, headers | {"X-Repo-Commit": self.hub.commit(repo)}, b"")
        else:
            self._file(repo, file, body)

    def _file(self, repo: str, file: str, body: bool) -> None:
        if self._planned("content:" + file):
            return
        data = (self.hub.models[repo] / file).read_bytes()
        headers = {"ETag": f'"{git_name(data)}"', "X-Repo-Commit": self.hub.commit(repo)}
        asked, status, piece = self.headers.get("Range"), 200, data
        if asked and not self.hub.ignore_range:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            begin, end = int(first), min(int(last or len(data) - 1), len(data) - 1)
            if begin > end:
                self._say(416, {"Content-Range": f"bytes */{len(data)}"}, b"")
                return
            status, piece = 206, data[begin : end + 1]
            headers["Content-Range"] = f"bytes {begin}-{end}/{len(data)}"
        self._say(status, headers, piece if body else b"", file, len(piece))

    def _say(
        self, status: int, headers: dict[str, str], body: bytes, what: str = "", length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        drops = self.hub.drop_after.get(what)
        if drops and body:
            body = body[: drops.pop(0)]
            self.close_connection = True
        for start in range(0, len(body), 1 << 16):
            piece = body[start : start + (1 << 16)]
            self.hub.sent[what] += len(piece)  # before, so that who has the bytes finds them counted
            self.wfile.write(piece)
