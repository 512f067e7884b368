"""The application: pages, what they ask, what they stream, and one sentence where something does not work."""

import sys
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from wakesleep.domains.pages import Answer, Asked, Download, Page, Shown
from wakesleep.errors import Refusal, missing_extra
from wakesleep.serve import bodies
from wakesleep.serve.guard import App, Guard
from wakesleep.serve.rendering import HERE, Renderer, as_json, event
from wakesleep.serve.shelf import Shelf

WORKERS = 2
"""Answers computed at once; the others wait."""
SCRIPTS = (".js", ".mjs", ".css")
DONE = object()


class Explorer:
    """The pages of the explorer with their shelf."""

    def __init__(self, token: str, pages: Mapping[str, Page]) -> None:
        self.token, self.pages, self.shelf = token, pages, Shelf()
        self.renderer = Renderer(pages)
        self._limiter: anyio.CapacityLimiter | None = None

    @property
    def root(self) -> str:
        """The beginning of every address."""
        return f"/{self.token}"

    def application(self, hosts: tuple[str, ...]) -> App:
        """Returns the guarded application."""
        routes = [
            Route("/", self.index),
            Route("/upload", self.upload, methods=["POST"]),
            Mount("/static", StaticFiles(directory=HERE / "static")),
            Route("/{page}/", self.show),
            Route("/{page}/static/{file}", self.script),
            Route("/{page}/ask/{name}", self.ask, methods=["GET", "POST"]),
            Route("/{page}/stream/{name}", self.stream, methods=["GET", "POST"]),
        ]
        handlers: dict[Any, Callable[..., Any]] = {
            Refusal: self.refused,
            404: self.unknown,
            Exception: self.failed,
        }
        inner = Starlette(routes=[Mount(self.root, routes=routes)], exception_handlers=handlers)
        return Guard(inner, self.token, hosts)

    async def index(self, request: Request) -> Response:
        """Answers the list of pages."""
        return HTMLResponse(self.renderer.own(self.root, "index.html"))

    async def upload(self, request: Request) -> Response:
        """Keeps a file, and answers its word."""
        return JSONResponse({"file": await bodies.upload(request, self.shelf)})

    async def show(self, request: Request) -> Response:
        """Answers a page."""
        page = self._page(request)
        asked = Asked(await bodies.fields(request), self.shelf)
        context = await self._work(page.context, asked)
        return HTMLResponse(self.renderer.page(self.root, page, context))

    async def script(self, request: Request) -> Response:
        """Answers a script or a style of a page's folder."""
        page, name = self._page(request), request.path_params["file"]
        path = page.folder / name
        if path.suffix not in SCRIPTS or path.parent != page.folder or not path.is_file():
            return await self.unknown(request, None)
        kind = "text/css" if path.suffix == ".css" else "text/javascript"
        return Response(path.read_bytes(), media_type=kind)

    async def ask(self, request: Request) -> Response:
        """Answers a question of a page."""
        page = self._page(request)
        answer = page.answers.get(request.path_params["name"])
        if answer is None:
            return await self.unknown(request, None)
        asked = Asked(await bodies.fields(request), self.shelf)
        return self._respond(page, await self._work(answer, asked))

    async def stream(self, request: Request) -> Response:
        """Streams a long answer as server-sent events: `part` or `data` each time, then `end` or `refusal`."""
        page = self._page(request)
        stream = page.streams.get(request.path_params["name"])
        if stream is None:
            return await self.unknown(request, None)
        gone = threading.Event()
        asked = Asked(await bodies.fields(request), self.shelf, gone.is_set)
        events = self._events(page, stream, asked, gone)
        return StreamingResponse(events, media_type="text/event-stream", headers={"cache-control": "no-store"})

    async def _events(
        self, page: Page, stream: Callable[[Asked], Iterator[Any]], asked: Asked, gone: threading.Event
    ) -> AsyncIterator[bytes]:
        """Yields the events; when the client leaves, the work is told to stop."""
        try:
            pieces = stream(asked)
            while (piece := await self._work(next, pieces, DONE)) is not DONE:
                if isinstance(piece, Shown):
                    yield event("part", self.renderer.part(self.root, page, piece))
                else:
                    yield event("data", as_json(piece))
            yield event("end", "")
        except Exception as error:  # the page is told, whatever it was
            yield event("refusal", _sentence(error))
        finally:
            gone.set()

    async def _work(self, function: Callable[..., Any], *given: Any) -> Any:
        """Runs a function in one of the few worker threads; one that nobody waits for is left alone."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(WORKERS)
        return await anyio.to_thread.run_sync(function, *given, limiter=self._limiter, abandon_on_cancel=True)

    def _respond(self, page: Page, answer: Answer) -> Response:
        if isinstance(answer, Shown):
            return HTMLResponse(self.renderer.part(self.root, page, answer))
        if isinstance(answer, Download):
            named = answer.name.encode("ascii", "replace").decode().replace('"', "_")
            headers = {"content-disposition": f'attachment; filename="{named}"'}
            return Response(answer.body, media_type=answer.kind, headers=headers)
        return Response(as_json(answer), media_type="application/json")

    def _page(self, request: Request) -> Page:
        found = self.pages.get(request.path_params["page"])
        if found is None:
            raise Refusal(f"There is no page {request.path_params['page'][:40]!r}.")
        return found

    async def unknown(self, request: Request, error: Exception | None) -> Response:
        """Answers that there is nothing at an address."""
        return PlainTextResponse("There is nothing at this address.", 404)

    async def refused(self, request: Request, error: Exception) -> Response:
        """Answers the sentence of a refusal: as JSON, in a piece of a page, or on a page of its own."""
        status = 413 if isinstance(error, bodies.TooLarge) else 422
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"refusal": str(error)}, status)
        whole = "hx-request" not in request.headers
        template = "refusal.html" if whole else "sentence.html"
        return HTMLResponse(self.renderer.own(self.root, template, sentence=str(error)), status)

    async def failed(self, request: Request, error: Exception) -> Response:
        """Answers one sentence about an error that nobody foresaw."""
        if isinstance(error, ClientDisconnect):
            return PlainTextResponse("", 400)
        response = await self.refused(request, Refusal(_sentence(error)))
        response.status_code = 422 if isinstance(error, ModuleNotFoundError) else 500
        return response


def _sentence(error: Exception) -> str:
    """Returns a sentence for the page; of an error that nobody foresaw the terminal is told all."""
    said = missing_extra(error) if isinstance(error, ModuleNotFoundError) else error
    if isinstance(said, Refusal):
        return str(said)
    traceback.print_exception(error, file=sys.stderr)
    return f"This did not work ({type(error).__name__}); the terminal that runs the explorer says more."
