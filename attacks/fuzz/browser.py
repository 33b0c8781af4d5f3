"""Pages in Chromium: nothing in them runs that was not meant to."""

from pathlib import Path

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
WAIT = 300  # milliseconds in which images fail and pages run what they should not


def assert_harmless(pages: dict[str, str], folder: Path) -> None:
    """Open pages by their names; AssertionError if one runs a name, asks for something else or reports an error.

    A name that runs would set ``window.broken`` or open a dialogue; every other element may be clicked or hovered.
    """
    import shutil

    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        try:
            for name, text in pages.items():
                path = folder / name
                path.write_text(text, encoding="utf-8")
                page = browser.new_page()
                said: list[str] = []
                page.on("dialog", lambda dialog, said=said: (said.append("a dialogue"), dialog.dismiss()))
                page.on("pageerror", lambda error, said=said: said.append(f"an error: {error}"))
                page.on(
                    "request",
                    lambda request, said=said, address=path.as_uri(): request.url.split("#")[0] != address
                    and not request.url.startswith(("data:", "blob:"))
                    and said.append(f"a request: {request.url}"),
                )
                page.goto(path.as_uri())
                page.wait_for_timeout(WAIT)
                assert page.evaluate("window.broken") is None, f"{name}: a name runs"
                assert not said, f"{name}: {said[:3]}"
                page.close()
        finally:
            browser.close()
