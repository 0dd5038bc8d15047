#pragma once

#include <array>
#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <string>
#include <utility>
#include <vector>

/// Matrices that multigrid must cope with.
namespace heddle::test {

struct MultigridCase {
  std::string name;
  HostCsrMatrix<double> A;
};

inline HostCsrMatrix<double> diagonal(HostContext& context, const std::vector<double>& d) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < d.size(); ++i) {
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), d[i]});
  }
  return csr_from_triplets<double>(context, std::ssize(d), std::ssize(d), entries);
}

/// The Laplacian of the grid graph nx×ny, which maps the vector of ones to zero, and `alone`
/// further vertices without edges.
inline HostCsrMatrix<double> grid_graph(HostContext& context, Index nx, Index ny, Index alone) {
  std::vector<Triplet<double>> entries;
  const auto connect = [&](Index a, Index b) {
    entries.insert(entries.end(), {{a, a, 1}, {b, b, 1}, {a, b, -1}, {b, a, -1}});
  };
  for (Index i = 0; i < nx * ny + alone; ++i) entries.push_back({i, i, 0});
  for (Index y = 0; y < ny; ++y) {
    for (Index x = 0; x < nx; ++x) {
      if (x > 0) connect(y * nx + x, y * nx + x - 1);
      if (y > 0) connect(y * nx + x, (y - 1) * nx + x);
    }
  }
  return csr_from_triplets<double>(context, nx * ny + alone, nx * ny + alone, entries);
}

/// Positive definite and semidefinite matrices, most of them with more than one level.
inline std::vector<MultigridCase> multigrid_battery(HostContext& context) {
  std::vector<double> graded(400);
  for (std::size_t i = 0; i < graded.size(); ++i) {
    graded[i] = std::pow(10.0, static_cast<double>(i % 13) - 6);
  }
  std::vector<MultigridCase> cases;
  cases.push_back({"one row", diagonal(context, {3.0})});
  cases.push_back({"diagonal", diagonal(context, graded)});
  cases.push_back({"a small graph", grid_graph(context, 9, 10, 3)});
  cases.push_back({"zeros", diagonal(context, std::vector<double>(40, 0.0))});
  cases.push_back({"7-point", generate<double>(context, {"laplace3d", {7, 8, 7}})});
  cases.push_back({"27-point", generate<double>(context, {"stencil27", {7, 7, 8}})});
  cases.push_back({"elasticity", generate<double>(context, {"elasticity3d", {4, 5, 4}})});
  cases.push_back({"wathen", generate<double>(context, {"wathen", {11, 10}})});
  cases.push_back({"graph of one component", grid_graph(context, 20, 19, 0)});
  cases.push_back({"graph with lone vertices", grid_graph(context, 18, 20, 7)});
  return cases;
}

/// The six rigid body motions of the nodes of "elasticity3d" of this size, n×6.
inline MultiVector<double, HostSpace> rigid_body_motions(HostContext& context,
                                                         const std::array<Index, 3>& cubes) {
  const Index nodes = cubes[0] * (cubes[1] + 1) * (cubes[2] + 1);
  MultiVector<double, HostSpace> X(context, 3 * nodes, 6);
  for (Index node = 0; node < nodes; ++node) {
    const Index line = node / cubes[0];
    const double x = static_cast<double>(node % cubes[0] + 1);
    const double y = static_cast<double>(line % (cubes[1] + 1));
    const double z = static_cast<double>(line / (cubes[1] + 1));
    const double motions[3][6] = {{1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}, {0, 0, 1, y, -x, 0}};
    for (Index k = 0; k < 3; ++k) {
      for (Index j = 0; j < 6; ++j) X.view()(3 * node + k, j) = motions[k][j];
    }
  }
  return X;
}

}  // namespace heddle::test
