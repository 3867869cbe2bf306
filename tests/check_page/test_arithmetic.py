"""The arithmetic of the page: every enclosure against more digits, every precondition broken."""

import hashlib
import json
import random
import sys
from fractions import Fraction
from math import gcd, isqrt

import pytest

import check
from conftest import Opened

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)
MORE = 80  # bits beyond those of the page


@pytest.fixture(scope="module")
def run(driver):
    """Evaluates an expression of the page for each of many inputs, given as texts."""
    opened = Opened(driver)

    def each(expression, inputs):
        script = f"JSON.stringify(arguments[0].map(given => {expression}), (_, value) => typeof value === 'bigint' ? String(value) : value)"
        return json.loads(opened.run(script, inputs))

    return each


def number(value):
    return Fraction(int(value["above"]), int(value["below"]))


def texts(rows):
    return [[str(one) for one in row] for row in rows]


def test_pi_and_ln_2(run):
    for p, found in zip((1, 64, 1000, 7000), run("[pi(given), ln2(given)]", [1, 64, 1000, 7000])):
        assert abs(Fraction(int(found[0])) - Fraction(check.pi(p + MORE), 1 << MORE)) < Fraction(102, 100)
        ends = check.ln_ends(Fraction(2))  # to 1e-26
        assert p > 64 or all(abs(int(found[1]) - end * (1 << p)) < Fraction(102, 100) for end in ends)
    # exp(ln 2) = 2, to all digits: the next integers are beyond.
    for p, text in zip((500, 4000), run("String(ln2(given))", [500, 4000])):
        below, above = (check.exp_ends(Fraction(int(text) + off, 1 << p), p) for off in (-2, 2))
        assert below[1] < 2 < above[0]


def test_exp_and_the_circle_are_within_their_units(run):
    draw, exponents, angles = random.Random(1), [], []
    for p in (32, 64, 131, 600):
        for _ in range(60):
            exponents.append((-draw.randrange(1 << (p + draw.randrange(-20, 8))), p))
            below = draw.randrange(1, 10**draw.randrange(1, 30))
            angles.append((draw.randrange(-10**30, 10**30), below, p))
        exponents += [(0, p), (-(8 * p << p) // 10, p), (-1, p)]
        angles += [(k, 8, p) for k in range(-9, 10)]
    for (u, p), value in zip(exponents, run("exp(BigInt(given[0]), Number(given[1]))", texts(exponents))):
        truth = check.exp(u << MORE, 0, p + MORE)[0]
        assert abs((int(value) << MORE) - truth) <= 1.1 * 2**MORE + 2, (u, p)
    for (above, below, p), (x, y) in zip(angles, run("onCircle(BigInt(given[0]), BigInt(given[1]), Number(given[2]))", texts(angles))):
        s, t = check.exp(0, check.turn(above, below, p + MORE), p + MORE)
        far = ((int(x) << MORE) - s) ** 2 + ((int(y) << MORE) - t) ** 2
        assert far <= (1.5 * 2**MORE + 8) ** 2, (above, below, p)


def test_ends_of_exp_and_ln_enclose_them(run):
    draw = random.Random(2)
    many = [Fraction(draw.randrange(-(10**6), 10**6), draw.randrange(62, 10**4)) for _ in range(150)] + [Fraction(0), Fraction(1, 10**40), Fraction(-16383), Fraction(16383)]
    for x, (lower, upper) in zip(many, run("expEnds(fraction(given, 'x', '-'), 80)", [str(x) for x in many])):
        least, most = check.exp_ends(x, 160)
        assert number(lower) <= least and most <= number(upper) and number(upper) - number(lower) < least / 2**100, x
    many = [1 + Fraction(1, 10**30), Fraction(10) ** 390, Fraction(1), Fraction(2), Fraction(3, 2)] + [Fraction(draw.randrange(10**6 + 1, 10**12), 10**6) for _ in range(100)]
    for x, ends in zip(many, run("lnEnds(fraction(given, 'x'))", [str(x) for x in many])):
        lower, upper = map(number, ends)
        least, most = check.ln_ends(x)
        assert max(lower, least) <= min(upper, most) and upper - lower < Fraction(1, 2**170), x
        # And exp of both ends encloses x.
        assert check.exp_ends(lower, 200)[0] <= x <= check.exp_ends(upper, 200)[1], x


def test_one_sided_bounds(run):
    many = [Fraction(1, 10**k) for k in range(0, 400, 7)] + [Fraction(k, 7) for k in range(1, 1500, 13)]
    for x, value in zip(many, run("expLessOne(fraction(given, 'x'))", [str(x) for x in many])):
        # Where exp has no digits left, exp(x) - 1 is from x to x + x^2.
        truth = min(check.exp_ends(x, 200)[1] - 1, x + x * x) if x < 1 else check.exp_ends(x, 200)[1] - 1
        assert 0 < number(value) <= truth and number(value) > truth * Fraction(99 if x < 99 else 30, 100), x
    many = [Fraction(k, 7) for k in range(-9000, 9000, 113)]
    for x, value in zip(many, run("expMost(fraction(given, 'x', '-'))", [str(x) for x in many])):
        assert check.exp_ends(x, 100)[0] <= number(value) <= 3 * check.exp_ends(x, 100)[1], x


def test_discs_hold_products_powers_and_quotients(run):
    draw, p, rows = random.Random(3), 64, []
    point = lambda: (Fraction(draw.randrange(-9, 9), 13), Fraction(draw.randrange(1, 9), 17))
    disc = lambda z: [int(z[0] * 2**p) + draw.randrange(-50, 50), int(z[1] * 2**p) + draw.randrange(-50, 50), 72]
    times = lambda z, w: (z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0])
    points = [(point(), point(), draw.randrange(1, 30)) for _ in range(200)]
    for z, w, n in points:
        rows.append([*disc(z), *disc(w), n])
    script = "(([x, y, r, s, t, e, n]) => [product([x, y, r], [s, t, e], 64n), power([x, y, r], n, 64n), reciprocal([x, y, r], 64n)])(given.map(BigInt))"

    def holds(found, z):
        x, y, r = map(int, found)
        return (x - z[0] * 2**p) ** 2 + (y - z[1] * 2**p) ** 2 <= r**2

    for (z, w, n), (one, other, last) in zip(points, run(script, texts(rows))):
        exact, square = z, z[0] ** 2 + z[1] ** 2
        for _ in range(n - 1):
            exact = times(exact, z)
        assert holds(one, times(z, w)) and holds(other, exact) and holds(last, (z[0] / square, -z[1] / square)), (z, w, n)


def test_factors_are_those_of_check_py(run):
    draw, rows = random.Random(4), []
    for sigma2 in ("1/20", "1/9", "3/4", "5", "4321/7"):
        for _ in range(8):
            below = draw.randrange(1, 10**6)
            rows.append([sigma2, str(draw.randrange(1, 4)), str(Fraction(draw.randrange(0, 50), 7)), str(draw.randrange(-below, 2 * below)), str(below)])
    script = "factor(new Group({ law: 'discrete-gaussian', count: 1n, shift: BigInt(given[1]), sigma2: given[0] }, ONE), fraction(given[2], 'c'), BigInt(given[3]), BigInt(given[4]), 96)"
    for (sigma2, shift, c, above, below), (x, y, r) in zip(rows, run(script, rows)):
        group = check.Group({"law": "discrete-gaussian", "count": 1, "shift": int(shift), "sigma2": sigma2}, Fraction(1))
        s, t, e = check.factor(group, Fraction(c), int(above), int(below), 96 + MORE)
        far = ((int(x) << MORE) - s) ** 2 + ((int(y) << MORE) - t) ** 2
        assert far <= ((int(r) << MORE) + e) ** 2 and int(r) < 400, (sigma2, shift, c)


def test_tables_tails_and_integers(run):
    (table,) = run("oneMinusCosines()", [0])
    for k, value in enumerate(table):
        truth = (1 << 120) - check.exp(0, check.turn(k, 4096, 120), 120)[0]
        assert 0 <= (truth + 4) - (int(value) << 80) <= 6 << 80, k
    many = [Fraction(k, 7) for k in range(-60, 60, 3)] + [Fraction(99), Fraction(-50)]
    for z, (lower, upper) in zip(many, run("normalTail(fraction(given, 'z', '-'))", [str(z) for z in many])):
        least, most = check.normal_tail(z)
        assert max(number(lower), least) <= min(number(upper), most) and number(upper) - number(lower) <= max(most / 10**15, Fraction(1, 10**45)), z
    draw = random.Random(5)
    pairs = [(draw.randrange(1, 10**draw.randrange(1, 90)), draw.randrange(1, 10**draw.randrange(1, 90))) for _ in range(200)] + [(4, 1), (2**64 - 1, 2**64), (2**63, 3)]
    script = "(([a, b]) => [gcd(a, b), root(a), bitLength(a), floorDivide(-a, b), ceilDivide(-a, b)])(given.map(BigInt))"
    for (a, b), found in zip(pairs, run(script, texts(pairs))):
        assert list(map(int, found)) == [gcd(a, b), isqrt(a), a.bit_length(), -a // b, -(a // b)], (a, b)
    masses = [[draw.randrange(0, 1 << 60) for _ in range(draw.randrange(1, 9))] for _ in range(30)]
    for one, other, found in zip(masses, masses[1:], run("convolved(given[0].map(BigInt), given[1].map(BigInt), 64)", [texts(two) for two in zip(masses, masses[1:])])):
        sums = [0] * (len(one) + len(other) - 1)
        for i, a in enumerate(one):
            for j, b in enumerate(other):
                sums[i + j] += a * b
        assert [int(value) for value in found] == [value >> 64 for value in sums]


def test_numbers_are_shown_as_check_py_shows_them(run):
    draw = random.Random(6)
    many = [Fraction(text) for text in ("1/10000000000", "5", "0", "1/3", "1/4", "1000", "10123456789012345678/1000000000", "-3/2", "1" + "0" * 30, "1/1000000", "123/100000000", "1/2500000000")]
    many += [Fraction(draw.randrange(-(10**40), 10**40), draw.choice([1, 10, 2**20, 5**9, 10**30, 3, 7, 10**60 - 1])) for _ in range(300)]
    for x, found in zip(many, run("(x => [shown(x), shown(x, 'down'), shown(x, 'up')])(fraction(given, 'x', '-'))", [str(x) for x in many])):
        assert found == [check.shown(x), check.shown(x, check.ROUND_FLOOR), check.shown(x, check.ROUND_CEILING)], x


def test_sha256_and_the_canonical_form(run):
    data = ["a" * n for n in [*range(0, 140), 1000, 100_000]]
    assert run("sha256(new TextEncoder().encode(given))", data) == [hashlib.sha256(text.encode()).hexdigest() for text in data]
    draw = random.Random(7)
    letters = ["a", "\"", "\\", "\n", "\x00", "\x1f", "\x7f", "é", "\u2028", "😀", "/", "\b", "u0041"]

    def value(depth):
        way = draw.randrange(6 if depth < 3 else 4)
        if way == 4:
            return [value(depth + 1) for _ in range(draw.randrange(4))]
        if way == 5:
            return {f"k{k}": value(depth + 1) for k in range(draw.randrange(4))}
        return [draw.randrange(-(10**20), 10**20), None, draw.choice([True, False]), "".join(draw.choice(letters) for _ in range(draw.randrange(6)))][way]

    written = [check.canonical(value(0)).decode() for _ in range(400)]
    script = "(() => { try { const one = new Reader(given), value = one.value(0); one.take('\\n'); return [one.at === given.length, written(value) + '\\n' === given]; } catch { return null; } })()"
    assert run(script, written) == [[True, True]] * len(written)
    # Text that Python would write in another way is refused.
    others = [" 1\n", "1 \n", "01\n", "-0\n", "1.0\n", "1e3\n", '"\\u0041"\n', '"\\/"\n', '"\\u000a"\n', '"\\u001F"\n', '"\\ud800"\n', '{"b":1,"a":2}\n', '{"a":1,"a":2}\n', "[1,]\n", "[1, 2]\n", '{"a": 1}\n',
              "NaN\n", "nul\n", '"a\n', "1", "[" * 100_000, "", "\ufeff1\n", '{"a":1,}\n', '{,}\n', "tru\n", '"\t"\n']
    for text, found in zip(others, run(script, others)):
        try:
            same = check.canonical(json.loads(text)).decode() == text and not isinstance(json.loads(text), float)
        except (ValueError, RecursionError):
            same = False
        assert not same and (found is None or found != [True, True]), text


BROKEN = [
    "exp(1n, 64)", "exp(0n, 31)", "onCircle(1n, 0n, 64)", "onCircle(1n, -1n, 64)", "pi(0)", "pi(65536)", "ln2(65536)", "root(-1n)", "power([1n, 0n, 0n], 0n, 64n)",
    "power([1n << 64n, 0n, 1n << 64n], 2n, 64n)", "reciprocal([0n, 0n, 0n], 64n)", "reciprocal([5n, 0n, 6n], 64n)", "lnEnds(new Fraction(1n, 2n))", "expEnds(Fraction.of(16384), 80)",
    "expEnds(Fraction.of(-16384), 80)", "expLessOne(ZERO)", "expLessOne(Fraction.of(-1))", "expMost(Fraction.of(16384))", "leastVariance(ZERO)", "normalTail(Fraction.of(100))",
    "normalTail(Fraction.of(-100))", "ONE.over(ZERO)", "factor(new Group({ law: 'discrete-gaussian', count: 1n, shift: 1n, sigma2: '1/30' }, ONE), ONE, 0n, 1n, 64)",
    "factor(new Group({ law: 'discrete-gaussian', count: 1n, shift: 1n, sigma2: '5' }, ONE), ONE, 0n, 0n, 64)",
    "highest([[ONE, ONE, ZERO, ZERO], [ONE, ONE, ONE, ONE], [TWO, TWO, ZERO, ZERO]])", "highest([[ZERO, ZERO, TWO, TWO], [ONE, ONE, ONE, ONE], [TWO, TWO, ZERO, ZERO]])",
    "highest([[ZERO, ZERO, ZERO, ZERO], [ONE, ONE, ONE, ONE], [TWO, TWO, TWO, TWO]])", "new Family({ paths: [], pairs: false }, ONE, new Work({}))", "new Family({ paths: [], pairs: false }, ZERO, new Work({}))",
]


def test_preconditions_are_checked(run):
    """A bound whose precondition does not hold is refused by the function itself."""
    for text in BROKEN:
        (found,) = run(f"(() => {{ try {{ {text}; return 'no refusal'; }} catch (error) {{ return error instanceof Refused ? 'refused' : String(error); }} }})()", [0])
        assert found == "refused", text
