"""The scripted server: what it plays, in which order, and that it never stays behind."""

import http.client
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
from models.channel import completion, request, transport
from pydantic import ValidationError

from harness.clock import SystemClock
from harness.models.http import HttpChat
from harness.models.scripted import (
    Behaviour,
    Script,
    ScriptedServer,
    model_and_prompt,
    prompt_key,
)
from harness.records.base import Json
from harness.records.run import Endpoint

ROOT = Path(__file__).resolve().parents[2]
GONE_LIMIT_S = 10


def says(text: str) -> tuple[Behaviour, ...]:
    return (Behaviour(content=text),)


def get(server: ScriptedServer, path: str) -> tuple[int, Json]:
    connection = http.client.HTTPConnection(server.root_url.removeprefix("http://"), timeout=60)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def is_gone(pid: int) -> bool:
    """Wait a while for a process to end; a zombie has ended, whoever is to reap it."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return True
        process.wait(GONE_LIMIT_S)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return process.status() == psutil.STATUS_ZOMBIE
    return True


def test_replies_are_looked_up_from_the_most_exact_key_on(stage: ScriptedServer) -> None:
    """Model and prompt, then model, then prompt, then default."""
    script = Script(
        by_model={
            model_and_prompt("a", "x"): says("model and prompt"),
            "a": says("model"),
        },
        by_prompt={prompt_key("x"): says("prompt")},
        default=says("default"),
    )
    stage.play(script)
    endpoint = Endpoint(base_url=stage.base_url, model="a")
    with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
        said = {
            (model, text): completion(chat.complete(request(text, model=model))).content
            for model in "ab"
            for text in "xy"
        }

    assert said == {
        ("a", "x"): "model and prompt",
        ("a", "y"): "model",
        ("b", "x"): "prompt",
        ("b", "y"): "default",
    }


def test_each_key_plays_its_own_list_and_repeats_the_last(stage: ScriptedServer) -> None:
    """The n-th request of a key gets its n-th behaviour, whoever asks in between."""
    script = Script(by_model={"a": says("a1") + says("a2"), "b": says("b1") + says("b2")})
    stage.play(script)
    endpoint = Endpoint(base_url=stage.base_url, model="a")
    with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
        said = [completion(chat.complete(request(model=m))).content for m in "aabaabb"]

    assert said == ["a1", "a2", "b1", "a2", "a2", "b2", "b2"]


def test_the_last_user_message_is_what_counts(stage: ScriptedServer) -> None:
    """In a conversation, the prompt is what the user said last, parts joined by line ends."""
    script = Script(by_prompt={prompt_key("x\ny"): says("found")})
    talk = [
        {"role": "user", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": t} for t in ("x", "y")]},
        {"role": "assistant", "content": "z"},
    ]
    stage.play(script)
    endpoint = Endpoint(base_url=stage.base_url, model="a")
    with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
        assert completion(chat.complete(request(messages=talk))).content == "found"


def test_a_request_nothing_was_written_for_is_refused(stage: ScriptedServer) -> None:
    """A hole in a script shows as an error of the configuration, never as an empty reply."""
    stage.play(Script(by_model={"a": says("x")}))
    endpoint = Endpoint(base_url=stage.base_url, model="b")
    with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
        exchange = chat.complete(request(model="b"))

    assert (exchange.cause, exchange.status) == ("bad_request", 404)
    assert "'b'" in exchange.detail


def test_pages_are_served_beside_the_completions(stage: ScriptedServer) -> None:
    """Models by name, health, and whatever pages the script holds; others are not found."""
    props: Json = {"default_generation_settings": {"n_ctx": 8192}}
    script = Script(
        by_model={"b": says("x"), "a": says("x"), model_and_prompt("a", "y"): says("x")},
        pages={"/props": props},
    )
    stage.play(script)
    status, models = get(stage, "/v1/models")
    assert status == 200
    assert isinstance(models, dict)
    assert [m["id"] for m in models["data"]] == ["a", "b"]
    assert get(stage, "/health") == (200, {"status": "ok"})
    assert get(stage, "/props") == (200, props)
    assert get(stage, "/slots")[0] == 404


def test_a_loading_server_lists_its_models_already(stage: ScriptedServer) -> None:
    """While weights are loaded, health and completions say 503 and the list of models says 200."""
    script = Script(by_model={"a": says("x")}, loading_s=60)
    stage.play(script)
    endpoint = Endpoint(base_url=stage.base_url, model="a")
    limits = transport(loading_limit_s=0.01)
    with HttpChat(endpoint, limits, 60, SystemClock(), None) as chat:
        assert chat.complete(request(model="a")).cause == "loading"
    assert get(stage, "/health")[0] == 503
    assert get(stage, "/v1/models")[0] == 200


def test_counts_are_words_unless_they_are_given(stage: ScriptedServer) -> None:
    """Usage is plausible by default: the words of all messages, and those of the reply."""
    behaviour = Behaviour(content="a b c", reasoning="d e")
    stage.play(Script(default=(behaviour,)))
    endpoint = Endpoint(base_url=stage.base_url, model="a")
    with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
        reply = completion(chat.complete(request("one two three four")))

    assert (reply.prompt_tokens, reply.completion_tokens) == (4, 5)


def test_a_reply_that_ends_at_the_cap_has_used_it_up(stage: ScriptedServer) -> None:
    """As an honest server counts it; another count is a server that cut, and has to be written."""
    stage.play(Script(default=(Behaviour(content="a b c", finish_reason="length"),)))
    endpoint = Endpoint(base_url=stage.base_url, model="a")
    with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
        exchange = chat.complete(request(max_tokens=1_000_000))

    assert exchange.ended == "reply"
    assert completion(exchange).completion_tokens == 1_000_000


def test_only_the_last_requests_are_kept(stage: ScriptedServer) -> None:
    """A server that is asked all night long does not grow."""
    stage.play(Script(default=says("x"), requests_kept=2))
    endpoint = Endpoint(base_url=stage.base_url, model="a")
    with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
        for seed in range(5):
            chat.complete(request(seed=seed))
    bodies = [seen.body for seen in stage.requests()]

    assert [body["seed"] for body in bodies if isinstance(body, dict)] == [3, 4]


def test_a_misspelt_or_empty_script_is_refused() -> None:
    """A script that would silently play something else is an error where it is written."""
    with pytest.raises(ValidationError, match="contents"):
        Behaviour.model_validate({"contents": "x"})
    with pytest.raises(ValidationError, match="'a'"):
        Script(by_model={"a": ()})
    with pytest.raises(ValidationError, match="text of the error"):
        Behaviour(error_after_chunks=1)


def test_a_new_script_starts_from_its_beginning(stage: ScriptedServer) -> None:
    """Whoever changes the script gets no counts, requests or connections of the one before."""
    endpoint = Endpoint(base_url=stage.base_url, model="a")
    for _ in range(2):
        stage.play(Script(default=says("first") + says("second")))
        with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
            assert completion(chat.complete(request())).content == "first"
        (seen,) = stage.requests()
        assert seen.connection == 1


def test_a_stopped_server_is_gone() -> None:
    """Leaving the context ends the process and waits for it."""
    with ScriptedServer(Script(default=says("x"))) as server:
        pid = server.pid
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)  # reaped, not even a zombie
    server.stop()  # a second stop does nothing


def test_a_server_that_holds_a_call_is_stopped_all_the_same() -> None:
    """A reply that is being stalled does not keep the process."""
    stalled = Behaviour(content="a b c", chunk_words=1, stall_after_chunks=1)
    with ScriptedServer(Script(default=(stalled,))) as server:
        pid = server.pid
        endpoint = Endpoint(base_url=server.base_url, model="a")
        limits = transport(idle_timeout_s=0.1, retries=0)
        with HttpChat(endpoint, limits, 60, SystemClock(), None) as chat:
            assert chat.complete(request()).cause == "stall"
    assert not psutil.pid_exists(pid)


def test_a_parent_that_is_killed_leaves_nothing() -> None:
    """SIGKILL gives no time to clean up; the server notices by itself."""
    parent_code = """
        import time
        from harness.models.scripted import Behaviour, Script, ScriptedServer
        server = ScriptedServer(Script(default=(Behaviour(content="x"),))).start()
        print(server.pid, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(parent_code)], stdout=subprocess.PIPE, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait(300)
        assert is_gone(pid)


def test_the_server_ends_with_its_standard_input(tmp_path: Path) -> None:
    """Started by hand, it prints its port, serves, and ends when its input does."""
    script = tmp_path / "script.json"
    script.write_text(Script(default=says("x")).model_dump_json(), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "harness.models.scripted", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            port = int(process.stdout.readline())
            endpoint = Endpoint(base_url=f"http://127.0.0.1:{port}/v1", model="a")
            with HttpChat(endpoint, transport(), 60, SystemClock(), None) as chat:
                assert chat.complete(request()).ended == "reply"
            process.stdin.close()
            assert process.wait(300) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("text", ['{"defaults": []}', "no json", None])
def test_a_script_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    """Exit status 2, and the file's name with what is wrong in it."""
    script = tmp_path / "script.json"
    if text is not None:
        script.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness.models.scripted", str(script)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=300,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "script.json" in done.stderr
