"""Forms of A02: an archive of six lighthouses, twelve questions, prices and the bands of spending.

Facts are drawn first and the answers taken from them; logbooks, table and page are written around
them as texts, which the form carries whole. Names and sentences stand in `world/`.
"""

import random
import tomllib
from pathlib import Path
from string import Template

from harness.suite.forms import Form, generator, refuse

TASK, FAMILY, DRAWS = "A02", 1, 200
WORLD = Path(__file__).parent / "world"
NAMES = tomllib.loads((WORLD / "names.toml").read_text(encoding="utf-8"))
LOGBOOK = tomllib.loads((WORLD / "logbook.toml").read_text(encoding="utf-8"))
KEYS = tuple(f"q{number}" for number in range(1, 13))
YEARS, KEEPERS, ENTRIES, FITTED = 6, 5, 30, 4
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
OPEN_PRICES = {
    "list_files": [1, 0],
    "read_file": [2, 200],
    "search": [4, 0],
    "sql": [3, 10],
    "http_get": [5, 0],
}
FACTORS = (1.1, 1.25, 1.45, 1.9, 2.4)  # of what a careful agent spends

# A logbook costs the same at every price that a form may draw, hence the narrow lengths.
BANDS = {
    "shortest_logbook": (1_345, 1_395),
    "longest_logbook": (1_345, 1_395),
    "characters_of_page": (350, 520),
    "counted": (5, 24),
    "different": (12, 12),
    "late_codes": (1, 1),
    "unmarked_cuts": (0, 0),
}
CUT_PERCENT = 55  # of an answer that breaks off are left
HITS = 6  # lines that a search shows

Pair = tuple[str, int]


class Archive:
    """What the archive says: facts first, then its texts.

    parts : (station, year) → part → number; inspectors : (station, year) → name
    rows : of the table keepers; codes : station → harbour code, signal code, light
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        by_initial = {name[0]: name for name in NAMES["stations"]}
        self.stations = sorted(rng.sample(sorted(by_initial.values()), 6))
        first = rng.randint(1871, 1891)
        self.years = list(range(first, first + YEARS))
        self.pairs = [(station, year) for station in self.stations for year in self.years]
        numbers = iter(self._codes(len(self.pairs) * FITTED))
        self.parts = {
            pair: {part: next(numbers) for part in rng.sample(NAMES["parts"], FITTED)}
            for pair in self.pairs
        }
        people = {pair: rng.sample(NAMES["surnames"], 2) for pair in self.pairs}
        self.inspectors = {pair: names[0] for pair, names in people.items()}
        self.logs = {
            f"logs/{pair[0]}_{pair[1]}.txt": self._logbook(pair, people[pair][1])
            for pair in self.pairs
        }
        self.rows = self._keepers()
        self.codes = self._stations()
        self.page = self._page()

    def _codes(self, count: int) -> list[str]:
        """Return numbers of parts, such as HK-4471, all different."""
        digits = self.rng.sample(range(1_001, 10_000), count)
        return ["".join(self.rng.choices(LETTERS, k=2)) + f"-{number}" for number in digits]

    def _logbook(self, pair: Pair, visitor: str) -> str:
        """Return a logbook of a length within the band."""
        low, high = BANDS["shortest_logbook"]
        for _ in range(DRAWS):
            text = self._written(pair, visitor)
            if low <= len(text) <= high:
                return text
        return text

    def _written(self, pair: Pair, visitor: str) -> str:
        rng = self.rng
        said = [
            _filled(LOGBOOK["fitted"], part=part, number=number)
            for part, number in self.parts[pair].items()
        ]
        said.append(_filled(rng.choice(LOGBOOK["inspected"]), name=self.inspectors[pair]))
        said.append(_filled(rng.choice(LOGBOOK["visited"]), name=visitor))
        tended = rng.sample(LOGBOOK["tended"], FITTED)
        named = rng.sample(NAMES["parts"], FITTED)
        said += [_filled(text, part=part) for text, part in zip(tended, named, strict=True)]
        said += rng.sample(LOGBOOK["quiet"], ENTRIES - len(said))
        rng.shuffle(said)
        days = sorted(rng.sample(range(12 * 28), ENTRIES))
        lines = [_filled(LOGBOOK["heading"], station=pair[0], year=pair[1])]
        for day, text in zip(days, said, strict=True):
            month = NAMES["months"][day // 28]
            lines.append(_filled(LOGBOOK["entry"], day=day % 28 + 1, month=month, text=text))
        return "\n".join(lines) + "\n"

    def _keepers(self) -> list[list[int | str]]:
        """Return five keepers for each station and year, in no order but that of their ids."""
        rng = self.rng
        base = {station: rng.randint(58, 84) for station in self.stations}
        places = [pair for pair in self.pairs for _ in range(KEEPERS)]
        rng.shuffle(places)
        rows: list[list[int | str]] = []
        for number, (station, year) in enumerate(places, 1):
            name = f"{rng.choice(NAMES['first_names'])} {rng.choice(NAMES['surnames'])}"
            rows.append([number, name, station, year, base[station] + rng.randint(-18, 32)])
        return rows

    def _stations(self) -> dict[str, list[str]]:
        """Return station → harbour code, signal code, light; all codes differ."""
        rng = self.rng
        numbers = rng.sample(range(11, 100), 12)
        codes = [f"{a}{n}{b}" for n in numbers for a, b in [rng.sample(LETTERS, 2)]]
        lights = rng.sample(NAMES["lights"], 6)
        order = rng.sample(self.stations, 6)
        return {
            station: [codes[2 * place], codes[2 * place + 1], lights[place]]
            for place, station in enumerate(order)
        }

    def _page(self) -> str:
        template = (WORLD / "station_line.txt").read_text(encoding="utf-8").strip()
        lines = [
            _filled(template, station=station, harbour=codes[0], signal=codes[1], light=codes[2])
            for station, codes in self.codes.items()
        ]
        return _filled((WORLD / "stations.txt").read_text(encoding="utf-8"), lines="\n".join(lines))


def _filled(text: str, /, **values: object) -> str:
    return Template(text).substitute(values)


class Questions:
    """The twelve questions on an archive, their answers, and the errors that have a name."""

    def __init__(self, archive: Archive, rng: random.Random) -> None:
        self.answers: dict[str, str] = {}
        self.traps: dict[str, dict[str, str]] = {}
        # Each of the six stands in the logbook of another station: no search shows two of them.
        stations = rng.sample(archive.stations, 6)
        years = rng.sample(archive.years, 6)
        places = list(zip(stations, years, strict=True))
        self.parts: list[list[str | int]] = []
        for key, pair in zip(KEYS[:3], places[:3], strict=True):
            self._ask_part(archive, rng, key, pair)
        self.inspectors = [
            self._inspector(archive, key, pair)
            for key, pair in zip(KEYS[3:6], places[3:], strict=True)
        ]
        self.table = self._table(archive, rng)
        codes = rng.sample(archive.stations, 2)
        self.codes = [[key, station] for key, station in zip(KEYS[10:], codes, strict=True)]
        for key, station in self.codes:
            self.answers[key] = archive.codes[station][0]
            self.traps[key] = {"signal code": archive.codes[station][1]}

    def _ask_part(self, archive: Archive, rng: random.Random, key: str, pair: Pair) -> None:
        """Ask for the number of a part that no other question names."""
        fitted = archive.parts[pair]
        part = rng.choice([p for p in fitted if p not in [asked[1] for asked in self.parts]])
        self.answers[key] = fitted[part]
        near = sorted(archive.pairs, key=lambda other: (other[0] != pair[0], other))
        elsewhere = [archive.parts[other].get(part) for other in near if other != pair]
        self.traps[key] = {
            "another logbook": next(number for number in elsewhere if number),
            "another part": next(number for name, number in fitted.items() if name != part),
        }
        self.parts.append([key, part, *pair])

    def _inspector(self, archive: Archive, key: str, pair: Pair) -> list[str | int]:
        station, year = pair
        self.answers[key] = archive.inspectors[pair]
        near = year + 1 if year < archive.years[-1] else year - 1
        self.traps[key] = {"another logbook": archive.inspectors[station, near]}
        return [key, station, year]

    def _table(self, archive: Archive, rng: random.Random) -> dict[str, list[str | int]]:
        """Draw two sums, a count and a maximum of the column wage."""
        sums, counted, highest = rng.sample(archive.stations, 3)
        year = rng.choice(archive.years)
        wages = {
            station: sorted(int(row[4]) for row in archive.rows if row[2] == station)
            for station in archive.stations
        }
        limit = rng.choice(wages[counted][6:24])
        everyone = [wage for station in archive.stations for wage in wages[station]]
        above = sum(wage > limit for wage in wages[counted])
        self.answers |= {
            "q7": str(sum(wages[sums])),
            "q8": str(above),
            "q9": str(sum(int(row[4]) for row in archive.rows if row[3] == year)),
            "q10": str(wages[highest][-1]),
        }
        self.traps |= {
            "q7": {"all stations": str(sum(everyone))},
            "q8": {
                "the limit itself counted": str(sum(w >= limit for w in wages[counted])),
                "all stations": str(sum(wage > limit for wage in everyone)),
            },
            "q9": {"all years": str(sum(everyone))},
            "q10": {
                "all stations": str(max(everyone)),
                "the lowest": str(wages[highest][0]),
            },
        }
        return {"q7": [sums], "q8": [counted, limit], "q9": [year], "q10": [highest]}


def form(seed: str) -> Form:
    """Return the form of a seed; FormError if no draw lies in the bands."""
    rng = generator(TASK, FAMILY, seed)
    problems: list[str] = []
    for _ in range(DRAWS):
        archive = Archive(rng)
        asked = Questions(archive, rng)
        structure = _structure(archive, asked)
        problems = [
            f"{name} is {structure[name]:g}, outside {low} to {high}"
            for name, (low, high) in BANDS.items()
            if not low <= structure[name] <= high
        ]
        if not problems:
            return _form(seed, rng, archive, asked, structure)
    raise refuse(TASK, seed, problems)


def _structure(archive: Archive, asked: Questions) -> dict[str, float]:
    lengths = [len(text) for text in archive.logs.values()]
    wrong = [set(asked.traps[key].values()) for key in KEYS]
    answers = [asked.answers[key] for key in KEYS]
    late = [archive.page.index(asked.answers[key]) / len(archive.page) for key in KEYS[10:]]
    return {
        "shortest_logbook": min(lengths),
        "longest_logbook": max(lengths),
        "characters_of_page": len(archive.page),
        "counted": int(asked.answers["q8"]),
        # Answers that differ from each other and from what their own known errors lead to.
        "different": len(set(answers)) - sum(a in w for a, w in zip(answers, wrong, strict=True)),
        # 1 if a page that breaks off lacks one of the two codes (and 0.6 is behind the break).
        "late_codes": float(max(late) > 0.6),
        "unmarked_cuts": sum(
            _cut(archive.logs, text, path).endswith(".")
            for text, station, year in _searches(asked)
            for path in (f"logs/{station}_{year}.txt", f"logs/{station}")
        ),
    }


def _searches(asked: Questions) -> list[tuple[str, str, int]]:
    """Return what a reader of the questions may search for, and where."""
    texts: list[tuple[str, str, int]] = []
    for _, part, station, year in asked.parts:
        said = ("Fitted", "number", f"new {part}", f"{part}, number", str(part))
        texts += [(text, str(station), int(year)) for text in said]
    for _, station, year in asked.inspectors:
        texts += [(text, str(station), int(year)) for text in ("inspected by", "inspect")]
    return texts


def _cut(logs: dict[str, str], text: str, prefix: str) -> str:
    """Return what is left of the answer of a search when it breaks off."""
    hits = [
        f"{path}:{number}: {line}"
        for path in sorted(logs)
        if path.startswith(prefix)
        for number, line in enumerate(logs[path].splitlines(), 1)
        if text.casefold() in line.casefold()
    ]
    shown = hits[:HITS]
    if len(shown) < len(hits):
        shown.append(f"({len(shown)} lines shown of {len(hits)})")
    answer = "\n".join(shown)
    return answer[: len(answer) * CUT_PERCENT // 100].rstrip()


def _form(
    seed: str,
    rng: random.Random,
    archive: Archive,
    asked: Questions,
    structure: dict[str, float],
) -> Form:
    prices = _prices(seed, rng)
    bands = _spending(prices)
    lengths = [len(text) for text in archive.logs.values()]
    values = {
        "stations": archive.stations,
        "years": archive.years,
        "log_chars": 10 * round(sum(lengths) / len(lengths) / 10),
        "parts": asked.parts,
        "inspectors": asked.inspectors,
        "table": asked.table,
        "codes": asked.codes,
        "prices": prices,
        "bands": bands,
        "budget": bands[2],
        "hard_stop": 2 * bands[2],
        "hits": HITS,
        "logs": archive.logs,
        "keepers": archive.rows,
        "page": archive.page,
    }
    return Form(
        task=TASK,
        family=FAMILY,
        seed=seed,
        values=values,
        keys=KEYS,
        answers={key: asked.answers[key] for key in KEYS},
        traps={key: asked.traps[key] for key in KEYS},
        structure={**structure, "careful": careful(prices)},
    )


def _prices(seed: str, rng: random.Random) -> dict[str, list[int]]:
    """Return tool → base, and the started step that costs one more (0: none).

    The open form has the published ones. The others move by up to a fifth, as far as a logbook,
    a row and 50 rows keep their price: so the ladder has the same points in every form.
    """
    prices = {tool: list(price) for tool, price in OPEN_PRICES.items()}
    drawn = rng.choice((200, 210, 220)), rng.choice((10, 11, 12)), rng.choice((4, 5))
    if seed != "open":
        prices["read_file"][1], prices["sql"][1], prices["http_get"][0] = drawn
    return prices


def careful(prices: dict[str, list[int]]) -> int:
    """Return what the cheapest known way costs at most, with two calls of it repeated.

    Six searches, one statement with at most one step of rows, one page. Each schedule costs one
    search and either the statement or the page once more.
    """
    search, statement, page = prices["search"][0], prices["sql"][0] + 1, prices["http_get"][0]
    return 6 * search + statement + page + search + max(statement, page)


def _spending(prices: dict[str, list[int]]) -> list[int]:
    """Return the bands of spending, from the narrowest: even numbers nearest to the multiples."""
    return [2 * round(factor * careful(prices) / 2) for factor in FACTORS]
