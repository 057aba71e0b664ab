"""Second method of A09: nothing but the rendered prompt, read with regular expressions.

Each hold is followed backwards, from the last line of the ledger to its last COUNT.
"""

import re

LINE = re.compile(r"^(\d{4}) \| day +(\d+) \| [^|\n]+ \| (.+)$", re.MULTILINE)
CORRECT = re.compile(r"CORRECT entry (\d{4}): the quantity is (\d+) sacks")
RULE = re.compile(r"RULE 7 comes into force with the next entry")
COUNT = re.compile(r"COUNT (\w+) holds (\d+) sacks")
IN = re.compile(r"IN (\d+) sacks into (\w+)\b.*")
OUT = re.compile(r"OUT (\d+) sacks from (\w+)\b.*")
MOVE = re.compile(r"MOVE (\d+) sacks from (\w+) to (\w+)")
LOOK_UP = re.compile(r"^- (\w+) asks for day (\d+), from (\w+) to (\w+)$", re.MULTILINE)
OF_HOLD = re.compile(r"^- (\w+) asks for (\w+)$", re.MULTILINE)
PARTS = ("Which quantity is written", "contain after the last line", "left the hold by MOVE lines")

Line = tuple[int, int, str]


def answers(prompt: str) -> dict[str, str]:
    """Return key → answer for every question that the prompt asks."""
    lines = [(int(number), int(day), text) for number, day, text in LINE.findall(prompt)]
    places = [prompt.index(part) for part in PARTS]
    look_ups, balances, sums = (
        prompt[start:end] for start, end in zip(places, [*places[1:], None], strict=True)
    )
    found = {
        key: written(lines, int(day), source, target)
        for key, day, source, target in LOOK_UP.findall(look_ups)
    }
    found |= {key: balance(lines, hold) for key, hold in OF_HOLD.findall(balances)}
    found |= {key: moved_out(lines, hold) for key, hold in OF_HOLD.findall(sums)}
    return {key: str(number) for key, number in found.items()}


def written(lines: list[Line], day: int, source: str, target: str) -> int:
    """Return the quantity of the one MOVE of a day between two holds."""
    (quantity,) = (
        int(move[1])
        for _, when, text in lines
        if when == day and (move := MOVE.fullmatch(text)) and move.group(2, 3) == (source, target)
    )
    return quantity


def quantity_of(lines: list[Line], number: int, as_written: str) -> int:
    """Return what an entry's quantity is in the end: 0 if it is void."""
    later = [text for place, _, text in lines if place > number]
    if f"VOID entry {number:04d}" in later:
        return 0
    said = [m for text in later if (m := CORRECT.fullmatch(text)) and int(m[1]) == number]
    return int(said[-1][2]) if said else int(as_written)


def balance(lines: list[Line], hold: str) -> int:
    """Return what a hold contains in the end, summed from the end back to its last COUNT."""
    (rule,) = (number for number, _, text in lines if RULE.fullmatch(text))
    total = 0
    for number, _, text in reversed(lines):
        if (count := COUNT.fullmatch(text)) and count[1] == hold:
            return total + int(count[2])
        if (came := IN.fullmatch(text)) and came[2] == hold:
            sacks = quantity_of(lines, number, came[1])
            total += sacks - sacks // 10 if number > rule else sacks
        elif (left := OUT.fullmatch(text)) and left[2] == hold:
            total -= quantity_of(lines, number, left[1])
        elif (move := MOVE.fullmatch(text)) and hold in move.group(2, 3):
            sacks = quantity_of(lines, number, move[1])
            total += sacks if move[3] == hold else -sacks
    return total


def moved_out(lines: list[Line], hold: str) -> int:
    """Return the sacks of all MOVE lines out of a hold that stand."""
    return sum(
        quantity_of(lines, number, move[1])
        for number, _, text in lines
        if (move := MOVE.fullmatch(text)) and move[2] == hold
    )
