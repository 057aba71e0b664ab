"""How a conversation is shortened: by characters, the same for every model."""

import itertools
import random
from pathlib import Path

import pytest
from protocol.offered import READ_A

from harness.arnes import Context, load_arnes
from harness.protocol.calls import Call
from harness.protocol.elision import (
    Conversation,
    Round,
    longest_conversation,
    opening_problem,
    shortened,
)
from harness.protocol.writing import counter_line, result_text

ROOT = Path(__file__).resolve().parents[2]
CORE = load_arnes(ROOT).context
DEMO = load_arnes(ROOT, "demo").context


def sent_chars(conversation: Conversation) -> int:
    return sum(len(str(message.content)) for message in conversation.messages())


def talk(*rounds: tuple[int, int], opening: int = 3000) -> Conversation:
    """Return a conversation whose messages have these lengths, each with its own letter."""
    letters = itertools.cycle("abcdefghijklmnopqrstuvwxyz")
    made = [Round(next(letters) * reply, next(letters) * answer) for reply, answer in rounds]
    return Conversation("S" * 1000, "T" * (opening - 1000), tuple(made))


def test_roles_alternate_with_and_without_a_system_role() -> None:
    """User and assistant take turns; without a system role its words open the task."""
    conversation = Conversation("rules", "the task", (Round("call", "result"), Round("b", "c")))

    told = conversation.messages()
    plain = conversation.messages(system_role=False)

    assert [m.role for m in told] == ["system", *["user", "assistant"] * 2, "user"]
    assert [m.content for m in told] == ["rules", "the task", "call", "result", "b", "c"]
    assert [m.role for m in plain] == [*["user", "assistant"] * 2, "user"]
    assert plain[0].content == "rules\n\nthe task"
    assert plain[1:] == told[2:]


def test_nothing_is_left_out_up_to_the_upper_mark() -> None:
    """16,000 characters are sent whole; the rule begins with the next one."""
    whole = talk((3000, 3500), (3000, 3500))
    assert whole.chars == 16_000

    assert shortened(whole, CORE) is whole
    longer = Conversation(whole.system, whole.task + "T", whole.rounds)
    assert shortened(longer, CORE).chars <= 12_000


def test_old_messages_become_their_first_line_from_the_oldest() -> None:
    """One message after the other, only until the lower mark is reached."""
    rounds = tuple(
        Round(f"reply {n}\n" + "r" * 1491, f"@@RESULT sql ok\n{n}" + "x" * 1483) for n in range(5)
    )
    whole = Conversation("S" * 1000, "T" * 1000, rounds)
    assert whole.chars == 16_995

    got = shortened(whole, CORE)

    assert got.rounds[0] == Round(
        "reply 0\n[1492 characters left out]", "@@RESULT sql ok\n[1485 characters left out]"
    )
    assert got.rounds[1] == Round(
        "reply 1\n[1492 characters left out]", "@@RESULT sql ok\n[1485 characters left out]"
    )
    assert got.rounds[2:] == rounds[2:]
    assert got.left_out == 0
    assert 10_500 < got.chars <= 12_000


def test_a_first_line_has_80_characters_at_most() -> None:
    """A reply on one line keeps its beginning, and the number counts the rest."""
    got = shortened(talk((5000, 161), (160, 5000), (4000, 2000), (10, 10)), CORE)

    assert got.rounds[0].reply == "a" * 80 + "\n[4920 characters left out]"
    assert got.rounds[0].answer == "b" * 80 + "\n[81 characters left out]"
    assert got.rounds[1].reply == "c" * 160
    assert got.rounds[1].answer == "d" * 80 + "\n[4920 characters left out]"


def test_the_last_two_rounds_are_never_shortened() -> None:
    """What the model is working with stays whole."""
    whole = talk((3000, 3000), (10, 10), (3000, 1500), (1500, 1100))

    got = shortened(whole, CORE)

    assert got.rounds[2:] == whole.rounds[2:]
    assert got.left_out == 0


def test_then_the_oldest_rounds_are_dropped_and_the_task_says_so() -> None:
    """What cannot be shortened is dropped, oldest first, and the model is told."""
    whole = talk((150, 150), (3000, 3000), (3000, 3000), (2000, 2000))

    got = shortened(whole, CORE)

    assert got.rounds == whole.rounds[3:]
    assert got.left_out == 3
    assert got.messages()[1].content == (
        whole.task + "\n\n[replies 1 to 3 and their results are left out]"
    )
    again = shortened(Conversation(got.system, got.task, (*got.rounds, *whole.rounds[1:]), 3), CORE)
    assert again.opening.count("left out") == 1
    assert again.left_out + len(again.rounds) == 7


def test_the_last_round_stays_whatever_its_length() -> None:
    """A model always sees the answer to its last call."""
    whole = talk((10, 10), (9000, 9000))

    assert shortened(whole, CORE).rounds == whole.rounds[1:]


def test_shortening_again_changes_nothing() -> None:
    """Below the upper mark the sent messages only grow at their end, so a cached prefix holds."""
    draw = random.Random("elision")
    for _ in range(300):
        rounds = [
            (draw.randrange(1, 3000), draw.randrange(1, 3100)) for _ in range(draw.randrange(1, 12))
        ]
        once = shortened(talk(*rounds), CORE)
        assert shortened(once, CORE) == once
        assert once.chars == sent_chars(once) <= CORE.elide_above_chars


def test_between_two_shortenings_the_prefix_is_stable() -> None:
    """Two marks instead of one: most requests begin with the whole request before them."""
    conversation = Conversation("S" * 1600, "T" * 2000)
    before = conversation.messages()
    kept = 0
    for number in range(30):
        conversation = conversation.after("r" * 300, f"{number}" + "x" * 700, CORE)
        kept += conversation.messages()[: len(before)] == before
        before = conversation.messages()
    assert kept >= 25  # 4,000 characters fit between the marks: four rounds at the least


@pytest.mark.parametrize(("context", "most"), [(CORE, 16_000), (DEMO, 12_000)])
@pytest.mark.parametrize("length", [3000, 24_576])
def test_the_worst_case_stays_within_the_window(context: Context, most: int, length: int) -> None:
    """Thirty full replies with thirty full results never pass the upper mark of their profile."""
    conversation = Conversation("S" * 1600, "T" * 2000)
    peak = 0
    for number in range(1, 31):
        call = Call("delete_file", ignored=("sql",) * 99)
        counter = counter_line(number, 30, cost=99)
        cap = context.result_cap_chars
        answer = result_text(call, "error", "9" * length, counter=counter, cap_chars=cap)
        conversation = conversation.after("r" * length, answer, context)
        roles = [message.role for message in conversation.messages()]
        assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]
        assert conversation.left_out + len(conversation.rounds) == number
        assert conversation.rounds[-1].answer == answer
        peak = max(peak, sent_chars(conversation))
    assert peak <= most


def test_preflight_can_ask_for_the_worst_case() -> None:
    """The longest request is what the rule itself makes of full replies and results."""
    got = longest_conversation("S" * 1600, "T" * 2000, CORE, replies=30, filler="4711 ")

    assert 15_500 < got.chars <= 16_000
    assert got.rounds[-1].reply == ("4711 " * 600)
    assert len(got.rounds) == 2


def test_the_opening_has_a_limit() -> None:
    """System and task text together: 3,600 characters, and the error names both."""
    assert opening_problem("S" * 1600, "T" * 2000, CORE) is None

    problem = opening_problem("S" * 1600, "T" * 2001, CORE)
    assert problem is not None
    assert "(1600)" in problem.what
    assert "(2001)" in problem.what
    assert "3601" in problem.what
    assert "3600" in problem.what


def test_a_long_reply_is_capped_when_it_is_sent_again() -> None:
    """What goes back of a reply is capped where it enters the conversation, and only once."""
    conversation = Conversation("s", "t").after("r" * 4000 + READ_A, "a", CORE)

    reply = conversation.rounds[0].reply
    assert reply.startswith("r" * 2000 + "\n[")
    assert reply.endswith(READ_A)
    assert len(reply) < 3000
