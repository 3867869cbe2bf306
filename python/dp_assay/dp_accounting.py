"""A certified accountant with the interface of Google's dp-accounting, and an event for the discrete Gaussian.

dp-accounting up to version 0.6.0 has no such event. Its development sources have DiscreteGaussianDpEvent(sigma, sensitivity, dimension), which
is accepted too if the installed version has it.

    >>> from dp_accounting import dp_event
    >>> from dp_assay.dp_accounting import CertifiedAccountant
    >>> accountant = CertifiedAccountant().compose(dp_event.GaussianDpEvent(noise_multiplier=2.0), count=10)
    >>> accountant.get_epsilon(1e-6)
    8.230...

Needs the package dp-accounting: install dp-assay[dp-accounting].
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import attr
from dp_accounting import dp_event, privacy_accountant

from ._native import Composition, DiscreteGaussian, DiscreteLaplace, Enclosure, Gaussian, zcdp_delta, zcdp_epsilon

__all__ = ["CertifiedAccountant", "DiscreteGaussianDpEvent"]

_Relation = privacy_accountant.NeighboringRelation
_Details = privacy_accountant.PrivacyAccountant.CompositionErrorDetails


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DiscreteGaussianDpEvent(dp_event.DpEvent):  # type: ignore[misc]
    """Integer values with discrete Gaussian noise N_Z(0, sigma2) on each; not the event of the same name in dp-accounting after 0.6.0.

    sigma2: the variance proxy; exact, a float is the shortest decimal that prints it. sensitivity: by how much one record changes each of
    the values, an integer. count: the number of values that one record changes.
    """

    sigma2: Any
    sensitivity: int = 1
    count: int = 1


def _is_theirs(event: Any) -> bool:
    """Whether it is dp-accounting's own DiscreteGaussianDpEvent, recognized by its name and fields: not every version has the class."""
    fields = {field.name for field in attr.fields(type(event))} if attr.has(type(event)) else set()
    return type(event).__name__ == "DiscreteGaussianDpEvent" and fields == {"sigma", "sensitivity", "dimension"}


def _exact(number: Any) -> Fraction:
    """A float as the shortest decimal that prints it."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(str(number))


class CertifiedAccountant(privacy_accountant.PrivacyAccountant):  # type: ignore[misc]
    """Accounts exactly for Gaussian, discrete Laplace and discrete Gaussian events, and by their rho for zCDP events.

    get_epsilon and get_delta return floats that are proven upper bounds: the upper ends of epsilon and delta, which have both ends.
    Neighbors add or remove a record, or replace it by a special one; the events do not determine the effect of a replacement by another
    record. DiscreteLaplaceDpEvent has the meaning of dp-accounting's own PLD accountant: one value changes by the sensitivity.

    dp-accounting's own DiscreteGaussianDpEvent(sigma, sensitivity, dimension), which versions after 0.6.0 have, is exact for dimension = 1: one
    value changes by the sensitivity. For more dimensions, or an unknown number, the event does not determine which values change by how much,
    and it counts as (sensitivity^2 / (2 sigma^2))-zCDP.
    """

    def __init__(self, neighboring_relation: Any = _Relation.ADD_OR_REMOVE_ONE, *, digits: int = 12) -> None:
        if neighboring_relation == _Relation.REPLACE_ONE:
            raise ValueError(
                "REPLACE_ONE: an event does not say which values a replaced record changes; expected ADD_OR_REMOVE_ONE or REPLACE_SPECIAL"
            )
        super().__init__(neighboring_relation)
        self._digits = digits
        self._counts: dict[tuple[Any, Fraction, int], int] = {}
        self._rho = Fraction(0)
        self._not_private = False

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        match event:
            case dp_event.NoOpDpEvent():
                return None
            case dp_event.NonPrivateDpEvent():
                self._not_private |= do_compose and count > 0
                return None
            case dp_event.SelfComposedDpEvent():
                return self._maybe_compose(event.event, event.count * count, do_compose)
            case dp_event.ComposedDpEvent():
                found = (self._maybe_compose(each, count, do_compose) for each in event.events)
                return next((details for details in found if details is not None), None)
        try:
            if _is_theirs(event):
                return self._compose_theirs(event, count, do_compose)
            return self._compose_noise(event, count, do_compose)
        except (ValueError, TypeError, OverflowError) as error:
            return _Details(invalid_event=event, error_message=str(error))

    def _compose_noise(self, event: Any, count: int, do_compose: bool) -> Any:
        kind: Any
        match event:
            case dp_event.GaussianDpEvent(noise_multiplier=multiplier):
                kind, parameter, shift = Gaussian, _exact(multiplier) ** 2, 1
            case dp_event.DiscreteLaplaceDpEvent(noise_parameter=epsilon, sensitivity=shift):
                kind, parameter = DiscreteLaplace, _exact(epsilon)
            case DiscreteGaussianDpEvent(sigma2=sigma2, sensitivity=shift):
                kind, parameter, count = DiscreteGaussian, _exact(sigma2), count * event.count
            case dp_event.ZCDpEvent(rho=rho, xi=0):
                rho = _exact(rho)
                if rho < 0:
                    raise ValueError(f"rho = {rho}: expected 0 or more")
                self._rho += rho * count if do_compose else 0
                return None
            case dp_event.ZCDpEvent():
                raise ValueError("(xi, rho)-zCDP with xi above 0 is not supported: expected xi = 0")
            case _:
                raise ValueError(f"{type(event).__name__} is not supported")
        if parameter == 0:
            # No noise at all.
            self._not_private |= do_compose and count > 0
            return None
        if do_compose and count > 0:
            key = (kind, parameter, shift)
            self._counts[key] = self._counts.get(key, 0) + count
        else:
            kind(parameter, max(count, 1), shift)
        return None

    def _compose_theirs(self, event: Any, count: int, do_compose: bool) -> Any:
        """Integer values whose changes have a Euclidean norm of at most the sensitivity, with noise N_Z(0, sigma^2)."""
        sigma, sensitivity, dimension = _exact(event.sigma), _exact(event.sensitivity), event.dimension
        if sigma < 0 or sensitivity < 0:
            raise ValueError(f"sigma = {event.sigma}, sensitivity = {event.sensitivity}: expected 0 or more")
        if dimension is not None and (isinstance(dimension, bool) or dimension != int(dimension) or dimension < 1):
            raise ValueError(f"dimension = {dimension}: expected a whole number, at least 1, or None")
        # Integers change by integers: by no more than the sensitivity rounded down.
        shift = math.floor(sensitivity)
        if shift == 0:
            return None
        if dimension == 1:
            return self._compose_noise(DiscreteGaussianDpEvent(sigma**2, shift), count, do_compose)
        if sigma == 0:
            self._not_private |= do_compose and count > 0
            return None
        return self._compose_noise(dp_event.ZCDpEvent(rho=sensitivity**2 / (2 * sigma**2)), count, do_compose)

    @property
    def composition(self) -> Composition | None:
        """The composition so far, without zCDP events; None if it is empty."""
        parts = [kind(parameter, count, shift) for (kind, parameter, shift), count in self._counts.items()]
        return Composition(parts) if parts else None

    def epsilon(self, target_delta: Any) -> Enclosure:
        """Epsilon at delta, proven from both sides; with zCDP events only the upper end is about the mechanism.

        ValueError if delta is not between 0 and 1, or if there is no finite epsilon.
        """
        composition = self.composition
        if self._not_private:
            raise ValueError("a non-private event has no finite epsilon")
        if self._rho == 0:
            return Enclosure(0, 0) if composition is None else composition.epsilon(target_delta, digits=self._digits)
        rho = self._rho + (composition.rho if composition is not None else 0)
        return zcdp_epsilon(rho, target_delta)

    def delta(self, target_epsilon: Any) -> Enclosure:
        """Delta at epsilon, proven from both sides; with zCDP events only the upper end is about the mechanism."""
        composition = self.composition
        if self._not_private:
            return Enclosure(1, 1)
        if self._rho == 0:
            return Enclosure(0, 0) if composition is None else composition.delta(target_epsilon, digits=self._digits)
        rho = self._rho + (composition.rho if composition is not None else 0)
        return zcdp_delta(rho, target_epsilon)

    def get_epsilon(self, target_delta: float) -> float:
        """The epsilon at delta, rounded up to a float; infinite if there is none."""
        if not 0 <= target_delta <= 1:
            raise ValueError(f"target_delta = {target_delta}: expected a probability from 0 to 1")
        if target_delta == 1:
            return 0.0
        if self._not_private:
            return math.inf
        if target_delta == 0:
            return self._pure_epsilon()
        return self.epsilon(target_delta).upper_float

    def _pure_epsilon(self) -> float:
        """At delta = 0 only a bounded loss has an epsilon."""
        if self._rho or any(kind is not DiscreteLaplace for kind, _, _ in self._counts):
            return math.inf
        total = sum((parameter * shift * count for (_, parameter, shift), count in self._counts.items()), Fraction(0))
        return Enclosure(total, total).upper_float

    def get_delta(self, target_epsilon: float) -> float:
        """The delta at epsilon, rounded up to a float."""
        if math.isnan(target_epsilon) or target_epsilon < 0:
            raise ValueError(f"target_epsilon = {target_epsilon}: expected 0 or more")
        if math.isinf(target_epsilon):
            return 1.0 if self._not_private else 0.0
        return self.delta(target_epsilon).upper_float
