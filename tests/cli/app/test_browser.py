"""The app in a real browser: from a table to exports that compute what the model computes."""

import ctypes
import socket
import sqlite3
import threading
import time
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
import uvicorn

from smallearn.cli.app.exports import as_chosen
from smallearn.cli.app.guard import Keys
from smallearn.cli.app.jobs import Worker
from smallearn.cli.app.routes import make_app
from smallearn.cli.app.session import Session
from smallearn.cli.io.tables import ReadOptions
from smallearn.export import flatten
from smallearn.export._fixed.numbers import read_inputs
from smallearn.model import SMaLLModel
from smallearn.report import report_html
from tests.helpers.app import many_rows, people
from tests.helpers.browser import ARGUMENTS
from tests.helpers.c_programs import run
from tests.helpers.tools import need, need_module

pytestmark = [pytest.mark.browser, pytest.mark.tools]

WAIT = 300_000  # milliseconds for a fit


@pytest.fixture(scope="module")
def browser():
    program = need("chromium")
    sync_api = need_module("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=ARGUMENTS, headless=True)
        yield started
        started.close()


class Site:
    """A server in a thread, and its session."""

    def __init__(self, folder):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.session, self.worker = Session(folder, ReadOptions(), 600.0), Worker()
        self.keys = Keys(self.listening.getsockname()[1])
        app = make_app(self.session, self.worker, self.keys)
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listening]}, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.should_exit = True
        self.thread.join(30)
        self.worker.stop()
        self.listening.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("app"))
    yield made
    made.stop()


class Visitor:
    """The page that was opened, with everything that it asked for and complained of."""

    def __init__(self, browser, site, **options):
        self.site, self.asked, self.complaints = site, [], []
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(site.keys.address())

    def check_quiet(self):
        """Nothing was asked for but from the server, nothing went wrong."""
        here = f"http://127.0.0.1:{self.site.keys.port}/"
        assert [url for url in self.asked if not url.startswith((here, f"blob:{here}", "blob:null", "data:,"))] == []
        assert self.complaints == []

    def use(self, path, target):
        """Upload a table and choose the target."""
        self.page.click("[data-step=table]")
        self.page.set_input_files("#file", path)
        self.page.wait_for_selector("#step-target:not([hidden])", timeout=WAIT)
        self.page.select_option("#target", target)
        self.page.wait_for_selector("#chosen:not([hidden])", timeout=WAIT)

    def fit(self, **values):
        """Fit, and wait for the model."""
        self.page.click("#to-fit")
        for name, value in values.items():
            self.page.fill(f"#{name.replace('_', '-')}", value)
        return self.made("#fit")

    def made(self, button):
        """The model that a button makes, once it is shown."""
        self.page.click(button)
        self.page.wait_for_selector("#job:not([hidden]), #error:not([hidden])")
        return self.shown()

    def shown(self):
        """The model that is shown once the job is over."""
        self.page.wait_for_selector("#job[hidden]", state="attached", timeout=WAIT)
        assert not self.page.is_visible("#error"), self.page.inner_text("#error")
        self.page.wait_for_selector("#step-model:not([hidden])")
        return self.site.session.models[int(self.page.input_value("#model"))]

    def download(self, name):
        """The content of a file of the last step."""
        with self.page.expect_download() as begun:
            self.page.click(f"#exports button[aria-label='Download {name}']")
        return begun.value.path().read_text(encoding="utf-8")


@pytest.fixture
def visitor(browser, site):
    opened = []

    def open_page(**options):
        opened.append(Visitor(browser, site, **options))
        return opened[-1]

    yield open_page
    for one in opened:
        one.check_quiet()
        one.context.close()


# --- what is downloaded computes what the model computes -------------------------------------------------------------


def check_c(text, model, X, folder):
    """The C compiles, and decides every row as the model does."""
    (folder / "model.h").write_text(text)
    (folder / "run.c").write_text(
        '#include "model.h"\nvoid run(int n, const model_input_t *x, uint8_t *found);\n'
        "void run(int n, const model_input_t *x, uint8_t *found) {\n"
        "    for (int i = 0; i < n; i++) found[i] = (uint8_t)model_predict(x + i * MODEL_INPUTS);\n}\n"
    )
    run(
        [need("gcc"), "-std=c99", "-O1", "-shared", "-fPIC", str(folder / "run.c"), "-lm", "-o", str(folder / "run.so")]
    )
    rows = np.ascontiguousarray(read_inputs(model, flatten(model), X), dtype=np.float64)
    found = np.full(len(rows), 255, np.uint8)
    library = ctypes.CDLL(str(folder / "run.so"))
    library.run(ctypes.c_int(len(rows)), ctypes.c_void_p(rows.ctypes.data), ctypes.c_void_p(found.ctypes.data))
    assert [model.classes[place] for place in found] == model.predict(X).tolist()


def check_sql(text, model, X):
    """SQLite gives every row the class that the model gives it."""
    with closing(sqlite3.connect(":memory:")) as database:
        X.to_sql("data", database, index_label="row")
        found = pd.read_sql_query(text, database).sort_values("row")
    assert found["prediction"].tolist() == model.predict(X).tolist()


def check_exports(one, entry, X, folder, threshold="0.4"):
    """Export C and SQL of the smallest size and with a threshold, and run both."""
    page = one.page
    page.click("#to-export")
    size = str(min(one.site.session.facts_of(entry)["sizes"]))
    page.select_option("#export-size", size)
    page.fill("#export-threshold", threshold)
    expected = as_chosen(entry.model, size, threshold)
    assert expected.decision_threshold == float(threshold)
    assert SMaLLModel.from_json(one.download("the model")) == expected
    page.select_option("select[aria-label='C: number']", "float64")
    check_c(one.download("C"), expected, X, folder)
    page.select_option("select[aria-label='SQL: dialect']", "sqlite")
    check_sql(one.download("SQL"), expected, X)
    assert one.download("the report") == entry.page
    page.click("[data-step=model]")


# --- the journey -----------------------------------------------------------------------------------------------------


def test_the_journey_from_a_table_to_exports(visitor, tmp_path):
    rows = people()
    rows.to_csv(tmp_path / "people.csv", index=False)
    one = visitor()
    page = one.page
    one.use(tmp_path / "people.csv", "answer")
    assert page.url == f"http://127.0.0.1:{one.site.keys.port}/"  # without the token
    assert "240 rows, 6 columns" in page.inner_text("#table-facts")
    ignored = page.locator("#ignored tbody tr")
    assert ignored.all_inner_texts() == ["id\tlooks like an ID\t", "always\thas only one value\t"]
    page.click("input[aria-label='Use size']")
    page.wait_for_selector("#ignored >> text=left out by you")
    page.click("input[aria-label='Use size']")
    page.wait_for_selector("#features >> text=size")
    first = one.fit(max_terms="4")
    report = page.frame_locator("#report")
    assert report.locator("h1").inner_text()
    assert "on these rows" in report.locator("body").inner_text() or report.locator("#verdict").count()
    check_exports(one, first, rows, tmp_path)
    forbidden = first.facts["features"][0]
    page.click("#shape-open")
    page.check(f"#forbid input[value='{forbidden}']")
    second = one.made("#refit")
    assert (second.parent, forbidden in second.facts["features"]) == (first.number, False)
    assert second.model.edits
    assert page.inner_text("#change").startswith(f"{second.name}: accuracy ")
    page.select_option("#model", str(first.number))
    page.click("#shape-open")  # it closes once a change is made
    page.check(f"#forbid input[value='{forbidden}']")
    third = one.made("#anew")
    assert (third.parent, forbidden in third.facts["features"]) == (first.number, False)
    assert not third.model.edits
    page.click("[data-step=compare]")
    page.select_option("#second", str(second.number))
    page.click("#compare")
    page.wait_for_selector("#comparison h3")
    told = page.inner_text("#comparison")
    for entry in (first, second):
        accuracy = next(value for name, value, _ in entry.facts["figures"] if name == "accuracy")
        assert accuracy in told
    answers = [entry.model.predict(rows) for entry in (first, second)]
    for line in page.locator("#comparison table >> nth=1").locator("tbody tr").all():
        row, true, *both = (cell.inner_text() for cell in line.locator("th, td").all()[:4])
        at = int(row) - 1
        assert [true, *both] == [rows["answer"][at], answers[0][at], answers[1][at]]


def test_a_table_of_50_000_rows_goes_the_same_way(visitor, tmp_path):
    rows = many_rows()
    rows.to_csv(tmp_path / "many.csv", index=False)
    one = visitor()
    one.use(tmp_path / "many.csv", "bought")
    one.page.click("#to-fit")
    one.page.fill("#max-terms", "16")
    one.page.click("#fit")
    one.page.wait_for_selector("#job:not([hidden])")
    stages = set()
    while one.page.is_visible("#job"):
        stages.add((one.page.text_content("#job-stage"), "left" in one.page.text_content("#job-left")))
        time.sleep(0.05)
    entry = one.shown()
    assert ("Comparing models by cross-validation…", True) in stages
    assert entry.facts["n_tested"] == 15_000
    check_exports(one, entry, rows, tmp_path)


def test_a_fit_that_is_cancelled_leaves_the_page_as_it_was(visitor, tmp_path):
    many_rows(20_000).to_csv(tmp_path / "many.csv", index=False)
    one = visitor()
    one.use(tmp_path / "many.csv", "bought")
    n_models = len(one.site.session.models)
    one.page.click("#to-fit")
    one.page.click("#fit")
    one.page.click("#cancel")
    one.page.wait_for_selector("#job[hidden]", state="attached")
    assert one.page.is_visible("#step-fit")
    assert one.page.is_enabled("#fit")
    assert not one.page.is_visible("#error")
    assert len(one.site.session.models) == n_models


# --- what is set on the report is what is exported -------------------------------------------------------------------

SLIDERS = """<!doctype html><html lang="en"><head><title>Sliders</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'"></head><body>
<h1>Sliders</h1><label>size <input type="range" id="size" min="0" max="{most}" value="{now}"></label>
<label>threshold <input type="range" id="threshold" min="0.001" max="0.999" step="0.001" value="0.5"></label>
</body></html>"""


@pytest.fixture(scope="module")
def small(site):
    """A model of the site, with a page that has the sliders of a report and nothing else."""
    answer_of = {}
    path = site.session.folder / "small.csv"
    people().to_csv(path, index=False)
    table = site.session.table(site.session.add_table(path, "small.csv"))
    from smallearn.cli.app.setup import Setup

    setup = Setup(table=table, target="answer", options=(("max-terms", "4"), ("prototypes", "1")))

    def finish(answer):
        answer_of.update(site.session.add_model(setup, answer, "sliders"))
        return answer_of

    job = site.worker.submit("fit", finish, setup=setup)
    while job.state == "running":
        time.sleep(0.1)
    assert job.state == "done", job.result
    entry = site.session.models[answer_of["number"]]
    sizes = answer_of["sizes"]
    page = SLIDERS.format(most=len(sizes) - 1, now=sizes.index(entry.model.n_terms))
    site.session.models[entry.number] = entry.__class__(**{**vars(entry), "page": page})
    return site.session.models[entry.number]


def test_size_and_threshold_that_are_set_on_the_report_reach_the_exports(visitor, small):
    one = visitor()
    page = one.page
    page.select_option("#model", str(small.number))
    sizes = one.site.session.facts_of(small)["sizes"]
    assert len(sizes) > 1
    report = page.frame_locator("#report")
    report.locator("#size").focus()
    page.keyboard.press("Home")
    report.locator("#threshold").fill("0.321")
    page.click("#to-export")
    assert page.input_value("#export-size") == str(sizes[0])
    assert page.input_value("#export-threshold") == "0.321"
    assert SMaLLModel.from_json(one.download("the model")) == as_chosen(small.model, str(sizes[0]), "0.321")


def test_what_is_put_into_a_report_does_not_run_and_the_report_does(visitor, site, small):
    injected = "<script>window.ran = 1</script><img alt='' src='data:,' onerror='window.ran = 2'></body>"
    page = report_html(small.model).replace("</body>", injected)
    site.session.models[small.number] = small.__class__(**{**vars(small), "page": page})
    one = visitor()
    one.page.select_option("#model", str(small.number))
    one.page.frame_locator("#report").locator("#decision").wait_for()
    frame = one.page.frame(url="**/page")
    assert frame.evaluate("window.ran ?? null") is None
    assert frame.locator("#decision").inner_text()
    assert len([text for text in one.complaints if "Content Security Policy" in text]) == 2
    assert frame.evaluate("getComputedStyle(document.querySelector('#panel')).display") == "grid"
    frame.locator("#threshold").fill("0.432")
    one.page.click("#to-export")
    assert one.page.input_value("#export-threshold") == "0.432"
    one.complaints.clear()
    site.session.models[small.number] = small


def test_a_report_can_ask_the_server_nothing(visitor, small):
    one = visitor()
    one.page.select_option("#model", str(small.number))
    frame = one.page.frame(url="**/page")
    frame.wait_for_load_state()
    assert frame.evaluate("origin") == "null"
    for script in ("fetch('/api/state')", "parent.document.title", "document.cookie"):
        with pytest.raises(Exception, match=r"Failed to fetch|Blocked a frame|cookie"):
            frame.evaluate(script)
    one.complaints.clear()  # of the browser, about what it refused


# --- anyone can use it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
@pytest.mark.usefixtures("small")
def test_axe_finds_nothing_to_complain_of_at_any_step(visitor, scheme, width, tmp_path):
    axe = need_module("axe_playwright_python.sync_playwright").Axe()
    one = visitor(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    page = one.page
    page.wait_for_selector("#step-model:not([hidden])")
    people().to_csv(tmp_path / "people.csv", index=False)
    one.use(tmp_path / "people.csv", "answer")
    for step in ("table", "target", "fit", "model", "export"):
        page.click(f"[data-step={step}]")
        for size in ("100%", "200%"):
            page.evaluate("(size) => { document.documentElement.style.fontSize = size; }", size)
            assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width], (step, size)
        page.evaluate("document.documentElement.style.fontSize = '100%'")
        found = axe.run(page, options={"iframes": False})
        assert found.response["violations"] == [], (step, found.generate_report())


@pytest.mark.usefixtures("small")
def test_the_keyboard_alone_leads_from_a_table_to_the_fit(visitor, tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    one = visitor()
    page = one.page
    one.use(tmp_path / "people.csv", "answer")
    for wanted in ("to-fit", "fit"):
        for _ in range(60):
            page.keyboard.press("Tab")
            here = page.evaluate(
                "() => { const it = document.activeElement, look = getComputedStyle(it); "
                "return [it.id, look.outlineStyle]; }"
            )
            assert here[1] != "none", here
            if here[0] == wanted:
                break
        assert here[0] == wanted
        if wanted == "to-fit":
            page.keyboard.press("Enter")
            assert page.evaluate("() => document.activeElement.id") == "head-fit"


@pytest.mark.usefixtures("small")
def test_what_goes_wrong_is_told_on_the_page(visitor, tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2,3,4\n")
    one = visitor()
    one.page.click("[data-step=table]")
    one.page.set_input_files("#file", tmp_path / "bad.csv")
    one.page.wait_for_selector("#error:not([hidden])")
    assert "line 2 has 4 cells, the header 2" in one.page.inner_text("#error")
    assert "Traceback" not in one.page.inner_text("body")
