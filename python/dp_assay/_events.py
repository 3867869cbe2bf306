"""What the events of dp-accounting add to an accountant, and which of them are refused."""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import attr
from dp_accounting import dp_event, privacy_accountant

from ._native import (
    Account,
    Approximate,
    BoundedRange,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Pure,
    RandomizedResponse,
    SampledGaussian,
    _exact,
)

Relation = privacy_accountant.NeighboringRelation


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DiscreteGaussianDpEvent(dp_event.DpEvent):  # type: ignore[misc]
    """Integer values with discrete Gaussian noise N_Z(0, sigma2) on each; not the event of the same name in dp-accounting after 0.6.0.

    sigma2: the variance proxy; exact, a float is the shortest decimal that prints it. sensitivity: by how much one record changes each of
    the values, an integer. count: the number of values that one record changes.
    """

    sigma2: Any
    sensitivity: int = 1
    count: int = 1


# Events that not every version of dp-accounting has, recognized by the names of their class and fields.
_FIELDS = {
    "DiscreteGaussianDpEvent": {"sigma", "sensitivity", "dimension"},
    "RandomizedResponseDpEvent": {"noise_parameter", "num_buckets"},
    "EpsilonDeltaDpEvent": {"epsilon", "delta"},
    "ExponentialMechanismDpEvent": {"epsilon"},
    "PermuteAndFlipDpEvent": {"epsilon"},
}

# Why an event is not supported, in addition to its name.
_SAMPLED = "of samples only Poisson samples of Gaussian noise are accounted for"
_FIXED = f"{_SAMPLED}; batches of a fixed size have other losses, for which no account is proven here"
_WHY = {
    "SampledWithReplacementDpEvent": _FIXED,
    "SampledWithoutReplacementDpEvent": _FIXED,
    "TruncatedSubsampledGaussianDpEvent": f"{_SAMPLED}; a record that is added to a full batch takes the place of another one, and no account of that is proven here",
    "RepeatAndSelectDpEvent": "the number of repetitions is random, and no account of the selected output is proven here",
    "UnsupportedDpEvent": "its mechanism is unknown",
}


def _known(event: Any) -> str | None:
    """The name of an event of _FIELDS."""
    name = type(event).__name__
    fields = {field.name for field in attr.fields(type(event))} if attr.has(type(event)) else set()
    return name if fields and _FIELDS.get(name) == fields else None


def whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or value != int(value) or value < least:
        raise ValueError(f"{name} = {value}: expected a whole number, at least {least}")
    return int(value)


def _multiplier(number: Any, name: str = "noise_multiplier") -> Fraction | None:
    """A multiplier of noise, 0 or more; None where it is infinite, and the noise hides everything."""
    if isinstance(number, float) and math.isinf(number) and number > 0:
        return None
    exact = _exact(number)
    if exact < 0:
        raise ValueError(f"{name} = {number}: expected 0 or more")
    return exact


def _probability(number: Any, name: str) -> Fraction:
    exact = _exact(number)
    if not 0 <= exact <= 1:
        raise ValueError(f"{name} = {number}: expected a probability from 0 to 1")
    return exact


def _logarithm(ratio: Fraction, digits: int, up: bool) -> Fraction:
    """ln(ratio) of a ratio above 1, rounded to this many digits in one direction."""
    # decimal's logarithm is correctly rounded to the nearest, so that the next number beyond it is a bound.
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR)
    nearest = context.ln(context.divide(decimal.Decimal(ratio.numerator), decimal.Decimal(ratio.denominator)))
    return Fraction(context.next_plus(nearest) if up else context.next_minus(nearest))


class Response:
    """Randomized response whose epsilon is no fraction: the logarithm of this ratio."""

    def __init__(self, ratio: Fraction, answers: int) -> None:
        self.ratio, self.answers = ratio, answers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Response) and (self.ratio, self.answers) == (other.ratio, other.answers)

    def __hash__(self) -> int:
        return hash((self.ratio, self.answers))

    def account(self, count: int, digits: int, up: bool) -> RandomizedResponse:
        """With epsilon rounded in one direction: less epsilon is more noise on the answer, so that delta and epsilon at delta are rounded in the same one."""
        return RandomizedResponse(_logarithm(self.ratio, digits, up), self.answers, count)


Key = tuple[Any, tuple[Fraction, ...], "int | None"] | Response


class Refused(Exception):
    """An event that is not supported, and the reason."""

    def __init__(self, event: Any, why: str) -> None:
        super().__init__(why)
        self.event = event


class Collected:
    """What an event adds to an accountant: all of it, or it is refused. Each part of a tree is checked beside the earlier ones of the same tree."""

    def __init__(self, relation: Any, digits: int, before: dict[Key, int], examples: dict[Any, Account]) -> None:
        self._relation, self._digits, self._before = relation, digits, before
        # How often each mechanism is composed after the event, of those that the event has.
        self.counts: dict[Key, int] = {}
        # A mechanism of each class: whether classes can be composed does not depend on their parameters.
        self.examples = dict(examples)
        self.rho = Fraction(0)
        self.not_private = False

    def collect(self, event: Any, count: int) -> None:
        """Adds an event, composed count times."""
        match event:
            case dp_event.NoOpDpEvent():
                return
            case dp_event.NonPrivateDpEvent():
                self.not_private = True
                return
            case dp_event.ComposedDpEvent():
                for each in event.events:
                    self.collect(each, count)
                return
        try:
            if isinstance(event, dp_event.SelfComposedDpEvent):
                count *= whole(event.count, "count", 1)
            else:
                self._one(event, count)
                return
        except (ValueError, TypeError, OverflowError) as error:
            raise Refused(event, str(error)) from None
        self.collect(event.event, count)

    def _one(self, event: Any, count: int) -> None:
        match _known(event):
            case "DiscreteGaussianDpEvent":
                self._theirs(event, count)
            case "RandomizedResponseDpEvent":
                self._response(event, count)
            case "EpsilonDeltaDpEvent":
                self._guarantee(event, count)
            case "ExponentialMechanismDpEvent":
                self._range(event, count)
            case "PermuteAndFlipDpEvent":
                self._flip(event, count)
            case _:
                self._noise(event, count)

    def _add(self, key: Key, kind: Any, account: Any, count: int) -> None:
        """Adds mechanisms whose account can be made, and composed with the others; ValueError if it cannot."""
        total = self.counts.get(key, self._before.get(key, 0)) + count
        made = account(total)
        if kind not in self.examples:
            if SampledGaussian in {kind, *self.examples}:
                Composition([made, *self.examples.values()])
            self.examples[kind] = made
        self.counts[key] = total

    def _response(self, event: Any, count: int) -> None:
        """The true answer of k with probability 1 - p, else a uniform one: ln(1 + k (1 - p) / p) is the largest loss."""
        if self._relation != Relation.REPLACE_ONE:
            why = ": the event does not say what a special record answers" if self._relation == Relation.REPLACE_SPECIAL else ""
            raise ValueError(f"randomized response is about {Relation.REPLACE_ONE.name}, here {self._relation.name}{why}")
        p, answers = _probability(event.noise_parameter, "noise_parameter"), whole(event.num_buckets, "num_buckets", 1)
        if answers == 1 or p == 1:
            return
        if p == 0:
            self.not_private = True
            return
        key = Response(1 + answers * (1 - p) / p, answers)
        self._add(key, Response, lambda count: key.account(count, self._digits + 20, True), count)

    def _guarantee(self, event: Any, count: int) -> None:
        if event.delta == 1 or (event.epsilon == math.inf and 0 <= event.delta <= 1):
            self.not_private = True
            return
        self._approximate(_exact(event.epsilon), _exact(event.delta), count)

    def _approximate(self, epsilon: Fraction, delta: Fraction, count: int) -> None:
        if epsilon == 0 and delta == 0:
            return
        kind: Any
        parameters: tuple[Any, ...]
        kind, parameters = (Pure, (epsilon,)) if delta == 0 else (Approximate, (epsilon, delta))
        self._add((kind, parameters, None), kind, lambda count: kind(*parameters, count), count)

    def _flip(self, event: Any, count: int) -> None:
        """Permute-and-flip is epsilon-DP (McKenna & Sheldon 2020, Theorem 1). That it loses no more than Laplace noise, as dp-accounting has it, is not used."""
        if event.epsilon == math.inf:
            self.not_private = True
        else:
            self._approximate(_exact(event.epsilon), Fraction(0), count)

    def _range(self, event: Any, count: int) -> None:
        """An exponential mechanism with weights exp(epsilon u / (2 sensitivity)): the losses of two outputs differ by at most epsilon."""
        if event.epsilon == math.inf:
            self.not_private = True
            return
        epsilon = _exact(event.epsilon)
        if epsilon != 0:
            self._add((BoundedRange, (epsilon,), None), BoundedRange, lambda count: BoundedRange(epsilon, count), count)

    def _refuse_replaced(self, event: Any) -> None:
        """Noise says nothing of neighbors that replace a record."""
        if self._relation != Relation.REPLACE_ONE or isinstance(event, (dp_event.ZCDpEvent, dp_event.SingleEpochTreeAggregationDpEvent)):
            return
        noise = (
            dp_event.GaussianDpEvent,
            dp_event.LaplaceDpEvent,
            dp_event.DiscreteLaplaceDpEvent,
            DiscreteGaussianDpEvent,
            dp_event.MixtureOfGaussiansDpEvent,
            dp_event.PoissonSampledDpEvent,
        )
        if not isinstance(event, noise):
            raise self._unsupported(event)
        raise ValueError(f"{Relation.REPLACE_ONE.name}: an event does not say which values a replaced record changes")

    def _noise(self, event: Any, count: int) -> None:
        kind: Any
        self._refuse_replaced(event)
        match event:
            case dp_event.GaussianDpEvent(noise_multiplier=multiplier):
                sigma = _multiplier(multiplier)
                kind, parameter, shift = Gaussian, None if sigma is None else sigma**2, 1
            case dp_event.PoissonSampledDpEvent(sampling_probability=rate, event=sampled):
                probability = _probability(rate, "sampling_probability")
                # All records are no sample.
                return self.collect(sampled, count) if probability == 1 else self._sampled(probability, sampled, count)
            case dp_event.MixtureOfGaussiansDpEvent():
                return self._mixture(event, count)
            case dp_event.LaplaceDpEvent(noise_multiplier=multiplier):
                kind, parameter, shift = Laplace, _multiplier(multiplier), 1
            case dp_event.DiscreteLaplaceDpEvent(noise_parameter=epsilon, sensitivity=shift):
                # The parameter is an epsilon: if it is infinite, there is no noise.
                without = _multiplier(epsilon, "noise_parameter")
                kind, parameter = DiscreteLaplace, Fraction(0) if without is None else without
            case DiscreteGaussianDpEvent(sigma2=sigma2, sensitivity=shift):
                kind, parameter, count = DiscreteGaussian, _multiplier(sigma2, "sigma2"), count * whole(event.count, "count", 1)
            case dp_event.ZCDpEvent():
                return self._zcdp(event, count)
            case dp_event.SingleEpochTreeAggregationDpEvent():
                return self._tree(event, count)
            case _:
                raise self._unsupported(event)
        if parameter is None:
            return
        if parameter == 0:
            # No noise at all.
            self.not_private = True
            return
        self._add((kind, (parameter,), shift), kind, lambda count: kind(parameter, count, shift), count)

    def _zcdp(self, event: Any, count: int) -> None:
        if event.xi != 0:
            raise ValueError("(xi, rho)-zCDP with xi above 0 is not supported: expected xi = 0")
        rho = _multiplier(event.rho, "rho")
        if rho is None:
            self.not_private = True
        else:
            self.rho += rho * count

    def _tree(self, event: Any, count: int) -> None:
        """Sums over the nodes of binary trees with Gaussian noise on each; a record is a leaf of one tree at most.

        A leaf is in no more than floor(log2(steps)) + 1 complete subtrees, and a record that is replaced by zero changes their sums by the same vector: together
        they are one Gaussian sum whose norm is larger by the square root of that number.
        """
        if self._relation != Relation.REPLACE_SPECIAL:
            why = {Relation.REPLACE_ONE: "the event does not say by how much a replaced record changes a sum"}
            moved = "a record that is added moves all later ones to other leaves"
            raise ValueError(f"trees are about {Relation.REPLACE_SPECIAL.name}, here {self._relation.name}: {why.get(self._relation, moved)}")
        steps = event.step_counts if isinstance(event.step_counts, Iterable) else [event.step_counts]
        most = max((whole(each, "step_counts", 0) for each in steps), default=0)
        sigma = _multiplier(event.noise_multiplier)
        if most == 0:
            raise ValueError(f"step_counts = {event.step_counts}: expected a tree of at least one step")
        if sigma is None:
            return
        if sigma == 0:
            self.not_private = True
            return
        variance = sigma**2 / most.bit_length()
        self._add((Gaussian, (variance,), 1), Gaussian, lambda count: Gaussian(variance, count), count)

    def _sampled(self, rate: Fraction, event: Any, count: int) -> None:
        """Gaussian noise on a Poisson sample: several noises on one sample are one whose precision is the sum of theirs."""
        precision = self._precision(event)
        if rate == 0 or precision == 0:
            return
        if precision is None:
            # No noise at all.
            self.not_private = True
            return
        parameters = (1 / precision, rate)
        self._add((SampledGaussian, parameters, 1), SampledGaussian, lambda count: SampledGaussian(*parameters, count), count)

    def _mixture(self, event: Any, count: int) -> None:
        """Gaussian noise with a random sensitivity, zero or another one: that on a Poisson sample with the probability of the other one."""
        sensitivities, probabilities = [[_exact(one) for one in many] for many in (event.sensitivities, event.sampling_probs)]
        if len(sensitivities) != len(probabilities) or min([*sensitivities, *probabilities], default=Fraction(-1)) < 0:
            raise ValueError("sensitivities and sampling_probs: expected as many of each, all 0 or more")
        total = sum(probabilities, Fraction(0))
        if abs(total - 1) > Fraction(1, 10**9):
            raise ValueError(f"sampling_probs add up to {float(total)}: expected 1")
        sigma = _multiplier(event.standard_deviation, "standard_deviation")
        some = {one for one, probability in zip(sensitivities, probabilities) if one > 0 and probability > 0}
        if not some or sigma is None:
            return
        if len(some) > 1:
            raise ValueError("MixtureOfGaussiansDpEvent with several sensitivities above zero is not supported: its losses are not those of Poisson samples")
        sensitivity = some.pop()
        never = sum((probability for one, probability in zip(sensitivities, probabilities) if one == 0), Fraction(0))
        # Where floats do not add up to one exactly, the larger probability to be in the sample.
        rate = min(max(1 - never, total - never), Fraction(1))
        noise = dp_event.GaussianDpEvent(sigma / sensitivity)
        if rate == 1:
            self._noise(noise, count)
        else:
            self._sampled(rate, noise, count)

    def _precision(self, event: Any) -> Fraction | None:
        """The sum of 1 / sigma2 over all Gaussian noise of an event; None where one has no noise."""
        match event:
            case dp_event.NoOpDpEvent():
                return Fraction(0)
            case dp_event.GaussianDpEvent(noise_multiplier=multiplier):
                sigma = _multiplier(multiplier)
                if sigma is None:
                    return Fraction(0)
                return 1 / sigma**2 if sigma else None
            case dp_event.SelfComposedDpEvent():
                one, times = self._precision(event.event), whole(event.count, "count", 1)
                return None if one is None else one * times
            case dp_event.ComposedDpEvent():
                each = [self._precision(one) for one in event.events]
                return None if any(one is None for one in each) else sum((one for one in each if one is not None), Fraction(0))
            case _:
                raise ValueError(f"PoissonSampledDpEvent of {type(event).__name__} is not supported: {_SAMPLED}")

    def _unsupported(self, event: Any) -> ValueError:
        name = type(event).__name__
        why = _WHY.get(name)
        return ValueError(f"{name} is not supported{f': {why}' if why else ''}")

    def _theirs(self, event: Any, count: int) -> None:
        """Integer values whose changes have a Euclidean norm of at most the sensitivity, with noise N_Z(0, sigma^2)."""
        sigma, sensitivity, dimension = _multiplier(event.sigma, "sigma"), _exact(event.sensitivity), event.dimension
        if sensitivity < 0:
            raise ValueError(f"sensitivity = {event.sensitivity}: expected 0 or more")
        if dimension is not None:
            whole(dimension, "dimension", 1)
        # Integers change by integers: by no more than the sensitivity rounded down.
        shift = math.floor(sensitivity)
        if shift == 0 or sigma is None:
            return
        if dimension == 1:
            self._noise(DiscreteGaussianDpEvent(sigma**2, shift), count)
        elif sigma == 0:
            self.not_private = True
        else:
            self._noise(dp_event.ZCDpEvent(rho=sensitivity**2 / (2 * sigma**2)), count)
