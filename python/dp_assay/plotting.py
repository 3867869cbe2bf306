"""Charts with matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from typing import Any

from ._native import Account

KINDS = ("profile", "tradeoff", "compare", "noise")


def plot(account: Account, kind: str = "profile", **options: Any) -> Any:
    """Draws a chart of an account and returns the axes.

    kind: "profile" (delta over epsilon), "compare" (the same beside the published zCDP conversion), "tradeoff" (type II over type I
    error), or "noise" (the sigma2 of each level). Options: ax (axes to draw on), points (default 200), to (the largest epsilon; by
    default where delta is about 1e-12). Curves are drawn through the certified upper ends; for the trade-off function through the lower ones.
    """
    draw = {"profile": profile, "tradeoff": tradeoff, "compare": compare, "noise": noise}.get(kind)
    if draw is None:
        raise ValueError(f"kind = {kind!r}: expected one of {', '.join(KINDS)}")
    return draw(account, **options)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("charts are drawn with matplotlib: install dp-assay[plot]") from error
    return pyplot.subplots()[1]


def _title(account: Account) -> str:
    """The mechanism and its neighbor relation."""
    relation = f"{account.neighbors} neighbors"
    return account.title if relation in account.title else f"{account.title}; {relation}"


def _checked(points: int) -> None:
    if points < 2:
        raise ValueError(f"points = {points}: expected 2 or more")


def _epsilons(account: Account, points: int, to: float | None) -> Any:
    import numpy

    _checked(points)
    last = account.epsilon("1e-12", digits=4).upper_float if to is None else float(to)
    return numpy.linspace(0.0, last, points)


def profile(account: Account, ax: Any = None, points: int = 200, to: float | None = None, **style: Any) -> Any:
    """The privacy profile: delta over epsilon, on a logarithmic scale."""
    epsilons = _epsilons(account, points, to)
    _, upper = account.profile(epsilons, digits=8)
    ax = _axes(ax)
    ax.semilogy(epsilons, upper, **{"label": "exact", **style})
    ax.set_xlabel("epsilon (natural logarithm of a ratio of probabilities)")
    ax.set_ylabel("delta (probability)")
    ax.set_title(_title(account), fontsize="medium", wrap=True)
    return ax


def compare(account: Account, ax: Any = None, points: int = 200, to: float | None = None, **style: Any) -> Any:
    """The privacy profile beside the published zCDP conversion."""
    ax = profile(account, ax, points, to, **style)
    epsilons = _epsilons(account, points, to)
    ax.semilogy(epsilons, account.zcdp_profile(epsilons), "--", label="zCDP (Bun-Steinke)")
    ax.legend()
    return ax


def tradeoff(account: Account, ax: Any = None, points: int = 200, **style: Any) -> Any:
    """The trade-off function: the smallest type II error at each type I error, and the line of no knowledge."""
    import numpy

    _checked(points)
    alphas = numpy.linspace(0.0, 1.0, points)
    lower, _ = account.tradeoff(alphas, digits=8)
    ax = _axes(ax)
    ax.plot(alphas, lower, **{"label": "exact", **style})
    ax.plot([0, 1], [1, 0], ":", color="gray", label="nothing is learned")
    ax.set_xlabel("type I error (probability)")
    ax.set_ylabel("type II error (probability)")
    ax.set_title(_title(account), fontsize="medium", wrap=True)
    ax.legend()
    return ax


def noise(account: Account, ax: Any = None, **style: Any) -> Any:
    """The variance proxy of the noise at each level: the smallest one, with a bar for each level."""
    levels = account.levels or {account.title: account}
    names = [name for name, part in levels.items() if _sigma2(part) is not None]
    if not names:
        raise ValueError("no Gaussian noise: other noise has no sigma2")
    ax = _axes(ax)
    ax.bar(names, [_sigma2(levels[name]) for name in names], **style)
    ax.set_yscale("log")
    ax.set_ylabel("smallest sigma2 (variance proxy, squared counts)")
    ax.tick_params(axis="x", rotation=45)
    return ax


def _sigma2(account: Account) -> float | None:
    found = [float(parameter) for law, parameter, _, _ in account.counts if law in ("discrete Gaussian", "Gaussian")]
    return min(found, default=None)
