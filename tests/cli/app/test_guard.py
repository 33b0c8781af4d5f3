"""Who is answered: the page that was opened with the token, from this machine, and nobody else."""

import pytest
from starlette.routing import Route
from starlette.websockets import WebSocketDisconnect

from smallearn.cli.app import guard
from smallearn.cli.app.guard import HEADER, HEADERS
from tests.helpers.app import HERE, PORT

ROUTES = [
    *(("GET", path) for path in ("/", "/app.js", "/app.css", "/nothing", "/api/state", "/api/jobs/1")),
    *(("GET", f"/models/1/{name}") for name in ("page", "report.html", "model.json", "export/c")),
    *(("POST", f"/api/{name}") for name in ("read", "choose", "fit", "shape", "compare")),
    ("PUT", "/api/tables"),
    ("DELETE", "/api/jobs/1"),
    ("OPTIONS", "/api/state"),
]
every = pytest.mark.parametrize(("method", "path"), ROUTES)
changing = pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if route[0] != "GET"])


def test_the_list_of_routes_here_is_complete(visit):
    known = {
        (method, path.replace("/1", "/{number:int}").replace("export/c", "export/{target:str}"))
        for method, path in ROUTES
    }
    static = {("GET", "/app.js"), ("GET", "/app.css"), ("GET", "/nothing"), ("OPTIONS", "/api/state")}
    routes = [route for route in visit.app.app.routes if isinstance(route, Route)]
    there = {(method, route.path) for route in routes for method in route.methods - {"HEAD"}}
    assert there - {("GET", "/{name:str}")} == known - static


@every
def test_without_the_cookie_nothing_is_answered(visit, method, path):
    client = visit.new_client()
    for cookies in ({}, {visit.keys.cookie_name: "wrong"}, {"smallearn-1": visit.keys.cookie}):
        client.cookies = cookies
        answer = client.request(method, path, headers={HEADER: visit.keys.header})
        assert (answer.status_code, "token" in answer.text) == (403, True)
        assert visit.keys.header not in answer.text


@changing
def test_what_changes_something_also_needs_the_header(visit, method, path):
    for given in ({HEADER: "wrong"}, {HEADER: ""}):
        answer = visit.client.request(method, path, headers=given)
        assert (answer.status_code, "header" in answer.text) == (403, True)


@every
@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:9", "localhost", ""])
def test_another_name_of_this_machine_is_refused(visit, method, path, host):
    answer = visit.client.request(method, path, headers={"host": host})
    assert (answer.status_code, answer.text) == (403, "This server answers to its own address only.\n")


@every
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"origin": "http://127.0.0.1:9"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_requests_of_other_pages_are_refused(visit, method, path, headers):
    answer = visit.client.request(method, path, headers=headers)
    assert (answer.status_code, answer.text) == (403, "Requests from other pages are refused.\n")


def test_the_page_itself_is_answered_under_both_names_of_this_machine(visit):
    for name in ("127.0.0.1", "localhost"):
        headers = {"host": f"{name}:{PORT}", "origin": f"http://{name}:{PORT}", "sec-fetch-site": "same-origin"}
        assert visit.client.get("/api/state", headers=headers).status_code == 200


def test_the_token_sets_the_cookie_that_no_script_and_no_other_site_has(visit):
    client = visit.new_client()
    assert client.get("/", params={"token": "wrong"}).status_code == 403
    assert client.get("/app.js", params={"token": visit.keys.token}).status_code == 403
    answer = client.get(visit.keys.address().removeprefix(HERE), headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{visit.keys.cookie_name}={visit.keys.cookie};")
    assert {"HttpOnly", "Path=/", "SameSite=strict"} == {part.strip() for part in cookie.split(";")[1:]}
    assert visit.keys.token not in answer.text
    assert client.get("/app.js").status_code == 200
    assert client.post("/api/fit", json={}).status_code == 403


def test_secrets_differ_from_visit_to_visit_and_among_each_other():
    keys = [guard.Keys(PORT), guard.Keys(PORT)]
    secrets = {secret for one in keys for secret in (one.token, one.cookie, one.header)}
    assert len(secrets) == 6
    assert min(map(len, secrets)) >= 43  # 256 bits


@every
def test_every_answer_forbids_frames_caches_and_requests_elsewhere(visit, method, path):
    for client in (visit.client, visit.new_client()):
        answer = client.request(method, path)
        for name, text in HEADERS.items():
            if name != "content-security-policy" or path != "/models/1/page":
                assert answer.headers[name] == text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_request_that_is_too_long_is_refused_before_it_is_read_and_while_it_is(visit, monkeypatch):
    monkeypatch.setattr(guard, "MOST_UPLOADED", 3000)
    monkeypatch.setattr(guard, "MOST_ASKED", 1000)

    def in_chunks():
        for _ in range(10):
            yield b"a" * 500

    before = set(visit.session.folder.iterdir())
    for content in (b"a" * 5000, in_chunks()):
        answer = visit.client.put("/api/tables", params={"name": "a.csv"}, content=content)
        assert answer.status_code == 413
        assert answer.text.startswith("An uploaded table may have at most 3 kB. Name a larger one when you start")
    for content in (b"a" * 1001, in_chunks()):
        answer = visit.client.post("/api/fit", content=content)
        assert (answer.status_code, answer.text) == (413, "This request may have at most 1 kB.\n")
    assert set(visit.session.folder.iterdir()) == before


def test_web_sockets_are_not_answered(visit):
    with pytest.raises(WebSocketDisconnect), visit.client.websocket_connect("/api/state"):
        pass


def test_an_error_of_the_program_shows_no_details(visit, monkeypatch):
    def broken():
        raise KeyError("a secret")

    monkeypatch.setattr(visit.session, "facts", broken)
    answer = visit.client.get("/api/state")
    assert (answer.status_code, answer.text) == (
        500,
        "Something unexpected happened; the terminal shows the details.\n",
    )
    assert answer.headers["x-content-type-options"] == "nosniff"
