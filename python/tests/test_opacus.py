"""The accountant with the interface of Opacus."""

from __future__ import annotations

import math
import sys
import warnings
from fractions import Fraction
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import pytest

import dp_assay.opacus
from dp_assay import Composition, SampledGaussian
from dp_assay.opacus import CertifiedAccountant, SamplingWarning, register


@pytest.fixture(autouse=True)
def warned(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has already warned."""
    monkeypatch.setattr(dp_assay.opacus, "_warned", True)


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
    for _ in range(3):
        hook(SimpleNamespace(noise_multiplier=1.5, accumulated_iterations=1))
    assert accountant.history == [(1.5, 0.01, 3)]


def test_accumulated_batches_are_steps_with_their_share_of_the_noise() -> None:
    accountant = CertifiedAccountant()
    hook = accountant.get_optimizer_hook_fn(0.5)
    hook(SimpleNamespace(noise_multiplier=1.0, accumulated_iterations=2))
    [(noise, rate, steps)] = accountant.history
    # Rounded down: the noise of both is never more than that of the sum.
    assert (rate, steps) == (0.5, 2) and Fraction(repr(noise)) ** 2 * 2 <= 1 and noise == pytest.approx(math.sqrt(0.5), rel=1e-15)
    # A record is in none, one or both of the batches, so that the sum moves by up to 2: the true delta, in closed form.
    normal = NormalDist()
    weights = {0: 0.25, 1: 0.5, 2: 0.25}
    density = lambda x: sum(weight * normal.pdf(x - shift) for shift, weight in weights.items())  # noqa: E731
    for epsilon in (1.0, 2.0, 3.0):
        low, high = -5.0, 10.0
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if density(middle) < math.exp(epsilon) * normal.pdf(middle) else (low, middle)
        true = sum(weight * (1 - normal.cdf(low - shift)) for shift, weight in weights.items()) - math.exp(epsilon) * (1 - normal.cdf(low))
        assert accountant.composition is not None
        assert true <= accountant.composition.delta(repr(epsilon)).upper_float
    # One sample of twice the rate, all records here, is no bound.
    assert true > SampledGaussian(1, "999999/1000000").delta("3").upper_float
    for noise in (0.0, math.inf):
        hook(SimpleNamespace(noise_multiplier=noise, accumulated_iterations=3))
        assert accountant.history[-1] == (noise, 0.5, 1)


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


@pytest.mark.parametrize("noise,rate", [(-1.0, 0.1), (1.0, -0.1), (1.0, 1.1), (float("nan"), 0.1), (1.0, float("nan"))])
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


def test_a_step_without_noise_is_kept_and_has_no_epsilon() -> None:
    accountant = CertifiedAccountant()
    accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    accountant.step(noise_multiplier=0.0, sample_rate=0.1)
    assert len(accountant) == 2 and accountant.get_epsilon(1e-5) == math.inf
    with pytest.raises(ValueError, match="without noise"):
        accountant.epsilon(1e-5)


def test_the_condition_on_batches_is_said_and_warned_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dp_assay.opacus, "_warned", False)
    accountant = CertifiedAccountant()
    accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    with pytest.warns(SamplingWarning, match="not how batches are drawn"):
        accountant.get_epsilon(1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accountant.get_epsilon(1e-5)
        CertifiedAccountant().get_epsilon(1e-5)
    own, unseen = accountant.conditions
    assert "fresh and secret Poisson samples" in own and "CertifiedPrivacyEngine" in unseen


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


def test_the_engine_names_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opacus", None)
    monkeypatch.delitem(sys.modules, "dp_assay._opacus_engine", raising=False)
    with pytest.raises(ImportError, match=r"dp-assay\[opacus\]"):
        dp_assay.opacus.CertifiedPrivacyEngine  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Engine'"):
        dp_assay.opacus.Engine  # noqa: B018


@pytest.fixture
def training() -> Any:
    """A model, an optimizer and a data loader of 200 records in batches of 20."""
    pytest.importorskip("opacus")
    import torch

    torch.manual_seed(1)
    points = torch.randn(200, 4)
    model = torch.nn.Linear(4, 2)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(points, (points.sum(1) > 0).long()), batch_size=20)
    return {"module": model, "optimizer": torch.optim.SGD(model.parameters(), lr=0.1), "data_loader": loader}


def _epoch(model: Any, optimizer: Any, loader: Any) -> None:
    import torch

    for points, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(points), labels).backward()
        optimizer.step()


@pytest.mark.filterwarnings("ignore:Secure RNG", "ignore:Full backward hook")
def test_opacus_trains_with_its_engine_and_with_the_certified_one(training: Any) -> None:
    pytest.importorskip("opacus")
    from opacus import PrivacyEngine
    from opacus.accountants.utils import get_noise_multiplier

    from dp_assay.opacus import CertifiedPrivacyEngine

    register()
    multiplier = get_noise_multiplier(target_epsilon=3.0, target_delta=1e-5, sample_rate=0.1, epochs=2, accountant="certified")
    assert SampledGaussian.from_noise_multiplier(multiplier, sample_rate="0.1", steps=20).epsilon("1e-5") <= 3
    for engine in (PrivacyEngine(accountant="certified"), CertifiedPrivacyEngine(digits=8)):
        model, optimizer, loader = engine.make_private_with_epsilon(**training, target_epsilon=3.0, target_delta=1e-5, epochs=2, max_grad_norm=1.0)
        assert optimizer.noise_multiplier == multiplier
        for _ in range(2):
            _epoch(model, optimizer, loader)
        training["module"] = model._module
        assert engine.accountant.history == [(multiplier, 0.1, 20)] and 2.9 < engine.get_epsilon(1e-5) <= 3
        model.remove_hooks()


@pytest.mark.filterwarnings("ignore:Secure RNG", "ignore:Full backward hook")
def test_the_certified_engine_knows_how_batches_are_drawn(training: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("opacus")
    from dp_assay.opacus import CertifiedPrivacyEngine

    monkeypatch.setattr(dp_assay.opacus, "_warned", False)
    engine = CertifiedPrivacyEngine()
    for call in (engine.make_private, engine.make_private_with_epsilon):
        with pytest.raises(ValueError, match="shuffled data set have other losses"):
            call(**training, max_grad_norm=1.0, poisson_sampling=False)
    with pytest.raises(TypeError, match="accountant"):
        CertifiedPrivacyEngine(accountant="rdp")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SamplingWarning)
        run = engine.make_private_with_epsilon(**training, target_epsilon=3.0, target_delta=1e-5, epochs=1, max_grad_norm=1.0)
        _epoch(*run)
        assert engine.get_epsilon(1e-5) <= 3
    [condition] = engine.accountant.conditions
    assert "Poisson samples" in condition and not dp_assay.opacus._warned
