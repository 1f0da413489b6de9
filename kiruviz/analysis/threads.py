"""Numbers that do not depend on how many threads computed them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Matrix products within the block are computed by one thread.

    Their last digits depend on the number of threads, which differs between the window's helpers and the command
    line; and a layout that starts from places with other last digits takes another course altogether.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1):
        yield
