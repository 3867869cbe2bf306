"""The tasks of scripts/peers/peers.py, and the route by which each library solves them.

Each library is used through the interface that its documentation recommends for the purpose.
"""

import math
import resource
import tomllib
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# ---- the tasks -----------------------------------------------------------------------------------------------------


def exact(text):
    """A decimal or a fraction of decimals, exactly."""
    numerator, _, denominator = str(text).partition("/")
    return Fraction(numerator) / Fraction(denominator or "1")


def release(name):
    """The counts of a release as (sigma2, count): every level, none bypassed."""
    text = tomllib.loads((ROOT / "data" / "releases" / f"{name}.toml").read_text())
    total, groups = exact(text["rho"]), {}
    for level in text["level"]:
        rho = exact(level["rho"]) if "rho" in level else total * exact(level["proportion"])
        for query in level["query"]:
            own = exact(query["rho"]) if "rho" in query else rho * exact(query["proportion"])
            count = query.get("times", 1) * query.get("cells", 1) * (2 if text["neighbors"] == "bounded" else 1)
            sigma2 = exact(text["sigma2_times_rho"]) / own
            groups[sigma2] = groups.get(sigma2, 0) + count
    return sorted(groups.items())


def gaussians(*groups):
    return [(exact(sigma2), count) for sigma2, count in groups]


SWEEP = ["1e-5", "1e-10", "1e-15", "1e-20", "1e-25"]

# name: (requested quantity, noise, groups of (sigma2 or epsilon, count), deltas or alphas)
WORKS = {
    "10 counts, sigma2 = 5": ("epsilon", "gaussian", lambda: gaussians(("5", 10)), SWEEP),
    "10 counts, sigma2 = 5000/73": ("epsilon", "gaussian", lambda: gaussians(("5000/73", 10)), ["1e-10"]),
    "10 counts, sigma2 = 456.62": ("epsilon", "gaussian", lambda: gaussians(("456.62", 10)), ["1e-10"]),
    "63 counts, sigma2 = 31.5": ("epsilon", "gaussian", lambda: gaussians(("31.5", 63)), ["1e-10"]),
    "1890 counts, sigma2 = 945": ("epsilon", "gaussian", lambda: gaussians(("945", 1890)), ["1e-10"]),
    "su-su-wang-2025, 80 counts": ("epsilon", "gaussian", lambda: release("su-su-wang-2025"), ["1e-10", "1e-25"]),
    "pl94-persons-us, 130 counts": ("epsilon", "gaussian", lambda: release("pl94-persons-us"), ["1e-10", "1e-25"]),
    "63 counts, discrete Laplace, epsilon = 1/10": ("epsilon", "laplace", lambda: gaussians(("1/10", 63)), ["1e-10"]),
    "su-su-wang-2025, trade-off": ("type II error", "gaussian", lambda: release("su-su-wang-2025"), ["1/100"]),
}

SAMPLES = {
    "sampling, discrete Gaussian, sigma2 = 4": ("gaussian", "2"),
    "sampling, discrete Gaussian, sigma2 = 441": ("gaussian", "21"),
    "sampling, discrete Gaussian, sigma2 = 1e6": ("gaussian", "1000"),
    "sampling, discrete Laplace, epsilon = 1/21": ("laplace", "21"),
}

# ---- the routes ----------------------------------------------------------------------------------------------------
# Each is a generator: it builds what it needs, then yields for each delta or alpha a list of (claim, value).

UPPER, LOWER, ESTIMATE = "upper bound", "lower bound", "estimate"


def pld(noise, groups, interval=1e-4, pessimistic=True, dots=False, tail=1e-15):
    """The composed privacy loss distribution of dp-accounting."""
    from dp_accounting.pld import privacy_loss_distribution as distributions

    options = {
        "value_discretization_interval": interval,
        "pessimistic_estimate": pessimistic,
        "use_connect_dots": dots,
    }
    whole = None
    for parameter, count in groups:
        if noise == "gaussian":
            one = distributions.from_discrete_gaussian_mechanism(math.sqrt(parameter), **options)
        else:
            one = distributions.from_discrete_laplace_mechanism(float(parameter), **options)
        part = one.self_compose(count, tail_mass_truncation=tail)
        whole = part if whole is None else whole.compose(part, tail_mass_truncation=tail)
    return whole


def dp_accounting(claim, **options):
    def route(noise, groups, asked):
        whole = pld(noise, groups, **options)
        for delta in asked:
            yield [(claim, whole.get_epsilon_for_delta(float(delta)))]

    return route


def dp_accounting_far(noise, groups, asked):
    """With a truncated mass of at most a thousandth of delta."""
    for delta in asked:
        whole = pld(noise, groups, dots=True, tail=float(delta) * 1e-3)
        yield [(UPPER, whole.get_epsilon_for_delta(float(delta)))]


def prv(eps_error):
    def route(noise, groups, asked):
        from prv_accountant import GaussianMechanism, PRVAccountant, PureDPMechanism

        kinds = {"gaussian": lambda sigma2: GaussianMechanism(math.sqrt(sigma2)), "laplace": PureDPMechanism}
        for delta in map(float, asked):
            accountant = PRVAccountant(
                prvs=[kinds[noise](float(parameter)) for parameter, _ in groups],
                max_self_compositions=[count for _, count in groups],
                eps_error=eps_error,
                delta_error=delta * 1e-3,
            )
            lower, estimate, upper = accountant.compute_epsilon(delta, [count for _, count in groups])
            yield [(UPPER, upper), (LOWER, lower), (ESTIMATE, estimate)]

    return route


def autodp_renyi(noise, groups, asked):
    from autodp.mechanism_zoo import DiscreteGaussianMechanism, RandresponseMechanism
    from autodp.transformer_zoo import Composition

    def one(parameter):
        if noise == "gaussian":
            return DiscreteGaussianMechanism(math.sqrt(parameter))
        return RandresponseMechanism(1 / (1 + math.exp(-parameter)))

    whole = Composition()([one(parameter) for parameter, _ in groups], [count for _, count in groups])
    for delta in asked:
        yield [(UPPER, whole.get_approxDP(float(delta)))]


def autodp_fourier(noise, groups, asked):
    from autodp.mechanism_zoo import GaussianMechanism, RandresponseMechanism
    from autodp.transformer_zoo import ComposeAFA

    def one(parameter):
        if noise == "gaussian":
            return GaussianMechanism(math.sqrt(parameter), phi_off=False, RDP_off=True, approxDP_off=True)
        return RandresponseMechanism(1 / (1 + math.exp(-parameter)), RDP_off=True, phi_off=False)

    whole = ComposeAFA()([one(parameter) for parameter, _ in groups], [count for _, count in groups])
    for delta in map(float, asked):
        # Its own search for epsilon stays below zero with this SciPy, which obeys bounds that earlier ones ignored; so
        # its delta(epsilon) is bisected, up to the zCDP epsilon.
        rho = sum(count / (2 * p) if noise == "gaussian" else count * p * p / 2 for p, count in groups)
        low, high = 0.0, float(rho) + 2 * math.sqrt(float(rho) * -math.log(delta))
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if whole.get_approx_delta(middle) > delta else (low, middle)
        yield [(ESTIMATE, high)]


def opendp_curve(noise, groups, asked):
    import opendp.prelude as dp

    dp.enable_features("contrib", "honest-but-curious")
    atoms = dp.vector_domain(dp.atom_domain(T=int))
    parts = []
    for parameter, count in groups:
        if noise == "gaussian":
            one = dp.m.make_gaussian(atoms, dp.l2_distance(T=float), scale=math.sqrt(parameter))
        else:
            one = dp.c.make_pureDP_to_zCDP(dp.m.make_laplace(atoms, dp.l1_distance(T=int), scale=float(1 / parameter)))
        parts += [one] * count
    whole = dp.c.make_zCDP_to_approxDP(dp.c.make_composition(parts))
    curve = whole.map(1.0 if noise == "gaussian" else 1)
    for delta in asked:
        yield [(UPPER, curve.epsilon(float(delta)))]


def riskcal_epsilon(noise, groups, asked):
    if noise != "gaussian":
        raise NotImplementedError("its accountant has Gaussian steps only")
    from riskcal.accountants import CTDAccountant

    accountant = CTDAccountant()
    for parameter, count in groups:
        for _ in range(count):
            accountant.step(noise_multiplier=math.sqrt(parameter), sample_rate=1.0)
    for delta in asked:
        yield [(UPPER, accountant.get_epsilon(delta=float(delta)))]


def riskcal_tradeoff(interval):
    def route(noise, groups, asked):
        from riskcal.analysis import get_beta_from_pld

        whole = pld(noise, groups, interval=interval, dots=True)
        for alpha in asked:
            yield [(LOWER, float(get_beta_from_pld(whole, alpha=float(exact(alpha)))))]

    return route


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def opendp_samples(noise, scale):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    atoms = dp.vector_domain(dp.atom_domain(T=int))
    if noise == "gaussian":
        measurement = dp.m.make_gaussian(atoms, dp.l2_distance(T=float), scale=float(scale))
    else:
        measurement = dp.m.make_laplace(atoms, dp.l1_distance(T=int), scale=float(scale))
    counts = [0] * 2**17
    began = processor_seconds()
    measurement(counts)
    return (processor_seconds() - began) / len(counts) * 1e9


# (library, route): (asked, function, another mechanism that is run instead of discrete Gaussian noise)
OTHER = "continuous Gaussian"
ROUTES = {
    ("dp-accounting", "PLD, privacy buckets, interval 1e-4"): ("epsilon", dp_accounting(UPPER), None),
    ("dp-accounting", "PLD, optimistic, interval 1e-4"): ("epsilon", dp_accounting(LOWER, pessimistic=False), None),
    ("dp-accounting", "PLD, connect the dots, interval 1e-4"): ("epsilon", dp_accounting(UPPER, dots=True), None),
    ("dp-accounting", "PLD, connect the dots, interval 1e-5"): (
        "epsilon",
        dp_accounting(UPPER, dots=True, interval=1e-5),
        None,
    ),
    ("dp-accounting", "PLD, connect the dots, tail of delta/1000"): ("epsilon", dp_accounting_far, None),
    ("prv-accountant", "eps_error = 0.01"): ("epsilon", prv(0.01), OTHER),
    ("prv-accountant", "eps_error = 0.001"): ("epsilon", prv(0.001), OTHER),
    ("autodp", "Renyi differential privacy"): ("epsilon", autodp_renyi, None),
    ("autodp", "analytical Fourier accountant, delta bisected"): ("epsilon", autodp_fourier, OTHER),
    ("opendp", "zCDP"): ("epsilon", opendp_curve, None),
    ("riskcal", "CTDAccountant"): ("epsilon", riskcal_epsilon, OTHER),
    ("riskcal", "trade-off of dp-accounting's PLD, interval 1e-4"): ("type II error", riskcal_tradeoff(1e-4), None),
    ("riskcal", "trade-off of dp-accounting's PLD, interval 1e-5"): ("type II error", riskcal_tradeoff(1e-5), None),
}

# Imports before the clock starts.
MODULES = {
    "dp-accounting": ["dp_accounting.pld.privacy_loss_distribution"],
    "prv-accountant": ["prv_accountant"],
    "autodp": ["autodp.mechanism_zoo", "autodp.transformer_zoo"],
    "opendp": ["opendp.prelude"],
    "riskcal": ["riskcal.accountants", "riskcal.analysis"],
}
