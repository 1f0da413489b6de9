"""Speaking HTTP with a Hub: ranges, redirects, retries; every failure one sentence.

The client is `httpx2`, which comes with `huggingface_hub`. The library's own download is not used: it throws
a partial file away when it is cancelled or killed, and so cannot resume what a person stopped.
"""

from __future__ import annotations

import json
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from kiruviz import __version__
from kiruviz.errors import UserError
from kiruviz.models import hub_place
from kiruviz.models.hub_place import HubName
from kiruviz.progress import Progress

if TYPE_CHECKING:
    import httpx2

# A range that a server answers with the whole file is read all the same if the file is no larger than this.
SMALL = 16 << 20

_TRIES = 5
_REDIRECTS = 10
_LARGEST_ANSWER = 64 << 20
_LONGEST_WAIT = 30.0
_AGAIN = (408, 429, 500, 502, 503, 504)
_LINK_NEXT = re.compile(r'<([^>]+)>\s*;\s*rel="?next"?')


class _RefusedError(Exception):
    """An answer with a status that is no success; what of it the sentences need."""

    def __init__(self, status: int, code: str, file: str, elsewhere: bool) -> None:
        """`elsewhere`: the answer came from a content server that the Hub redirected to."""
        super().__init__(f"HTTP {status}")
        self.status, self.code, self.file, self.elsewhere = status, code, file, elsewhere


class RangeIgnoredError(Exception):
    """The server sent the whole file where a part was asked for."""


class Hub:
    """One conversation with a Hub about one model; to be closed, or used in a `with`.

    Attributes
    ----------
    name : the model
    received : bytes of bodies that came in, retries included
    """

    def __init__(self, name: HubName, progress: Progress, pause: float = 0.5) -> None:
        """`pause` is the first wait, in seconds, before another try; it doubles with each."""
        if hub_place.offline():
            raise UserError(
                f"HF_HUB_OFFLINE is set, so nothing may be fetched; unset it to fetch {name.repo}, or open a model "
                "that is on this computer (`kiruviz models` lists them)."
            )
        import httpx2

        self.name, self.progress, self.received = name, progress, 0
        self._pause = pause
        try:
            self._client = httpx2.Client(
                timeout=httpx2.Timeout(20.0, connect=10.0),
                headers={"user-agent": f"kiruviz/{__version__}", "accept-encoding": "identity"},
            )
        except (ValueError, httpx2.HTTPError) as error:
            raise UserError(
                f"The proxy settings cannot be used ({_brief(error)}); correct HTTPS_PROXY or HTTP_PROXY, or unset it."
            ) from error
        self._token = hub_place.token() if _origin(name.endpoint) == _origin(hub_place.endpoint()) else None
        self._places: dict[str, str] = {}

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    # Questions to the programming interface

    def api(self, path: str) -> Any:
        """The JSON under `/api/models/<repo>/<path>`."""
        return self._json(f"{self.name.endpoint}/api/models/{self.name.repo}/{path}", path)[0]

    def api_pages(self, path: str, most: int = 100) -> list[Any]:
        """A list that comes in pages, put together."""
        entries: list[Any] = []
        url: str | None = f"{self.name.endpoint}/api/models/{self.name.repo}/{path}"
        for _ in range(most):
            if url is None:
                return entries
            page, following = self._json(url, path)
            if not isinstance(page, list):
                raise self.unexpected("its file list is no list")
            entries += page
            url = None if following is None else urljoin(url, following)
            if url is not None and _origin(url) != _origin(self.name.endpoint):
                raise self.unexpected("its file list goes on at another address")
        raise self.unexpected("its file list has no end")

    def _json(self, url: str, path: str) -> tuple[Any, str | None]:
        body = bytearray()

        def attempt() -> tuple[Any, str | None]:
            body.clear()
            with self._open(url, "", {}) as response:
                for chunk in self._chunks(response):
                    body.extend(chunk)
                    if len(body) > _LARGEST_ANSWER:
                        raise self.unexpected(f"its answer to {path.partition('?')[0]} is too long")
                found = _LINK_NEXT.search(response.headers.get("link", ""))
                return _parsed(bytes(body)), found[1] if found else None

        try:
            answer: tuple[Any, str | None] = self._trying(attempt, lambda: 0)
            return answer
        except ValueError as error:
            raise self.unexpected("its answer is not JSON") from error

    # Files

    def fetch(
        self, file: str, commit: str, begin: int, end: int, take: Callable[[bytes], object], size: int | None = None
    ) -> None:
        """Bytes `begin` to `end` of a file, in order, to `take`; a dropped connection goes on at the next byte.

        Parameters
        ----------
        file, commit : the file's path in the model, and its revision
        begin, end : half-open
        take : gets each piece as it comes; what it raises passes through
        size : the whole file's size, to tell a large file from a small one where ranges are ignored

        Raises
        ------
        RangeIgnoredError : the server sends the whole file, and it is not small
        UserError : whatever else goes wrong, as one sentence
        """
        done = begin
        url = f"{self.name.endpoint}/{self.name.repo}/resolve/{commit}/{quote(file)}"

        def attempt() -> None:
            nonlocal done
            if done >= end:
                return
            with self._open(url, file, {"range": f"bytes={done}-{end - 1}"}) as response:
                skip = self._begins(response, done, end, size)
                for chunk in self._chunks(response):
                    piece = chunk[skip:] if skip else chunk
                    skip = max(0, skip - len(chunk))
                    piece = piece[: end - done]
                    if piece:
                        take(piece)
                        done += len(piece)
                    if done >= end:
                        return
            raise _ShortError

        self._trying(attempt, lambda: done)

    def _begins(self, response: httpx2.Response, begin: int, end: int, size: int | None) -> int:
        """How many bytes of the body come before `begin`; the answer is checked to be the range asked for."""
        encoded = response.headers.get("content-encoding", "identity").lower() != "identity"
        if response.status_code == 206 and not encoded:
            found = re.match(r"bytes (\d+)-(\d+)/", response.headers.get("content-range", ""))
            if found is None or int(found[1]) != begin or int(found[2]) >= end:
                raise self.unexpected("it answers with another part of the file than was asked for")
            return 0
        length = response.headers.get("content-length", "")
        whole = size if size is not None else int(length) if length.isdecimal() else None
        if (begin, end) != (0, whole) and (whole is None or whole > SMALL):
            raise RangeIgnoredError
        return begin

    @contextmanager
    def _open(self, url: str, file: str, headers: dict[str, str]) -> Iterator[httpx2.Response]:
        """The answer to a GET after all redirects; the token goes to the Hub's own address and nowhere else."""
        at, hops = self._places.get(url, url), 0
        while True:
            sent = dict(headers)
            if self._token and _origin(at) == _origin(self.name.endpoint):
                sent["authorization"] = f"Bearer {self._token}"
            with self._client.stream("GET", at, headers=sent, follow_redirects=False) as response:
                if not response.has_redirect_location:
                    if response.status_code < 300:
                        if file:
                            self._places[url] = at
                        yield response
                        return
                    # A signed address of a content server runs out: then the Hub is asked for another.
                    known = self._places.pop(url, None)
                    if known is None or response.status_code in (*_AGAIN, 416):
                        code = response.headers.get("x-error-code", "")
                        elsewhere = _origin(at) != _origin(self.name.endpoint)
                        raise _RefusedError(response.status_code, code, file, elsewhere)
                    target = url
                else:
                    target = urljoin(at, response.headers["location"])
            hops += 1
            if hops > _REDIRECTS or urlsplit(target).scheme not in ("http", "https"):
                raise self.unexpected("it redirects without end")
            if urlsplit(at).scheme == "https" and urlsplit(target).scheme == "http":
                raise self.unexpected("it redirects to an address without encryption")
            at = target

    def _chunks(self, response: httpx2.Response) -> Iterator[bytes]:
        # As they come: put together to larger ones, bytes would be lost when the connection breaks off.
        for chunk in response.iter_bytes():
            self.received += len(chunk)
            self.progress.check()
            yield chunk

    # Trying again, and saying what went wrong

    def _trying(self, attempt: Callable[[], Any], mark: Callable[[], int]) -> Any:
        """`attempt` until it works: at most `_TRIES` times in a row without a byte more."""
        import httpx2

        failed, reached = 0, mark()
        while True:
            self.progress.check()
            try:
                return attempt()
            except _RefusedError as refused:
                if refused.status not in _AGAIN:
                    raise self._sentence_of_status(refused) from refused
                trouble: Exception = refused
            except (httpx2.TransportError, _ShortError) as error:
                if isinstance(error, httpx2.ProxyError | httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
                    raise self._sentence_of(error) from error
                trouble = error
            except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
                raise self._sentence_of(error) from error
            failed = failed + 1 if mark() == reached else 1
            reached = mark()
            if failed >= (2 if isinstance(trouble, httpx2.ConnectError) else _TRIES):
                raise self._sentence_of(trouble) from trouble
            self._wait(min(self._pause * 2 ** (failed - 1), _LONGEST_WAIT))

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.progress.check()
            time.sleep(min(left, 0.1))

    def unexpected(self, what: str) -> UserError:
        """The sentence for an answer no Hub gives."""
        return UserError(
            f"{self._host} does not answer as a Hub should about {self.name} ({what}); check HF_ENDPOINT, "
            "or try again later."
        )

    @property
    def _host(self) -> str:
        return urlsplit(self.name.endpoint).netloc or self.name.endpoint

    def _sentence_of_status(self, refused: _RefusedError) -> UserError:
        name, host, status, code = self.name, self._host, refused.status, refused.code
        page = f"{name.endpoint}/{name.repo}"
        if refused.elsewhere and status in (401, 403, 404, 410):
            return UserError(
                f"The server that {host} sends one to for {refused.file} of {name} refuses (HTTP {status}); "
                "fetch it again, it goes on from there."
            )
        if code == "GatedRepo" or (status == 403 and code != "RepoNotFound"):
            return UserError(
                f"{name.repo} is gated: accept its terms at {page}, set HF_TOKEN to a token of that account, and "
                "fetch it again."
            )
        if code == "RevisionNotFound":
            return UserError(f"{name.repo} has no revision {name.revision or 'main'}; look up its revisions at {page}.")
        if code == "EntryNotFound" or (status == 404 and refused.file):
            return UserError(f"{name} has no file {refused.file or 'of that name'} on {host}; fetch the model again.")
        if status == 401 and self._token and code != "RepoNotFound":
            return UserError(
                f"{host} does not accept the token for {name.repo}; set HF_TOKEN to a valid one, or unset it."
            )
        if status == 401:
            return UserError(
                f"{name.repo} is private or does not exist on {host}; check its name, and for a private model set "
                "HF_TOKEN to a token that may read it."
            )
        if status in (404, 410):
            return UserError(f"There is no model {name.repo} on {host}; check its owner and name.")
        if status == 407:
            return self._proxy_sentence("it asks for a name and password")
        if status == 416:
            return UserError(
                f"{host} says that {refused.file} of {name} is shorter than its own list says (416); fetch it again, "
                "the model may just have been changed."
            )
        if status == 429:
            return UserError(f"{host} has had too many requests (429); wait a few minutes and fetch {name} again.")
        what = "is out of order" if status >= 500 else "refuses"
        return UserError(f"{host} {what} (HTTP {status}), so {name} was not fetched; try again later.")

    def _sentence_of(self, error: Exception) -> UserError:
        import httpx2

        name, host = self.name, self._host
        if isinstance(error, _RefusedError):
            return self._sentence_of_status(error)
        if isinstance(error, httpx2.ProxyError):
            return self._proxy_sentence(_brief(error))
        if "CERTIFICATE" in str(error).upper():
            return UserError(
                f"The certificate of {host} is not trusted, so {name} was not fetched; behind a proxy that reads "
                "along, set SSL_CERT_FILE to its certificate."
            )
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            if _proxy_for(name.endpoint):
                return self._proxy_sentence("no connection through it")
            return UserError(
                f"{host} cannot be reached, so {name} was not fetched; check that this computer is online, and "
                "HTTPS_PROXY if it needs a proxy."
            )
        if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
            return UserError(f"{name.endpoint} is not the address of a Hub; set HF_ENDPOINT to one, or unset it.")
        if isinstance(error, httpx2.TimeoutException):
            return UserError(f"{host} stopped answering while {name} was fetched; fetch it again, it goes on there.")
        return UserError(
            f"The connection to {host} broke off {_TRIES} times while {name} was fetched; fetch it again, "
            "it goes on from there."
        )

    def _proxy_sentence(self, why: str) -> UserError:
        proxy = urlsplit(_proxy_for(self.name.endpoint) or "")
        called = f"The proxy {proxy.hostname}:{proxy.port}" if proxy.hostname else "The proxy"
        return UserError(
            f"{called} does not let {self.name} through ({why}); correct HTTPS_PROXY, or add {self._host} to NO_PROXY."
        )


class _ShortError(Exception):
    """The body ended before the range did."""


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except RecursionError as error:
        raise ValueError("nested without end") from error


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    try:
        return parts.scheme, (parts.hostname or "").lower(), parts.port or usual
    except ValueError:  # a port that is no number
        return parts.scheme, "", None


def _proxy_for(url: str) -> str | None:
    parts = urlsplit(url)
    if not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _brief(error: Exception) -> str:
    """The first line of an error, without addresses: a proxy's may hold a password."""
    line = str(error).partition("\n")[0].strip().rstrip(".") or type(error).__name__
    return re.sub(r"\S+://\S+", "its address", line)[:120]
