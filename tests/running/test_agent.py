"""The loop: turns, idle turns, malformed calls, ends, guards; all from the replies alone."""

from dataclasses import replace

import pytest
from running.cells import (
    CONFIG,
    FINISH,
    INSERT,
    READ_A,
    READ_B,
    SCENE,
    cut_in_time,
    exchanges_of,
    fed,
    limited,
    new_cell,
    replayed,
)

from harness.arnes import LoopGuards
from harness.parsing.channel import CHANNEL_LEAK, STOP_LEAK
from harness.protocol.calls import INVENTED_RESULT, NATIVE_MARKUP, TOOL_CASE
from harness.protocol.writing import render_call
from harness.records.world import Fault, Guards
from harness.suite.forms import Reply
from harness.world import Price, Tariff

F = "```"
TALK = "Done, I wrote the report."
BROKEN = "@@CALL read_file\n@@END"
CUT = Reply("I will", finish_reason="length")
UNENDED = Reply("@@CALL write_file\npath: a.py\n@@BODY\nA = 2", finish_reason="length")


def kinds(cell) -> list[str]:
    return [turn.step.kind for turn in cell.turns]


def test_a_request_holds_the_conversation_and_the_samplers_values() -> None:
    """Every turn is asked with the same caps and seed; roles alternate behind the system text."""
    cell = fed(new_cell(), READ_A, TALK)

    request = cell.request()

    assert [message.role for message in request.messages] == [
        "system",
        *["user", "assistant"] * 2,
        "user",
    ]
    assert request.messages[1].content == "Keep the ledger."
    assert request.messages[2].content == READ_A
    assert (request.max_tokens, request.seed) == (CONFIG.max_tokens, CONFIG.seed_for(1))
    assert (request.tools, request.model) == ((), "played")
    assert "read_file path" in str(request.messages[0].content)
    assert "delete_file" not in str(request.messages[0].content)


def test_without_a_system_role_the_same_words_open_the_first_message() -> None:
    """A template that refuses the role changes who says it, not what is said."""
    plain, folded = new_cell().request(), new_cell(system_role=False).request()

    assert [message.role for message in folded.messages] == ["user"]
    system, task = (message.content for message in plain.messages)
    assert folded.messages[0].content == f"{system}\n\n{task}"


def test_the_answer_to_a_call_is_its_result_and_the_number_of_the_reply() -> None:
    """The model sees what the tool answered, framed to the letter."""
    cell = fed(new_cell(), f"I look.\n{READ_A}")

    assert cell.answer == "@@RESULT read_file ok\nA = 1\n@@END\n[reply 1 of 30]"
    fed(cell, render_call("read_file", {"path": "/proc/self/environ"}))
    assert (
        cell.answer
        == "@@RESULT read_file error\nnot found: proc/self/environ\n@@END\n[reply 2 of 30]"
    )
    fed(cell, TALK)
    assert cell.answer.endswith("Replies without a call: 1 of 3 in a row.\n[reply 3 of 30]")
    fed(cell, BROKEN)
    assert (
        cell.answer == 'The call was not run: read_file needs the argument "path".\n[reply 4 of 30]'
    )


def test_in_a_task_with_prices_a_result_says_what_its_call_cost() -> None:
    """Only this call's cost, never the sum; what was not run has none."""
    tariff = Tariff({"read_file": Price(4)}, hard_stop=99, told={"read_file": "4"})
    cell = fed(new_cell(scene=replace(SCENE, tariff=tariff)), READ_A, READ_A)

    assert cell.answer.endswith("[reply 2 of 30, this call cost 4]")
    assert fed(cell, TALK).answer.endswith("\n[reply 3 of 30]")
    assert "read_file path: the whole file; price 4" in str(cell.request().messages[0].content)
    assert fed(cell, FINISH).record().spent == 8


def test_finish_ends_the_cell_and_keeps_its_arguments() -> None:
    """The first valid finish counts, and nothing behind it in the reply is read."""
    cell = fed(new_cell(), f"{FINISH}\n{INSERT}", READ_A)

    record = cell.record()
    assert (record.ended, record.finish) == ("finish", {"summary": "done", "closed": "1"})
    assert record.end == record.start
    assert len(record.steps) == 1
    assert record.steps[0].ignored == 1
    with pytest.raises(ValueError, match="the cell has ended: finish"):
        cell.take_reply(Reply(READ_A))


def test_a_finish_without_the_tasks_arguments_is_malformed_and_the_work_goes_on() -> None:
    """What the task names is needed; a finish without it ends nothing."""
    cell = fed(new_cell(), "@@CALL finish\nsummary: done\n@@END")

    assert (cell.ended, cell.turns[0].step.code) == (None, "missing_arg")
    assert fed(cell, FINISH).ended == "finish"


def test_a_cell_that_goes_on_has_no_record() -> None:
    """There is nothing to grade before the end."""
    with pytest.raises(ValueError, match="has not ended"):
        fed(new_cell(), READ_A).record()


@pytest.mark.parametrize(
    ("replies", "ended"),
    [
        ([TALK] * 3, "idle"),
        ([TALK] * 2 + [READ_A] + [TALK] * 2, None),
        ([TALK, BROKEN, TALK, BROKEN, TALK], "idle"),
        (["", "   ", "<think>\n" + READ_A + "\n</think>"], "idle"),
        ([CUT] * 3, "tokens"),
        ([CUT, CUT, TALK], "idle"),
        ([TALK, READ_A, CUT, CUT, CUT], "tokens"),
        ([CUT, UNENDED, CUT, CUT], "tokens"),
        ([UNENDED] * 5, None),
    ],
)
def test_replies_without_a_call_in_a_row_end_the_cell(replies: list, ended: str | None) -> None:
    """Only an executed call resets the count; a malformed one neither adds nor resets."""
    assert fed(new_cell(), *replies).ended == ended


def test_every_reply_is_a_turn_and_turns_end_the_cell() -> None:
    """Idle, malformed and executed alike: the last reply that is allowed is the last."""
    config = limited(max_agent_turns=6)
    replies = [TALK, BROKEN, READ_A, TALK, BROKEN, READ_B]

    assert fed(new_cell(config), *replies[:5]).ended is None
    cell = fed(new_cell(config), *replies)
    assert (cell.ended, kinds(cell)) == ("turns", ["idle", "malformed", "call"] * 2)
    assert fed(new_cell(config), *replies[:5], FINISH).ended == "finish"
    assert [step.call for step in cell.record().calls] == [1, 2]


def test_a_reply_cut_by_the_whole_call_limit_is_read_and_is_the_last() -> None:
    """A whole call in it is run, half a one is not; either way the model is out of time."""
    whole = replayed([cut_in_time(Reply(INSERT))], new_cell())
    half = replayed([cut_in_time(Reply(INSERT.removesuffix("@@END")))], new_cell())
    done = replayed([cut_in_time(Reply(FINISH))], new_cell())
    silent = replayed([*exchanges_of(TALK, TALK), cut_in_time(Reply("I"))], new_cell())

    assert (whole.ended, whole.record().calls[0].changed_tables) == ("time", ("t",))
    assert (half.ended, half.turns[0].step.code) == ("time", "cut_by_length")
    assert (done.ended, silent.ended) == ("finish", "time")
    assert whole.turns[0].cut == "time"


def test_the_generation_cap_is_seen_as_single_cells_see_it() -> None:
    """Some servers say stop at the cap; the number of tokens tells."""
    (exchange,) = exchanges_of(Reply("@@CALL list_files"))
    at_cap = exchange.model_copy(
        update={"request": exchange.request.model_copy(update={"max_tokens": 10})}
    )

    ended_itself, cut = replayed([exchange], new_cell()), replayed([at_cap], new_cell())

    assert ended_itself.turns[0].step.kind == "call"
    assert (cut.turns[0].step.code, cut.turns[0].cut) == ("cut_by_length", "tokens")


def test_an_exchange_without_a_reply_is_no_turn() -> None:
    """The text of an error is never read as a reply."""
    (exchange,) = exchanges_of(READ_A)
    failed = exchange.model_copy(update={"ended": "infrastructure", "cause": "stall"})

    cell = new_cell()
    with pytest.raises(ValueError, match="infrastructure"):
        cell.take(failed)
    assert (cell.turns, cell.ended) == ((), None)


@pytest.mark.parametrize(
    ("reply", "kind", "flag"),
    [
        (f"You could run\n{F}\n{READ_A}\n{F}", "call", None),
        (f"<think>\n{FINISH}\n</think>\nNext.", "idle", None),
        (f"<think>\n{FINISH}\n</think>\n{READ_A}", "call", None),
        (f"hm\n{FINISH}\n</think>\n{READ_A}", "call", None),
        (f"<THOUGHT>\n{READ_A}", "idle", None),
        (f"<|channel|>analysis<|message|>{FINISH}<|end|>", "idle", CHANNEL_LEAK),
        (f"I look.<|im_end|>\n{READ_A}", "idle", STOP_LEAK),
        (f"{READ_A}<|im_end|>", "call", STOP_LEAK),
        (READ_A.replace("read_file", "Read-File"), "call", TOOL_CASE),
        ('<tool_call>{"name": "read_file"}</tool_call>', "idle", NATIVE_MARKUP),
        (f"{READ_A}\n@@RESULT read_file ok\nA = 9\n@@END", "call", INVENTED_RESULT),
        ("@@CALL sql {'query': 'x',}\n@@END", "malformed", None),
        ('@@CALL read_file\n{"path": "a.py", "args": {"path": "b.md"},}\n@@END', "malformed", None),
        ("@@CALL bash\ncommand: ls\n@@END", "malformed", None),
        ("@@CALL delete_file\npath: a.py\n@@END", "malformed", None),
    ],
)
def test_a_reply_is_one_thing(reply: str, kind: str, flag: str | None) -> None:
    """What is reasoned, leaked, invented, half written or not offered never reaches the world."""
    cell = fed(new_cell(), reply)

    (turn,) = cell.turns
    assert turn.step.kind == kind
    assert flag is None or flag in turn.step.flags
    assert cell.ended is None
    assert (turn.step.target == "a.py") is (kind == "call")


def test_a_claim_is_not_a_deed() -> None:
    """What was only described is not there; the state says so."""
    record = fed(new_cell(), TALK, TALK, TALK).record()

    assert record.end == record.start
    assert [step.kind for step in record.steps] == ["idle"] * 3


def test_only_the_first_call_of_a_reply_is_run_and_the_others_are_counted() -> None:
    """Both stand in the journal: one as run, one as ignored; the model is told."""
    cell = fed(new_cell(), f"{INSERT}\n{READ_A}\n{READ_B}")

    (step,) = (turn.step for turn in cell.turns)
    assert (step.tool, step.ignored) == ("sql", 2)
    assert "Only the first call of a reply is run; 2 more were not run." in cell.answer


def test_two_equal_calls_are_run_twice() -> None:
    """Nothing is taken for a repetition: a statement that was sent twice was meant twice."""
    record = fed(new_cell(), INSERT, INSERT, FINISH).record()

    assert record.end.tables["t"].rows == ((1,), (2,), (2,))
    assert record.guards == Guards(identical_calls=2)


def test_reasoning_is_counted_and_never_sent_again() -> None:
    """Thirty turns of long reasoning make the conversation no longer than thirty short ones."""
    thought = f"<think>{'secret ' * 300}</think>\n"
    inside = fed(new_cell(), *[thought + READ_A] * 30)
    beside = fed(new_cell(), *[Reply(READ_A, reasoning="secret " * 300)] * 30)
    without = fed(new_cell(), *[READ_A] * 30)

    sizes = [[turn.sent_chars for turn in cell.turns] for cell in (inside, beside, without)]
    assert sizes[0] == sizes[1] == sizes[2]
    assert inside.turns[0].reasoning_chars >= 2100
    assert beside.turns[0].reasoning_chars == 2100
    assert "secret" not in inside.turns[0].reply


def test_the_conversation_stays_below_its_mark_and_the_longest_is_recorded() -> None:
    """Thirty of the longest files: the window holds every request, and the loop knows the peak."""
    scene = replace(SCENE, files={"long.txt": "0123456789" * 300})
    cell = new_cell(scene=scene)
    while cell.ended is None:
        sent = cell.request()
        fed(cell, "x" * 2900 + "\n" + render_call("read_file", {"path": "long.txt"}))
        assert (
            sum(len(str(message.content)) for message in sent.messages) == cell.turns[-1].sent_chars
        )

    record = cell.record()
    assert record.longest_chars == max(turn.sent_chars for turn in cell.turns)
    assert 12_000 < record.longest_chars <= CONFIG.context.elide_above_chars
    assert cell.turns[-1].left_out > 0


@pytest.mark.parametrize(
    ("guards", "replies", "ended", "guard"),
    [
        ({}, [READ_A] * 12, None, ""),
        ({"identical_calls": 3}, [READ_A] * 3, "guard", "identical_calls"),
        ({"identical_calls": 3}, [READ_A, READ_A, READ_B, READ_A, READ_A], None, ""),
        (
            {"identical_calls": 3},
            [READ_A, TALK, READ_A, BROKEN, READ_A],
            "guard",
            "identical_calls",
        ),
        ({"malformed_in_a_row": 2}, [BROKEN, TALK, BROKEN], None, ""),
        ({"malformed_in_a_row": 2}, [BROKEN, BROKEN], "guard", "malformed_in_a_row"),
        ({"rewrites": 2}, ["w a.py 1", "w b.md 1", "w a.py 2"], "guard", "rewrites"),
        ({"rewrites": 2}, ["w a.py 1", "w b.md 1", "w c 1"], None, ""),
        ({"identical_calls": 1}, [FINISH], "finish", ""),
        ({"malformed_in_a_row": 1}, [TALK, TALK, BROKEN], "guard", "malformed_in_a_row"),
    ],
)
def test_a_guard_ends_a_loop_only_where_it_is_set(
    guards: dict[str, int], replies: list[str], ended: str | None, guard: str
) -> None:
    """Loops are measured in every cell; a limit above zero ends one, and the cause is named."""
    limits = LoopGuards.model_validate(
        {"identical_calls": 0, "rewrites": 0, "malformed_in_a_row": 0} | guards
    )

    cell = fed(new_cell(limited(guards=limits)), *map(_written, replies))

    assert cell.ended == ended
    if ended:
        assert cell.record().guard == guard


def _written(reply: str) -> str:
    if not reply.startswith("w "):
        return reply
    _, path, content = reply.split(" ")
    return render_call("write_file", {"path": path}, f"{content}\n")


def test_loops_are_measured_in_every_cell() -> None:
    """The longest rows are recorded with no guard set, and another spelling is the same file."""
    writes = [
        _written(f"w {path} {n}") for n, path in enumerate(["a.py", "./a.py", "/workspace/a.py"])
    ]
    cell = fed(new_cell(), *writes, READ_B, READ_B, BROKEN, BROKEN, BROKEN, READ_B, BROKEN, FINISH)

    record = cell.record()
    assert record.guards == Guards(identical_calls=3, rewrites=3, malformed_in_a_row=3)
    assert (record.ended, record.guard) == ("finish", "")


def test_faults_stand_in_record_and_transcript() -> None:
    """A fired fault names its call and turn, an unfired one is listed, both texts are kept."""
    schedule = (
        Fault(from_call=1, tool="sql", kind="timeout"),
        Fault(from_call=1, tool="http_get", kind="timeout"),
    )
    cell = fed(new_cell(schedule=schedule), TALK, READ_A, INSERT, FINISH)

    record = cell.record()
    assert [(fate.call, fate.turn) for fate in record.faults] == [(2, 3), (None, None)]
    step = cell.turns[2].step
    assert (step.fault, step.ok, step.honest) == (1, False, "ok: 1 rows changed")
    assert "timeout: the tool did not answer" in cell.turns[2].answer
    assert record.end.tables["t"].rows == ((1,), (2,))
