"""One matrix, many right-hand sides: block CG solves them together."""

import numpy as np

import heddle

A = heddle.generate("laplace3d", 25, 25, 25)
B = np.random.default_rng(0).standard_normal((A.shape[0], 24))
X, info, stats = heddle.cg(A, B, rtol=1e-8, return_stats=True)
assert info == 0
print(f"{B.shape[1]} columns in {stats.iterations} iterations, {stats.preconditioner}")

one_by_one = sum(heddle.cg(A, b, rtol=1e-8, return_stats=True)[2].iterations for b in B.T)
print(f"one by one: {one_by_one} iterations in all")
assert np.linalg.norm(A @ X - B) <= 1e-8 * np.linalg.norm(B)

start = X + 1e-6 * np.random.default_rng(1).standard_normal(X.shape)
_, _, again = heddle.cg(A, B, start, rtol=1e-8, return_stats=True)
print(f"from a good guess: {again.iterations} iterations")
assert again.iterations < stats.iterations
