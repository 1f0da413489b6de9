"""The system libraries that Qt needs on Linux and no package from a Python index carries."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys

# library -> Debian's package. Without the first group Qt cannot be imported; the second is for a window.
_IMPORT = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libX11.so.6": "libx11-6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libzstd.so.1": "libzstd1",
}
_WINDOW = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_OTHER_SYSTEMS = {
    "dnf": "dnf install mesa-libGL mesa-libEGL libX11-xcb libxkbcommon-x11 fontconfig dbus-libs xcb-util "
    "xcb-util-cursor xcb-util-image xcb-util-keysyms xcb-util-renderutil xcb-util-wm",
    "zypper": "zypper install Mesa-libGL1 Mesa-libEGL1 libX11-xcb1 libxkbcommon-x11-0 libfontconfig1 libdbus-1-3 "
    "libxcb-util1 libxcb-cursor0 libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-icccm4",
    "pacman": "pacman -S --needed libglvnd libx11 libxkbcommon-x11 fontconfig dbus xcb-util xcb-util-cursor "
    "xcb-util-image xcb-util-keysyms xcb-util-renderutil xcb-util-wm",
}


class LibrariesMissingError(Exception):
    """Qt cannot even be imported: one sentence and the line to run."""


def missing(libraries: dict[str, str]) -> list[str]:
    """Those of `libraries` that the system's loader does not find."""
    lacking = []
    for library in libraries:
        try:
            ctypes.CDLL(library)
        except OSError:
            lacking.append(library)
    return lacking


def provide(virtual_screen: bool) -> str:
    """Install what is missing where that is allowed; otherwise say how, or raise if nothing would work without.

    `virtual_screen` asks for Xvfb too, with which some tests open a real window; without it they are skipped.
    """
    if sys.platform != "linux":
        return ""
    known = {**_IMPORT, **_WINDOW}
    packages = [known[library] for library in missing(known)]
    if virtual_screen and shutil.which("Xvfb") is None and _apt_get() is not None:
        packages.append("xvfb")
    if packages and _apt_install(packages):
        packages = [known[library] for library in missing(known)]
    packages = [package for package in packages if package != "xvfb"]
    if not packages:
        return ""
    text = f"Qt needs system libraries that are missing; to install them, run:\n  {_line(packages)}"
    if missing(_IMPORT):
        raise LibrariesMissingError(text)
    return text


def install_venv_module(version: tuple[int, int]) -> bool:
    """Debian keeps the venv module in a package of its own; whether it could be installed."""
    return _apt_install([f"python{version[0]}.{version[1]}-venv"])


def _apt_get() -> list[str] | None:
    """How apt-get can be run without asking anyone for a password; None if it cannot."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    return None


def _apt_install(packages: list[str]) -> bool:
    apt_get = _apt_get()
    if apt_get is None:
        return False
    print(f"Installing system packages: {' '.join(packages)}", flush=True)
    subprocess.run([*apt_get, "update", "-qq"], capture_output=True)
    done = subprocess.run(
        [*apt_get, "install", "-y", "-qq", "--no-install-recommends", *packages], capture_output=True, text=True
    )
    if done.returncode:
        print((done.stdout + done.stderr).strip(), file=sys.stderr, flush=True)
    return done.returncode == 0


def _line(packages: list[str]) -> str:
    if shutil.which("apt-get"):
        return f"sudo apt-get install {' '.join(packages)}"
    for program, line in _OTHER_SYSTEMS.items():
        if shutil.which(program):
            return f"sudo {line}"
    return f"your package manager, for the libraries in Debian's {' '.join(packages)}"
