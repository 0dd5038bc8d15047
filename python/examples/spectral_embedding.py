"""Spectral embedding of a graph: its clusters become visible in the first two coordinates."""

import sys

import matplotlib
import networkx
import numpy as np

import heddle

matplotlib.use("svg")
import matplotlib.pyplot as plt

graph = networkx.random_partition_graph([60, 60, 60, 60], 0.3, 0.01, seed=2)
coordinates = heddle.spectral_embedding(graph, 3)
connectivity, _ = heddle.fiedler(graph)
print(f"algebraic connectivity {connectivity[0]:.4f}")

clusters = np.repeat(range(4), 60)
centres = np.stack([coordinates[clusters == c].mean(axis=0) for c in range(4)])
nearest = np.linalg.norm(coordinates[:, None] - centres, axis=2).argmin(axis=1)
print(f"{(nearest == clusters).sum()} of 240 vertices are nearest to the centre of their cluster")
assert (nearest == clusters).mean() > 0.95

plt.rcParams["svg.hashsalt"] = "heddle"
figure, axes = plt.subplots(figsize=(5, 4))
for c in range(4):
    axes.plot(*coordinates[clusters == c, :2].T, "o", markersize=3)
axes.set(xlabel="second eigenvector", ylabel="third eigenvector")
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "spectral_embedding.svg", metadata={"Date": None})
