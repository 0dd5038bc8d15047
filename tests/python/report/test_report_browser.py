"""The report in a real browser: sorting, filtering, pictures, themes, printing, no errors.

Skipped where there is no Chromium."""

import json
import re
import shutil
import subprocess

import pytest
from heddle.report import write_report
from made_study import HOSTILE, ordinary_study

BROWSER = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
        if (found := shutil.which(name))
    ),
    None,
)

WATCH = """<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => errors.push(event.blockedURI));
window.alert = () => errors.push("a name was run as a script");
</script>"""

# Uses the page as a reader does, and leaves what was seen in a comment at its end.
USE = """<script>
(async () => {
  const one = (selector) => document.querySelector(selector);
  const shown = (table, column) => [...one(table).tBodies[0].rows].filter((row) => !row.hidden)
    .map((row) => row.cells[column].textContent.trim());
  const heading = (table, words) => [...document.querySelectorAll(table + " thead th")]
    .find((th) => th.textContent.startsWith(words));
  const seen = { errors };
  const time = heading("#run-table", "Time");
  time.querySelector("button").click();
  seen.up = shown("#run-table", time.cellIndex);
  seen.sort = time.getAttribute("aria-sort");
  time.querySelector("button").click();
  seen.down = shown("#run-table", time.cellIndex);
  const form = one('form[data-filters="run-table"]');
  form.elements.text.value = "PLAIN slow";
  form.dispatchEvent(new Event("input"));
  seen.found = shown("#run-table", 0);
  seen.count = form.querySelector("output").textContent;
  form.elements.text.value = "";
  form.elements.status.value = "crashed";
  form.dispatchEvent(new Event("input"));
  seen.crashed = shown("#run-table", 0);
  one("details.matrix").open = true;
  for (let wait = 0; wait < 100 && !one("details.matrix .picture svg"); wait++)
    await new Promise((done) => setTimeout(done, 20));
  await new Promise((done) => setTimeout(done, 100));
  seen.pictures = one("details.matrix").querySelectorAll(".picture svg").length;
  const colour = () => getComputedStyle(document.body).backgroundColor;
  seen.colours = [colour()];
  one("#theme").click();
  seen.colours.push(colour());
  one("#theme").click();
  seen.colours.push(colour());
  seen.requests = performance.getEntriesByType("resource").length;
  seen.wide = document.documentElement.scrollWidth > innerWidth;
  const words = unescape(encodeURIComponent(JSON.stringify(seen)));
  document.body.append(document.createComment("SEEN" + btoa(words)));
})();
</script>"""


def browse(folder, *options):
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
               f"--user-data-dir={folder / 'profile'}", *options]  # fmt: skip
    return subprocess.run(command, capture_output=True, timeout=120, check=False)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_a_reader_can_use_the_page(tmp_path):
    import base64

    page = write_report(ordinary_study(tmp_path))
    text = page.read_text().replace("<head>", "<head>" + WATCH, 1)
    used = tmp_path / "report" / "used.html"
    used.write_text(text.replace("</body>", USE + "</body>", 1))
    done = browse(tmp_path, "--virtual-time-budget=20000", "--window-size=400,900", "--dump-dom",
                  used.as_uri())  # fmt: skip
    found = re.search(r"SEEN([A-Za-z0-9+/=]+)", done.stdout.decode(errors="replace"))
    assert found, done.stderr.decode(errors="replace")[-2000:]
    seen = json.loads(base64.b64decode(found[1]))
    assert seen["errors"] == []
    assert seen["requests"] == 0
    assert seen["sort"] == "ascending"
    assert seen["up"] == ["0.500", "0.500", "0.500", "1.00", "1.00", "1.00", "4.00", "4.00", ""]
    assert seen["down"] == ["4.00", "4.00", "1.00", "1.00", "1.00", "0.500", "0.500", "0.500", ""]
    assert (seen["found"], seen["count"]) == (["plain"], "1 of 9 rows")
    assert seen["crashed"] == [HOSTILE]
    assert seen["pictures"] == 2  # of the matrix and of its problem
    assert len(set(seen["colours"])) == 2
    assert not seen["wide"]  # on a small screen, tables scroll and the page does not

    printed = tmp_path / "report.pdf"
    browse(tmp_path, f"--print-to-pdf={printed}", page.as_uri())
    assert printed.read_bytes().startswith(b"%PDF")
