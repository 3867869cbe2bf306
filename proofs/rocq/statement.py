"""Reads what Rocq answers to `Check` of a compiled theorem, and says it in a sentence: python3 -I statement.py MODULE THEOREM ANSWER CONFIRM

ANSWER is a file with Rocq's answer. CONFIRM is written: a file for Rocq that states the same claim again, from what was read here, before it loads the theorem, and asks
whether the theorem proves it. So a misread answer is refused by Rocq's kernel, and the sentence is about the claim that it confirmed. The sentence and the claim are printed.
A word, number or line that is not understood is refused. Exit status: 0 read, 1 refused, 2 wrong arguments.
"""

import re
import sys

NAME = r"[A-Za-z][A-Za-z0-9_]*"
THEOREMS = ("epsilon_is_between", "delta_is_between", "noise_is_enough", "tradeoff_point_is_between", "worst_epsilon_is_between")
TOKEN = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?(?![A-Za-z0-9_.'])|[A-Za-z_][A-Za-z0-9_.']*|/\\|\+\+|<=|[()\[\];~</]")
LONGEST = 1 << 20

CONFIRM = """From Coq Require Import Reals ZArith List.
From DpAssay Require Import HockeyStick Laplace Response Bounded Private Tradeoff Worst.
Import ListNotations.
Open Scope R_scope.
Definition claim : Prop :=
  {claim}.
From DpAssay Require {module}.
Definition confirmed : claim := DpAssay.{module}.{theorem}.
Print Assumptions confirmed.
"""


class Refused(Exception):
    pass


def tokens(text):
    """The words of a text; nothing but blanks stands between them."""
    found, at = [], 0
    for match in TOKEN.finditer(text):
        if text[at : match.start()].strip(" \n"):
            break
        found.append(match.group())
        at = match.end()
    if text[at:].strip(" \n"):
        raise Refused(f"not understood: {text[at:].split()[0]!a}")
    return found


class Reader:
    """Reads a claim word by word. Each argument of a law has one form: a whole number above 0 without parentheses, or (N / N)."""

    def __init__(self, words):
        self.words, self.at = words, 0

    def next(self):
        return self.words[self.at] if self.at < len(self.words) else "the end"

    def take(self, *expected):
        for word in expected:
            if self.next() != word:
                raise Refused(f"{self.next()!a} is where {word!a} is expected")
            self.at += 1

    def whole(self, what):
        word = self.next()
        if not re.fullmatch("[1-9][0-9]*", word):
            raise Refused(f"{what} is {word!a}, not a whole number above 0")
        self.at += 1
        return word

    def quotient(self, what):
        self.take("(")
        above = self.whole(f"the numerator of {what}")
        self.take("/")
        below = self.whole(f"the denominator of {what}")
        self.take(")")
        return above, below

    def value(self, what):
        """A decimal, or a quotient, of a number that the claim is about."""
        if self.next() == "(":
            return "/".join(self.quotient(what))
        word = self.next()
        if not re.fullmatch(r"(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[1-9][0-9]*)?", word):
            raise Refused(f"{what} is {word!a}, not a number")
        self.at += 1
        return word

    def law(self):
        kind = self.next()
        if kind not in LAWS:
            raise Refused(f"a law is one of {', '.join(LAWS)}, not {kind!a}")
        self.at += 1
        return kind, [self.quotient(what) if of is tuple else self.whole(what) for what, of in LAWS[kind]]

    def equal(self):
        self.take("repeat", "(")
        kind, arguments = self.law()
        self.take(")")
        return kind, arguments, self.whole("a number of copies")

    def composition(self):
        found = [self.equal()]
        while self.next() == "++":
            self.at += 1
            found.append(self.equal())
        return found

    def counts(self):
        self.take("(")
        found = self.composition()
        self.take(")")
        return found

    def claim(self):
        """The claim: its kind, its compositions, its values."""
        kind = self.next()
        if kind in ("smallest_epsilon", "tradeoff_is_between"):
            self.at += 1
            read = kind, [self.counts()], [self.value(what) for what in VALUES[kind]]
        elif kind == "worst_epsilon":
            self.take("worst_epsilon", "[")
            all_of_them = [self.composition()]
            while self.next() == ";":
                self.at += 1
                all_of_them.append(self.composition())
            self.take("]")
            read = kind, all_of_them, [self.value(what) for what in VALUES[kind]]
        elif kind == "private":
            read = self.calibration()
        else:
            lower = self.value("delta")
            self.take("<", "delta")
            counts, epsilon = self.counts(), self.value("epsilon")
            self.take("<=")
            read = "delta", [counts], [lower, epsilon, self.value("delta")]
        if self.at != len(self.words):
            raise Refused(f"more follows the claim: {self.next()!a}")
        return read

    def calibration(self):
        self.take("private")
        enough, values = self.counts(), [self.value("epsilon"), self.value("delta")]
        self.take("/\\", "~", "private")
        less = self.counts()
        if [self.value("epsilon"), self.value("delta")] != values:
            raise Refused("the two noises are about different epsilons or deltas")
        return "private", [enough, less], values


# The arguments of each law: a quotient of whole numbers, or a whole number.
LAWS = {
    "Count": (("sigma2", tuple), ("a shift", int)),
    "Laplace": (("epsilon", tuple), ("a shift", int)),
    "Response": (("epsilon", tuple),),
    "Box": (("epsilon", tuple), ("delta", tuple)),
    "TruncatedGaussian": (("sigma2", tuple), ("a bound", int), ("a shift", int)),
    "TruncatedLaplace": (("epsilon", tuple), ("a bound", int), ("a shift", int)),
    "Answers": (("epsilon", tuple), ("a number of answers", int)),
}
VALUES = {
    "smallest_epsilon": ("delta", "the lower end", "the upper end"),
    "worst_epsilon": ("delta", "the lower end", "the upper end"),
    "tradeoff_is_between": ("alpha", "the lower end", "the upper end"),
}


def again(value):
    return f"({value.replace('/', ' / ')})" if "/" in value else value


def text_of_equal(equal):
    kind, arguments, copies = equal
    words = [f"({value[0]} / {value[1]})" if isinstance(value, tuple) else value for value in arguments]
    return f"repeat ({kind} {' '.join(words)}) {copies}"


def text_of_composition(composition):
    return "\n     ++ ".join(map(text_of_equal, composition))


def claim_text(claim):
    """The claim as Rocq reads it."""
    kind, compositions, values = claim
    counts = [f"\n    ({text_of_composition(composition)})\n    " for composition in compositions]
    values = [again(value) for value in values]
    if kind == "worst_epsilon":
        listed = ";\n     ".join(map(text_of_composition, compositions))
        return f"{kind}\n    [{listed}]\n    {' '.join(values)}"
    if kind == "private":
        return f"private{counts[0]}{' '.join(values)}\n  /\\ ~ private{counts[1]}{' '.join(values)}"
    if kind == "delta":
        return f"{values[0]}\n  < delta{counts[0]}{values[1]}\n  <= {values[2]}"
    return f"{kind}{counts[0]}{' '.join(values)}"


def many(number, one, more):
    return f"{number} {one if number == '1' else more}"


def words_of_equal(equal):
    kind, arguments, copies = equal
    part = [value if isinstance(value, str) else value[0] if value[1] == "1" else "/".join(value) for value in arguments]
    if kind == "Response":
        return f"{many(copies, 'randomized response', 'randomized responses')} with epsilon = {part[0]}"
    if kind == "Answers":
        return f"{many(copies, 'randomized response', 'randomized responses')} of {part[1]} answers with epsilon = {part[0]}"
    if kind == "Box":
        pairs = many(copies, "pair that dominates", "pairs that dominate")
        return f"{pairs} every mechanism with epsilon = {part[0]} and delta = {part[1]}"
    noise = f"discrete Laplace noise of epsilon = {part[0]}" if "Laplace" in kind else f"discrete Gaussian noise of sigma2 = {part[0]}"
    truncated = f", truncated to -{part[1]} to {part[1]}" if kind.startswith("Truncated") else ""
    return f"{many(copies, 'count', 'counts')} with {noise}{truncated}, moved by {part[-1]}"


def sentence(claim):
    """The claim in plain words."""
    kind, compositions, values = claim
    of = ["of " + ", and of ".join(map(words_of_equal, composition)) for composition in compositions]
    if kind == "smallest_epsilon":
        delta, lower, upper = values
        return f"{of[0]}: at delta = {delta} the smallest epsilon is between {lower} and {upper}, over all events and both directions of neighbors"
    if kind == "worst_epsilon":
        delta, lower, upper = values
        return (
            f"of the worst of {len(compositions)} compositions, listed below: at delta = {delta} the smallest epsilon that is enough for "
            f"all of them is between {lower} and {upper}, over all events and both directions of neighbors"
        )
    if kind == "delta":
        lower, epsilon, upper = values
        return f"{of[0]}: delta at epsilon = {epsilon} is above {lower} and at most {upper}, over all events"
    if kind == "private":
        epsilon, delta = values
        return f"{of[0]}: no event distinguishes the neighbors by more than epsilon = {epsilon} and delta = {delta}; {of[1]}: some event does"
    alpha, lower, upper = values
    return (
        f"{of[0]}: no test with a type I error of at most {alpha} has a type II error below {lower}, and some test has one of at most {upper}"
    )


def read(module, theorem, answer):
    """The claim in Rocq's answer to `Check`, whose first word is the name of the theorem."""
    if not re.fullmatch(NAME, module) or theorem not in THEOREMS:
        raise Refused(f"no theorem of this program: {module!a}.{theorem!a}")
    if len(answer) > LONGEST:
        raise Refused(f"an answer has at most {LONGEST} characters")
    name, colon, rest = answer.partition("\n     : ")
    if name != f"{module}.{theorem}" or not colon:
        raise Refused(f"Rocq's answer is not about {module}.{theorem}: {answer[:60]!a}")
    words = tokens(rest)
    claim = Reader(words).claim()
    # Nothing of the answer is left out: written again, it has the same words.
    if tokens(claim_text(claim)) != words:
        raise Refused("the answer, written again, has other words")
    return claim


def main(arguments):
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    module, theorem, answer, confirm = arguments
    try:
        with open(answer, encoding="ascii") as file:
            claim = read(module, theorem, file.read())
    except (Refused, UnicodeDecodeError) as why:
        print(f"the theorem is not of a form that can be said in a sentence: {why}", file=sys.stderr)
        return 1
    with open(confirm, "w", encoding="ascii") as file:
        file.write(CONFIRM.format(claim=claim_text(claim), module=module, theorem=theorem))
    print(sentence(claim))
    print(f"  {claim_text(claim)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
