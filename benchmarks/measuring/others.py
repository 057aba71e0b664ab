"""The one-line tasks in inspect-ai and lm-eval, run by their own command lines.

Both get one connection, as arnes has: what is compared is the work around a call, not how many
calls are under way. Both keep their log of every sample. A run whose score is not full is an
error: then something else than one-line cells would have been measured.
"""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from measuring import meter, one_line
from measuring.environments import Environment

INSPECT_TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def one_line():
    return Task(dataset=json_dataset("data.jsonl"), solver=generate(), scorer=match())
"""
LM_EVAL_TASK = """\
task: one_line
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: generate_until
doc_to_text: "{{{{input}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs:
  until: []
  max_gen_toks: 24576
  do_sample: true
  temperature: 0.6
  top_p: 0.95
repeats: {runs}
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""


@dataclass(frozen=True)
class Inspect:
    """inspect-ai in its environment. folder : where it works; base_url : the server"""

    environment: Environment
    folder: Path
    base_url: str

    def evaluate(self, samples: int, runs: int) -> meter.Cost:
        """Run `inspect eval`."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        (self.folder / "task.py").write_text(INSPECT_TASK)
        _write_data(self.folder / "data.jsonl", samples)
        cost = self._run(
            *("eval", "task.py", "--model", "openai-api/local/m0", "--display", "none"),
            *("--epochs", str(runs), "--max-connections", "1", "--log-dir", "logs"),
            *("--max-tokens", "24576", "--temperature", "0.6", "--top-p", "0.95"),
        )
        dump = [str(self.environment.python), "-m", "inspect_ai", "log", "dump", "--header-only"]
        header = subprocess.run([*dump, str(self.log)], capture_output=True, check=True).stdout
        metrics = json.loads(header)["results"]["scores"][0]["metrics"]
        _full("inspect-ai", metrics["accuracy"]["value"])
        return cost

    @property
    def log(self) -> Path:
        """The log of the last evaluation."""
        return next((self.folder / "logs").glob("*.eval"))

    def score(self) -> meter.Cost:
        """Run `inspect score` on the log of the last evaluation."""
        scored = self.folder / "scored.eval"
        scored.unlink(missing_ok=True)
        return self._run(
            *("score", str(self.log), "--scorer", "match", "--action", "overwrite"),
            *("--output-file", str(scored), "--display", "none"),
        )

    def _run(self, *arguments: str) -> meter.Cost:
        settings = {"LOCAL_BASE_URL": self.base_url, "LOCAL_API_KEY": "none"}
        return meter.measured(
            self.environment.python,
            "inspect_ai",
            arguments,
            cwd=self.folder,
            environment=settings,
        )


@dataclass(frozen=True)
class LmEval:
    """lm-eval in its environment. folder : where it works; base_url : the server"""

    environment: Environment
    folder: Path
    base_url: str

    def evaluate(self, samples: int, runs: int) -> meter.Cost:
        """Run `lm_eval run`. Its runs of a sample are `repeats`; it scores the first of them."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "tasks").mkdir(parents=True)
        data = self.folder / "data.jsonl"
        _write_data(data, samples)
        task = LM_EVAL_TASK.format(data=data, runs=runs)
        (self.folder / "tasks" / "one_line.yaml").write_text(task)
        url = f"{self.base_url}/chat/completions"
        cost = meter.measured(
            self.environment.python,
            "lm_eval",
            (
                *("run", "--model", "local-chat-completions", "--model_args"),
                f"model=m0,base_url={url},num_concurrent=1,max_retries=1,tokenizer_backend=None",
                *("--tasks", "one_line", "--include_path", "tasks", "--apply_chat_template"),
                *("--log_samples", "--output_path", "out"),
            ),
            cwd=self.folder,
            environment={
                "OPENAI_API_KEY": "none",
                "HF_HOME": str(self.folder / "hub"),
                "HF_HUB_OFFLINE": "1",
            },
        )
        result = next((self.folder / "out").rglob("results_*.json"))
        _full("lm-eval", json.loads(result.read_text())["results"]["one_line"]["exact_match,none"])
        return cost


def _write_data(path: Path, samples: int) -> None:
    lines = [
        json.dumps(
            {
                "id": number,
                "input": one_line.question(number % one_line.TASKS),
                "target": one_line.reply(number % one_line.TASKS),
            }
        )
        for number in range(samples)
    ]
    path.write_text("\n".join(lines) + "\n")


def _full(name: str, score: float) -> None:
    if score != 1:
        raise RuntimeError(f"{name} scored {score} where every reply is right")
