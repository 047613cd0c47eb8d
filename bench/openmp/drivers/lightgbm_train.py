# SPDX-License-Identifier: MIT
"""LightGBM: training on 1000 rows, and prediction."""

import lightgbm
import numpy as np
from cases import bits_of, measure, print_runtime, threads


def data(rows=1000):
    generator = np.random.RandomState(1)
    x = generator.rand(rows, 20)
    return x, x[:, 0] + np.sin(5 * x[:, 1]) + 0.1 * generator.rand(rows)


def train(x, y, rounds=40):
    options = {"objective": "regression", "num_leaves": 15, "verbose": -1, "deterministic": True,
               "force_row_wise": True, "num_threads": threads(), "seed": 1}
    return lightgbm.train(options, lightgbm.Dataset(x, y), num_boost_round=rounds)


if __name__ == "__main__":
    x, y = data()
    measure("training of 1000 rows", 2, lambda: train(x, y), lambda model: bits_of(model.predict(x)))
    model = train(x, y)
    measure("prediction of 1000 rows", 20, lambda: model.predict(x), bits_of)
    print_runtime()
