"""The turns of `benchmarks/agent.py` in mini-swe-agent's own loop; runs in its environment.

    python benchmarks/measuring/mini_turns.py PLACE CELLS

PLACE is `memory`, where commands are looked up in a table, or `local`, mini-swe-agent's own
environment, which starts a shell for each. The replies are read from standard input: a JSON list
of texts, and a table of commands and outputs. Prints turns and CPU seconds.
"""

import json
import sys
import tempfile
import time

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.exceptions import Submitted
from minisweagent.models.utils.actions_text import format_observation_messages, parse_regex_actions

ACTION = r"```mswea_bash_command\s*\n(.*?)\n```"
OBSERVATION = "<returncode>{{output.returncode}}</returncode>\n<output>\n{{output.output}}</output>"
FORMAT_ERROR = "Give exactly one action, found {{actions|length}}."


class Scripted:
    """A model whose replies are written; it reads its actions out of their text."""

    def __init__(self, replies):
        self.replies = iter(replies)

    def query(self, _messages):
        content = next(self.replies)
        actions = parse_regex_actions(
            content, action_regex=ACTION, format_error_template=FORMAT_ERROR
        )
        return {"role": "assistant", "content": content, "extra": {"actions": actions, "cost": 0}}

    def format_message(self, **message):
        return message

    def format_observation_messages(self, _message, outputs, template_vars=None):
        return format_observation_messages(
            outputs, observation_template=OBSERVATION, template_vars=template_vars
        )

    def get_template_vars(self):
        return {}

    def serialize(self):
        return {}


class Table:
    """An environment that looks its outputs up."""

    def __init__(self, outputs):
        self.outputs = outputs

    def execute(self, action):
        output = self.outputs[action["command"]]
        if output == "DONE":
            raise Submitted({"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}})
        return {"output": output, "returncode": 0, "exception_info": ""}

    def get_template_vars(self):
        return {}

    def serialize(self):
        return {}


def main() -> None:
    place, cells = sys.argv[1], int(sys.argv[2])
    replies, outputs, system, task = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        began, turns = time.process_time(), 0
        for _ in range(cells):
            env = Table(outputs) if place == "memory" else LocalEnvironment(cwd=folder)
            agent = DefaultAgent(
                Scripted(replies), env, system_template=system, instance_template=task
            )
            agent.run("")
            turns += agent.n_calls
        print(json.dumps([turns, time.process_time() - began]))


if __name__ == "__main__":
    main()
