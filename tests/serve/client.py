"""An in-process client of the explorer, without a socket and without JAX."""

from starlette.testclient import TestClient

from wakesleep import domains
from wakesleep.serve.app import Explorer

TOKEN = "a-token-of-the-tests"
HOST = "127.0.0.1:8719"


def explorer(pages=None):
    return Explorer(TOKEN, domains.pages() if pages is None else pages)


def client_of(made, **given):
    application = made.application((HOST, "localhost:8719"))
    return TestClient(application, base_url=f"http://{HOST}", raise_server_exceptions=False, **given)
