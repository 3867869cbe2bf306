"""Whether the statements of one drawn folder are true, for scripts/measure/coverage."""

import dataclasses
import random
import statistics

import coverage_folders as folders
from coverage_folders import AREAS, PAIRS, RANKED, SHARES, VARIABLES

# Five standard deviations of the ranked variable in a tract, rounded up.
FAR = 32
# Stated probabilities that are counted together.
PROBABILITIES = [(0, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1)]


@dataclasses.dataclass
class Case:
    """One statement about one folder: its stated probability, and whether it is true."""

    quantity: str
    confidence: str
    stated: float
    inside: bool
    # Whether the statement is a lower bound on the probability.
    at_least: bool = False


def cases_of(folder, program, number, narrow):
    """Draws the folder of this number, and estimates from it: the cases, and the errors over their standard deviations by name."""
    chance = random.Random(number)
    races, ages = folders.people(chance)
    folders.draw(program, folder, "races", number, races)
    folders.draw(program, folder, "ages", number, ages)
    drawn = Drawn(lambda *options: folders.estimate(program, folder, *options), number, folders.truth(races), 1 - narrow / 100, chance)
    drawn.margins()
    drawn.medians(ages)
    drawn.compared("90")
    return drawn.cases, drawn.errors


class Drawn:
    """A folder that is drawn, and its cases. Every half of an interval is made shorter by the factor `keep`."""

    def __init__(self, estimate, number, truth, keep, chance):
        self.estimate, self.number, self.truth, self.keep, self.chance = estimate, number, truth, keep, chance
        self.cases, self.errors = [], {}

    def turn(self, names):
        """One of these in turn."""
        return names[self.number % len(names)]

    def within(self, quantity, confidence, ends, estimate, truth, at_least=False):
        """The case of an interval with an estimate in it."""
        low, high = (estimate + self.keep * (end - estimate) for end in ends)
        self.cases.append(Case(quantity, f"{confidence} %", int(confidence) / 100, low <= truth <= high, at_least))

    def margins(self):
        """Margins and intervals that respect zero at both levels of confidence; differences, shares and ranks at the first."""
        options = ["--tabulation", *AREAS, "--variables", ",".join(VARIABLES), "--confidence", "95,90", "--non-negative"]
        said, rows = self.estimate("races", self.number, *options, *comparisons(PAIRS))
        known = {(row["GEOID"], row["variable"]): row for row in rows}
        for variable in VARIABLES:
            for level, areas in AREAS.items():
                area = self.turn(areas)
                row, truth = known[area, variable], self.truth[area, variable]
                estimate = estimate_of(row)
                name = f"{variable}, {level}"
                self.errors[name] = (estimate - truth) / (float(row["moe_95"]) / statistics.NormalDist().inv_cdf(0.975))
                for confidence in ("95", "90"):
                    margin = float(row[f"moe_{confidence}"])
                    self.within(f"margin, {name}", confidence, (estimate - margin, estimate + margin), estimate, truth)
                    if variable == "P1_007N":
                        ends = float(row[f"lower_{confidence}"]), float(row[f"upper_{confidence}"])
                        self.within(f"non-negative interval, {name}", confidence, ends, min(max(estimate, ends[0]), ends[1]), truth)
        self.pair = self.neighbors(rows)
        self.differences(said, "95")
        self.ranks(said, "95", [area for areas in AREAS.values() for area in areas])

    def compared(self, confidence):
        """Differences, shares and ranks of tracts, and the probabilities of ranks and of the larger one of two."""
        options = ["--tabulation", "Tract", "--variables", ",".join(VARIABLES), "--confidence", confidence]
        said, _ = self.estimate("races", self.number, *options, *comparisons([*PAIRS, self.pair]))
        self.differences(said, confidence)
        self.ranks(said, confidence, AREAS["Tract"])
        self.rank_probabilities(said)
        self.larger(said)

    def differences(self, said, confidence):
        """Differences of two areas, and shares by both methods."""
        for variable in VARIABLES:
            found = [own for own in said["differences"] if own["within"] == variable and (own["first"], own["second"]) in PAIRS]
            own = self.turn(found)
            truth = self.truth[own["first"], variable] - self.truth[own["second"], variable]
            low, high = (own["difference"] + sign * own[f"moe_{confidence}"] for sign in (-1, 1))
            self.within(f"difference, {variable}, Tract", confidence, (low, high), own["difference"], truth)
        for share in SHARES:
            part, whole = share.split("/")
            found = [own for own in said["shares"] if (own["first"], own["second"]) == (part, whole)]
            own = self.turn([own for own in found if own["within"] in AREAS["Tract"]])
            truth = self.truth[own["within"], part] / self.truth[own["within"], whole]
            ends = [own["share"] + sign * own[f"moe_{confidence}_delta"] for sign in (-1, 1)]
            self.within(f"share by the delta method, {share}, Tract", confidence, ends, own["share"], truth)
            self.within(f"share by Fieller, {share}, Tract", confidence, own[f"fieller_{confidence}"], own["share"], truth)

    def ranks(self, said, confidence, areas):
        """The interval of an area's rank; areas with equal counts have all their ranks."""
        own = next(own for own in said["ranks"] if own["area"] == self.turn(areas))
        truths = [self.truth[area, RANKED] for area in areas]
        truth = self.truth[own["area"], RANKED]
        first, last = 1 + sum(other > truth for other in truths), sum(other >= truth for other in truths)
        inside = own[f"rank_first_{confidence}"] <= last and first <= own[f"rank_last_{confidence}"]
        self.cases.append(Case(f"interval of a rank of {len(areas)}, {RANKED}", f"{confidence} %", int(confidence) / 100, inside, True))

    def rank_probabilities(self, said):
        """The probability of an area's likeliest rank: as the true counts of tracts are uniform in wide bounds, it is the share of the cases
        in which this is the rank. Areas near the bounds are left out, by their estimates."""
        own = next(own for own in said["ranks"] if own["area"] == self.turn(AREAS["Tract"]))
        if is_inner(own["estimate"]):
            stated = max(own["rank_probabilities_normal"])
            ranked = sorted(AREAS["Tract"], key=lambda area: (self.truth[area, RANKED], self.chance.random()), reverse=True)
            inside = ranked.index(own["area"]) == own["rank_probabilities_normal"].index(stated)
            self.probability("of a rank", stated, inside)

    def neighbors(self, rows):
        """Two tracts, neighbors in the order of their estimates."""
        estimates = {row["GEOID"]: estimate_of(row) for row in rows if row["variable"] == RANKED and row["level"] == "Tract"}
        at = self.number % (len(estimates) - 1)
        pair = sorted(estimates, key=estimates.get)[at : at + 2]
        self.chance.shuffle(pair)
        return tuple(pair)

    def larger(self, said):
        """The probability that the one area with the larger estimate has the larger count."""
        own = next(own for own in said["differences"] if own["within"] == RANKED and (own["first"], own["second"]) == self.pair)
        if all(is_inner(estimate) for estimate in own["estimates"]):
            normal = statistics.NormalDist()
            stated = min(max(own["probability_first_larger_normal"], 1e-12), 1 - 1e-12)
            stated = normal.cdf(normal.inv_cdf(stated) / self.keep)
            first, second = ((self.truth[own[name], RANKED], self.chance.random()) for name in ("first", "second"))
            self.probability("of the larger of two", max(stated, 1 - stated), (first > second) == (stated > 0.5))

    def probability(self, what, stated, inside):
        """A stated probability, among those that are near it."""
        low, high = next((low, high) for low, high in PROBABILITIES if stated <= high)
        self.cases.append(Case(f"probability {what}, {low} to {high}", "", stated, inside))

    def medians(self, ages):
        """The medians of the tracts and counties."""
        said, _ = self.estimate("ages", self.number, "--tabulation", "County", "Tract", "--queries", "classes", "--median", "age")
        for level in ("County", "Tract"):
            own = next(own for own in said["medians"] if own["area"] == self.turn(AREAS[level]))
            ends = own["lower_95"], own["upper_95"]
            self.within(f"median age, {level}", "95", ends, own["median"], folders.true_median(ages, own["area"]))


def comparisons(pairs):
    """The options for differences of pairs of areas, shares and ranks."""
    options = [option for pair in pairs for option in ("--difference", ",".join(pair))]
    return [*options, *(option for share in SHARES for option in ("--share", share)), "--rank", RANKED]


def estimate_of(row):
    """The estimate of a row, whose heading says that the seed is insecure."""
    return float(next(value for name, value in row.items() if name.startswith("estimate")))


def is_inner(estimate):
    """Whether the count of a tract with this estimate is within the bounds of all counts, up to an error of five standard deviations."""
    low, high = folders.BOUNDS
    return low + FAR <= estimate <= high - FAR
