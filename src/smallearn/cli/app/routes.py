"""What the server answers: the page, JSON about tables, models and jobs, and files to download."""

import json
import os
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from smallearn._version import __version__
from smallearn.cli.app import exports
from smallearn.cli.app.guard import FRAMED, Guard, Keys, most_of, too_long
from smallearn.cli.app.jobs import Worker
from smallearn.cli.app.requests import changes_of, options_of, setup_of
from smallearn.cli.app.session import Session
from smallearn.cli.app.setup import Changes
from smallearn.cli.errors import CommandError
from smallearn.report._policy import hash_of

STATIC = {"app.js": "text/javascript", "app.css": "text/css"}
# Tells the page around the report what is set on it: the place of the slider of sizes, and the threshold.
BRIDGE = """
for (const name of ["input", "click"]) addEventListener(name, () => setTimeout(tell));
function tell() {
  const value = (id) => document.getElementById(id)?.value ?? null;
  parent.postMessage({ size: value("size"), threshold: value("threshold") }, "*");
}
tell();
"""
OWN_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


class TooLongError(Exception):
    """The body of a request is longer than allowed."""


def make_app(session: Session, worker: Worker, keys: Keys) -> Guard:
    """The ASGI application of one visit."""
    routes = _Routes(session, worker, keys)
    app = Starlette(
        routes=[
            Route("/", routes.page),
            Route("/{name:str}", routes.static),
            Route("/api/state", routes.state),
            Route("/api/tables", routes.upload, methods=["PUT"]),
            Route("/api/read", routes.read, methods=["POST"]),
            Route("/api/choose", routes.choose, methods=["POST"]),
            Route("/api/fit", routes.fit, methods=["POST"]),
            Route("/api/shape", routes.shape, methods=["POST"]),
            Route("/api/compare", routes.compare, methods=["POST"]),
            Route("/api/jobs/{number:int}", routes.job, methods=["GET"]),
            Route("/api/jobs/{number:int}", routes.cancel, methods=["DELETE"]),
            Route("/models/{number:int}/page", routes.report),
            Route("/models/{number:int}/report.html", routes.report_file),
            Route("/models/{number:int}/model.json", routes.model_file),
            Route("/models/{number:int}/export/{target:str}", routes.export),
        ],
        exception_handlers={
            CommandError: _refused,
            TooLongError: _too_long,
            ClientDisconnect: _gone,
            HTTPException: _http_error,
            Exception: _failed,
        },
    )
    return Guard(app, keys)


class _Routes:
    """The answers, a method each."""

    def __init__(self, session: Session, worker: Worker, keys: Keys):
        self.session, self.worker, self.keys = session, worker, keys

    # --- the page --------------------------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """The page itself; it knows the header that its requests have to carry."""
        text = resource("page.html").replace("{{header}}", self.keys.header).replace("{{version}}", __version__)
        answer = HTMLResponse(text)
        answer.set_cookie(self.keys.cookie_name, self.keys.cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def static(self, request: Request) -> Response:
        """Its style and its script."""
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        text = resource(name)
        if name == "app.css":
            text = files("smallearn.report").joinpath("style.css").read_text(encoding="utf-8") + text
        return Response(text, media_type=STATIC[name])

    async def state(self, request: Request) -> Response:
        """What there is, for a page that was just opened."""
        job = self.worker.job
        facts = {**self.session.facts(), "exports": exports.offered(), "job": None if job is None else job.facts()}
        return JSONResponse(facts)

    # --- tables ----------------------------------------------------------------------------------------------------

    async def upload(self, request: Request) -> Response:
        """Take a table: the body is the file, written as it comes."""
        name = request.query_params.get("name", "")
        path = self.session.path_of_upload(name)
        draft = path.with_name(f"draft-{os.urandom(8).hex()}")
        try:
            n_bytes = 0
            with draft.open("wb") as file:
                async for chunk in request.stream():
                    n_bytes += len(chunk)
                    if n_bytes > most_of(request.scope):
                        raise TooLongError
                    await run_in_threadpool(file.write, chunk)
            path = self.session.path_of_upload(name)  # another upload may have been taken meanwhile
            draft.rename(path)
        finally:
            draft.unlink(missing_ok=True)
        number = self.session.add_table(path, name.replace("\\", "/").rpartition("/")[2])
        return JSONResponse({"number": number, "name": self.session.tables[number].name})

    async def read(self, request: Request) -> Response:
        """Begin to read a table."""
        asked = await _json(request)
        table = self.session.table(asked.get("table"), options_of(asked, self.session.options))
        return self._begun(self.worker.submit("read", table=table))

    # --- models ----------------------------------------------------------------------------------------------------

    async def choose(self, request: Request) -> Response:
        """Begin to look at what is learned from."""
        setup = setup_of(await _json(request), self.session)
        return self._begun(self.worker.submit("choose", setup=setup))

    async def fit(self, request: Request) -> Response:
        """Begin a fit; its result is a model of the session."""
        setup = setup_of(await _json(request), self.session)
        return self._fit(setup, "all columns" if not setup.drop else f"without {', '.join(setup.drop)}")

    async def shape(self, request: Request) -> Response:
        """Begin to change a model: by hand, or by a new search without some features."""
        asked = await _json(request)
        entry, changes = self.session.model(asked.get("model")), changes_of(asked)
        if changes == Changes(replaces=changes.replaces):
            raise CommandError("nothing is changed: forbid a feature, drop a term or change a cut")
        if asked.get("anew") is True:
            if changes.cuts or changes.drop or not changes.forbid:
                raise CommandError("a new search takes features to forbid, and neither terms nor cuts")
            setup = entry.setup.without(changes.forbid)
            return self._fit(setup, f"without {', '.join(setup.drop)}", parent=entry.number)
        size = asked.get("size")
        model = exports.as_chosen(entry.model, None if size is None else str(size), None)

        def finish(answer: dict[str, Any]) -> Any:
            return self.session.add_model(entry.setup, answer, changes.name, entry.number)

        setup, text = entry.setup, model.to_json()
        return self._begun(self.worker.submit("shape", finish, model=text, changes=changes, setup=setup))

    def _fit(self, setup: Any, name: str, parent: int | None = None) -> Response:
        def finish(answer: dict[str, Any]) -> Any:
            return self.session.add_model(setup, answer, name, parent)

        return self._begun(self.worker.submit("fit", finish, setup=setup))

    async def compare(self, request: Request) -> Response:
        """Begin to compare two models of the same table."""
        asked = await _json(request)
        chosen = asked.get("models")
        if not isinstance(chosen, list) or len(chosen) != 2:
            raise CommandError("two models are compared: name their numbers")
        first, second = (self.session.model(number) for number in chosen)
        if first.setup.tested_on != second.setup.tested_on:
            raise CommandError(
                f"models {first.number} and {second.number} differ in their table, target or held-out rows: there are "
                "no rows to compare them on"
            )
        setup = first.setup.with_features(second.setup)
        one, other = first.model.to_json(), second.model.to_json()
        return self._begun(self.worker.submit("compare", setup=setup, first=one, second=other))

    # --- jobs ------------------------------------------------------------------------------------------------------

    def _begun(self, job: Any) -> Response:
        return JSONResponse(job.facts(), status_code=202)

    async def job(self, request: Request) -> Response:
        """How far a job is, and its result."""
        return JSONResponse(self._job(request).facts())

    async def cancel(self, request: Request) -> Response:
        """End a job."""
        job = self._job(request)
        await run_in_threadpool(self.worker.cancel, job.number)
        return JSONResponse(job.facts())

    def _job(self, request: Request) -> Any:
        job = self.worker.job
        if job is None or job.number != request.path_params["number"]:
            raise HTTPException(404)
        return job

    # --- files -----------------------------------------------------------------------------------------------------

    async def report(self, request: Request) -> Response:
        """The page about a model, as it is shown inside this one: with a script more, and the policy of this server."""
        text, policy = framed(self._entry(request).page)
        return HTMLResponse(text, headers={"content-security-policy": policy})

    async def report_file(self, request: Request) -> Response:
        """The page about a model, to be kept."""
        return _file("report.html", self._entry(request).page.encode())

    async def model_file(self, request: Request) -> Response:
        """The model's file."""
        return _file("model.json", self._chosen(request).to_json().encode())

    async def export(self, request: Request) -> Response:
        """The model in another language."""
        options = {name: text for name, text in request.query_params.items() if name not in ("size", "threshold")}
        model, target = self._chosen(request), request.path_params["target"]
        made = await run_in_threadpool(exports.exported, model, target, options)
        return _file(made.name, made.content, made.notes)

    def _entry(self, request: Request) -> Any:
        return self.session.model(request.path_params["number"])

    def _chosen(self, request: Request) -> Any:
        query = request.query_params
        return exports.as_chosen(self._entry(request).model, query.get("size"), query.get("threshold"))


def resource(name: str) -> str:
    """The text of a file of this package."""
    return files("smallearn.cli.app").joinpath(name).read_text(encoding="utf-8")


async def _json(request: Request) -> Mapping[str, Any]:
    """The body of a request as a JSON object."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_of(request.scope):
            raise TooLongError
    try:
        content = json.loads(body)
    except ValueError:
        raise CommandError("the request is not JSON") from None
    if not isinstance(content, dict):
        raise CommandError("the request is not a JSON object")
    return content


def framed(page: str) -> tuple[str, str]:
    """The report with the bridge, and the policy it is shown under: its own, the hash of the bridge, and a sandbox."""
    own = OWN_POLICY.search(page)
    assert own is not None
    directives = dict(part.strip().split(" ", 1) for part in own[1].split(";"))
    directives["script-src"] = f"{directives.get('script-src', '')} '{hash_of(BRIDGE)}'".strip()
    policy = FRAMED.format(directives="; ".join(f"{name} {value}" for name, value in directives.items()))
    before, end, after = f"{page[: own.start()]}{page[own.end() :]}".rpartition("</body>")
    return f"{before}<script>{BRIDGE}</script>{end}{after}", policy


def _file(name: str, content: bytes, notes: tuple[str, ...] = ()) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    headers |= {"x-smallearn-notes": quote("\n".join(notes))} if notes else {}
    return Response(content, media_type="application/octet-stream", headers=headers)


def _refused(_request: Request, error: Exception) -> Response:
    """An error of the user's in one sentence."""
    return PlainTextResponse(f"{str(error).rstrip('.')}.\n", 400)


def _too_long(request: Request, _error: Exception) -> Response:
    return PlainTextResponse(too_long(request.scope), 413)


def _gone(_request: Request, _error: Exception) -> Response:
    """The page was closed during an upload: nobody reads this."""
    return Response(status_code=400)


def _http_error(_request: Request, error: Any) -> Response:
    return PlainTextResponse(f"{error.detail}.\n", error.status_code)


def _failed(_request: Request, _error: Exception) -> Response:
    """An error of this program: the terminal shows the details."""
    return PlainTextResponse("Something unexpected happened; the terminal shows the details.\n", 500)
