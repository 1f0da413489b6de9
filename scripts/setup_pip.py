"""Running pip for `setup.py`: a line for each large file, a log of everything, one sentence when it fails."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_FETCHED = re.compile(r"(Downloading|Using cached) (?:\S*/)?([A-Za-z0-9_.]+?)-([0-9][^-]*)-\S+ \(([\d.]+) MB\)")
_REASONS = (
    (
        r"No space left on device|Errno 28|not enough space",
        "The disk is full: free some space and start again.",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "The package index could not be trusted: set PIP_CERT to your network's certificate file and start again.",
    ),
    (
        r"name resolution|Name or service not known|nodename nor servname|NewConnectionError|Max retries|"
        r"Connection (?:refused|reset|broken|aborted)|timed out|ProxyError|Network is unreachable|IncompleteRead",
        "The packages could not be downloaded: see that this computer is online (behind a proxy, set HTTPS_PROXY) "
        "and start again.",
    ),
    (
        r"Permission denied|Errno 13",
        "A file could not be written: see that this folder is yours to write in and start again.",
    ),
)


def environment() -> dict[str, str]:
    """The environment without settings that would send packages elsewhere than into `.venv`."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PIP_USER", "PIP_TARGET", "PIP_PREFIX")}
    return {
        **kept,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_PROGRESS_BAR": "off",
        "PIP_USER": "0",
        "PYTHONUNBUFFERED": "1",
    }


def explain(text: str) -> str:
    """The sentence for what pip wrote when it failed."""
    for pattern, sentence in _REASONS:
        if re.search(pattern, text):
            return sentence
    nothing = re.search(r"No matching distribution found for (\S+)", text)
    if nothing:
        version = ".".join(str(part) for part in sys.version_info[:2])
        return (
            f"The package {nothing.group(1)} was not found for Python {version} on this system: see that this computer "
            f"is online, or try another Python, make run PYTHON=python3.12."
        )
    errors = [line for line in text.splitlines() if line.startswith("ERROR:")]
    return f"pip failed: {errors[-1][7:] if errors else 'no reason given'}"


def install(python: Path, what: Sequence[str], log: Path) -> str | None:
    """Run `pip install`; None if it went well, else one sentence."""
    process = subprocess.Popen(
        [python, "-m", "pip", "install", *what],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment(),
    )
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(process, lines), daemon=True).start()
    written = []
    try:
        with log.open("a", encoding="utf-8") as file:
            for line in _following(lines):
                file.write(line)
                written.append(line)
    except BaseException:
        process.terminate()
        raise
    return f"{explain(''.join(written))} (pip's own words: {log})" if process.wait() else None


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def _following(lines: queue.SimpleQueue[str | None]) -> Iterator[str]:
    """Hand on pip's lines as they come and tell the person what is going on, with a clock where that can be shown."""
    shown, since = "resolving", time.monotonic()
    live = sys.stdout.isatty()
    while True:
        try:
            line = lines.get(timeout=0.5 if live else None)
        except queue.Empty:
            print(f"\r  {shown} ... {time.monotonic() - since:.0f} s\x1b[K", end="", flush=True)
            continue
        now = "" if line is None else _stage(line)
        if now is not None:
            if live:
                print("\r\x1b[K", end="")
            if now:
                print(f"  {now}", flush=True)
                shown, since = now, time.monotonic()
        if line is None:
            return
        yield line


def _stage(line: str) -> str | None:
    """What a line of pip's says that a person would want to know."""
    fetched = _FETCHED.search(line)
    if fetched and float(fetched.group(4)) >= 5:
        how = "from the cache" if fetched.group(1) == "Using cached" else f"{fetched.group(4)} MB"
        return f"{fetched.group(2)} {fetched.group(3)}, {how}"
    if line.startswith("Installing collected packages"):
        count = line.count(",") + 1
        return f"installing {count} packages" if count > 9 else "installing KiruViz and its starter models"
    return None
