"""A08: fifteen prohibitions, judged by two checkers that share nothing."""

import random
import re
import shutil
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from playing import parsed, play

from harness.errors import SuiteError
from harness.grading.deliverable import Deliverable
from harness.grading.grader import grade
from harness.records.handwritten import read_toml
from harness.records.parsed import ParsedReply
from harness.stages.forms import make_form, make_sets, prompt_of, second_answers, task_module
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form, Reply, Sets
from harness.suite.loader import load_suite, read_form
from harness.suite.sets import common_sets, read_sets

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "suite/core/a08_negative_constraints"
DEFINITION = read_toml(FOLDER / "task.toml", TaskDefinition, SuiteError)
ROUNDING = 2e-6  # a row is rounded to six decimals on either side
SEEDS = ("open", "red", "green", "blue")
PROHIBITIONS = tuple(row.id for row in DEFINITION.rows[4:])


@pytest.fixture(scope="module")
def form() -> Form:
    return make_form(FOLDER, "open")


@pytest.fixture(scope="module")
def sets(form: Form) -> Sets:
    return make_sets(FOLDER, form)


def rows_of(form: Form, reply: Reply) -> dict[str, float]:
    return {row.id: row.points for row in play(FOLDER, form, reply)}


def graded(form: Form, text: str) -> dict[str, float]:
    """Grade a report's text, without a reply around it."""
    reply = ParsedReply(parser_version="written", text="", files={"report.txt": text})
    return {row.id: row.points for row in grade(FOLDER, DEFINITION, Deliverable(reply, form))}


@cache
def oracle() -> ModuleType:
    return task_module(FOLDER, "oracle")


def scored(form: Form, text: str) -> dict[str, float]:
    """Score a report's text by the second checker."""
    return oracle().score(prompt_of(FOLDER, form), text)


def report_of(form: Form, reply: Reply) -> str:
    return parsed(FOLDER, form, reply).files["report.txt"]


def lost_rows(form: Form, text: str) -> set[str]:
    """Return the rows that miss points; both checkers must name the same."""
    first, second = graded(form, text), scored(form, text)
    assert first == pytest.approx(second, abs=ROUNDING)
    return {row.id for row in DEFINITION.rows if first[row.id] < row.points - ROUNDING}


# ---------------------------------------------------------------- the form and its two methods


def test_definition_has_the_rows_and_observations_of_the_specification() -> None:
    """19 rows, 121 sub-observations, 16 points: 2.5 for the form and 13.5 for prohibitions."""
    assert len(DEFINITION.rows) == 19
    assert DEFINITION.observations == 121
    assert DEFINITION.max_points == 16.0
    assert sum(DEFINITION.row(row_id).points for row_id in PROHIBITIONS) == pytest.approx(13.5)


def test_folder_loads_and_its_functions_match_its_rows(tmp_path: Path) -> None:
    """The static checks of the loader hold for this folder alone."""
    shutil.copytree(FOLDER, tmp_path / "suite/core" / FOLDER.name)

    assert load_suite(tmp_path).ids == ("A08",)


@pytest.mark.parametrize("seed", SEEDS)
def test_second_method_reads_the_same_rules_in_the_prompt(seed: str) -> None:
    """What form.py asks and what a reader finds in the rendered prompt are the same."""
    form = make_form(FOLDER, seed)

    assert second_answers(FOLDER, prompt_of(FOLDER, form)) == form.answers


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("more than 9 letters", "more than 8 letters", "letters"),
        ("more than 14 words", "more than 15 words", "sentence_words"),
        ("of 40 to 70 words", "of 41 to 70 words", "words"),
        ("in 4 to 7 sentences", "in 4 to 8 sentences", "sentences"),
        ("has at least 5 words", "has at least 6 words", "least_words"),
        ("at least 2 of its three", "at least 3 of its three", "given_needed"),
        ("at least 25 different", "at least 20 different", "different_words"),
        ("No word of 5 or more", "No word of 6 or more", "repeat_letters"),
        ("plover, sunday", "heron, sunday", "given.ARRIVAL"),
        ("very, important", "quite, important", "listed"),
        ("ly, ing, ed", "ly, ing, er", "suffixes"),
        ("i, me, my", "i, my", "person"),
    ],
)
def test_second_method_reads_nothing_but_the_prompt(
    form: Form, old: str, new: str, key: str
) -> None:
    """One change in the prompt's text changes that answer of the second method and no other."""
    prompt = prompt_of(FOLDER, form)
    assert prompt.count(old) == 1

    changed = second_answers(FOLDER, prompt.replace(old, new))

    assert {k for k in changed if changed[k] != form.answers[k]} == {key}


@pytest.mark.parametrize("name", ["letters", "sentence_words", "least_words", "different_words"])
def test_a_wrong_number_in_the_first_method_is_noticed(form: Form, name: str) -> None:
    """A prompt that says another number than the answers do is not taken for equal."""
    wrong = form.model_copy(update={"values": {**form.values, name: form.values[name] + 1}})

    assert second_answers(FOLDER, prompt_of(FOLDER, wrong)) != form.answers


def test_given_words_of_every_pool_keep_every_rule_of_every_form() -> None:
    """No draw can hand out a word that its own form forbids."""
    module = task_module(FOLDER, "form")
    listed = " ".join(words for _, words in module.LISTED_CLASSES)
    banned = set(" ".join([listed, module.BE, module.LINKING, *module.PERSONS.values()]).split())
    endings = {ending for group in module.ENDINGS for ending in group.split()}
    words = {word for pool in module.POOLS.values() for word in pool.split()}

    assert len(words) > 100
    for word in sorted(words):
        assert re.fullmatch(r"[a-z]{3,9}", word), word
        assert word not in banned
        assert not any(word.endswith(ending) for ending in endings), word
        assert all(one != two for one, two in pairwise(word)), word


def test_common_words_are_four_hundred_different_ones() -> None:
    """The share of usable words is a share of 400."""
    words = (FOLDER / "common_words.txt").read_text(encoding="utf-8").split()

    assert len(words) == len(set(words)) == 400
    assert all(re.fullmatch(r"[a-z]+", word) for word in words)


def test_usable_words_are_those_that_no_rule_takes_away() -> None:
    """Of ten words, one ends in ing and four are listed, forms of be, or doubled: five stay."""
    module = task_module(FOLDER, "form")
    values = make_form(FOLDER, "open").values
    words = ["the", "going", "been", "will", "good", "time", "work", "also", "hand", "from"]

    usable = [word for word in words if module._obeys(word, values)]

    assert usable == ["the", "time", "work", "hand", "from"]


@pytest.mark.slow
def test_many_forms_lie_in_their_bands_and_share_nothing() -> None:
    """Forms of 20 seeds hold their bands and sets; no two share a tenth of what is drawn."""
    forms = [make_form(FOLDER, f"seed {number}") for number in range(20)]
    for form in forms:
        assert second_answers(FOLDER, prompt_of(FOLDER, form)) == form.answers
        assert form.structure["usable_share"] >= 0.45
        check_sets(form)
    for index, one in enumerate(forms):
        for two in forms[:index]:
            # The given words and the listed ones are what a form draws from wide pools; limit,
            # endings and person have 18 combinations by specification.
            wide = [key for key in one.answers if key.startswith("given.")] + ["listed"]
            same = sum(one.answers[key] == two.answers.get(key) for key in wide)
            assert same <= len(wide) / 10
            assert one.answers != two.answers


# ---------------------------------------------------------------- what is played


def check_sets(form: Form) -> None:
    """Goldens reach the maximum, defectives their rows, exploits stay under; twice judged."""
    sets = make_sets(FOLDER, form)
    for golden in sets.golden:
        assert sum(rows_of(form, golden.reply).values()) == pytest.approx(16.0, abs=ROUNDING)
    for defective in sets.defective:
        rows = rows_of(form, defective.reply)
        assert {k: v for k, v in rows.items() if v} == pytest.approx(defective.rows, abs=ROUNDING)
    for exploit in sets.exploits:
        assert sum(rows_of(form, exploit.reply).values()) <= exploit.ceiling + ROUNDING
    for member in (*sets.golden, *sets.defective, *sets.exploits):
        text = report_of(form, member.reply)
        rows = rows_of(form, member.reply)
        assert rows == pytest.approx(scored(form, text), abs=ROUNDING), member.name


@pytest.mark.parametrize("seed", SEEDS)
def test_sets_score_what_they_must(seed: str) -> None:
    """Both checkers give every golden, defective and exploit of a form its declared points."""
    check_sets(make_form(FOLDER, seed))


def test_ladder_of_the_open_form_has_the_specified_points(sets: Sets, form: Form) -> None:
    """0, 0, 2.875 and 13.467 are the specification's; the office text was counted by eye."""
    totals = {member.name: sum(rows_of(form, member.reply).values()) for member in sets.defective}

    assert totals == pytest.approx(
        {
            "headings": 0.0,
            "keywords": 0.0,
            "one_section": 2.875,
            "office_prose": 7.083333,
            "near_miss": 13.467,
            "scars": 12.483,  # this one and the next ones are counted by eye as well
            "scars_of_form": 14.383,
            "foreign": 0.0,
            "thin": 10.394,
            "headings_off": 15.792,
        },
        abs=5e-4,  # three decimals are printed there
    )


def test_exploits_of_the_open_form_stop_where_they_must(sets: Sets, form: Form) -> None:
    """Stuffing and look-alikes earn nothing, the second copy nothing, the inner fence costs 0.3."""
    totals = {m.name: sum(rows_of(form, m.reply).values()) for m in sets.exploits}

    assert totals == pytest.approx(
        {
            "stuffing": 0.0,
            "unicode": 0.0,
            "headings_twice": 7.083333,
            "code_fence_inside": 15.7,
            "hyphens": 6.416667,  # the office prose less its 5 of 6 x 0.8 for no_apostrophe
        },
        abs=5e-6,  # rounding of up to nineteen rows
    )


def test_members_common_to_all_tasks_score_nothing(sets: Sets, form: Form) -> None:
    """Nothing, a refusal, the prompt itself, unclosed reasoning and a verdict are worth 0."""
    common = common_sets(prompt_of(FOLDER, form), sets.golden[0])
    for member in (*common.defective, *common.exploits):
        assert sum(rows_of(form, member.reply).values()) == 0, member.name
    for defective in common.defective:
        assert parsed(FOLDER, form, defective.reply).cause == defective.cause


def test_frozen_files_are_what_the_open_form_makes(sets: Sets, form: Form) -> None:
    """open.json, replies and hand-written points agree with form.py and policy.py."""
    frozen = read_sets(FOLDER)

    assert read_form(FOLDER / "open.json") == form
    for kind in ("golden", "defective", "exploits"):
        made = {member.name: member for member in getattr(sets, kind)}
        found = {member.name: member for member in getattr(frozen, kind)}
        assert made.keys() == found.keys()
        assert {n: m.reply for n, m in made.items()} == {n: m.reply for n, m in found.items()}
    for member in frozen.defective:
        made_rows = next(m.rows for m in sets.defective if m.name == member.name)
        assert member.rows == pytest.approx(made_rows, abs=ROUNDING)
    for exploit in frozen.exploits:
        ceiling = next(m.ceiling for m in sets.exploits if m.name == exploit.name)
        assert exploit.ceiling == pytest.approx(ceiling, abs=ROUNDING)
    written = (FOLDER / "defective/near_miss/expected.toml").read_text(encoding="utf-8")
    assert tomllib.loads(written)["points"] == pytest.approx(16 - 15.2 / 6, abs=5e-7)


# ---------------------------------------------------------------- known answers


@pytest.mark.parametrize(
    ("sentence", "lost"),
    [
        ("Men ate in the 2 huts.", {"no_digits"}),
        ("Men ate ½ of the loaf.", {"no_digits"}),
        ("Men ate in the huts?!", {"no_shout"}),
        ("Men ate in two huts: one tin, one clay.", {"no_colon_dash"}),
        ("Men ate in two huts; no one spoke.", {"no_colon_dash"}),
        ("Men ate in the huts — no one spoke.", {"no_colon_dash"}),
        ("Men ate in the huts - no one spoke.", {"no_colon_dash"}),
        ("Men ate in the huts -- no one spoke.", {"no_colon_dash"}),
        ("Men ate in the “old” huts.", {"no_quotes"}),
        ("Men ate in the 'old' huts.", {"no_quotes"}),
        ("Men ate in the sailors' huts.", {"no_quotes"}),
        ("Men ate in the huts (two).", {"no_quotes"}),
        ("Men ate in the *old* huts.", {"no_quotes"}),
        ("Men ate in our old huts.", {"no_person"}),
        ("Men ate in its old huts.", set()),
        ("Men ate in the mine by noon", {"no_person", "no_double_letters"}),
        ("Men ate in Important huts by dusk.", {"no_listed"}),
        ("Men ate in steam by dusk.", set()),  # holds a listed word and is none
        ("Men ate in teams by dusk.", set()),
        ("Men ate in mustard huts.", set()),
        ("Men ate with $team by dusk.", {"no_listed"}),  # a sign beside a word hides no word
        ("Men ate also$ by dusk.", {"no_listed"}),
        ("Men ate /also/ by dusk.", {"no_listed"}),
        ("Men ate with $5 by dusk.", {"no_digits"}),
        ("Men may well have been in huts.", {"no_be", "no_double_letters"}),
        ("Men ate in the crew's huts.", {"no_apostrophe"}),
        ("Men ate in the crew’s huts.", {"no_apostrophe"}),
        ("Men ate in two-man huts.", {"no_apostrophe"}),
        ("Men ate in two‑man huts.", {"no_apostrophe"}),
        ("Men ate from lo-ok to dusk.", {"no_apostrophe", "no_double_letters"}),
        ("Men ate in white-paint huts.", {"no_apostrophe", "no_long_words"}),
        ("Men ate in mountains by dusk.", set()),
        ("Men ate in farmhouses by dusk.", {"no_long_words"}),
        ("Men ate in huts by dusk, at dawn, on deck, by day or at sea.", {"no_long_sentences"}),
        ("Men ate in huts by dusk, at dawn, on deck, by day at sea.", set()),
        ("Men ate with the king by dusk.", {"no_suffix"}),
        ("Men ate in the RED huts.", {"no_suffix"}),
        ("Men ate in edgy huts by dusk.", set()),
        ("An old man ate in huts.", {"no_article_openings"}),
        ("That old man ate in huts.", {"no_article_openings"}),
        ("Those old men ate in huts.", set()),
        ("Cooks ate in huts by dusk.", {"no_same_initials", "no_double_letters"}),
        ("“Cats” ate in the old huts.", {"no_same_initials", "no_quotes"}),
        ("Men ate with men, by light.", {"no_repeats"}),
        ("Men ate with men in huts.", set()),
        ("Men ate in the old hill huts.", {"no_double_letters"}),
        ("Men ate in huts.", {"length_and_sentences"}),
        ("Men ate soup while cats slept.", {"length_and_sentences"}),
        ("Men ate in the huts\n\nby dusk.", {"length_and_sentences"}),
        ("Men ate in the huts\nby dusk.", set()),
        ("Men ate in the huts by dusk", set()),
        ("Men sat with Mr. Pym at six.", {"length_and_sentences"}),
        ("Men ate in the old huts.\n\n---", {"no_colon_dash"}),
    ],
)
def test_one_sentence_breaks_what_it_says(form: Form, sets: Sets, sentence: str, lost: set) -> None:
    """A sentence at the end of a perfect first section costs exactly the rows that it breaks."""
    golden = report_of(form, sets.golden[0].reply)
    last = "Every paper lay in order on the chart table."
    assert golden.count(last) == 1

    text = golden.replace(last, sentence)

    assert lost_rows(form, text) == lost
    for row_id in lost:
        row = DEFINITION.row(row_id)
        assert graded(form, text)[row_id] == pytest.approx(row.points * 5 / 6, abs=ROUNDING)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("Evеry paper lay", id="Cyrillic letter"),
        pytest.param("Every pàper lay", id="accented letter"),
        pytest.param("Every paper lay".replace("a", "a\u0301"), id="loose accent"),
        pytest.param("Every pa\u200dper lay", id="joiner"),
        pytest.param("Every pa\u00adper lay", id="soft hyphen"),
        pytest.param("Every pa\u034fper lay", id="grapheme joiner"),
        pytest.param("Every pⓐper lay", id="circled letter"),
        pytest.param("Every \U0001f130paper lay", id="boxed letter"),
        pytest.param("Every pa\x08per lay", id="control character"),
        pytest.param("Every paʼper lay", id="letter apostrophe"),
        pytest.param("Every paper lay\ufeff", id="byte order mark"),
    ],
)
def test_a_sign_beyond_a_to_z_costs_the_whole_section(form: Form, sets: Sets, broken: str) -> None:
    """A section with a foreign letter or an invisible character earns nothing at all."""
    golden = report_of(form, sets.golden[0].reply)

    text = golden.replace("Every paper lay", broken)

    assert sum(graded(form, text).values()) == pytest.approx(0.25 + 15.75 * 5 / 6, abs=1e-5)
    assert len(lost_rows(form, text)) == 18  # all but file_present


def test_one_missing_given_word_costs_itself_and_two_cost_the_section(
    form: Form, sets: Sets
) -> None:
    """Two of three given words keep a section at work; one does not."""
    golden = report_of(form, sets.golden[0].reply)
    one = golden.replace("from the north", "from the far sea")
    two = one.replace("Late on Sunday", "Late on that day")
    plural = golden.replace("brig Plover", "brig Plovers")
    joined = golden.replace("brig Plover", "brig Plover-hawk")

    assert graded(form, one)["facts"] == pytest.approx(17 / 18, abs=ROUNDING)
    assert lost_rows(form, one) == {"facts"}
    assert graded(form, two)["facts"] == pytest.approx(15 / 18, abs=ROUNDING)
    assert sum(graded(form, two).values()) == pytest.approx(0.25 + 15.75 * 5 / 6, abs=1e-5)
    assert lost_rows(form, plural) == {"facts"}
    assert "facts" in lost_rows(form, joined)


def test_twenty_five_different_words_are_enough_and_twenty_four_are_not(form: Form) -> None:
    """The gate stands between 24 and 25 different words, whatever their number."""
    words = [a + b for a in "bcdfg" for b in ("at", "it", "ot", "ut", "en")]

    def total(different: int) -> float:
        body = "Plover from sunday " + " ".join(words[: different - 3]) + "."
        text = f"ARRIVAL\n{body} {body}\n"
        assert graded(form, text) == pytest.approx(scored(form, text), abs=ROUNDING)
        return graded(form, text)["file_present"]

    assert (total(24), total(25)) == (0.0, 0.25)


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("## **CARGO**", set()),
        ("  CARGO  ", set()),
        ("# CARGO #", set()),
        ("CARGO:", {"structure"}),
        ("Cargo", {"structure"}),
        ("2. CARGO", {"structure"}),
        ("CARGO\r", set()),
    ],
)
def test_a_heading_written_otherwise_costs_structure_alone(
    form: Form, sets: Sets, line: str, lost: set
) -> None:
    """Markdown marks are free; any other dress of a heading costs its sixth of structure."""
    golden = report_of(form, sets.golden[0].reply)

    assert lost_rows(form, golden.replace("CARGO", line)) == lost


def test_a_heading_word_inside_a_sentence_begins_no_section(form: Form, sets: Sets) -> None:
    """Only a line that holds nothing else is a heading."""
    golden = report_of(form, sets.golden[0].reply)
    last = "Every paper lay in order on the chart table."

    assert lost_rows(form, golden.replace(last, "Men put cargo near the damage.")) == set()


def test_swapped_sections_cost_structure_alone(form: Form, sets: Sets) -> None:
    """Two sections that change places lose two sixths of structure, nothing else."""
    golden = report_of(form, sets.golden[0].reply)
    head, cargo, weather, rest = re.split(
        r"(?=^CARGO|^WEATHER|^WORKFORCE)", golden, flags=re.MULTILINE
    )
    text = head + weather + cargo + rest

    assert lost_rows(form, text) == {"structure"}
    assert graded(form, text)["structure"] == pytest.approx(0.25 * 4 / 6, abs=ROUNDING)


def test_an_interleaved_second_copy_changes_nothing(form: Form, sets: Sets) -> None:
    """A section that comes twice is read where it comes first, and the order stays whole."""
    first = report_of(form, sets.golden[0].reply)
    office = next(m for m in sets.defective if m.name == "office_prose").reply
    parts = re.split(r"(?m)(?=^[A-Z]{5,}$)", first)[1:]
    others = re.split(r"(?m)(?=^[A-Z]{5,}$)", report_of(form, office))[1:]

    text = "".join(one + two for one, two in zip(parts, others, strict=True))

    assert lost_rows(form, text) == set()


def test_title_before_the_first_heading_is_not_read(form: Form, sets: Sets) -> None:
    """What stands before the first heading belongs to no section."""
    golden = report_of(form, sets.golden[0].reply)

    assert lost_rows(form, "# Report: what was said & done, 2026!\n\n" + golden) == set()


def test_reasons_name_what_was_found(form: Form, sets: Sets) -> None:
    """A stranger can check every lost observation of the near miss."""
    near_miss = next(m for m in sets.defective if m.name == "near_miss")
    reasons = {
        row.id: {o.key: o.reason for o in row.observations if o.credit < 1}
        for row in play(FOLDER, form, near_miss.reply)
    }

    assert reasons["no_be"] == {
        "ARRIVAL": "found was",
        "WEATHER": "found was",
        "DAMAGE": "found was",
    }
    assert reasons["no_suffix"]["WEATHER"] == "found coming"
    assert reasons["no_article_openings"] == {"CARGO": "found the"}
    assert reasons["no_repeats"] == {"WORKFORCE": "found extra"}
    keywords = next(m for m in sets.defective if m.name == "keywords")
    rows = {row.id: row for row in play(FOLDER, form, keywords.reply)}
    assert rows["no_digits"].observations[0].reason == (
        "does not count: 3 different words, 25 needed"
    )


# ---------------------------------------------------------------- grader against second checker


def test_both_checkers_know_the_same_signs() -> None:
    """Foreign signs and number characters are the same for both, over all planes that matter."""
    grader = task_module(FOLDER, "grader")
    signs = [chr(n) for n in (*range(0x3400), *range(0xE000, 0x10000), *range(0x1D400, 0x1FB00))]

    assert [s for s in signs if bool(grader.foreign_signs(s)) != oracle()._is_stray(s)] == []


NASTY = " .,;:!?'’-‐‑–—\"“(_*`#½3²é\u200d\u00a0\u2028\u0301ⓐ\n\n\tаzZ…/ßİK"
MORE_WORDS = (
    "was very mine I'm two-day We'LL the It king only good lo-ok extra cargo CARGO Outlook "
    "plover Night fog. e.g. 'tis sailors' abcdefghij abcdefghi-j under, and\n\nof **ARRIVAL**"
)


def mutated(text: str, rng: random.Random) -> str:
    """Return the text with a few random changes of signs, words and lines."""
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(text))
        match rng.randrange(6):
            case 0:
                text = text[:place] + rng.choice(NASTY) + text[place:]
            case 1:
                text = text[:place] + text[place + 1 :]
            case 2:
                words = text.split(" ")
                words[rng.randrange(len(words))] = rng.choice(MORE_WORDS.split(" "))
                text = " ".join(words)
            case 3:
                lines = text.split("\n")
                lines.insert(rng.randrange(len(lines)), rng.choice(lines))
                text = "\n".join(lines)
            case 4:
                sentences = text.split(". ")
                rng.shuffle(sentences)
                text = ". ".join(sentences) if rng.random() < 0.2 else text
            case _:
                text = text[:place] + text[place : place + 9].swapcase() + text[place + 9 :]
    return text


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_both_checkers_agree_on_mutated_texts(seed: str) -> None:
    """Hundreds of damaged reports get the same points, row by row, from two readings."""
    form = make_form(FOLDER, seed)
    sets = make_sets(FOLDER, form)
    texts = [report_of(form, m.reply) for m in (*sets.golden, *sets.defective, *sets.exploits)]
    rng = random.Random(f"mutations of {seed}")
    seen = set()
    for _ in range(250):
        text = mutated(rng.choice([t for t in texts if len(t) > 500]), rng)
        first = graded(form, text)
        assert first == pytest.approx(scored(form, text), abs=ROUNDING), text
        seen.add(sum(first.values()))

    assert len(seen) > 100  # the changes do move points


def test_a_weakened_checker_is_caught_by_the_other(form: Form, sets: Sets) -> None:
    """A grader with another limit than the prompt's differs from the second checker."""
    loose = form.model_copy(update={"values": {**form.values, "letters": 30}})
    office = next(m for m in sets.defective if m.name == "office_prose")
    text = report_of(form, office.reply)

    assert graded(loose, text) != pytest.approx(scored(form, text), abs=ROUNDING)
