"""Parts of the package that are simpler in Python: explanations, and the pickling of objects."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Callable


class Explanation(dict[str, Any]):
    """The facts of a certificate, by name; str() gives them as text."""

    def __str__(self) -> str:
        step = self["lattice_step"]
        if step is None:
            lattice = "The privacy loss has a density: some noise is continuous."
        else:
            lattice = f"The privacy loss lies on a lattice of step h = {short(step)} nats."
        lines = [
            self["title"],
            f"{self['neighbors']} neighbors, delta = {short(self['delta'])}",
            "",
            f"{self['counts']} counts in {self['groups']} groups of equal noise, rho = {short(self['rho'])}",
            lattice,
        ]
        if self["worst_pair"] is not None:
            lines.append(f"The worst of all block paths at once: {self['worst_pair']}.")
        lines += ["", f"epsilon in {self['epsilon']}", f"delta at its upper end in {self['delta_at_upper']}"]
        lines.append(f"by {self['method']}")
        if self["kernel"] is not None:
            lines += [
                f"  aliasing    at most {self['alias_error_upper']:.3g}",
                f"  truncation  at most {self['truncation_error_upper']:.3g}",
                f"  rounding    at most {self['rounding_error_upper']:.3g}",
            ]
        second = self["second_delta_at_upper"]
        lines.append(f"a second enclosure of that delta, which shares only the arithmetic with the first: {second:.3e}")
        lines.append(f"by {second.method}")
        return "\n".join(lines)


def short(value: Fraction) -> str:
    """A Fraction exactly, or approximately if it is long."""
    text = str(value)
    return text if len(text) <= 24 else f"{float(value):.10g} (a fraction of {len(text)} digits)"


def enclosure(lower: Fraction | None, upper: Fraction | None, met: bool, method: str | None) -> Any:
    """An Enclosure, unpickled."""
    from ._native import Enclosure

    return Enclosure(lower, upper, met=met, method=method)


class counts:
    """Counts of one law, unpickled: the class first, then its arguments."""

    def __init__(self, kind: Callable[..., Any]) -> None:
        self.kind = kind

    def __call__(
        self, parameter: Fraction, count: int, shift: int, neighbors: Any, group: int, counts_as_given: bool = False
    ) -> Any:
        return self.kind(parameter, count, shift, neighbors=neighbors, group=group, counts_as_given=counts_as_given)


def made(kind: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An object of a class that is accounted for and not sampled, unpickled."""
    return kind(*arguments, **options)


def release(text: str, levels: list[str], neighbors: Any, group: int) -> Any:
    """A Release, unpickled."""
    from ._native import Release

    return Release.from_toml(text, levels, neighbors=neighbors, group=group)


def hierarchy(prior: Fraction, rho: list[Fraction], others: list[int], upper: Any, known: int) -> Any:
    """A HierarchicalAttack, unpickled."""
    from ._native import HierarchicalAttack

    return HierarchicalAttack(prior, rho, others, upper=upper, known=known)
