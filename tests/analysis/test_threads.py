"""The same numbers whatever the number of threads: the window's helpers and the command line have different ones."""

from __future__ import annotations

import os
import subprocess
import sys

_PROGRAM = """
import hashlib
import numpy as np
from kiruviz.analysis.projection import pca
from kiruviz.analysis.transforms import fit
from kiruviz.space import Transform

rows = np.random.default_rng(0).normal(size=(20_000, 300)).astype(np.float32) + 3
fitted = fit(rows, np.ones(len(rows), bool), Transform(remove_top=3, normalize=True))
plain = (rows.T @ rows).tobytes()
for data in (pca(rows).coords.tobytes(), fitted.directions.tobytes(), fitted.apply(rows).tobytes(), plain):
    print(hashlib.sha256(data).hexdigest()[:16])
"""


def digests(threads: int) -> list[str]:
    """What a process with so many threads computes: PCA, directions, transformed rows, and a plain product."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    return run.stdout.split()


def test_pca_and_transforms_are_bit_for_bit_the_same_with_one_thread_and_with_two() -> None:
    one, two = digests(1), digests(2)
    assert one[:3] == two[:3]
    print(f"a plain product with two threads is {'the same' if one[3] == two[3] else 'another'}")
