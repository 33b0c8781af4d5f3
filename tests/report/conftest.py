"""Pages in a browser."""

import pytest

from tests.helpers.browser import ARGUMENTS
from tests.helpers.tools import need, need_module

# Enters rows one after another as events of the fields, and tells what is shown after each.
ENTER = """(rows) => rows.map((row) => {
  row.forEach((value, i) => {
    const control = document.getElementById(`input-${i}`), box = document.getElementById(`input-${i}-missing`);
    if (box && box.checked !== (value === null)) box.click();
    if (value === null) return;
    if (control.tagName === "SELECT") control.selectedIndex = value;
    else control.value = value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return shown();
  function shown() {
    const every = [document.getElementById("base"), ...document.querySelectorAll("#contributions tbody tr")];
    const lines = every.filter((line) => line.cells.length);
    return {
      ...document.getElementById("decision").dataset,
      words: document.getElementById("decision").textContent,
      why: document.getElementById("why").textContent,
      points: lines.map((line) => Number(line.dataset.points)),
      lines: lines.map((line) => [line.cells[0].textContent, line.cells[1].textContent]),
      chances: [...document.querySelectorAll("#probabilities tbody tr")].map((row) => Number(row.dataset.chance)),
      total: document.getElementById("total").textContent,
    };
  }
})"""


@pytest.fixture(scope="module")
def browser():
    program = need("chromium")
    sync_api = need_module("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=ARGUMENTS, headless=True)
        yield started
        started.close()


class Visit:
    """A page that was opened, with everything that it asked for and complained of."""

    def __init__(self, context, path):
        self.asked, self.complaints = [], []
        context.route("**/*", self._ask)
        self.page = context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.address = path.as_uri()
        self.page.goto(self.address)

    def _ask(self, route):
        self.asked.append(route.request.url)
        route.continue_()

    def enter(self, rows):
        return self.page.evaluate(ENTER, rows)

    def shown(self):
        return self.enter([[]])[0]

    def check_quiet(self):
        """Nothing was asked for but the file, nothing went wrong."""
        assert {address for address in self.asked if not address.startswith("data:,")} == {self.address}
        assert self.complaints == []


@pytest.fixture
def visit(browser, tmp_path):
    """Opens a page; what is left open is closed, and whatever the test did, nothing was asked for from elsewhere."""
    contexts, visits = [], []

    def open_page(text, *, quiet=True, **options):
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        found = Visit(context, path)
        if quiet:
            visits.append(found)
        return found

    yield open_page
    for opened in visits:
        opened.check_quiet()
    for context in contexts:
        context.close()
