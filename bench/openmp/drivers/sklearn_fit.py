# SPDX-License-Identifier: MIT
"""scikit-learn, whose wheel brings a libgomp of its own under another name: gradient boosting, k-means, neighbours."""

import numpy as np
from cases import bits_of, measure, print_runtime
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import pairwise_distances_argmin_min
from threadpoolctl import threadpool_limits

generator = np.random.RandomState(1)
x = generator.rand(1000, 20)
y = x[:, 0] + np.sin(5 * x[:, 1])


def boosted():
    return HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=15, random_state=1).fit(x, y).predict(x)


def clustered():
    return KMeans(n_clusters=8, n_init=1, max_iter=20, random_state=1).fit(x).labels_


# numpy's OpenBLAS has threads of its own, which are not measured here.
with threadpool_limits(1, user_api="blas"):
    measure("gradient boosting of 1000 rows", 1, boosted, bits_of)
    measure("k-means of 1000 rows", 3, clustered, bits_of)
    measure("nearest of 1000 rows", 10, lambda: pairwise_distances_argmin_min(x, x[::-1])[0], bits_of)
print_runtime()
