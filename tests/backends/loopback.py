"""A small real server on 127.0.0.1 that plays engines and their faults, for the tests here."""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Played = tuple[int, Any]  # status, and JSON, or plain text
Route = Callable[[dict[str, Any]], Played]

WORDS = "The keeper climbed the stairs and lit the lamp while the wind rose over the bay. "
REMEMBERED = re.compile(r"Remember this word: (\w+)\.")
LLAMA_TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"


class Loopback:
    """Serves a table of routes such as `("GET", "/props")`; what is not there is 404."""

    def __init__(self, routes: dict[tuple[str, str], Route], port: int = 0) -> None:
        self.routes = routes
        self.seen: list[tuple[str, str, dict[str, Any], dict[str, str]]] = []
        played = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body in one packet; apart, each answer takes 40 ms
            timeout = 60  # a test that forgets to close a client must not hang the others

            def do_GET(self) -> None:
                self.answer({})

            def do_DELETE(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                self.answer(json.loads(self.rfile.read(length) or b"{}"))

            def answer(self, body: dict[str, Any]) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                played.seen.append((self.command, self.path, body, headers))
                route = played.routes.get((self.command, self.path))
                status, value = route(body) if route else (404, {"error": {"message": "no page"}})
                text = isinstance(value, str)
                data = value.encode() if text else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/plain" if text else "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = False  # joined at the end: no socket is left open
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def root_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"{self.root_url}/v1"

    def asked(self, method: str, path: str) -> list[dict[str, Any]]:
        """The bodies of all requests to a route."""
        return [body for m, p, body, _ in self.seen if (m, p) == (method, path)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def page(value: Any) -> Route:
    """A route that always answers the same with status 200."""
    return lambda _body: (200, value)


def models(*names: str, **extra: Any) -> Route:
    """`/v1/models` with these names; extra fields stand in every entry."""
    return page({"object": "list", "data": [{"id": n, "object": "model", **extra} for n in names]})


def refusal(status: int, message: str) -> Played:
    return status, {"error": {"message": message, "code": status}}


def tokens_of(text: str) -> int:
    """The played tokenizer: a digit is a token, and so are two other characters."""
    digits = sum(c.isdigit() for c in text)
    return digits + (len(text) - digits) // 2


@dataclass
class PlayedModel:
    """A chat route with the faults that preflight looks for; the defaults are a sound model.

    window : tokens; a longer prompt is refused, or loses its head where `truncates` is set
    words : length of the reply to a question for a story
    system : a system message is taken, is refused, or is dropped by the template
    alternates : a second user turn after an assistant turn is refused when False
    loses : roles whose text the template drops
    cap : the server's own limit of a reply, whatever is asked for
    counts_whole : a prompt that lost its head is counted as if it had not
    reads : how many tokens of prompt the model can find a word in; a weak one has few
    reads_middle : and in longer ones it finds a word behind their first tenth
    """

    name: str = "played"
    window: int = 32768
    slots: int = 1
    words: int = 300
    usage: bool = True
    system: str = "taken"
    alternates: bool = True
    loses: tuple[str, ...] = ()
    truncates: bool = False
    error_with_200: bool = False
    cap: int = 10**9
    answers_as: str | None = None
    counts_whole: bool = False
    reads: int = 10**9
    reads_middle: bool = False
    seeds: list[int] = field(default_factory=list)

    def chat(self, body: dict[str, Any]) -> Played:
        roles = [message["role"] for message in body["messages"]]
        if "system" in roles and self.system == "refused":
            return refusal(400, "System role not supported")
        if "assistant" in roles and not self.alternates:
            return refusal(500, "Conversation roles must alternate user/assistant/user/assistant")
        if self.error_with_200:
            return 200, {"error": {"message": "the engine fell over"}}
        self.seeds.append(body.get("seed", 0))
        text = "".join(message["content"] for message in body["messages"])
        prompt = sum(tokens_of(message["content"]) for message in body["messages"])
        if prompt > self.window:
            if not self.truncates:
                what = f"the request exceeds the available context length ({self.window} tokens)"
                return refusal(400, what)
            text = text[len(text) - 2 * self.window :]  # no digit stands in what is looked for
            prompt = prompt if self.counts_whole else self.window
        asked_for_a_story = "400 words" in body["messages"][-1]["content"]
        words = (WORDS * 40).split()[: self.words if asked_for_a_story else 4]
        if "to remember a word" in text:
            words = [self.remembered(text)]
        allowed = min(body["max_tokens"], self.cap)
        finish = "stop" if len(words) <= allowed else "length"
        words = words[:allowed]
        reply: dict[str, Any] = {
            "object": "chat.completion",
            "model": self.answers_as or body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": " ".join(words)},
                    "finish_reason": finish,
                }
            ],
        }
        if self.usage:
            reply["usage"] = {"prompt_tokens": prompt, "completion_tokens": len(words)}
        return 200, reply

    def remembered(self, text: str) -> str:
        """The word that the text tells to remember, if this model is able to find it there."""
        found = REMEMBERED.search(text)
        if found is None:
            return "boats"
        in_reach = tokens_of(text) <= self.reads
        in_middle = self.reads_middle and found.start() > len(text) / 10
        return found[1] if in_reach or in_middle else "boats"

    def fill(self, body: dict[str, Any]) -> Played:
        kept = [m for m in body["messages"] if m["role"] not in self.loses]
        if self.system == "refused" and any(m["role"] == "system" for m in kept):
            return refusal(500, "System role not supported")
        if self.system == "dropped":
            kept = [m for m in kept if m["role"] != "system"]
        return 200, {"prompt": "".join(f"<|{m['role']}|>{m['content']}" for m in kept)}

    def plain(self) -> dict[tuple[str, str], Route]:
        """The routes of a server that tells nothing of itself."""
        return {
            ("GET", "/v1/models"): models(self.name),
            ("POST", "/v1/chat/completions"): self.chat,
        }

    def llama_cpp(self) -> dict[tuple[str, str], Route]:
        """The routes of a llama.cpp server."""
        props = {
            "default_generation_settings": {
                "n_ctx": self.window,
                "params": {"top_k": 40, "min_p": 0.05, "seed": 1},
            },
            "total_slots": self.slots,
            "model_path": r"C:\Users\somebody\models\played.gguf",
            "chat_template": LLAMA_TEMPLATE,
            "build_info": "b9000-abcdef",
        }
        return {
            **self.plain(),
            ("GET", "/props"): page(props),
            ("POST", "/apply-template"): self.fill,
            ("POST", "/tokenize"): lambda body: (
                200,
                {"tokens": [0] * tokens_of(body["content"])},
            ),
        }
