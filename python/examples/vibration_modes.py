"""Vibration modes of an elastic block that is clamped at a face: K x = omega^2 M x."""

import sys

import matplotlib
import numpy as np

import heddle

matplotlib.use("svg")
import matplotlib.pyplot as plt

size = (12, 6, 6)
K = heddle.generate("elasticity3d", *size)
M = heddle.generate("elasticity3d_mass", *size)
w, v, stats = heddle.eigsh(K, k=12, M=M, which="SA", tol=1e-10, return_stats=True)
print(stats)

frequencies = np.sqrt(w) / (2 * np.pi)
np.testing.assert_allclose(frequencies, np.sort(stats.frequencies))
np.testing.assert_allclose(v.T @ (M @ v), np.eye(12), atol=1e-8)

plt.rcParams["svg.hashsalt"] = "heddle"
figure, axes = plt.subplots(figsize=(5, 3))
axes.bar(range(1, 13), frequencies)
axes.set(xlabel="mode", ylabel="frequency")
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "vibration_modes.svg", metadata={"Date": None})
