"""The HTML page, in a real browser: the matrix leads to the failures, and nothing is asked of a network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support import ROOT

from eventfold import cli
from eventfold.report.page import NotAReport, page, read_report

if TYPE_CHECKING:
    from pathlib import Path

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Run a wrong reducer and the right one."""
    folder = tmp_path_factory.mktemp("reports")
    for name in ("final_text_ignored", "fold"):
        command = [sys.executable, "-m", "eventfold.cli", "fuzz", "--python", f"reducers:{name}", "--seed", "1", "--max-examples", "5"]
        ran = subprocess.run([*command, "-f", "json"], capture_output=True, check=False, cwd=ROOT / "tests/harnesses/wrong")
        (folder / f"{name}.jsonl").write_bytes(ran.stdout)
    return [folder / "final_text_ignored.jsonl", folder / "fold.jsonl"]


@pytest.fixture(scope="module")
def html(reports: list[Path]) -> str:
    """Make the page of both."""
    return page([read_report(path.read_bytes().splitlines(), path.name) for path in reports]).decode()


def test_the_page_needs_nothing_else(html: str) -> None:
    """No address of a network stands in what a browser would load, and the page is small."""
    assert not re.search(r"(?:src|href)=(?!\"#)", html)
    assert "@import" not in html
    assert len(html) < 1_000_000


def test_every_failed_mark_leads_to_a_failure(html: str) -> None:
    """Each link of the matrix has its target, and both reducers have a column."""
    links = re.findall(r'href="#([^"]+)"', html)
    assert links
    assert set(links) <= set(re.findall(r'details id="([^"]+)"', html))
    assert html.count("<th>reducers:") == 2


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_a_browser_shows_it(html: str, tmp_path: Path) -> None:
    """Chromium, headless, lays the page out, runs its script and opens the failure that the address names."""
    path = tmp_path / "page.html"
    path.write_text(html, "utf-8")
    [target] = [anchor for anchor in re.findall(r'details id="([^"]+)"', html) if "valid" in anchor and "_2ftext_2ftext" in anchor]
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
    command = [str(BROWSER), *options, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", f"{path.as_uri()}#{target}"]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert re.findall(r'<details id="([^"]+)" open="">', dom) == [target]
    assert dom.count('<td class="mark') == html.count('<td class="mark')


def test_what_comes_from_a_stream_is_text(reports: list[Path]) -> None:
    """Markup in a reducer's name, a key or a value is shown and not obeyed."""
    evil = "<script>alert(1)</script>"
    lines = [line.replace(b"final_text_ignored", evil.encode()) for line in reports[0].read_bytes().splitlines()]
    assert evil not in page([read_report(lines, "x")]).decode()


def test_a_cut_report_is_refused(reports: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without its footer, or as something else, a report is one clear line and exit code 2."""
    lines = reports[0].read_bytes().splitlines()
    for broken in ([], lines[:-1], [b"{}"], [b"x"], [b"5"]):
        with pytest.raises(NotAReport, match="no whole report"):
            read_report(broken, "x")
    monkeypatch.setattr(sys, "argv", ["eventfold", "matrix", str(ROOT / "README.md")])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed: Any = capsys.readouterr()
    assert (ended.value.code, printed.err.count("\n")) == (2, 1)
