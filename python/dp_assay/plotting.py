"""Charts with matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from typing import Any

from ._native import Account

KINDS = ("profile", "tradeoff", "compare", "noise")


def plot(account: Account, kind: str = "profile", **options: Any) -> Any:
    """Draws a chart of an account and returns the axes.

    kind: "profile" (delta over epsilon), "compare" (the same beside the published zCDP conversion), "tradeoff" (type II over type I
    error), or "noise" (the sigma2 of each level). Options: ax (axes to draw on); points (default 200) of a curve; to, the largest epsilon of a
    profile, by default where delta is about 1e-12, or close to the probability of an infinite loss, which is then marked; all others are matplotlib's properties of
    the line or the bars. Curves are drawn through the certified upper ends; for the trade-off function through the lower ones. "compare" of noise on samples has no second curve:
    rho ignores the samples. TypeError for an option that the chart has not.
    """
    draw = {"profile": profile, "tradeoff": tradeoff, "compare": compare, "noise": noise}.get(kind)
    if draw is None:
        raise ValueError(f"kind = {kind!r}: expected one of {', '.join(KINDS)}")
    if "to" in options and kind in ("tradeoff", "noise") or "points" in options and kind == "noise":
        raise TypeError(f'a chart of kind "{kind}" has no option {"points" if kind == "noise" and "points" in options else "to"}')
    _check_style(kind, {name: value for name, value in options.items() if name not in ("ax", "points", "to")})
    return draw(account, **options)


def _check_style(kind: str, style: dict[str, Any]) -> None:
    """TypeError for properties that matplotlib does not know, before a figure is made."""
    if not style:
        return
    _pyplot()
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    try:
        if kind == "noise":
            # Two properties of bars are not those of a rectangle.
            Rectangle((0, 0), 1, 1, **{name: value for name, value in style.items() if name not in ("width", "align")})
        else:
            Line2D([], [], **style)
    except (AttributeError, TypeError) as error:
        raise TypeError(f'a chart of kind "{kind}" has no such option: {error}') from None


def _axes(ax: Any) -> Any:
    return _pyplot().subplots(layout="tight")[1] if ax is None else ax


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("charts are drawn with matplotlib: install dp-assay[plot]") from error
    return pyplot


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
    last = _last(account) if to is None else float(to)
    if not 0 < last < float("inf"):
        raise ValueError(f"to = {to if to is not None else last}: expected an epsilon above 0")
    return numpy.linspace(0.0, last, points)


def _last(account: Account) -> float:
    """The epsilon at which delta is about 1e-12, or little above the probability of an infinite loss."""
    mass = account.infinite_loss_mass
    if mass is None or mass.upper_float < 1e-12:
        return account.epsilon("1e-12", digits=4).upper_float or 1.0
    if mass.upper_float >= 0.99:
        return 1.0
    # Beyond the delta of a largest finite loss the profile is flat: a tenth more is drawn.
    return 1.1 * account.epsilon(min(1.001 * mass.upper_float, 0.999), digits=4).upper_float or 1.0


def profile(account: Account, ax: Any = None, points: int = 200, to: float | None = None, **style: Any) -> Any:
    """The privacy profile: delta over epsilon, on a logarithmic scale."""
    epsilons = _epsilons(account, points, to)
    _, upper = account.profile(epsilons, digits=8)
    ax = _axes(ax)
    ax.semilogy(epsilons, upper, **{"label": "exact", **style})
    mass = account.infinite_loss_mass
    if mass is not None:
        ax.axhline(mass.upper_float, linestyle=":", color="gray", label="probability of an infinite loss")
        ax.legend()
    ax.set_xlabel("epsilon (nats: natural logarithm of a ratio of probabilities)")
    ax.set_ylabel("delta (probability)")
    ax.set_title(_title(account), fontsize="medium", wrap=True)
    return ax


def compare(account: Account, ax: Any = None, points: int = 200, to: float | None = None, **style: Any) -> Any:
    """The privacy profile beside the published zCDP conversion."""
    ax = profile(account, ax, points, to, **style)
    if not any(law == "Poisson-sampled Gaussian" for law, *_ in account.counts) and account.infinite_loss_mass is None:
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
    ax.set_title(_title(account), fontsize="medium", wrap=True)
    for label in ax.get_xticklabels():
        label.set(rotation=45, horizontalalignment="right", rotation_mode="anchor")
    return ax


def _sigma2(account: Account) -> float | None:
    found = [float(parameter) for law, parameter, _, _ in account.counts if law in ("discrete Gaussian", "Gaussian")]
    return min(found, default=None)
