"""Only the browser that was given the token may use the server, and only from the server's own pages."""

import subprocess
import sys

import pytest

pytest.importorskip("starlette", reason="the explorer's web framework is not installed")
pytest.importorskip("httpx2", reason="the in-process client is not installed")

from wakesleep.serve.guard import POLICY

from .client import HOST, TOKEN, client_of, explorer


@pytest.fixture(scope="module")
def client():
    made = explorer()
    with client_of(made) as found:
        yield found
    made.shelf.close()


def test_the_token_opens_the_pages(client):
    assert client.get(f"/{TOKEN}/").status_code == 200
    assert client.get(f"/{TOKEN}/column/").status_code == 200


@pytest.mark.parametrize("path", ["/", "/column/", "/wrong/", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "//", f"//{TOKEN}/"])
def test_without_the_token_nothing_is_answered(client, path):
    answer = client.get(f"http://{HOST}{path}")
    assert answer.status_code == 403
    assert answer.text.count(".") == 1


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:9999", "127.0.0.1", "localhost:8719.evil.example", ""])
def test_a_foreign_host_is_refused(client, host):
    assert client.get(f"/{TOKEN}/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9999", f"https://{HOST}", ""])
@pytest.mark.parametrize("path", ["column/ask/explain", "upload"])
def test_another_origin_cannot_drive_the_server(client, origin, path):
    answer = client.post(f"/{TOKEN}/{path}", content=b"values=a", headers={"origin": origin})
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_from_another_site_is_refused(client, site):
    assert client.get(f"/{TOKEN}/", headers={"sec-fetch-site": site}).status_code == 403


def test_the_own_origin_is_let_in(client):
    headers = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin", "hx-request": "true"}
    answer = client.post(f"/{TOKEN}/column/ask/explain", data={"values": "A-1\nA-2\nA-3"}, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"])
def test_other_methods_and_preflights_are_refused(client, method):
    answer = client.request(method, f"/{TOKEN}/column/ask/explain", headers={"access-control-request-method": "POST"})
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_every_answer_forbids_what_comes_from_elsewhere(client):
    for path in ("/", f"/{TOKEN}/", f"/{TOKEN}/static/explore.css", f"/{TOKEN}/nothing/"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    ["column/static/column.py", "column/static/..%2f__init__.py", "static/..%2fapp.py", "static/%2e%2e/app.py",
     "column/static/%2fetc%2fpasswd", "column/static/column.html"],
)  # fmt: skip
def test_no_other_file_is_given_away(client, path):
    assert client.get(f"/{TOKEN}/{path}").status_code == 404


def test_pages_name_nothing_outside_this_server(client):
    for address in ("", "column/", "table/"):
        text = client.get(f"/{TOKEN}/{address}").text
        assert "http://" not in text
        assert "https://" not in text
        assert " onclick" not in text
        assert "<script>" not in text


def test_the_server_starts_without_jax():
    code = "import sys; from wakesleep import domains; from wakesleep.serve import app, server; domains.pages();"
    subprocess.run([sys.executable, "-c", code + "assert 'jax' not in sys.modules"], check=True)
