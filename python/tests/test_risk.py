"""Attacks, against the program."""

from __future__ import annotations

from typing import Any, Callable

import pytest
from conftest import same

from dp_assay import DiscreteGaussian
from dp_assay.risk import Attack, HierarchicalAttack, posterior_at


def test_single_attacks_are_the_program_s(assay: Callable[..., Any]) -> None:
    attack = Attack("1/2", "0.099")
    printed = assay("risk", "single", "--rho", "0.099", "--prior", "1/2", "--noisy", "2")
    assert same(attack.posterior(2), printed["posterior"]) and same(attack.relative_risk([2]), printed["risk"])
    printed = assay("risk", "single", "--rho", "0.099", "--prior", "1/2")
    assert same(attack.marginal(), printed["marginal_posterior"])
    assert same(attack.correct_decision(), printed["correct_decision"])
    assert attack.threshold() == 1
    # The prior is the mean of all posteriors.
    assert 1 in attack.marginal() + attack.marginal_if_absent() and attack.correct_if_absent() > attack.prior


def test_no_attack_beats_the_bound() -> None:
    attack, noise = Attack("1/2", "0.1"), DiscreteGaussian(5)
    most = noise.risk("1/2")["correct_decision"]
    both = (attack.correct_decision() + attack.correct_if_absent()) / 2
    assert both.lower_float <= most.upper_float and most.overlaps(both)


def test_noise_is_calibrated_to_a_risk_and_its_curve_agrees(assay: Assay) -> None:
    noise = DiscreteGaussian(5) * 10
    found = noise.calibrate(posterior="0.6", prior="1/2")
    assert found["risk"] <= found["target"] and "epsilon" not in found
    assert found["account"].risk("1/2")["correct_decision"].overlaps(found["risk"])
    printed = assay("calibrate", "--discrete-gaussian", "5x10", "--posterior", "0.6", "--prior", "1/2")["levels"][0]
    assert same(found["risk"], printed["correct_decision"])
    for target in [{"advantage": "0.1"}, {"alpha": "0.05", "beta": "0.9"}, {"posterior": "0.9", "prior": "0.1", "delta": "1e-9"}]:
        assert noise.calibrate(**target)["before"] < noise.calibrate(**target)["factor"]
    for wrong in [{"advantage": 2}, {"alpha": "0.1"}, {"posterior": "0.6"}, {"advantage": "0.1", "epsilon": 1}, {"advantage": "0.1", "delta": "1e-9"}]:
        with pytest.raises(ValueError):
            noise.calibrate(**wrong)
    curve = noise.risk_curve("0.01", ["0.001", 1])
    printed = assay("risk", "curve", "--discrete-gaussian", "5x10", "--prior", "0.01", "--alpha", "0.001", "--alpha", "1")
    for key in ["power", "posterior", "relative_risk"]:
        for value, lower, upper in zip(curve[key], printed[f"{key}_lower"], printed[f"{key}_upper"]):
            assert same(value, {"lower": lower, "upper": upper})
    assert abs(curve["relative_risk"][1].lower_float - 1) < 1e-9
    with pytest.raises(ValueError, match="alpha"):
        noise.risk_curve("0.01", [0])


def test_hierarchical_attacks_use_the_counts_above() -> None:
    attack = HierarchicalAttack("1/2", ["0.099", "0.246"], 27)
    found = attack.posterior([2, 1], [-1])
    assert found["present"].shown(6) == "0.503131" and found["upper"]
    total = sum((probability for _, probability in found["upper"]), start=DiscreteGaussian(5).delta(40) * 0)
    assert total.lower_float <= 1 and total.upper_float > 1 - 1e-9
    assert len(attack.thresholds([(1, -1), (2, 0)])) == 2
    assert HierarchicalAttack("1/2", ["0.1", "0.2"], [3], upper=("up-to", 5), known=2)
    for wrong in ("none", ("up-to", 0), ("below", 3)):
        with pytest.raises(ValueError):
            HierarchicalAttack("1/2", ["0.1", "0.2"], 3, upper=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one for each"):
        attack.posterior([2], [-1])


def test_priors_and_rhos_out_of_range_are_refused() -> None:
    assert posterior_at("1/2", 0).shown() == "0.5"
    for prior, rho in ((0, 1), (1, 1), ("1/2", 0), ("1/2", []), ("1/2", [1, -1]), (float("nan"), 1)):
        with pytest.raises(ValueError):
            Attack(prior, rho)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        posterior_at(2, 0)
    with pytest.raises(ValueError, match="2 noisy counts for 1 rho"):
        Attack("1/2", 1).posterior([1, 2])
    with pytest.raises(TypeError):
        Attack("1/2", 1).posterior([1.5])  # type: ignore[list-item]
