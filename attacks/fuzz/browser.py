"""Pages in Chromium: nothing in them runs that was not meant to."""

import shutil
from pathlib import Path
from typing import Any

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
WAIT = 300  # milliseconds in which images fail and pages run what they should not


def assert_harmless(pages: dict[str, str], folder: Path) -> None:
    """Open pages by their names; AssertionError if one runs a name, asks for something else or reports an error.

    A name that runs would set ``window.broken``, open a dialogue or ask for a file.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        try:
            for name, text in pages.items():
                path = folder / name
                path.write_text(text, encoding="utf-8")
                said = what_it_does(browser, path.as_uri())
                assert not said, f"{name}: {said[:3]}"
        finally:
            browser.close()


def what_it_does(browser: Any, address: str) -> list[str]:
    """What a page does that it should not."""
    page, said = browser.new_page(), []

    def on_dialog(dialog: Any) -> None:
        said.append("a dialogue")
        dialog.dismiss()

    def on_request(request: Any) -> None:
        if request.url.split("#")[0] != address and not request.url.startswith(("data:", "blob:")):
            said.append(f"a request: {request.url}")

    page.on("dialog", on_dialog)
    page.on("request", on_request)
    page.on("pageerror", lambda error: said.append(f"an error: {error}"))
    page.goto(address)
    page.wait_for_timeout(WAIT)
    if page.evaluate("window.broken") is not None:
        said.append("a name runs")
    page.close()
    return said
