"""The report in a real browser: it sorts, links lead somewhere, nothing is fetched, no error."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import HERE, Browser, chromium
from campaigning import ROOT
from reported import made, report_of

pytestmark = pytest.mark.skipif(not HERE, reason="needs Debian's chromium and chromium-driver")

COLUMN = """
const table = document.getElementById(arguments[0]);
return Array.from(table.tBodies[0].rows, row => row.cells[arguments[1]].innerText.trim());
"""
PRESS = """
const table = document.getElementById(arguments[0]);
const heading = table.tHead.rows[0].cells[arguments[1]];
heading.firstElementChild.click();
return heading.getAttribute("aria-sort");
"""
RANKING, MODEL, MEAN, UNSCORED = "table-of-ranking-A", 1, 3, 9


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_of(made(), tmp_path_factory.mktemp("report")) / "report.html"


@pytest.fixture
def page(browser: Browser, report: Path) -> Browser:
    """The page freshly opened, with the logs of what came before read away."""
    browser.log("browser")
    browser.log("performance")
    browser.open(report)
    return browser


def test_tables_sort_both_ways_and_say_so(page: Browser) -> None:
    """Numbers sort as numbers, names as names, and a screen reader is told which way."""
    assert page.run(PRESS, RANKING, MEAN) == "ascending"
    means = [float(text) for text in page.run(COLUMN, RANKING, MEAN)]
    assert means == sorted(means)
    assert len(means) == 4
    assert page.run(PRESS, RANKING, MEAN) == "descending"
    assert [float(text) for text in page.run(COLUMN, RANKING, MEAN)] == means[::-1]
    assert page.run(PRESS, RANKING, MODEL) == "ascending"
    names = [text.split()[0] for text in page.run(COLUMN, RANKING, MODEL)]
    assert names == ["birch-32b", "cedar.14b", "elm_7b", "flint"]
    heads = (
        "return Array.from(document.querySelectorAll('#' + arguments[0] + ' [aria-sort]')).length"
    )
    assert page.run(heads, RANKING) == 1


def test_the_keyboard_is_enough(page: Browser) -> None:
    """A heading takes the focus and sorts with the enter key, as any button does."""
    focus = (
        "const b = document.getElementById(arguments[0]).tHead.rows[0].cells[arguments[1]]"
        ".firstElementChild; b.focus(); return document.activeElement === b;"
    )
    assert page.run(focus, RANKING, UNSCORED) is True
    for kind in ("keyDown", "keyUp"):
        page.devtools(
            "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
            windowsVirtualKeyCode=13,
        )  # fmt: skip
    unscored = page.run(COLUMN, RANKING, UNSCORED)
    assert unscored == ["0 of 9", "0 of 9", "0 of 9", "1 of 9"]


def test_a_link_to_a_cell_unfolds_it(page: Browser) -> None:
    """From a mean in the table of tasks to the rows and files of its runs."""
    page.run("document.querySelector('.beside a[href=\"#cells-flint-A08\"]').click(); return null;")
    opened = page.run(
        "const d = document.getElementById('cells-flint-A08');"
        "return [d.open, d.parentElement.open, d.innerText.includes('flint/run_1/A08/raw/0001.json')];"
    )
    assert opened == [True, True, True]


def test_nothing_is_fetched_and_nothing_goes_wrong(page: Browser, report: Path) -> None:
    """The page asks for itself and for nothing else, and the console stays empty."""
    page.run("return document.fonts.ready.then(() => null)")
    asked = [
        message["params"]["request"]["url"]
        for entry in page.log("performance")
        if (message := json.loads(str(entry["message"]))["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    assert {url.split("#")[0] for url in asked} - {"data:,"} == {report.as_uri()}
    assert page.log("browser") == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_can_be_read(page: Browser, width: int, scheme: str) -> None:
    """On a phone and a desk, light and dark: no sideways scrolling, text stands off its ground."""
    page.devtools(
        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1,
        mobile=False,
    )  # fmt: skip
    page.devtools(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    assert page.run("return document.documentElement.scrollWidth") <= width
    weakest = page.run(CONTRAST)
    assert isinstance(weakest, dict)
    assert weakest["ratio"] >= 4.5, weakest  # WCAG 2.2, level AA, for text of this size


def test_a_sentence_in_a_table_is_no_column_of_words(page: Browser) -> None:
    """On a phone the table scrolls inside itself, and its reasons can be read."""
    page.open(ROOT / "reports/example-simulated/report.html")
    page.devtools(
        "Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1,
        mobile=False,
    )  # fmt: skip
    lines = page.run(
        "return [...document.querySelectorAll('td:not(.n):last-child')]"
        ".filter(cell => cell.textContent.includes('its previous run took'))"
        ".map(cell => cell.clientHeight / parseFloat(getComputedStyle(cell).lineHeight))"
    )
    assert isinstance(lines, list)
    assert len(lines) == 2
    assert max(lines) < 6
    assert page.run("return document.documentElement.scrollWidth") <= 390


CONTRAST = """
const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number);
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
const ground = e => { for (; e; e = e.parentElement) {
  const c = getComputedStyle(e).backgroundColor;
  if (!/rgba\\(.*, 0\\)|transparent/.test(c)) return c; } return "rgb(255, 255, 255)"; };
let weakest = {ratio: 99, text: ""};
for (const e of document.querySelectorAll("main *, header *, .banner, .banner *, footer *")) {
  if (e.closest("svg") || !Array.from(e.childNodes).some(n => n.nodeType === 3 && n.data.trim()))
    continue;
  const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < weakest.ratio) weakest = {ratio, text: e.textContent.slice(0, 40)};
}
return weakest;
"""
