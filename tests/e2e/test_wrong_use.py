"""What a person does wrong, and what a server does wrong: one clear message, no score, nothing lost."""

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from campaigning import (
    ROOT,
    ScriptedModel,
    arnes,
    checkout_in,
    golden_text,
    instrument,
    plan_text,
)

from harness.models.scripted import ScriptedServer
from harness.stages.instrument import Instrument

TASKS = ["A04", "A08"]


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose limits are short, so that a stall is known in seconds."""
    return checkout_in(
        tmp_path_factory.mktemp("checkout"),
        ("idle_timeout_s = 120", "idle_timeout_s = 2"),
        ("first_byte_timeout_s = 900", "first_byte_timeout_s = 60"),
        ("retry_wait_s = 2", "retry_wait_s = 0.1"),
        ("loading_limit_s = 900", "loading_limit_s = 120"),
    )


def good(core: Instrument, **behaviour: object) -> ScriptedModel:
    return ScriptedModel("m", {t: golden_text(core.suite.task(t)) for t in TASKS}, behaviour)


@pytest.fixture
def start(impatient: Path, tmp_path: Path) -> Callable[..., tuple[int, str, Path]]:
    """Start a campaign from a plan's text: exit status, both outputs, folder."""

    def run(text: str, **environment: str) -> tuple[int, str, Path]:
        plan = tmp_path / "plan.toml"
        plan.write_text(text, encoding="utf-8")
        folder = tmp_path / "campaign"
        arguments = ("campaign", "start", str(plan), "--folder", str(folder))
        done = arnes(*arguments, cwd=impatient, PYTHONPATH=str(ROOT), **environment)
        return done.returncode, done.stdout + done.stderr, folder

    return run


def sheet(folder: Path, task: str, run: int = 1) -> dict[str, object]:
    path = folder / "m" / f"run_{run}" / task / "CALIFICACION.json"
    found: dict[str, object] = json.loads(path.read_text())
    return found


def test_a_misspelt_plan_is_refused_whole(start: Callable[..., tuple[int, str, Path]]) -> None:
    """Every problem at once, with the nearest right name; no folder is made."""
    text = plan_text({"m": "http://127.0.0.1:9/v1"}, tasks=TASKS)
    text = text.replace("runs = 2", "run = 2").replace("served_name", "servedname")
    code, output, folder = start(text)
    assert code == 2
    assert 'did you mean "runs"?' in output
    assert 'did you mean "served_name"?' in output
    assert "Nothing was run." in output
    assert not folder.exists()


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("'A08'", "'a08'", 'did you mean "A08"?'),
        ("runs = 2", "runs = 6", "schedules are written for 5"),
        ('backend = "external"', 'backend = "externl"', 'did you mean "external"?'),
        ('id = "m"', 'id = "control-golden"', "is the name of a control"),
        ("\n[[models]]", 'profile = "dmeo"\n[[models]]', 'did you mean "demo"?'),
        ('served_name = "m"', 'served_name = "m"\napi_key_env = "NO_SUCH_KEY"', "is not set"),
    ],
)
def test_a_wrong_value_in_a_plan_is_named(
    start: Callable[..., tuple[int, str, Path]], before: str, after: str, words: str
) -> None:
    """What, where, and what to do; exit 2, no folder."""
    text = plan_text({"m": "http://127.0.0.1:9/v1"}, tasks=TASKS)
    assert before in text
    code, output, folder = start(text.replace(before, after, 1))
    assert code == 2, output
    assert words in output
    assert "Traceback" not in output
    assert not folder.exists()


def test_a_dead_url_is_found_before_anything_is_made(
    start: Callable[..., tuple[int, str, Path]],
) -> None:
    """Nobody answers at the address: exit 2, the address in the message, no folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code, output, folder = start(plan_text({"m": f"http://127.0.0.1:{port}/v1"}, tasks=TASKS))
    assert code == 2, output
    assert str(port) in output
    assert "Traceback" not in output
    assert not folder.exists()


def test_what_a_deadline_cut_needs_another_one(
    core: Instrument, start: Callable[..., tuple[int, str, Path]]
) -> None:
    """A resume keeps the deadline of the start, so the command that is named names a new one."""
    with ScriptedServer(good(core).script(core)) as server:
        text = plan_text({"m": server.base_url}, tasks=["A08"], runs=1, more="hours = 0.1")
        code, output, folder = start(text)
    assert code == 1, output
    assert "m run 1 is skipped" in output
    assert f"arnes campaign resume {folder} --deadline HH:MM\n" in output


def test_weights_and_programs_that_are_not_there_are_named_before_the_night(
    core: Instrument, start: Callable[..., tuple[int, str, Path]], tmp_path: Path
) -> None:
    """A slip in a path would else be found in the morning, with every model of it set aside."""
    llama = '[[models]]\nid = "typo"\nbackend = "llama_server"\ncontext_tokens = 32768\n'
    llama += f'options.weights = "{tmp_path}/none.gguf"\noptions.binary = "{tmp_path}/none"\n'
    vllm = '[[models]]\nid = "other"\nbackend = "vllm"\ncontext_tokens = 32768\n'
    vllm += f'options.model = "a/hub-name"\noptions.binary = "{tmp_path}/none"\n'
    with ScriptedServer(good(core).script(core)) as server:
        code, output, folder = start(plan_text({"m": server.base_url}, tasks=TASKS) + llama + vllm)
        assert not server.requests()
    assert code == 2, output
    assert f"models.typo: {tmp_path}/none.gguf: no such file" in output
    assert f"models.typo: binary: '{tmp_path}/none' is not found" in output
    assert f"models.other: binary: '{tmp_path}/none' is not found" in output
    assert not folder.exists()


def test_ollama_and_a_path_for_vllm_are_looked_for_as_well(
    start: Callable[..., tuple[int, str, Path]], tmp_path: Path
) -> None:
    """A running Ollama needs no program of ours; `plan` warns of what `start` refuses."""
    served = 'backend = "ollama"\nserved_name = "q"\ncontext_tokens = 32768\n'
    none = f'options.binary = "{tmp_path}/none"\n'
    text = 'name = "p"\ntasks = ["A08"]\n'
    text += f'[[models]]\nid = "ours"\n{served}{none}'
    text += f'[[models]]\nid = "runs"\n{served}{none}base_url = "http://127.0.0.1:9"\n'
    text += '[[models]]\nid = "local"\nbackend = "vllm"\n'
    text += f'options.model = "{tmp_path}/weights"\noptions.binary = "sh"\n'
    code, output, folder = start(text)
    assert code == 2, output
    assert "2 problem(s)" in output
    found = (
        f"models.ours: binary: '{tmp_path}/none' is not found",
        f"models.local: {tmp_path}/weights: no such file or folder",
    )
    assert all(line in output for line in found)
    assert not folder.exists()
    done = arnes("campaign", "plan", str(tmp_path / "plan.toml"))
    assert done.returncode == 0, done.stderr
    assert all(f"warning: start would refuse it: {line}" in done.stdout for line in found)
    told = arnes("campaign", "plan", str(tmp_path / "plan.toml"), "--json").stdout
    assert [problem["where"] for problem in json.loads(told)["missing"]] == [
        "models.ours: binary",
        f"models.local: {tmp_path}/weights",
    ]


@pytest.mark.slow
def test_a_server_that_loads_is_waited_for(
    core: Instrument, start: Callable[..., tuple[int, str, Path]]
) -> None:
    """503 while weights are loaded costs time and no point (G105)."""
    script = good(core).script(core).model_copy(update={"loading_s": 4.0})
    with ScriptedServer(script) as server:
        code, output, folder = start(plan_text({"m": server.base_url}, tasks=TASKS, runs=1))
    assert code == 0, output
    assert sheet(folder, "A04")["points"] == 18.0


def test_an_error_with_status_200_is_no_answer(
    core: Instrument, start: Callable[..., tuple[int, str, Path]]
) -> None:
    """The text of an error is never graded as the answer (G108); the other cells go on."""
    usual = good(core).script(core)
    error = {"status": 200, "error": "max_tokens too large"}
    broken = ScriptedModel("m", {"A04": ""}, error).script(core)
    by_prompt = {**usual.by_prompt, **broken.by_prompt}
    with ScriptedServer(usual.model_copy(update={"by_prompt": by_prompt})) as server:
        code, output, folder = start(plan_text({"m": server.base_url}, tasks=TASKS, runs=1))
    assert code == 1, output
    unscored = sheet(folder, "A04")
    assert (unscored["kind"], unscored["cause"]) == ("unscored", "error_as_answer")
    assert "max_tokens too large" in str(unscored["detail"])
    assert sheet(folder, "A08")["points"] == 16.0
    assert "points" not in unscored


def test_a_server_of_errors_is_set_aside_before_any_score(
    core: Instrument, start: Callable[..., tuple[int, str, Path]]
) -> None:
    """Preflight meets the error first; no cell of that model has a number."""
    script = good(core).script(core)
    error = script.default[0].model_copy(update={"error": "max_tokens too large"})
    broken = script.model_copy(update={"default": (error,), "by_prompt": {}})
    with ScriptedServer(broken) as server:
        code, output, folder = start(plan_text({"m": server.base_url}, tasks=TASKS, runs=1))
    assert code == 1, output
    assert "set aside" in output
    assert "max_tokens too large" in output
    assert sheet(folder, "A04")["cause"] == "not_run"
    assert not list(folder.glob("m/run_1/*/raw/*.json"))


@pytest.mark.slow
def test_a_stall_after_thirty_tokens_is_no_short_answer(
    core: Instrument, start: Callable[..., tuple[int, str, Path]]
) -> None:
    """Thirty tokens and silence is infrastructure (G113); every try is kept, none is scored."""
    model = good(core, chunk_words=1, stall_after_chunks=30)
    with ScriptedServer(model.script(core)) as server:
        text = plan_text({"m": server.base_url}, tasks=["A08"], runs=1)
        code, output, folder = start(text)
    assert code == 1, output
    unscored = sheet(folder, "A08")
    assert (unscored["kind"], unscored["cause"]) == ("unscored", "stall")
    raw = json.loads((folder / "m/run_1/A08/raw/0001.json").read_text())
    assert raw["ended"] == "infrastructure"
    assert [attempt["cause"] for attempt in raw["retried"]] == ["stall", "stall"]


def test_the_key_is_in_no_file(
    core: Instrument, start: Callable[..., tuple[int, str, Path]]
) -> None:
    """The key goes over the wire and nowhere else, also when the server sends it back."""
    model = good(core)
    key = "sk-secret-0123456789abcdef"
    with ScriptedServer(model.script(core)) as server:
        text = plan_text({"m": server.base_url}, tasks=TASKS, runs=1).replace(
            'served_name = "m"', 'served_name = "m"\napi_key_env = "ARNES_TEST_KEY"'
        )
        code, output, folder = start(text, ARNES_TEST_KEY=key)
        seen = server.requests()
    assert code == 0, output
    assert all(request.headers["authorization"] == f"Bearer {key}" for request in seen)
    holds = [p for p in folder.rglob("*") if p.is_file() and key.encode() in p.read_bytes()]
    assert holds == []


def test_one_orchestrator_at_a_time(
    core: Instrument, start: Callable[..., tuple[int, str, Path]]
) -> None:
    """A second one on the same folder is refused, with the way on."""
    with ScriptedServer(good(core).script(core)) as server:
        text = plan_text({"m": server.base_url}, tasks=["A08"], runs=1)
        code, output, folder = start(text)
        assert code == 0, output
        code, output, _ = start(text)
    assert code == 2
    assert "there is a campaign in this folder already" in output
    assert f"arnes campaign resume {folder}" in output


def test_another_model_under_the_same_name_is_refused(
    core: Instrument, start: Callable[..., tuple[int, str, Path]], impatient: Path
) -> None:
    """Resume over a folder with the same model name and other weights mixes nothing (G101)."""
    model = good(core)
    with ScriptedServer(model.script(core)) as server:
        code, output, folder = start(plan_text({"m": server.base_url}, tasks=TASKS, runs=2))
    assert code == 0, output
    shutil.rmtree(folder / "m" / "run_2")
    info = folder / "m" / "run_1" / "RUN_INFO.json"
    record = json.loads(info.read_text())
    record["server"]["window_tokens"] = 4096
    info.write_text(json.dumps(record))
    plan = json.loads((folder / "CAMPAIGN.json").read_text())
    with ScriptedServer(model.script(core)) as server:
        plan["plan"]["models"][0]["base_url"] = server.base_url
        (folder / "CAMPAIGN.json").write_text(json.dumps(plan))
        done = arnes("campaign", "resume", str(folder), cwd=impatient, PYTHONPATH=str(ROOT))
    assert done.returncode == 1
    assert "window tokens: run 1 had 4096, now 65536" in done.stderr
    assert not list(folder.glob("m/run_2/*/raw/*.json"))
