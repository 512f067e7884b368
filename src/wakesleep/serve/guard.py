"""Who may speak to the server: one browser, by a token in the address, from the server's own pages.

A page of another site can send requests to this machine, but it knows no token, and its Origin is another. A name that
was made to point at this machine (DNS rebinding) arrives as a foreign Host. No header allows another origin to read.
The referrer, which holds the token, is sent to this server alone; without any referrer a browser's Origin is null.
"""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

HTTP_METHODS = ("GET", "HEAD", "POST")
OWN_SITE = ("same-origin", "none")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Guard:
    """Refuses every request that lacks the token, or that another host, origin or site sent."""

    def __init__(self, app: App, token: str, hosts: tuple[str, ...]) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers a refusal, or lets the request in."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif (said := self.objection(scope)) is not None:
            await _refuse(send, *said)
        else:
            await self.app(scope, receive, _with_headers(send))

    def objection(self, scope: Message) -> tuple[int, str] | None:
        """Returns the status and the sentence of a refusal, or None."""
        given: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts, origins, sites = (given.get(name, []) for name in (b"host", b"origin", b"sec-fetch-site"))
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 403, "This server answers to its own name only: use the address that wakesleep explore printed."
        if any(origin != f"http://{hosts[0].lower()}" for origin in origins):
            return 403, "Another site may not use this server."
        if any(site not in OWN_SITE for site in sites):
            return 403, "Another site may not use this server."
        first = scope["path"].split("/")[1]
        if not hmac.compare_digest(first.encode(), self.token.encode()):
            return 403, "The address lacks the token: use the address that wakesleep explore printed."
        if scope["method"] not in HTTP_METHODS:
            return 405, f"{scope['method']} is not answered here."
        return None


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sent


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence.encode()})
