"""The two controls that play beside the models: known scores, shown as controls, never ranked.

They are scripted players behind a real loopback server, so a campaign whose control does not
land where it must is a campaign whose numbers mean nothing.
"""

from harness.arnes import ArnesConfig
from harness.models.script import Behaviour, Script, prompt_key
from harness.records.campaign import EMPTY_CONTROL, GOLDEN_CONTROL
from harness.running.single import cap_of
from harness.stages.agent_plays import golden_turns
from harness.stages.validate import sets_of
from harness.suite.loader import Suite

CONTROLS = (GOLDEN_CONTROL, EMPTY_CONTROL)


def script_of(control: str, suite: Suite, config: ArnesConfig, run: int) -> Script:
    """Return what a control answers to each prompt of the suite in a run.

    The golden player sends each task's first golden; it is no model and reports no token
    counts. The empty player sends nothing.
    """
    if control == EMPTY_CONTROL:
        return Script(default=(Behaviour(content="", usage=False),))
    singles = {
        prompt_key(task.prompt(cap_of(task, config))): (
            Behaviour(content=sets_of(task).golden[0].reply.text, usage=False),
        )
        for task in suite.tasks
        if not task.is_agent
    }
    agents = {
        prompt_key(task.prompt(cap_of(task, config)).strip()): tuple(
            Behaviour(content=reply.text, usage=False) for reply in golden_turns(task, config, run)
        )
        for task in suite.tasks
        if task.is_agent
    }
    return Script(by_prompt=singles, by_opening=agents)
