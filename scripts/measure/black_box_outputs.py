"""Outputs of one program of a public library, a run per line, on data with a record and without it. See scripts/measure/audit-black-boxes."""

import sys
import warnings

warnings.filterwarnings("ignore")


def opendp_laplace(scale):
    """A count of 0 or 1 record, with OpenDP's noise."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale)
    return lambda is_with, count: measurement([int(is_with)] * count)


def opendp_gaussian(scale):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    measurement = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale)
    return lambda is_with, count: measurement([float(is_with)] * count)


def diffprivlib_laplace(sensitivity):
    """A sum in which the record is `1`, released for epsilon = 1."""
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1, sensitivity=sensitivity)
    return lambda is_with, count: [mechanism.randomise(float(is_with)) for _ in range(count)]


def diffprivlib_binary(epsilon):
    """The answer of one person, by randomized response."""
    from diffprivlib.mechanisms import Binary

    mechanism = Binary(epsilon=epsilon, value0="no", value1="yes")
    return lambda is_with, count: [mechanism.randomise("yes" if is_with else "no") for _ in range(count)]


def diffprivlib_regression():
    """The slope of ten records, of which one has x = 5 or x = 0; the bounds of x and y are 0 and 5."""
    import numpy
    from diffprivlib.models import LinearRegression

    def outputs(is_with, count):
        x = numpy.array([[1.0]] * 9 + [[5.0 if is_with else 0.0]])
        y = numpy.zeros(10)
        model = LinearRegression(epsilon=1, bounds_X=(0, 5), bounds_y=(0, 5), fit_intercept=False)
        return [model.fit(x, y).coef_[0] for _ in range(count)]

    return outputs


def opacus_step(noise_multiplier, gradient_norm):
    """A weight after one step of DP-SGD over five records, of which one has a large gradient or none."""
    import torch
    from opacus import PrivacyEngine

    def outputs(is_with, count):
        data = torch.tensor([[0.0]] * 4 + [[100.0 if is_with else 0.0]])
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(data), batch_size=5)
        model = torch.nn.Linear(1, 1, bias=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        model, optimizer, loader = PrivacyEngine(secure_mode=False).make_private(
            module=model,
            optimizer=optimizer,
            data_loader=loader,
            noise_multiplier=noise_multiplier,
            max_grad_norm=gradient_norm,
            poisson_sampling=False,
        )
        found = []
        for _ in range(count):
            with torch.no_grad():
                next(model.parameters()).zero_()
            optimizer.zero_grad()
            model(data).sum().backward()
            optimizer.step()
            found.append(next(model.parameters()).item())
        return found

    return outputs


def smartnoise_sum():
    """A sum of ten records, of which one is 1 or 0, by the mechanism AnalyticGaussian for (3, 1/1000)."""
    import tempfile

    import opendp.smartnoise.core as sn

    def outputs(is_with, count):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("a\n" + "1.0\n" * 9 + f"{float(is_with)}\n")
            file.flush()
            found = []
            while len(found) < count:
                with sn.Analysis(protect_floating_point=False) as analysis:
                    column = sn.to_float(sn.Dataset(path=file.name, column_names=["a"])["a"])
                    sums = [
                        sn.dp_sum(
                            column,
                            data_lower=0.0,
                            data_upper=1.0,
                            data_rows=10,
                            mechanism="AnalyticGaussian",
                            privacy_usage={"epsilon": 3.0, "delta": 1e-3},
                        )
                        for _ in range(400)
                    ]
                analysis.release()
                found += [float(own.value) for own in sums]
        return found[:count]

    return outputs


PROGRAMS = {
    "opendp-laplace": lambda: opendp_laplace(1.0),
    "opendp-laplace-scale": lambda: opendp_laplace(0.8),
    "opendp-gaussian": lambda: opendp_gaussian(2.0),
    "opendp-gaussian-variance": lambda: opendp_gaussian(2.0**0.5),
    "diffprivlib-laplace": lambda: diffprivlib_laplace(1),
    "diffprivlib-laplace-sensitivity": lambda: diffprivlib_laplace(0.5),
    "diffprivlib-binary": lambda: diffprivlib_binary(1),
    "diffprivlib-binary-epsilon": lambda: diffprivlib_binary(1.2),
    "diffprivlib-regression": diffprivlib_regression,
    "opacus-step": lambda: opacus_step(1.0, 1.0),
    "opacus-step-noise": lambda: opacus_step(0.7, 1.0),
    "smartnoise-sum": smartnoise_sum,
}


def main():
    name, count, folder = sys.argv[1:]
    program = PROGRAMS[name]()
    for which in ("with", "without"):
        outputs = program(which == "with", int(count))
        with open(f"{folder}/{which}.txt", "w") as file:
            file.writelines(f"{output}\n" for output in outputs)


if __name__ == "__main__":
    main()
