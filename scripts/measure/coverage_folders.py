"""Invented small states with their true counts, drawn and estimated by the program, for scripts/measure/coverage."""

import collections
import csv
import json
import os
import subprocess
import sys

# Two states of two counties with two tracts each; a tract has two block groups of two blocks.
TRACTS = [f"{state}{county:03}{tract:06}" for state in ("06", "09") for county in (1, 3) for tract in (100, 200)]
BLOCKS = {tract: [f"{tract}{group}{block:03}" for group in (1, 2) for block in (1, 2)] for tract in TRACTS}
DIGITS = {"State": 2, "County": 5, "Tract": 11}
AREAS = {level: sorted({tract[:digits] for tract in TRACTS}) for level, digits in DIGITS.items()}
# Everybody, White alone, Native Hawaiian and Other Pacific Islander alone (few people), Hispanic, and of voting age.
VARIABLES = ["P1_001N", "P1_003N", "P1_007N", "P2_002N", "P3_001N"]
# The variable that is ranked; it is uniform in these bounds in each tract, a wide range in comparison with its noise.
RANKED, BOUNDS = "P2_002N", (50, 199)
SHARES = ["P2_002N/P1_001N", "P1_003N/P1_001N"]
PAIRS = [(TRACTS[0], TRACTS[1]), (TRACTS[2], TRACTS[6])]
# The products that are drawn: their releases, and the columns of their counts.
RELEASES = {"races": "pl94-persons-us", "ages": "ages.toml"}
COLUMNS = {"races": ["block", "hhgq", "votingage", "hispanic", "cenrace"], "ages": ["block", "sex", "age"]}
AGES, ORIGINS = ("below-18", "18-and-over"), ("not-hispanic", "hispanic")
CLASSES = [(start, start + 10) for start in range(0, 60, 10)]


def release_of_ages():
    """A release file: sex by single year of age, and the classes."""
    def values(numbers):
        return ", ".join(f'"{number}"' for number in numbers)

    groups = ", ".join(f"[{values(range(*ends))}]" for ends in CLASSES)
    text = f"""name = "invented-ages"
title = "Ages of an invented state"
source = "scripts/measure/coverage_folders.py"
neighbors = "bounded"
rho = "1/2"
sigma2_times_rho = "1"
[[attribute]]
name = "sex"
values = ["male", "female"]
[[attribute]]
name = "age"
values = [{values(range(CLASSES[-1][1]))}]
[[recode]]
name = "classes"
attribute = "age"
groups = [{groups}]
"""
    for level in ("US", "State", "County", "Tract", "Block_Group", "Block"):
        text += f'[[level]]\nname = "{level}"\nproportion = "1/6"\n'
        for query in ("classes", "detailed"):
            text += f'[[level.query]]\nname = "{query}"\nproportion = "1/2"\n'
    return text


def people(chance):
    """The cells of the blocks of both files: races and origins by block, and ages by block."""
    cells, ages = collections.Counter(), collections.Counter()
    for tract in TRACTS:
        # Hispanic origin, race and the count.
        groups = [(1, 0, BOUNDS), (0, 0, (200, 900)), (0, 4, (0, 4)), (0, 1, (0, 90))]
        groups = [(hispanic, race, chance.randint(*bounds)) for hispanic, race, bounds in groups]
        for hispanic, race, count in groups:
            for _ in range(count):
                own = 5 if hispanic and chance.random() < 0.4 else race
                age = AGES[chance.random() < 0.77]
                cells[chance.choice(BLOCKS[tract]), "household", age, ORIGINS[hispanic], own] += 1
        middle = chance.randint(15, 45)
        for _ in range(chance.randint(150, 600)):
            age = min(59, max(0, int(chance.gauss(middle, 18))))
            ages[chance.choice(BLOCKS[tract]), chance.choice(("male", "female")), age] += 1
    return cells, ages


def truth(cells):
    """The true count of each variable in each area."""
    counts = collections.Counter()
    for (block, _, age, origin, race), count in cells.items():
        belongs = {"P1_001N": True, "P1_003N": race == 0, "P1_007N": race == 4, "P2_002N": origin == ORIGINS[1], "P3_001N": age == AGES[1]}
        for digits in DIGITS.values():
            for variable in VARIABLES:
                counts[block[:digits], variable] += count * belongs[variable]
    return counts


def true_median(ages, area):
    """The median of the true counts of the classes, spread evenly within each."""
    counts = [0] * len(CLASSES)
    for (block, _, age), count in ages.items():
        counts[age // 10] += count * block.startswith(area)
    half = sum(counts) / 2
    for (start, end), count in zip(CLASSES, counts):
        if half <= count:
            return start + (end - start) * half / count
        half -= count


def prepare(folder, assay):
    """The blocks, the release of ages, and the spines of both products; they are the same for all folders."""
    blocks = [block for tract in TRACTS for block in BLOCKS[tract]]
    (folder / "blocks.csv").write_text("\n".join(["block", *blocks]) + "\n")
    (folder / "ages.toml").write_text(release_of_ages())
    for product, release in RELEASES.items():
        (folder / "plan.toml").write_text(f'settings = "redistricting-persons"\nrelease = "{release}"\n')
        run(assay, folder, "spine", "--blocks", "blocks.csv", "--plan", "plan.toml", "--out", f"spine-{product}")


def run(assay, folder, *command):
    """Runs the program in a folder, on one thread."""
    surroundings = {**os.environ, "RAYON_NUM_THREADS": "1"}
    done = subprocess.run([assay, *map(str, command)], cwd=folder, capture_output=True, text=True, env=surroundings)
    if done.returncode:
        sys.exit(f"scripts/measure/coverage: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def draw(assay, folder, product, number, cells):
    """Draws noisy measurements of one product into its folder of this number, with an insecure seed: the people are invented."""
    own = folder / str(number)
    own.mkdir(exist_ok=True)
    with (own / f"{product}.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[*COLUMNS[product], "count"], *([*cell, count] for cell, count in cells.items())])
    run(assay, folder, "measure", "--spine", f"spine-{product}", "--counts", own / f"{product}.csv", "--release", RELEASES[product],
        "--files", "nmf", "--out", own / product, "--insecure-seed", number)


def estimate(assay, folder, product, number, *options):
    """The program's answer about a folder, and the rows of its file."""
    own = folder / str(number)
    out = own / "estimates.csv"
    said = run(assay, folder, "nmf", "estimate", own / product, "--release", RELEASES[product], "--out", out, "--json", *options)
    with out.open(newline="") as file:
        return json.loads(said), list(csv.DictReader(file))
