"""The results of an account, compared with the program and with each other."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable

import numpy
import pytest
from conftest import ROOT, same

from dp_assay import (
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Ledger,
    Release,
    allocate,
    find_number,
    releases,
    verify,
    zcdp_epsilon,
)

Assay = Callable[..., Any]


def test_answers_are_the_program_s(assay: Assay) -> None:
    for account, given in (
        (DiscreteGaussian("5", count=10), ["--discrete-gaussian", "5x10"]),
        (DiscreteLaplace("1/10", 30, 2), ["--discrete-laplace", "1/10x30@2"]),
        (Gaussian(5, 10), ["--gaussian", "5x10"]),
        (DiscreteGaussian(5, 10, neighbors="bounded"), ["--discrete-gaussian", "5x10", "--neighbors", "bounded"]),
        (DiscreteGaussian(5, 10, group=3), ["--discrete-gaussian", "5x10", "--group", "3"]),
        (
            Composition([DiscreteGaussian("2.5", 3), "40/3x7@2"]),
            ["--discrete-gaussian", "2.5x3", "--discrete-gaussian", "40/3x7@2"],
        ),
        (Release("su-su-wang-2025"), ["--release", "su-su-wang-2025"]),
        (Release("su-su-wang-2025", ["State", "County"]), ["--release", "su-su-wang-2025", "--level", "State", "--level", "County"]),
        (Release("pl94-units-us"), ["--release", "pl94-units-us"]),
        (
            Composition([Release("pl94-units-us"), DiscreteGaussian(50, 4)]),
            ["--release", "pl94-units-us", "--discrete-gaussian", "50x4"],
        ),
    ):
        epsilon = assay("epsilon", *given, "--delta", "1e-9", "--digits", "8")
        assert same(account.epsilon("1e-9", digits=8), epsilon["epsilon"]), given
        assert same(account.delta(4, digits=8), assay("delta", *given, "--epsilon", "4", "--digits", "8")["delta"]), given


def test_compare_explain_and_risk_are_the_program_s(assay: Assay) -> None:
    account, given = DiscreteGaussian(5, 10), ["--discrete-gaussian", "5x10"]
    printed = assay("compare", *given, "--delta", "1e-9")
    rows = account.compare("1e-9")
    assert list(rows) == [row["name"] for row in printed["accountants"]]
    for row in printed["accountants"]:
        own = rows[row["name"]]
        assert (own["is_bound"], own["note"]) == (row["is_bound"], row["note"])
        assert own["epsilon"] is None if row["epsilon"] is None else same(own["epsilon"], row["epsilon"])
    explained = account.explain("1e-9")
    printed = assay("explain", *given, "--delta", "1e-9")
    assert same(explained["epsilon"], printed["epsilon"]) and same(explained["delta_at_upper"], printed["delta_at_upper"])
    for key in ("groups", "counts", "method", "kernel", "evaluated_nodes", "side_lobes", "bits", "contour"):
        assert explained[key] == printed[key], key
    assert same(explained["second_delta_at_upper"], printed["second_delta_at_upper"])
    assert explained["second_delta_at_upper"].method == printed["second_delta_at_upper"]["by"]
    assert "Re s" in str(explained) and str(explained["lattice_step"]) in str(explained)
    printed = assay("risk", "bound", *given, "--prior", "1/3")
    own_risk = account.risk("1/3")
    for key, name in (("correct_decision", "correct_decision_upper"), ("posterior_events", "posterior_events"), ("posterior_upper", "posterior_upper"), ("advantage", "advantage")):
        assert same(own_risk[key], printed[name]), key
    assert same(own_risk["posterior_exceeded"], printed["posterior_exceeded"])


def test_second_enclosures_overlap_with_the_first() -> None:
    for account in (DiscreteGaussian(5, 10), DiscreteLaplace("1/3", 4), DiscreteGaussian("1/5", 3) + DiscreteLaplace(1)):
        for epsilon in (0, 1, "5/2"):
            second = account.second_delta(epsilon)
            assert second.overlaps(account.delta(epsilon)) and second.method, epsilon
        assert account.second_epsilon("1e-5").overlaps(account.epsilon("1e-5"))
        lower, upper = account.tradeoff([0.1])
        second = account.second_tradeoff(0.1)
        assert second.lower <= Fraction(float(upper[0])) and Fraction(float(lower[0])) <= second.upper
    assert DiscreteGaussian(5, 10).second_delta(1).met
    with pytest.raises(ValueError):
        account.second_tradeoff(2)


def test_curves_contain_single_answers_and_take_any_array() -> None:
    account = DiscreteGaussian(5, 10)
    epsilons = numpy.linspace(0, 10, 11)
    lower, upper = account.profile(epsilons)
    assert lower.dtype == upper.dtype == numpy.float64 and lower.shape == upper.shape == (11,)
    for epsilon, low, high in zip(epsilons, lower, upper):
        # Points share contours, so their last digits can differ: a close enclosure of the true value overlaps each of them.
        one = account.delta(epsilon, digits=40)
        assert low <= one.upper and one.lower <= high and high - low <= 1.001e-12 * high
    assert (lower <= upper).all() and (numpy.diff(upper) < 0).all()
    reversed_view, integers = epsilons[::-1], numpy.arange(0, 11)
    assert (account.profile(reversed_view)[0] == lower[::-1]).all() and not reversed_view.flags.c_contiguous
    assert (account.profile(integers)[0] == lower).all() and (account.profile(list(range(11)))[1] == upper).all()
    assert (account.profile([Fraction(5), "5", 5.0])[0] == lower[5]).all()
    assert account.profile([])[0].shape == (0,) and account.profile(3)[0].shape == (1,)
    assert account.profile(numpy.float64(5))[0] == account.profile(numpy.array(5))[0] == lower[5]
    for wrong, error in (
        (epsilons.reshape(1, 11), ValueError),
        (numpy.array([1, numpy.nan]), ValueError),
        (numpy.array([1, -1.0]), ValueError),
        ([1, numpy.inf], ValueError),
        (numpy.array([True]), TypeError),
        (numpy.array([1j]), TypeError),
        (numpy.array(["1"]), TypeError),
        (numpy.array(["2020-04-01"], dtype="datetime64[D]"), TypeError),
        ([[1]], TypeError),
        ([None], TypeError),
    ):
        with pytest.raises(error):
            account.profile(wrong)  # type: ignore[arg-type]
    alphas = numpy.linspace(0, 1, 5)
    low, high = account.tradeoff(alphas)
    assert (low[0], high[0]) == (1, 1) and high[-1] == 0 and (low <= high).all() and (numpy.diff(low) < 0).all()
    # No pair of errors is below the line of any point of the profile.
    assert (high + numpy.exp(2) * alphas >= 1 - float(account.delta(2).upper_float) - 1e-12).all()


def test_levels_add_up_and_parts_compose() -> None:
    release = Release("su-su-wang-2025")
    assert len(release.levels) == 8 and sum(level.rho for level in release.levels.values()) == release.rho
    assert release.levels["State"].epsilon("1e-9") == Release("su-su-wang-2025", ["State"]).epsilon("1e-9")
    assert sum(query["rho"] * query["times"] for query in release.queries) == release.rho
    a, b = DiscreteGaussian(5, 10), DiscreteLaplace("1/3", 2)
    both = a + b
    assert isinstance(both, Composition) and both.rho == a.rho + b.rho
    assert both.counts == [("discrete Gaussian", 5, 10, 1), ("discrete Laplace", Fraction(1, 3), 2, 1)]
    with pytest.raises(ValueError, match="Ledger"):
        Composition([release, Release("pl94-units-us")])
    with pytest.raises(ValueError, match="different neighbor relations"):
        Composition([DiscreteGaussian(5, neighbors="bounded"), DiscreteGaussian(5, neighbors="add-remove")])
    with pytest.raises(ValueError, match="different sizes"):
        Composition([DiscreteGaussian(5, group=2), DiscreteGaussian(5)])
    assert Composition([DiscreteGaussian(5, group=2)], group=3).title.endswith("groups of 3")
    with pytest.raises(TypeError, match="a part of type int: expected an account"):
        Composition([5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expected a list"):
        Composition("5x10")


def test_accounts_are_added_and_multiplied() -> None:
    a, b = DiscreteGaussian(5, 10), DiscreteLaplace("1/3", 2)
    assert sum([a, b, a]) == a + b + a == Composition([a, b, a]) and sum([a]) is a
    assert 3 * a == a * 3 == numpy.int64(3) * a == sum([a] * 3) == DiscreteGaussian(5, 30)
    assert 2 * (a + b) == Composition([DiscreteGaussian(5, 20), DiscreteLaplace("1/3", 4)]) and isinstance(3 * a, Composition)
    for release in (Release("pl94-units-us"), Release("su-su-wang-2025", "State"), Release("pl94-persons-us", group=2)):
        twice = 2 * release
        assert twice.rho == 2 * release.rho and twice.neighbors == release.neighbors and "2 times" in twice.title
        assert Composition([twice, a], group=2).rho > twice.rho and 1 * twice == twice != release
    drawn_twice = (2 * Release("su-su-wang-2025", "State")).epsilon("1e-9")
    level = Release("su-su-wang-2025", "State")
    assert drawn_twice == Composition([DiscreteGaussian(level.counts[0][1], 2 * level.counts[0][2])]).epsilon("1e-9")
    for wrong in (2.0, True, "2", None, a):
        with pytest.raises(TypeError):
            a * wrong  # type: ignore[operator]
    for times in (0, -1, 10**20):
        with pytest.raises(ValueError, match="times = .* is out of range"):
            times * a
    for other in (1, 0.0, "a", None):
        with pytest.raises(TypeError):
            other + a  # type: ignore[operator]
    with pytest.raises(TypeError):
        a + 0  # type: ignore[operator]


def test_accounts_are_equal_by_value() -> None:
    a = DiscreteGaussian(5, 10)
    assert a == DiscreteGaussian("5", 10) == DiscreteGaussian(5.0, count=10, neighbors="add-remove") and hash(a) == hash(DiscreteGaussian("5", 10))
    assert DiscreteGaussian(5, 2, 3) == DiscreteGaussian(5, 2, group=3)
    different = [
        a,
        DiscreteGaussian(5, 11),
        DiscreteGaussian(6, 10),
        DiscreteGaussian(5, 10, 2),
        DiscreteGaussian(5, 10, neighbors="bounded"),
        DiscreteGaussian(5, 20),
        Gaussian(5, 10),
        DiscreteLaplace(5, 10),
        a + DiscreteGaussian(5, 10, 2),
        Release("pl94-persons-us"),
        Release("pl94-persons-pr"),
        Release("pl94-persons-us", neighbors="add-remove"),
        Release("pl94-persons-us", group=2),
        Release("su-su-wang-2025"),
        Release("su-su-wang-2025", "State"),
        Composition([Release("su-su-wang-2025")]),
        2 * Release("pl94-persons-us"),
    ]
    assert len(set(different)) == len(different)
    assert a != 5 and a != "5x10" and a != DiscreteGaussian(5, 10).epsilon("1e-9")
    assert {DiscreteGaussian(5, 10): "known"}[sum([DiscreteGaussian(5, 4), DiscreteGaussian(5, 6)])] == "known"  # type: ignore[index]
    assert Release("pl94-persons-us") == Release("pl94-persons-us") and Release("su-su-wang-2025", ["State"]) == Release("su-su-wang-2025", "State")
    assert Ledger(["su-su-wang-2025"]) == Ledger([Release("su-su-wang-2025")]) != Ledger(["pl94-units-us"])
    assert len({Ledger(["su-su-wang-2025"]), Ledger(["su-su-wang-2025"]), Ledger("us-2020-persons")}) == 2


def test_levels_and_calibrated_accounts_compose() -> None:
    release = Release("su-su-wang-2025")
    levels = release.levels
    two = levels["State"] + levels["County"]
    assert two == Composition([Release("su-su-wang-2025", ["State", "County"])]) and list(two.levels) == ["State", "County"]
    assert sum(levels.values()) == Composition([release])
    with pytest.raises(ValueError, match="2 [*] account"):
        levels["State"] + levels["State"]
    a = DiscreteGaussian(5, 10)
    quieter = a.calibrate("1e-11", match="zcdp")["account"]
    assert quieter == DiscreteGaussian("17/4", 10) and "all noise times" in quieter.title
    assert quieter + a == Composition([DiscreteGaussian("17/4", 10), a]) and 2 * quieter == DiscreteGaussian("17/4", 20)
    again = quieter.calibrate("1e-11", epsilon=5)["account"]
    assert again.epsilon("1e-11") <= 5
    scaled = release.calibrate("1e-10", epsilon=20, grid="factor", decimals=3)
    whole = scaled["account"]
    assert whole + a == Composition([whole, a]) and (whole + a).rho == whole.rho + a.rho
    assert whole.levels["State"].rho == release.levels["State"].rho / scaled["factor"]
    paths = Release("pl94-units-us").calibrate("1e-10", epsilon=2, grid="factor", decimals=2)["account"]
    assert (2 * paths).rho == 2 * paths.rho


def test_a_number_is_found_and_its_neighbor_is_not_enough(assay: Assay) -> None:
    found = find_number("discrete-gaussian", "?x10", 1, "1e-6", beside=DiscreteLaplace("1/10", 3))
    printed = assay("calibrate", "--discrete-gaussian", "?x10", "--discrete-laplace", "1/10x3", "--epsilon", "1", "--delta", "1e-6")
    assert found["sought"] == "sigma2" and str(found["value"]) == str(Fraction(printed["value"]))
    other = found["not_enough"]
    assert other is not None and found["value"] - other == Fraction(1, 100)
    beside = DiscreteLaplace("1/10", 3)
    assert (DiscreteGaussian(found["value"], 10) + beside).epsilon("1e-6") <= 1
    assert (DiscreteGaussian(other, 10) + beside).epsilon("1e-6") > 1
    assert found["account"].epsilon("1e-6") == found["epsilon"] and found["epsilon"] <= found["target"]
    steps = find_number("sampled", "0.01:gaussian:1x?", advantage="0.1", neighbors="add-remove")
    assert steps["sought"] == "count" and steps["value"].denominator == 1 and steps["risk"] <= Fraction(1, 10)
    for option, text, options, expected in [
        ("discrete-gaussian", "5x10", {"epsilon": 1, "delta": 0.1}, "question mark"),
        ("discrete-gaussian", "?x?", {"epsilon": 1, "delta": 0.1}, "one question mark"),
        ("discrete-gaussian", "?x10", {"epsilon": 1}, "expected one target"),
        ("discrete-gaussian", "?x10", {"epsilon": 1, "delta": 0.1, "advantage": 0.1}, "expected one target"),
        ("discrete-gaussian", "1x?", {"epsilon": 0.01, "delta": 1e-9}, "no count from 1 to"),
        ("gauss", "?", {"epsilon": 1, "delta": 0.1}, 'unknown option "gauss"'),
    ]:
        with pytest.raises(ValueError, match=expected):
            find_number(option, text, **options)  # type: ignore[arg-type]


def test_calibrated_noise_meets_its_target_and_less_does_not(assay: Assay) -> None:
    account = DiscreteGaussian(5, 10)
    found = account.calibrate("1e-11", match="zcdp")
    printed = assay("calibrate", "--discrete-gaussian", "5x10", "--delta", "1e-11", "--match", "zcdp")["levels"][0]
    assert [str(sigma2) for sigma2 in found["calibrated_sigma2"]] == [str(Fraction(printed["calibrated_sigma2"]))]
    assert same(found["epsilon"], printed["epsilon"]) and found["epsilon"] <= found["target"]
    outputs = DiscreteGaussian(20).calibrate("1e-6", posterior="0.8", prior="1/2", of="outputs")
    assert outputs["calibrated_sigma2"] == [Fraction("11.91")]
    sought = find_number("discrete-gaussian", "?", None, "1e-6", posterior="0.8", prior="1/2", of="outputs")
    assert sought["risk"] <= Fraction(8, 10)
    for options in [{"of": "output"}, {"of": "outputs"}, {"of": "outputs", "advantage": "0.1"}]:
        with pytest.raises(ValueError, match='expected "events", or "outputs"'):
            account.calibrate("1e-6" if "advantage" not in options else None, **options)  # type: ignore[arg-type]
    less = DiscreteGaussian(5 * found["before"], 10) if found["before"] else None
    assert less is not None and less.epsilon("1e-11") > found["target"]
    assert found["account"].epsilon("1e-11") == found["epsilon"]
    release = Release("su-su-wang-2025").calibrate("1e-10", epsilon=20, grid="factor", decimals=3)
    assert release["epsilon"] <= 20 and len(release["sigma2"]) == 7 and release["account"].rho < 4
    curve = account.calibrate(match_curve=("1e-12", "1e-5"))
    assert curve["factor"] < 1
    for wrong in ({}, {"delta": 0.1, "epsilon": 1, "match": "zcdp"}):
        with pytest.raises(ValueError, match="expected one target"):
            account.calibrate(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no account"):
        account.calibrate(0.1, match="gdp")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected 0 to 12"):
        account.calibrate("1e-9", epsilon=1, decimals=13)
    with pytest.raises(ValueError, match="no Gaussian noise has a sigma2 of its own"):
        DiscreteLaplace(1).calibrate("1e-9", epsilon=1)


def test_the_comparison_is_the_published_figure_or_the_smallest_account() -> None:
    units = Release("pl94-units-us")
    found = units.compared_with("1e-10")
    assert (found["name"], found["printed"]) == ("zCDP (best order)", "2.47") and "certificate" in found["source"]
    assert round(100 * (1 - units.epsilon("1e-10").midpoint_float / found["epsilon"].midpoint_float), 2) == 4.49
    published = units.calibrate("1e-10", match="published", grid="factor")
    assert round(100 * (1 - float(published["factor"])), 2) == 8.35 and published["compared_with"]["printed"] == "2.47"
    assert units.compared_with("1e-9")["printed"] is None
    with pytest.raises(ValueError, match="no epsilon was published at delta = 1e-9"):
        units.calibrate("1e-9", match="published")
    laplace = DiscreteLaplace(0.5, 3, 2)
    assert laplace.compared_with("1e-10")["name"] == "pure DP"
    assert (laplace.epsilon(0).lower, laplace.epsilon(0).upper) == (3, 3)
    with pytest.raises(ValueError, match="no epsilon was published"):
        laplace.compared_with("1e-10", match="published")
    assert Release("pl94-units-us").published[0]["by"] == "best-order"


def test_allocations_meet_their_target(tmp_path: Path, assay: Assay) -> None:
    queries = [{"name": "total", "count": 10}, {"name": "detail", "count": 10, "weight": 4, "least_sigma2": "1/2"}]
    found = allocate(queries, 3, "1e-9")
    assert found["delta"] <= Fraction(1, 10**9) and [query["name"] for query in found["queries"]] == ["total", "detail"]
    assert found["weighted_squared_error"] < found["zcdp"]["weighted_squared_error"]
    assert found["least_possible"] <= found["weighted_squared_error"].upper
    noise = [DiscreteGaussian(query["sigma2"], 10) for query in found["queries"]]
    assert found["account"] == Composition(noise) and found["account"].epsilon("1e-9") <= 3
    file = tmp_path / "targets.toml"
    file.write_text('[[query]]\nname = "total"\ncount = 10\n[[query]]\nname = "detail"\ncount = 10\nweight = "4"\nleast_sigma2 = "1/2"\n')
    assert allocate(file, 3, "1e-9")["queries"] == found["queries"]
    printed = assay("allocate", str(file), "--epsilon", "3", "--delta", "1e-9")
    assert found["neighbors"] == printed["neighbors"] == "add-remove"
    for own, row in zip(found["queries"], printed["queries"]):
        for key in ("name", "count", "sensitivity", "margin_95"):
            assert own[key] == row[key], key
        assert own["sigma2"] == Fraction(row["sigma2"]) and own["weight"] == Fraction(row["weight"])
    assert found["at_most_percent_above_optimum"].upper_float == pytest.approx(float(printed["at_most_percent_above_optimum"]), rel=1e-9)


def test_allocations_meet_a_target_of_risk(tmp_path: Path, assay: Assay) -> None:
    queries = [{"name": "total", "count": 10}, {"name": "detail", "count": 10, "weight": 4}]
    file = tmp_path / "targets.toml"
    file.write_text('[[query]]\nname = "total"\ncount = 10\n[[query]]\nname = "detail"\ncount = 10\nweight = "4"\n')
    for target, key in (
        ({"posterior": "0.6", "prior": "1/2"}, "correct_decision"),
        ({"advantage": "0.1"}, "advantage"),
        ({"alpha": "0.05", "beta": "0.9"}, "beta"),
        ({"posterior": "0.9", "prior": "0.1", "delta": "1e-9"}, "posterior"),
    ):
        found = allocate(queries, **target)
        printed = assay("allocate", str(file), *(word for name, value in target.items() for word in (f"--{name}", value)))
        assert [query["sigma2"] for query in found["queries"]] == [Fraction(row["sigma2"]) for row in printed["queries"]]
        assert found["zcdp"] is None and found["risk"].upper_float == pytest.approx(float(printed[key]["upper"]), rel=1e-7)
    with pytest.raises(ValueError, match="no noise was found that keeps this promise: every adversary with prior 0.5 decides correctly with probability 0.6 or less"):
        allocate([{"name": "a", "most_margin": 3}], posterior="0.6", prior="1/2")
    for wrong in ({"advantage": "0.1", "epsilon": 1, "delta": "1e-9"}, {"posterior": "0.6"}, {"epsilon": 1}, {}):
        with pytest.raises(ValueError, match="expected one target: epsilon=E with delta=D"):
            allocate(queries, **wrong)
    with pytest.raises(ValueError, match="block paths"):
        allocate("pl94-persons-us", advantage="0.1")


def test_allocations_have_the_options_of_the_program(tmp_path: Path, assay: Assay) -> None:
    goals: list[dict[str, object]] = [
        {"name": 'a "b"', "most_margin": 3},
        {"name": "c", "most_squared_error": "5/2", "weight": 0.5},
        {"name": "d", "sensitivity": 2, "most_sigma2": 100},
    ]
    found = allocate(goals, 12, "1e-9", neighbors="bounded", decimals=2)
    file = tmp_path / "targets.toml"
    file.write_text("[[query]]\nname = 'a \"b\"'\nmost_margin = 3\n[[query]]\nname = 'c'\nmost_squared_error = '5/2'\nweight = 0.5\n[[query]]\nname = 'd'\nsensitivity = 2\nmost_sigma2 = 100\n")
    printed = assay("allocate", str(file), "--neighbors", "bounded", "--decimals", "2", "--epsilon", "12", "--delta", "1e-9")
    assert [query["sigma2"] for query in found["queries"]] == [Fraction(row["sigma2"]) for row in printed["queries"]]
    assert found["queries"][0]["margin_95"] <= 3 and found["queries"][1]["sigma2"] <= Fraction(5, 2)
    assert found["account"].neighbors == found["neighbors"] == "bounded" and found["account"].epsilon("1e-9") <= 12
    release = allocate("su-su-wang-2025", 10, "1e-9", levels=["State", "County"])
    assert [query["name"].partition(" / ")[0] for query in release["queries"]] == ["State", "County"]
    own = release["account"]
    assert isinstance(own, Release) and own.epsilon("1e-9") <= 10 and list(own.levels) == ["State", "County"]
    assert allocate(Release("su-su-wang-2025", ["State", "County"]), 10, "1e-9")["account"] == own == Release.from_toml(own.to_toml())
    for wrong, error, says in (
        ([{"count": 1}], ValueError, "without a name"),
        ([{"name": 5}], ValueError, "without a name"),
        ([{"name": "a", "wait": 2}], ValueError, "a query has no 'wait': expected name, count"),
        ([{"name": "a", 5: 2}], ValueError, "a query has no 5"),
        ([{"name": "a", "weight": 0}], ValueError, 'the query "a": weight = 0 is out of range'),
        ([{"name": "a", "count": 1.5}], ValueError, "count = 1.5 is out of range: expected a whole number from 1"),
        ([{"name": "a", "most_margin": -1}], ValueError, "most_margin = -1 is out of range"),
        ([{"name": "a", "most_margin": 0}], ValueError, "even the least sigma2, 1, has a wider margin"),
        ([{"name": "a", "most_squared_error": "1/2"}], ValueError, "requires less noise than least_sigma2"),
        ([{"name": "a"}, {"name": "a"}], ValueError, "occurs twice"),
        (["a"], TypeError, "queries of type str: expected a list of dicts"),
        (5, TypeError, "queries of type int"),
        ("nosuch", ValueError, "nosuch"),
        (Release("su-su-wang-2025", group=2), ValueError, "groups of 2"),
        ([], ValueError, "1 to 1000 queries"),
    ):
        with pytest.raises(error, match=says):
            allocate(wrong, 3, "1e-9")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="levels are those of a release"):
        allocate(goals, 12, "1e-9", levels="State")


BUDGET_ONLY = (
    'name = "budget-only"\ntitle = "A budget alone"\nsource = "invented"\nneighbors = "add-remove"\nbudget_only = true\n'
    '[[level]]\nname = "State"\n[[level.query]]\nname = "total"\nrho = "5/4"\n'
)


def test_parts_of_a_ledger_do_not_add_up(tmp_path: Path) -> None:
    head = "name='l'\ntitle='t'\nsource='s'\nrule='r'\n[[population]]\nname='p'\nneighbors='add-remove'\n[[partition]]\nname='day'\nrule='its day'\n"
    entry = "[[entry]]\nname='{0}'\nrelease='su-su-wang-2025'\ntimes={1}\npartition='day'\npart='{0}'\n"
    file = tmp_path / "ledger.toml"
    file.write_text(head + entry.format("one", 1) + entry.format("two", 2))
    ledger = Ledger(file)
    balance = ledger.balance("1e-10", digits=6)["p"]
    assert balance["composed"]["epsilon"].overlaps(balance["releases"]["two"]["epsilon"])
    assert balance["composed"]["rho"] == balance["releases"]["two"]["rho"] == 2 * balance["releases"]["one"]["rho"]
    again = pickle.loads(pickle.dumps(ledger))
    assert again == ledger and again.epsilon("1e-10", digits=6) == ledger.epsilon("1e-10", digits=6)
    file.write_text(head + entry.format("one", 1))
    assert Ledger(file) != ledger


def test_ledgers_compose_releases(assay: Assay, tmp_path: Path) -> None:
    names = {release["name"] for release in releases()}
    assert {"su-su-wang-2025", "sdhc-pr"} <= names
    file = tmp_path / "budget.toml"
    file.write_text(BUDGET_ONLY)
    ledger = Ledger(["su-su-wang-2025", str(file)])
    balance = ledger.balance("1e-10", digits=6)["the same people"]
    alone = balance["releases"]["su-su-wang-2025"]
    # A changed record is there twice.
    assert alone["epsilon"].overlaps(Release("su-su-wang-2025", neighbors="bounded").epsilon("1e-10", digits=6))
    assert balance["releases"]["budget-only"]["epsilon"] is None and balance["composed"]["epsilon"] == alone["epsilon"]
    total = balance["zcdp_total"]
    assert total["rho"] == sum(each["rho"] for each in balance["releases"].values())
    assert total["zcdp_epsilon"] == zcdp_epsilon(total["rho"], "1e-10")
    assert ledger.epsilon("1e-10", digits=6) == {"the same people": alone["epsilon"]}
    with pytest.raises(ValueError, match="budget only"):
        Release(str(file)).epsilon("1e-10")
    bundled = Ledger("us-2020-persons")
    assert len(bundled.populations) == 2 and bundled.title in repr(bundled) and bundled.rule
    for wrong in ("nosuch", [], ["nosuch"], ["sdhc-pr", "sdhc-pr"]):
        with pytest.raises(ValueError):
            Ledger(wrong).epsilon("1e-10")
    with pytest.raises(ValueError, match="bounded"):
        Ledger(["pl94-units-us"], neighbors="add-remove")
    for given, error, says in (
        ([DiscreteGaussian(5)], TypeError, "a release of type DiscreteGaussian: expected its name, a path, or a Release; counts are composed by Composition"),
        ([5], TypeError, "a release of type int: expected its name, a path, or a Release$"),
        (5, TypeError, "releases of type int: expected a list of releases"),
        (Release("su-su-wang-2025"), TypeError, "releases of type Release: expected a list"),
        ([Release("su-su-wang-2025", "State")], ValueError, "only State, and a ledger has whole releases"),
        ([Release("su-su-wang-2025", group=2)], ValueError, "groups of 2, and a ledger is about single people"),
        ([Release("su-su-wang-2025", neighbors="add-remove")], ValueError, "add-remove neighbors, and a ledger has one relation for all, here bounded"),
    ):
        with pytest.raises(error, match=says):
            Ledger(given)  # type: ignore[arg-type]
    assert Ledger([Release("su-su-wang-2025", neighbors="bounded")]) == Ledger(["su-su-wang-2025"])


def test_a_release_of_one_s_own_is_read_from_a_file(tmp_path: Path) -> None:
    text = (ROOT / "data" / "releases" / "su-su-wang-2025.toml").read_text()
    own = tmp_path / "own.toml"
    own.write_text(text)
    assert Release(own).epsilon("1e-9", digits=6) == Release("su-su-wang-2025").epsilon("1e-9", digits=6)
    read = Release.from_toml(Release(own).to_toml(), "State")
    assert read == Release(own, ["State"]) == Release.from_toml(text, ("State",)) and read.name == "su-su-wang-2025"
    for given, says in ((5, "a release of type int"), (None, "a release of type NoneType")):
        with pytest.raises(TypeError, match=says):
            Release(given)  # type: ignore[arg-type]
    for levels, says in ((5, "levels of type int"), ([5], "levels of type int"), (None, "levels of type NoneType")):
        with pytest.raises(TypeError, match=says):
            Release(own, levels)  # type: ignore[arg-type]
    own.write_text(text.replace("proportion", "proportions", 1))
    with pytest.raises(ValueError, match=r"own\.toml, line \d+"):
        Release(own)


def test_published_values_are_verified_as_a_data_frame() -> None:
    frame = verify("sieve-quadrature-2026")
    assert set(frame.columns) >= {"paper", "id", "printed", "computed", "verdict"} and len(frame) > 0
    assert set(frame["verdict"]) <= {"agrees", "holds-to-digits", "misprint", "hypothesis-missing", "not-of-the-stated-model", "differs", "disproved", "undecided", "needs-data", "circular", "not-printed"}
    assert (frame["verdict"] == "agrees").any() and frame[frame["verdict"] != "agrees"]["erratum"].notna().all()
    polars = verify("sieve-quadrature-2026", frame="polars")
    assert polars.height == len(frame) and polars["verdict"].to_list() == frame["verdict"].tolist()
    with pytest.raises(ValueError, match="unknown paper"):
        verify("nosuch")
    with pytest.raises(ValueError, match="pandas"):
        verify("sieve-quadrature-2026", frame="arrow")


def test_relations_have_synonyms_and_none_is_proposed_for_the_other() -> None:
    for name in ("unbounded", "add-delete"):
        assert DiscreteGaussian(5, neighbors=name).neighbors == "add-remove"  # type: ignore[arg-type]
    for name in ("replace-one", "replace", "change-one", "substitution"):
        assert DiscreteGaussian(5, neighbors=name).neighbors == "bounded"  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected add-remove .* or bounded"):
        DiscreteGaussian(5, neighbors="unbound")  # type: ignore[arg-type]


def test_counts_that_are_given_for_bounded_neighbors_are_counted_once() -> None:
    twice = DiscreteGaussian(5, neighbors="bounded")
    given = DiscreteGaussian(5, neighbors="bounded", counts_as_given=True)
    assert (twice.times_each_count, given.times_each_count) == (2, 1)
    assert twice.rho == 2 * given.rho and given.rho == DiscreteGaussian(5).rho
    assert "twice under bounded neighbors" in twice.title and "as given" in given.title
    assert pickle.loads(pickle.dumps(given)).rho == given.rho
    both = Composition([given, given])
    assert both.rho == 2 * given.rho and pickle.loads(pickle.dumps(both)).rho == both.rho
    assert Composition(["5x3"], neighbors="bounded", counts_as_given=True).rho == 3 * given.rho
    with pytest.raises(ValueError, match="separately"):
        Composition([given, twice])
    with pytest.raises(ValueError, match="bounded"):
        DiscreteGaussian(5, counts_as_given=True)
