"""An accountant with the interface of Opacus' accountants: certified epsilon of DP-SGD with Poisson-sampled batches.

It is used in place of opacus.accountants.RDPAccountant or PRVAccountant and needs neither Opacus nor torch itself:

    >>> from dp_assay.opacus import CertifiedAccountant
    >>> accountant = CertifiedAccountant()
    >>> for step in range(1000):
    ...     accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    >>> accountant.get_epsilon(delta=1e-5)
    1.828236666...

To train with it, call register() once: then PrivacyEngine(accountant="certified"), make_private_with_epsilon and
get_noise_multiplier(accountant="certified") of Opacus use it. The sampling has to be Poisson's, as in Opacus' DPDataLoader; batches of a fixed size have
other losses.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any

from . import Composition, Enclosure, SampledGaussian
from ._native import _exact

__all__ = ["CertifiedAccountant", "register"]

_MECHANISM = "certified"


def _shows(noise_multiplier: Any, sample_rate: Any) -> bool:
    """Whether a step shows anything of the records."""
    if not 0 <= sample_rate <= 1:
        raise ValueError(f"sample_rate = {sample_rate}: expected a probability from 0 to 1")
    return bool(sample_rate != 0 and noise_multiplier != math.inf)


def _check(noise_multiplier: Any, sample_rate: Any, steps: int = 1) -> None:
    """ValueError for a step that is out of range. A rate of 0 and infinite noise show nothing, and need no account."""
    if not noise_multiplier > 0:
        raise ValueError(f"noise_multiplier = {noise_multiplier}: expected a number above 0")
    if _shows(noise_multiplier, sample_rate):
        SampledGaussian(_exact(noise_multiplier) ** 2, _exact(sample_rate), steps)


class CertifiedAccountant:
    """Accounts for steps of Gaussian noise on Poisson samples of the records.

    history: lists [noise_multiplier, sample_rate, steps], as Opacus keeps them; equal steps in a row are one entry.
    """

    def __init__(self, *, digits: int = 12) -> None:
        self.history: list[tuple[float, float, int]] = []
        self._digits = digits

    def __len__(self) -> int:
        """The number of steps so far."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name of the accountant in saved states."""
        return _MECHANISM

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Adds a step. ValueError for a noise multiplier or a rate out of range; then nothing is added."""
        _check(noise_multiplier, sample_rate)
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
        else:
            self.history.append((noise_multiplier, sample_rate, 1))

    @property
    def composition(self) -> Composition | None:
        """All steps so far; None if there are none."""
        parts = [SampledGaussian(_exact(noise) ** 2, _exact(rate), steps) for noise, rate, steps in self.history if _shows(noise, rate)]
        return Composition(parts) if parts else None

    def epsilon(self, delta: Any) -> Enclosure:
        """Epsilon at delta, proven from both sides."""
        composition = self.composition
        return Enclosure(0, 0) if composition is None else composition.epsilon(delta, digits=self._digits)

    def get_epsilon(self, delta: float, **kwargs: Any) -> float:
        """The epsilon at delta, rounded up to a float: a proven upper bound.

        Options of other accountants, such as alphas or eps_error, have no meaning here and are refused.
        """
        if kwargs:
            raise TypeError(f"get_epsilon of a certified accountant has no option {', '.join(kwargs)}: its error is proven")
        return self.epsilon(delta).upper_float

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """A function that adds a step of a DPOptimizer: Opacus calls it after each one."""

        def hook(optimizer: Any) -> None:
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate * optimizer.accumulated_iterations)

        return hook

    def state_dict(self, destination: dict[str, Any] | None = None) -> dict[str, Any]:
        """The history, to be saved with a model."""
        destination = {} if destination is None else destination
        destination["history"] = list(self.history)
        destination["mechanism"] = _MECHANISM
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes the history of a saved state, also that of another accountant of Opacus: they keep the same steps.

        ValueError for a state without a history, or with a step that is out of range; then the own history stays.
        """
        if not isinstance(state_dict, Mapping) or "history" not in state_dict:
            raise ValueError("state_dict: expected a mapping with a history")
        history = []
        for entry in state_dict["history"]:
            try:
                noise, rate, steps = entry
            except (TypeError, ValueError):
                raise ValueError(f"history: {entry!r}: expected (noise_multiplier, sample_rate, steps)") from None
            if isinstance(steps, bool) or steps != int(steps) or steps < 1:
                raise ValueError(f"history: {steps!r} steps: expected a whole number, at least 1")
            _check(noise, rate, int(steps))
            history.append((noise, rate, int(steps)))
        self.history = history


def register(mechanism: str = _MECHANISM) -> None:
    """Makes the accountant known to Opacus by this name, as in PrivacyEngine(accountant="certified"). ImportError without Opacus 1.5 or newer.

    Doing so again changes nothing; a name of Opacus' own accountants is refused with a ValueError.
    """
    # Opacus is no dependency of this package.
    registry: Any = importlib.import_module("opacus.accountants.registry")
    try:
        registry.register_accountant(mechanism, CertifiedAccountant)
    except ValueError:
        if not isinstance(registry.create_accountant(mechanism), CertifiedAccountant):
            raise ValueError(f"mechanism = {mechanism!r}: another accountant of Opacus has this name") from None
