"""Mechanisms beside discrete Gaussian and discrete Laplace noise: guarantees, randomized response, truncated and continuous noise."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable

import pytest
from conftest import same

from dp_assay import (
    Account,
    Approximate,
    BoundedRange,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    NoiseTable,
    Pair,
    PerturbationTable,
    Pure,
    RandomRounding,
    RandomizedResponse,
    Release,
    SampledGaussian,
    Staircase,
    TruncatedGaussian,
    TruncatedLaplace,
    UnknownKey,
    add_noise,
    find_number,
)
from dp_assay import _native

ALL: list[tuple[Any, list[str]]] = [
    (Pure("1/2", 3), ["--pure", "1/2x3"]),
    (Pure("1/2", 3, group=2), ["--pure", "1/2x3", "--group", "2"]),
    (Laplace("7/2", 3, 2), ["--laplace", "7/2x3@2"]),
    (Laplace(3, 2, neighbors="bounded", counts_as_given=True), ["--laplace", "3x2", "--neighbors", "bounded", "--counts-as-given"]),
    (BoundedRange("1/2", 3, group=2), ["--exponential", "1/2x3", "--group", "2"]),
    (UnknownKey("discrete-laplace", "1/2", 40, 3, 2), ["--unknown-key", "discrete-laplace:1/2:40x3@2"]),
    (UnknownKey("laplace", 2, "31/2"), ["--unknown-key", "laplace:2:31/2"]),
    (Approximate("0.3", "1e-6", 2), ["--approximate", "0.3:1e-6x2"]),
    (RandomizedResponse("1.5", count=4), ["--randomized-response", "1.5x4"]),
    (RandomizedResponse(1, 5, 3, neighbors="bounded"), ["--randomized-response", "1:5x3", "--neighbors", "bounded"]),
    (Staircase(1, 4, 2, 3, 4), ["--staircase", "1:4:2x3@4"]),
    (Staircase("1/2", 3, 1, 2, group=2), ["--staircase", "1/2:3:1x2", "--group", "2"]),
    (TruncatedLaplace("1/2", 40, 2, 3), ["--truncated-laplace", "1/2:40x2@3"]),
    (TruncatedGaussian(3, 12, 4, neighbors="bounded"), ["--truncated-gaussian", "3:12x4", "--neighbors", "bounded"]),
    (
        TruncatedGaussian(3, 12, 4, neighbors="bounded", counts_as_given=True),
        ["--truncated-gaussian", "3:12x4", "--neighbors", "bounded", "--counts-as-given"],
    ),
    (SampledGaussian(1, "0.01", 1000), ["--sampled", "0.01:gaussian:1x1000"]),
    (Composition([SampledGaussian(4, "1/8", 30, 2), Gaussian(50)]), ["--sampled", "1/8:gaussian:4x30@2", "--gaussian", "50"]),
    (
        Composition([Pure(1), TruncatedLaplace(1, 30), DiscreteGaussian(5, 10)]),
        ["--pure", "1", "--truncated-laplace", "1:30", "--discrete-gaussian", "5x10"],
    ),
]


def test_answers_are_the_program_s(assay: Callable[..., Any]) -> None:
    for account, given in ALL:
        delta = "1e-3"
        printed = assay("epsilon", *given, "--delta", delta, "--digits", "8")
        assert same(account.epsilon(delta, digits=8), printed["epsilon"]), given
        mass = printed.get("infinite_loss_mass")
        assert (account.infinite_loss_mass is None) == (mass is None) and (mass is None or same(account.infinite_loss_mass, mass)), given
        assert same(account.delta(1, digits=8), assay("delta", *given, "--epsilon", "1", "--digits", "8")["delta"]), given


def test_cells_of_a_period_and_of_random_rounding(assay: Callable[..., Any], tmp_path: Any) -> None:
    rows = [(i, j, Fraction(p, 3)) for i, j, p in [(0, 0, 3), (1, 0, 2), (1, 3, 1), (2, 0, 1), (2, 3, 2)]]
    table, rounding = PerturbationTable(rows, 2, period=3), RandomRounding(3, 2)
    assert (table.period, PerturbationTable(rows).period, rounding.parameters) == (3, 1, {"base": Fraction(3)})
    printed = assay("delta", "--random-rounding", "3x2", "--epsilon", "1")["delta"]
    for account in (table, rounding, pickle.loads(pickle.dumps(table)), pickle.loads(pickle.dumps(rounding))):
        assert same(account.delta(1), printed)
        assert abs(float(account.delta(1).lower) - 5 / 9) < 1e-9
    for made in (lambda: PerturbationTable(rows, period=4), lambda: PerturbationTable(rows, period=0), lambda: RandomRounding(1)):
        with pytest.raises(ValueError, match="from"):
            made()


def _outputs(kind: str, *parameters: float) -> list[tuple[float, float]]:
    """The probabilities of all outputs of one mechanism under two neighbors, from its definition."""
    if kind == "response":
        epsilon, answers = parameters
        likely, rare = math.exp(epsilon) / (math.exp(epsilon) + answers - 1), 1 / (math.exp(epsilon) + answers - 1)
        return [(likely, rare), (rare, likely)] + [(rare, rare)] * (int(answers) - 2)
    if kind == "guarantee":
        epsilon, delta = parameters
        likely = (1 - delta) / (1 + math.exp(-epsilon))
        return [(likely, 1 - delta - likely), (1 - delta - likely, likely), (delta, 0), (0, delta)]
    exponent = {"laplace": lambda x: parameters[0] * abs(x), "gaussian": lambda x: x * x / (2 * parameters[0])}[kind]
    bound, shift = int(parameters[1]), int(parameters[2])
    total = sum(math.exp(-exponent(x)) for x in range(-bound, bound + 1))
    mass = lambda x: math.exp(-exponent(x)) / total if abs(x) <= bound else 0.0  # noqa: E731
    return [(mass(y), mass(y - shift)) for y in range(-bound, bound + shift + 1)]


@pytest.mark.parametrize(
    "account,outputs,count",
    [
        (Pure("1/2", 3), _outputs("guarantee", 0.5, 0), 3),
        (Pure("1/2", 2, 3), _outputs("guarantee", 1.5, 0), 2),
        (Approximate(1, "1/100", 2), _outputs("guarantee", 1, 0.01), 2),
        (RandomizedResponse(1, 5, 2), _outputs("response", 1, 5), 2),
        (TruncatedLaplace("1/2", 4, 2, 3), _outputs("laplace", 0.5, 4, 3), 2),
        (TruncatedLaplace("1/2", 4, group=2), _outputs("laplace", 0.5, 4, 2), 1),
        (TruncatedGaussian(2, 4, 2), _outputs("gaussian", 2, 4, 1), 2),
        (TruncatedGaussian(2, 4, neighbors="bounded"), _outputs("gaussian", 2, 4, 1), 2),
    ],
)
def test_profiles_are_those_of_all_outputs(account: Any, outputs: list[tuple[float, float]], count: int) -> None:
    every = [(1.0, 1.0)]
    for _ in range(count):
        every = [(a * c, b * d) for a, b in every for c, d in outputs]
    for epsilon in (0.0, 0.5, 1.0, 3.0, 20.0):
        true = sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in every)
        found = account.delta(epsilon)
        assert found.lower_float - 1e-13 <= true <= found.upper_float + 1e-13 and found.met, epsilon
        lower, upper = account.profile([epsilon])
        assert lower[0] - 1e-12 <= true <= upper[0] + 1e-12 and account.zcdp_profile([epsilon])[0] >= true - 1e-13
    mass = sum(a for a, b in every if b == 0)
    found = account.infinite_loss_mass
    assert (found is None) == (mass == 0) and (found is None or found.lower_float - 1e-13 <= mass <= found.upper_float + 1e-13)


def test_no_epsilon_is_finite_below_the_probability_of_an_infinite_loss() -> None:
    for account in (Approximate(1, "1/4", 2), TruncatedLaplace(1, 3), DiscreteGaussian(5) + Approximate(1, "1/4")):
        mass = account.infinite_loss_mass
        assert mass is not None and mass.met and 0 < mass.lower_float
        for delta in (0, "1e-9", mass.lower * Fraction(999, 1000)):
            with pytest.raises(ValueError, match="no epsilon is finite at delta = .*only one of two neighbors can have"):
                account.epsilon(delta)
        assert account.epsilon(mass.upper * Fraction(1001, 1000)).met
    # At that probability itself it is the largest loss that is finite.
    exact = Approximate(1, "1/4", 2).epsilon("7/16")
    assert 2 in exact and exact.met
    assert Pure("1/2", 3).infinite_loss_mass is None and Pure("1/2", 3).epsilon(0).upper == Fraction(3, 2)
    assert RandomizedResponse(2, 3).epsilon(0).upper == 2


@pytest.mark.parametrize("account", [account for account, _ in ALL])
def test_accounts_are_pickled_and_copied(account: Any) -> None:
    for again in (pickle.loads(pickle.dumps(account)), copy.deepcopy(account)):
        assert again == account and type(again) is type(account) and hash(again) == hash(account)
        assert (again.title, again.neighbors, again.rho, again.counts) == (account.title, account.neighbors, account.rho, account.counts)
        if not isinstance(account, Composition):
            assert (again.parameters, again.count) == (account.parameters, account.count)
        assert again.epsilon("1/10") == account.epsilon("1/10")
    plain = Composition([account])
    assert pickle.loads(pickle.dumps(plain)) == plain and plain.rho == account.rho
    assert pickle.loads(pickle.dumps(plain)).counts == plain.counts


def test_pickles_of_earlier_versions_are_read() -> None:
    """Their singles have the name of a class in place of that of a law."""
    singles = [("DiscreteGaussian", "5x10@1"), ("Gaussian", "5/2x3@2"), ("DiscreteLaplace", "1/10x7@3")]
    old = _native._account(True, None, [], singles, None, 1, "an old title")
    assert old == Composition([DiscreteGaussian(5, 10), Gaussian("5/2", 3, 2), DiscreteLaplace("1/10", 7, 3)]) and old.title == "an old title"
    with pytest.raises(ValueError, match="unknown law"):
        _native._account(False, None, [], [("Cauchy", "1x1@1")], None, 1, "")


def test_they_compose_with_each_other_and_with_releases() -> None:
    pure, noise = Pure(1, 2), DiscreteGaussian(5, 10)
    both = pure + noise
    assert isinstance(both, Composition) and both.rho == pure.rho + noise.rho
    assert sorted(both.counts) == [("discrete Gaussian", 5, 10, 1), ("pure DP", 1, 2, 1)]
    assert 3 * Pure(1) == Pure(1, 3) == sum([Pure(1)] * 3) and Pure(1) != RandomizedResponse(1) and isinstance(pure, Account)
    shown = Composition([TruncatedLaplace("1/2", 40), Approximate(1, "1e-9"), RandomizedResponse(2, 3)]).counts
    assert sorted(shown) == [
        ("approximate DP", (1, Fraction(1, 10**9)), 1, 1),
        ("randomized response", (2, 3), 1, 1),
        ("truncated discrete Laplace", (Fraction(1, 2), 40), 1, 1),
    ]
    release = Release("su-su-wang-2025", "State") + Approximate("1/10", "1e-12")
    assert release.epsilon("1e-9") > Release("su-su-wang-2025", "State").epsilon("1e-9") and release.infinite_loss_mass is not None
    # A guarantee is as given for each relation, and never counted twice.
    assert Pure(1, neighbors="bounded").rho == Pure(1).rho and TruncatedLaplace(1, 9, neighbors="bounded").rho == 2 * TruncatedLaplace(1, 9).rho
    given = DiscreteGaussian(5, neighbors="bounded", counts_as_given=True)
    assert (given + Pure(1, neighbors="bounded")).rho == given.rho + Pure(1).rho
    assert (DiscreteGaussian(5, neighbors="bounded") + Pure(1, neighbors="bounded")).rho == 2 * DiscreteGaussian(5).rho + Pure(1).rho


def test_every_method_answers() -> None:
    account = TruncatedLaplace(1, 20, 2) + RandomizedResponse(1, 4) + Pure("1/3")
    for epsilon in ("0", "1/2", "2"):
        assert account.second_delta(epsilon).overlaps(account.delta(epsilon))
    assert account.second_epsilon("1e-3").overlaps(account.epsilon("1e-3"))
    lower, upper = account.tradeoff([0.1])
    second = account.second_tradeoff("0.1")
    assert lower[0] <= float(second.upper) and float(second.lower) <= upper[0]
    rows = account.compare("1e-3")
    exact = rows["exact"]["epsilon"]
    assert all(row["epsilon"] is None or row["epsilon"].upper >= exact.lower for row in rows.values() if row["is_bound"])
    assert account.compared_with("1e-3", match="basic")["epsilon"] >= exact
    explained = account.explain("1e-3")
    assert explained["infinite_loss_mass"] == account.infinite_loss_mass and "1" in str(explained)
    assert account.risk("1/2", delta="1e-3")["correct_decision"] <= 1


@pytest.mark.parametrize(
    "make,error,says",
    [
        (lambda: Pure(0), ValueError, "above 0"),
        (lambda: Pure(1, 0), ValueError, "count = 0"),
        (lambda: Pure(1, shift=1001), ValueError, "from 1 to 1000"),
        (lambda: Approximate(1, 0), ValueError, "delta"),
        (lambda: Approximate(1, 1), ValueError, "delta"),
        (lambda: Composition([Pair(_TWO)], group=2), ValueError, "it is about one record"),
        # Their delta would be 1/10 (1 + e^5).
        (lambda: Composition([Approximate(5, "1/10")], group=2), ValueError, "at least 1"),
        (lambda: RandomizedResponse(1, 1), ValueError, r"2 to 10\^12"),
        (lambda: RandomizedResponse(1, 2.5), ValueError, "a positive whole number"),
        (lambda: TruncatedLaplace(1, 0), ValueError, "bound"),
        (lambda: Staircase(1, 4, 5), ValueError, "the period"),
        (lambda: TruncatedLaplace(1, "3/2"), ValueError, "a positive whole number"),
        (lambda: TruncatedGaussian(1, 3, shift=1001), ValueError, "from 1 to 1000"),
        (lambda: TruncatedGaussian(0, 3), ValueError, "sigma2"),
        (lambda: Pure(1, neighbors="near"), ValueError, "neighbors"),
        (lambda: Pure("x"), ValueError, "x"),
        (lambda: Pure(None), TypeError, ""),  # type: ignore[arg-type]
        (lambda: Pure(1, counts_as_given=True), TypeError, "counts_as_given"),  # type: ignore[call-arg]
        (lambda: TruncatedLaplace(1), TypeError, "bound"),  # type: ignore[call-arg]
        (lambda: TruncatedLaplace(1, 5, counts_as_given=True), ValueError, "bounded"),
        (lambda: add_noise([1], Laplace(5)), TypeError, "accounted for and not drawn"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_are_refused(make: Callable[[], Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make()


NOISE = [(-1, "1/8"), (0, "3/4"), (1, "1/16"), (2, "1/16")]
OUTCOMES = [("1/2", "1/4"), ("3/8", "1/2"), ("1/16", "1/4"), ("1/16", 0)]
# No output of a small count is impossible for its neighbors, so that an epsilon is finite at delta = 1/2.
CELLS = [(0, 0, "1/2"), (0, 1, "1/4"), (0, 2, "1/4"), (1, 0, "1/2"), (1, 1, "1/4"), (1, 2, "1/4"), (2, 0, "1/4"), (2, 1, "1/2"), (2, 2, "1/4")]


@pytest.mark.parametrize(
    "make,rows,header,option",
    [
        (NoiseTable, NOISE, "value,mass", "--table"),
        (Pair, OUTCOMES, "p,q", "--pair"),
        (PerturbationTable, CELLS, "i,j,p", "--p-table"),
    ],
)
def test_mechanisms_by_their_masses(
    make: Any, rows: list[tuple[Any, ...]], header: str, option: str, assay: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    account, read = make(rows, 2), make(path, 2)
    printed = assay("epsilon", option, f"{path}x2", "--delta", "1/2", "--digits", "8")
    for one in (account, read):
        assert same(one.epsilon("1/2", digits=8), printed["epsilon"]) and one.rho == account.rho and one.count == 2
        assert isinstance(one, Account) and len(one.rows) == len(rows)
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert again == one and type(again) is make and again.rows == one.rows and again.name == one.name
        both = one + Pure(1)
        assert pickle.loads(pickle.dumps(both)) == both and pickle.loads(pickle.dumps(both)).delta(1) == both.delta(1)
    assert read.name == str(path) and account.name == "rows" and make(rows, name="own").name == "own"
    assert sum(Fraction(row[-1]) for row in rows) == sum(row[-1] for row in account.rows)
    path.write_text(path.read_text().replace("1/16", "1/32").replace("1/3", "1/5").replace("1/4", "1/5"))
    with pytest.raises(ValueError, match="than 1"):
        make(path)
    assert make(path, normalize=True).infinite_loss_mass is not None
    with pytest.raises(ValueError, match="normalize is for files"):
        make(rows, normalize=True)
    with pytest.raises(ValueError, match="no such file"):
        make(tmp_path / "none.csv")
    for wrong in (5, [1, 2], [("a", "b")], None):
        with pytest.raises((TypeError, ValueError)):
            make(wrong)


def test_laws_of_keys_are_named() -> None:
    keys = UnknownKey("gaussian", 4, 20, 2)
    assert keys.law == "gaussian" and keys.parameters == {"sigma2": 4, "threshold": 20}
    with pytest.raises(ValueError, match="cauchy"):
        UnknownKey("cauchy", 4, 20)


_TWO = [("1/2", "1/4"), ("1/2", "3/4")]


@pytest.mark.parametrize("given,other", [("add-remove", "bounded"), ("bounded", "add-remove")])
@pytest.mark.parametrize(
    "make",
    [
        lambda given: Pure(1, neighbors=given),
        lambda given: Approximate(1, "1e-6", neighbors=given),
        lambda given: BoundedRange(1, neighbors=given),
        lambda given: RandomizedResponse(1, neighbors=given),
        lambda given: Pair(_TWO, neighbors=given),
    ],
)
def test_the_relation_of_a_guarantee_is_not_replaced(make: Any, given: str, other: str) -> None:
    noise = DiscreteGaussian(5, 10, neighbors=other)
    own = make(given)
    for parts in ([own], [own, noise], [Composition([own])]):
        with pytest.raises(ValueError, match=f'is given for {given} neighbors, here neighbors = "{other}": give the guarantee for that relation'):
            Composition(parts, neighbors=other)
    with pytest.raises(ValueError, match="give neighbors, and guarantees for that relation"):
        own + noise
    with pytest.raises(ValueError, match="give the guarantee for that relation"):
        find_number("gaussian", "?", 5, "1e-6", beside=own, neighbors=other)
    # The same relation, or none of its own.
    assert Composition([own], neighbors=given).neighbors == given
    assert Composition([make(None), noise]).neighbors == other
    # Counts of noise are counted under each relation.
    assert Composition([noise], neighbors=given).neighbors == given


def test_rows_are_any_iterable_of_sequences() -> None:
    expected = NoiseTable([(0, "1/2"), (1, "1/2")])
    for rows in ([[0, "1/2"], [1, "1/2"]], ((value, "1/2") for value in range(2)), {0: "1/2", 1: "1/2"}.items(), [(0, 0.5), (1, 0.5)]):
        assert NoiseTable(rows) == expected
    assert Pair([list(row) for row in _TWO]) == Pair(_TWO)


@pytest.mark.parametrize(
    "rows,error,says",
    [
        ({0: "1/2", 1: "1/2"}, TypeError, r"rows of type dict: expected a path or a list of \(value, probability\), as list"),
        (5, TypeError, r"rows of type int: expected a path or a list of \(value, probability\)"),
        (["01"], TypeError, r"row 0 \(from 0\), '01': expected a path or a list of \(value, probability\)"),
        ([(0, "1/2"), (0.5, "1/2")], TypeError, r"row 1 \(from 0\), \(0.5, '1/2'\): expected"),
        ([(0, "1/2", 1)], TypeError, "expected a path or a list of"),
        ([(0, "half")], ValueError, r"row 0 \(from 0\), \(0, 'half'\): \"half\" is not a number"),
    ],
)
def test_an_error_names_the_row(rows: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        NoiseTable(rows)


def test_errors_say_what_would_be_right() -> None:
    with pytest.raises(ValueError, match='unknown option "sampledd", did you mean "sampled"'):
        find_number("sampledd", "0.01:gaussian:?x1000", 1, "1e-6")
    with pytest.raises(ValueError, match=r'grid="factor" finds a common factor on all noise, and find_number\(\)'):
        SampledGaussian(1, "0.01", 1000).calibrate("1e-5", epsilon=1)
    for text in ("laplace:1", "discrete-laplace:1x3"):
        with pytest.raises(ValueError, match=rf'part "{text}": .* a text is discrete Gaussian noise.* has a class'):
            Composition([text])
