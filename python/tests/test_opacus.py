"""The accountant with the interface of Opacus."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from dp_assay import Composition, SampledGaussian
from dp_assay.opacus import CertifiedAccountant, register


def test_steps_are_those_of_the_class() -> None:
    accountant = CertifiedAccountant()
    for _ in range(30):
        accountant.step(noise_multiplier=1.1, sample_rate=0.02)
    for _ in range(5):
        accountant.step(noise_multiplier=2.0, sample_rate=0.1)
    assert len(accountant) == 35 and accountant.history == [(1.1, 0.02, 30), (2.0, 0.1, 5)]
    expected = Composition([SampledGaussian("1.21", "0.02", 30), SampledGaussian(4, "0.1", 5)]).epsilon(1e-5)
    assert accountant.epsilon(1e-5) == expected and accountant.get_epsilon(delta=1e-5) == expected.upper_float


def test_an_optimizer_adds_steps_by_a_hook() -> None:
    accountant = CertifiedAccountant()
    hook = accountant.get_optimizer_hook_fn(0.01)
    hook(SimpleNamespace(noise_multiplier=1.5, accumulated_iterations=2))
    assert accountant.history == [(1.5, 0.02, 1)]


def test_a_state_is_saved_and_taken_up() -> None:
    accountant = CertifiedAccountant()
    assert accountant.get_epsilon(1e-5) == 0 and accountant.composition is None
    accountant.step(noise_multiplier=1.0, sample_rate=0.5)
    state = accountant.state_dict()
    assert state == {"history": [(1.0, 0.5, 1)], "mechanism": CertifiedAccountant.mechanism()}
    other = CertifiedAccountant()
    other.load_state_dict(state)
    other.step(noise_multiplier=1.0, sample_rate=0.5)
    assert other.history == [(1.0, 0.5, 2)] and accountant.history == [(1.0, 0.5, 1)]
    # That of another accountant has the same steps.
    other.load_state_dict({"history": [(1.0, 0.5, 3)], "mechanism": "rdp"})
    assert len(other) == 3


@pytest.mark.parametrize(
    "state",
    [{}, 5, {"history": [(1.0, 0.5)]}, {"history": [3]}, {"history": [(1.0, 0.5, 0)]}, {"history": [(1.0, 0.5, 1.5)]}, {"history": [(1.0, 1.5, 1)]}],
)
def test_other_states_are_refused(state: Any) -> None:
    accountant = CertifiedAccountant()
    accountant.step(noise_multiplier=1.0, sample_rate=0.5)
    with pytest.raises(ValueError):
        accountant.load_state_dict(state)
    assert accountant.history == [(1.0, 0.5, 1)]


@pytest.mark.parametrize("noise,rate", [(0.0, 0.1), (-1.0, 0.1), (1.0, -0.1), (1.0, 1.1), (float("nan"), 0.1), (1.0, float("nan"))])
def test_steps_out_of_range_are_refused(noise: float, rate: float) -> None:
    accountant = CertifiedAccountant()
    with pytest.raises(ValueError):
        accountant.step(noise_multiplier=noise, sample_rate=rate)
    assert len(accountant) == 0
    with pytest.raises(TypeError):
        accountant.get_epsilon(1e-5, alphas=[2, 3])


def test_a_rate_of_zero_spends_nothing() -> None:
    accountant = CertifiedAccountant()
    accountant.step(noise_multiplier=1.0, sample_rate=0)
    assert accountant.get_epsilon(1e-5) == 0 and len(accountant) == 1


def test_infinite_noise_shows_nothing() -> None:
    accountant = CertifiedAccountant()
    accountant.step(noise_multiplier=math.inf, sample_rate=0.1)
    assert accountant.get_epsilon(1e-5) == 0 and len(accountant) == 1
    for rate in (-0.1, 1.5, math.nan, math.inf):
        with pytest.raises(ValueError, match="sample_rate"):
            accountant.step(noise_multiplier=math.inf, sample_rate=rate)


def test_opacus_knows_the_accountant_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[str, Any] = {"rdp": dict}

    def register_accountant(mechanism: str, accountant: Any, force: bool = False) -> None:
        if mechanism in known and not force:
            raise ValueError(f"Accountant for mechanism {mechanism} is already registered")
        known[mechanism] = accountant

    registry = SimpleNamespace(register_accountant=register_accountant, create_accountant=lambda mechanism: known[mechanism]())
    for name in ("opacus", "opacus.accountants", "opacus.accountants.registry"):
        monkeypatch.setitem(sys.modules, name, registry)
    register()
    register()
    assert isinstance(registry.create_accountant("certified"), CertifiedAccountant)
    with pytest.raises(ValueError, match="another accountant"):
        register("rdp")
