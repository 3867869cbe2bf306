"""A synthetic state: blocks with people, for scripts/measure/scale-state and scripts/peers/peers_estimate.py."""

import random

# Blocks of a block group, block groups of a tract, and tracts of a county, close to those of California.
BLOCKS, GROUPS, TRACTS = 33, 3, 70
# Cells that are filled at random, with their share of a block's people: voting age, Hispanic origin and race.
CELLS = [("18-and-over", "not-hispanic", "0", 0.40), ("below-18", "not-hispanic", "0", 0.10),
         ("18-and-over", "hispanic", "0", 0.10), ("18-and-over", "hispanic", "5", 0.10), ("below-18", "hispanic", "5", 0.07),
         ("18-and-over", "not-hispanic", "3", 0.10), ("18-and-over", "not-hispanic", "1", 0.05),
         ("below-18", "not-hispanic", "1", 0.02), ("18-and-over", "not-hispanic", "10", 0.04), ("18-and-over", "hispanic", "2", 0.02)]  # fmt: skip


def most_blocks(tracts=TRACTS):
    """The largest number of blocks of a state with such counties."""
    return 400 * tracts * GROUPS * BLOCKS


def blocks(count, tracts):
    """The GEOIDs of this number of blocks of one state."""
    for number in range(count):
        group, block = divmod(number, BLOCKS)
        tract, group = divmod(group, GROUPS)
        county, tract = divmod(tract, tracts)
        yield f"06{2 * county + 1:03}{100 * (tract + 1):06}{group + 1}{block:03}"


def invent(folder, count, tracts=TRACTS, quarters=("college",)):
    """Writes blocks.csv, counts.csv, plan.toml and totals.csv: a hundred people in a block on average; one block in sixty has group
    quarters, of each of these types in turn. Returns the number of people."""
    chance, people, homes = random.Random(2020), 0, 0
    with (folder / "blocks.csv").open("w") as places, (folder / "counts.csv").open("w") as cells:
        places.write("block\n")
        cells.write("block,hhgq,votingage,hispanic,cenrace,count\n")
        for geoid in blocks(count, tracts):
            places.write(geoid + "\n")
            size = 1 + chance.expovariate(1 / 99)
            for age, hispanic, race, part in CELLS:
                number = int(size * part * 2 * chance.random() + chance.random())
                if number:
                    cells.write(f"{geoid},household,{age},{hispanic},{race},{number}\n")
                    people += number
            if chance.random() < 1 / 60:
                cells.write(f"{geoid},{quarters[homes % len(quarters)]},18-and-over,not-hispanic,0,40\n")
                homes += 1
                people += 40
    (folder / "plan.toml").write_text('settings = "redistricting-persons"\nrelease = "pl94-persons-us"\n')
    (folder / "totals.csv").write_text(f"state,total\n06,{people}\n")
    return people
