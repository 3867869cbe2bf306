"""Enclosures, and numbers as arguments."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from dp_assay import Composition, DiscreteGaussian, DiscreteLaplace, Enclosure, Gaussian, Ledger, Release
from dp_assay.risk import Attack, HierarchicalAttack


def test_ends_are_exact_and_floats_are_rounded_by_name() -> None:
    third = Enclosure(Fraction(1, 3), "2/3")
    assert third.lower is not None and third.upper is not None
    assert third.lower <= Fraction(1, 3) and Fraction(2, 3) <= third.upper
    assert third.upper - third.lower < Fraction(1, 3) + Fraction(1, 2**250)
    assert Fraction(third.lower_decimal) == third.lower and Fraction(third.upper_decimal) == third.upper
    # The nearest floats to 1/3 and 2/3 are below and below: outward means the next one for the upper end.
    assert third.lower_float == 1 / 3 and third.upper_float == math.nextafter(2 / 3, 1)
    assert third.lower_float <= third.midpoint_float <= third.upper_float
    with pytest.raises(TypeError, match="upper_float"):
        float(third)
    exact = Enclosure("0.25", 10**30)
    assert (exact.lower, exact.upper) == (Fraction(1, 4), 10**30)


def test_comparisons_have_three_answers() -> None:
    one = Enclosure(1, 2)
    assert one.at_most(2) is True and one.at_most("0.5") is False and one.at_most(1.5) is None
    assert one.below(Enclosure(3, 4)) is True and one.below(1) is False and one.below(2) is None
    assert one <= 2 and one < 3 and one >= 1 and one > Fraction(1, 2) and not one < 1 and 2 >= one
    for undecided in (lambda: one < 2, lambda: one <= Enclosure(1, 5), lambda: one > 1, lambda: 1.5 < one):
        with pytest.raises(ValueError, match="too wide"):
            undecided()
    assert one == Enclosure(1, 2) and one != Enclosure(1, 3) and one != 1 and len({one, Enclosure(1, 2)}) == 1
    assert "3/2" in one and 3 not in one and one.overlaps(Enclosure(2, 3))


def test_arithmetic_contains_the_truth() -> None:
    a, b = Enclosure(1, 2), Enclosure("1/3", "1/2")
    for result, truth in (
        (a + b, Fraction(3, 2)),
        (a - b, Fraction(1)),
        (a * b, Fraction(1, 2)),
        (a / b, Fraction(3)),
        (1 - b, Fraction(3, 5)),
        (-a, Fraction(-3, 2)),
        (2 / a, Fraction(4, 3)),
        (100 * b, Fraction(40)),
    ):
        assert truth in result
    whole = a / Enclosure(-1, 1)
    assert whole.lower is None and whole.upper is None and whole.upper_float == math.inf
    assert whole.lower_decimal == Decimal("-Infinity")


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        (".5", "[0.33333, 0.33334]"),
        (".3f", "[0.333, 0.334]"),
        (".0f", "[0, 1]"),
        ("f", "[0.333333, 0.333334]"),
        (".2e", "[3.33e-01, 3.34e-01]"),
        (".2%", "[33.33%, 33.34%]"),
        (".3g", "[0.333, 0.334]"),
        ("g", "[0.333333, 0.333334]"),
        ("upper.3f", "0.334"),
        ("lower.3f", "0.333"),
        ("upper.1%", "33.4%"),
        (">18.3f", "    [0.333, 0.334]"),
        ("18.3f", "    [0.333, 0.334]"),
        ("<18.3f", "[0.333, 0.334]    "),
        ("*^18.3f", "**[0.333, 0.334]**"),
        ("upper>>8.3f", ">>>0.334"),
    ],
)
def test_formats_are_rounded_outward(spec: str, shown: str) -> None:
    third = Enclosure("1/3", "1/3")
    assert format(third, spec) == shown


def test_printed_ends_are_rounded_outward() -> None:
    third = Enclosure("1/3", "1/3")
    assert third.shown(4) == "0.3333"
    assert "0.333" in third._repr_html_() and "certified" in third._repr_html_()
    for wrong in ("x", "d", "s", "+.3f", "#.3f", "08.3f", ",.2f", "=8", ".f", ".", ".3F", "up.3f", ".99999f", "99999", "5.3.f"):
        with pytest.raises(ValueError, match="expected .upper.lower."):
            format(third, wrong)
    quarter = Enclosure("1/4", "1/2")
    assert (f"{quarter}", f"{quarter:upper}", f"{quarter:>12}") == ("[0.25, 0.5]", "0.5", " [0.25, 0.5]")
    epsilon = DiscreteGaussian(5, 10).epsilon("1e-11")
    assert f"{epsilon:.3f}" == "[10.124, 10.125]" and f"epsilon <= {epsilon:upper.3f}" == "epsilon <= 10.125"
    assert f"{-epsilon:.3f}" == "[-10.125, -10.124]" and f"{-epsilon:upper.3f}" == "-10.124"
    open_ended = Enclosure(None, 2)
    assert f"{open_ended:.1f}" == "[-inf, 2.0]" and open_ended.lower is None and open_ended.lower_float == -math.inf
    again = eval(repr(third), {"Enclosure": Enclosure})
    assert again.lower <= third.lower and third.upper <= again.upper
    with pytest.raises(ValueError, match="lower <= upper"):
        Enclosure(2, 1)


def test_numbers_are_exact_and_floats_are_their_shortest_decimals() -> None:
    same = ["0.1", Fraction(1, 10), Decimal("0.1"), 0.1, numpy.float64(0.1), numpy.float32(0.1), "1/10", "1e-1"]
    assert {DiscreteGaussian(number).sigma2 for number in same} == {Fraction(1, 10)}
    assert DiscreteGaussian(numpy.int32(7)).sigma2 == 7 and DiscreteGaussian(10**18).sigma2 == 10**18
    huge = Fraction(10**400 + 1, 10**400)
    assert DiscreteGaussian(huge).sigma2 == huge
    assert DiscreteGaussian(2.0**-10).sigma2 == Fraction(9765625, 10**10)
    assert DiscreteGaussian(1e15).sigma2 == 10**15 and DiscreteGaussian(1.5e-6).sigma2 == Fraction(3, 2 * 10**6)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, "NaN", "inf", "", "5 apples", Decimal("NaN"), numpy.float32("inf")])
def test_numbers_that_are_not_finite_are_value_errors(wrong: object) -> None:
    with pytest.raises(ValueError, match="number"):
        DiscreteGaussian(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [True, None, [5], 1 + 2j, b"5", object(), numpy.bool_(True), {"5"}])
def test_other_objects_than_numbers_are_type_errors(wrong: object) -> None:
    with pytest.raises(TypeError):
        DiscreteGaussian(wrong)  # type: ignore[arg-type]


def test_masked_values_are_not_numbers() -> None:
    account, attack = DiscreteGaussian(5), Attack("1/2", ["1/10", "1/5"])
    for shown, mask in (("1 of 2 values is masked, the first at position 1", [False, True]), ("2 of 2 values are masked", True)):
        floats = numpy.ma.array([0.5, 0.25], mask=mask)
        counts = numpy.ma.array([10**6, 5], mask=mask)
        for ask in (
            lambda: account.profile(floats),
            lambda: account.profile(counts),
            lambda: account.tradeoff(floats),
            lambda: account.zcdp_profile(floats),
            lambda: account.noisy(counts),
            lambda: account.fill(counts),
            lambda: account.errors(counts),
            lambda: Attack("1/2", floats),
            lambda: attack.posterior(counts),
            lambda: HierarchicalAttack("1/2", [1, 1, 1], counts),
        ):
            with pytest.raises(ValueError, match=shown):
                ask()
        assert counts.data.tolist() == [10**6, 5]
    for one in (numpy.ma.masked, numpy.ma.array(5, mask=True)):
        with pytest.raises(ValueError, match="1 of 1 values is masked"):
            DiscreteGaussian(one)
        with pytest.raises(ValueError, match="1 of 1 values is masked"):
            account.errors([3, one])
    open_array = numpy.ma.array([1.0, 2.0], mask=[False, False])
    assert (account.profile(open_array)[0] == account.profile([1, 2])[0]).all()
    assert attack.posterior(numpy.ma.array([1, 2])) == attack.posterior([1, 2])


def test_the_library_s_refusals_are_value_errors_with_its_text() -> None:
    mechanism = DiscreteGaussian(5)
    for ask, says in (
        (lambda: DiscreteGaussian(-1), "sigma2 = -1 is out of range: a variance proxy above 0"),
        (lambda: DiscreteGaussian(5, count=0), "count = 0 is out of range"),
        (lambda: DiscreteGaussian(5, shift=2_000_000), "an integer change from 1 to 1000000"),
        (lambda: DiscreteLaplace(0), "epsilon of the discrete Laplace = 0"),
        (lambda: mechanism.epsilon(0), "delta = 0 is out of range"),
        (lambda: mechanism.epsilon(1), "a probability 0 < delta < 1"),
        (lambda: mechanism.delta("-1/7"), "epsilon = -1/7 is out of range"),
        (lambda: mechanism.tradeoff([2]), "alpha = 2 is out of range: a type I error from 0 to 1"),
        (lambda: mechanism.delta(1, digits=0), "expected 1 to 250"),
        (lambda: mechanism.delta(1, digits=-1), "digits = -1 is out of range: expected 1 to 250"),
        (lambda: mechanism.delta(1, digits=10**50), "digits = a number of more than 128 bits is out of range"),
        (lambda: DiscreteGaussian(5, count=-1), "count = -1 is out of range"),
        (lambda: DiscreteLaplace(5, shift=2**64), "shift = 18446744073709551616 is out of range"),
        (lambda: DiscreteGaussian(5, group=0), "group = 0 is out of range"),
        (lambda: Composition(["5x10"], group=-2), "group = -2 is out of range"),
        (lambda: mechanism.mass(2**63), "x = 9223372036854775808 is out of range"),
        (lambda: mechanism.sample(-1), "n = -1 is out of range"),
        (lambda: mechanism.sample(1, insecure_seed=-1), "insecure_seed = -1 is out of range"),
        (lambda: mechanism.calibrate("1e-9", epsilon=1, decimals=-1), "decimals = -1 is out of range"),
        (lambda: mechanism.delta(1).shown(-1), "digits = -1 is out of range"),
        (lambda: Composition([]), "nothing to account for"),
        (lambda: Release("nosuch"), "unknown release \"nosuch\""),
        (lambda: Release("su-su-wang-2025", ["Moon"]), "unknown level \"Moon\""),
        (lambda: DiscreteGaussian(5, neighbors="none"), "expected add-remove (one record more or less"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError) as refused:
            ask()
        assert says in str(refused.value)


def test_objects_are_copied_and_pickled() -> None:
    enclosure = DiscreteGaussian(5, 10).epsilon("1e-11")
    calibrated = Release("pl94-units-us").calibrate("1e-10", epsilon=2, grid="factor", decimals=2)
    release = Release("su-su-wang-2025", ["State"], group=2)
    both = Composition([Release("su-su-wang-2025", ["State", "US"]), DiscreteGaussian(50, 4), DiscreteLaplace("1/7", 3)])
    objects = [
        enclosure,
        Enclosure(None, "1/3"),
        Enclosure(-1, None),
        DiscreteGaussian("5/3", 10, 2),
        DiscreteLaplace("1/7", 3, 2, neighbors="bounded", group=2),
        Gaussian(5, 3),
        Composition([DiscreteGaussian(5, 10), DiscreteLaplace("1/7", 3)], neighbors="bounded", group=2),
        release,
        Release("pl94-persons-us", neighbors="add-remove"),
        Release("pl94-units-us").levels["State"],
        both,
        *both.levels.values(),
        calibrated,
        calibrated["account"].levels["State"],
        3 * Release("dhc-units-us") + DiscreteGaussian(5),
        Ledger("us-2020-persons"),
        Ledger(["su-su-wang-2025", "sdhc-pr"]),
        Attack("1/3", ["1/10", "1/5"]),
        HierarchicalAttack("1/3", ["1/10", "1/5"], 27),
        HierarchicalAttack("1/3", ["1/10", "1/5"], [27], upper=("up-to", 10), known=3),
    ]
    for each in objects:
        for again in (copy.copy(each), copy.deepcopy(each), pickle.loads(pickle.dumps(each))):
            assert type(again) is type(each) and again == each
            if not isinstance(each, dict):
                assert hash(again) == hash(each)
            for name in ("title", "rho", "neighbors", "method", "met", "name", "source", "rule", "populations"):
                assert getattr(again, name, None) == getattr(each, name, None), name
    account = pickle.loads(pickle.dumps(calibrated["account"]))
    assert account.epsilon("1e-10") == calibrated["epsilon"] and list(account.levels) == list(calibrated["account"].levels)
    assert "worst" in str(account.explain("1e-10")["worst_pair"])
    explained = DiscreteGaussian(5, 10).explain("1e-9")
    assert str(pickle.loads(pickle.dumps(explained))) == str(explained)


def test_a_release_is_pickled_with_its_statements(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(Release("su-su-wang-2025").to_toml())
    release = Release(own)
    kept = pickle.dumps(release)
    own.unlink()
    assert pickle.loads(kept) == release


class _Rounded(float):
    """A float whose text is not its value."""

    def __str__(self) -> str:
        return "0.99"

    __repr__ = __str__


class _Named(Decimal):
    """A Decimal whose text is not its value."""

    def __str__(self) -> str:
        return "one"


def test_numbers_are_read_by_their_value_and_not_by_their_text() -> None:
    assert DiscreteGaussian(_Rounded(0.9949)).sigma2 == Fraction(9949, 10000)
    assert DiscreteGaussian(_Named("1.50")).sigma2 == Fraction(3, 2)
    value = 0.12345678901234564
    with numpy.printoptions(legacy="1.13", precision=3):
        assert DiscreteGaussian(numpy.float64(value)).sigma2 == Fraction(repr(value))
        for kind in (numpy.float16, numpy.float32, numpy.longdouble):
            for number in (kind("0.1"), numpy.array(kind("0.1"))):
                assert DiscreteGaussian(number).sigma2 == Fraction(1, 10), kind
        assert DiscreteGaussian(numpy.float32("0.12345679")).sigma2 == Fraction("0.12345679")


@pytest.mark.parametrize("number", [numpy.timedelta64(5, "s"), numpy.bool_(True), 1j, b"1", None, SimpleNamespace(__float__=lambda: 1.0), numpy.array([1.0])])
def test_what_is_no_exact_number_is_a_type_error(number: Any) -> None:
    with pytest.raises(TypeError, match="give a str or Fraction"):
        DiscreteGaussian(number)


def test_an_object_with_a_text_of_a_number_is_a_type_error() -> None:
    class Rounding:
        def __float__(self) -> float:
            return 4.996

        def __str__(self) -> str:
            return "5.0"

    with pytest.raises(TypeError, match="a number of type Rounding: .*give a str or Fraction"):
        DiscreteGaussian(Rounding())  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [math.nan, math.inf, Decimal("NaN"), Decimal("-Infinity"), numpy.float32("nan"), numpy.longdouble("inf")])
def test_what_is_not_finite_is_a_value_error(number: Any) -> None:
    with pytest.raises(ValueError, match="expected a finite one"):
        DiscreteGaussian(number)


@pytest.mark.parametrize("numbers", [b"12", bytearray(b"12"), {0.5: 1}, {0.5: 1}.keys(), {0.25, 0.5}, frozenset([0.5])])
def test_bytes_dicts_and_sets_are_no_sequences_of_numbers(numbers: Any) -> None:
    for ask in (DiscreteGaussian(5).profile, DiscreteGaussian(5).tradeoff):
        with pytest.raises(TypeError, match="expected a list, an array or another sequence of numbers"):
            ask(numbers)
