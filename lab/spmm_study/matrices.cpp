#include "spmm_study/matrices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <numeric>
#include <random>
#include <utility>

namespace heddle::lab {
namespace {

using Matrix = HostCsrMatrix<double>;

/// PAPᵀ for a random permutation.
Matrix permuted(HostContext& context, const Matrix& A) {
  std::vector<Index> place(static_cast<std::size_t>(A.rows()));
  std::iota(place.begin(), place.end(), Index{0});
  std::mt19937_64 engine(7);
  for (std::size_t i = place.size(); i > 1; --i) std::swap(place[i - 1], place[engine() % i]);
  std::vector<Triplet<double>> triplets;
  triplets.reserve(static_cast<std::size_t>(A.nnz()));
  const CsrView<double, HostSpace> view = A.view();
  for (Index i = 0; i < view.rows; ++i) {
    for (Index k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      triplets.push_back({place[static_cast<std::size_t>(i)],
                          place[static_cast<std::size_t>(view.columns[k])], view.values[k]});
    }
  }
  return csr_from_triplets<double>(context, A.rows(), A.cols(), triplets);
}

/// A 5-point grid, a few of whose rows have `length` more entries each.
Matrix with_dense_rows(HostContext& context, Index points, Index dense, Index length) {
  const Matrix grid = generate<double>(context, {"laplace2d", {points, points}});
  const CsrView<double, HostSpace> view = grid.view();
  std::vector<Triplet<double>> triplets;
  for (Index i = 0; i < view.rows; ++i) {
    for (Index k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      triplets.push_back({i, view.columns[k], view.values[k]});
    }
  }
  for (Index r = 0; r < dense; ++r) {
    const Index row = view.rows / dense * r;
    for (Index k = 0; k < length; ++k) triplets.push_back({row, view.rows / length * k, 1e-3});
  }
  return csr_from_triplets<double>(context, view.rows, view.cols, triplets);
}

/// A diagonal with a full first row and column.
Matrix arrow(HostContext& context, Index n) {
  std::vector<Triplet<double>> triplets;
  for (Index i = 0; i < n; ++i) triplets.push_back({i, i, 2});
  for (Index i = 1; i < n; ++i) {
    triplets.push_back({0, i, 1e-3});
    triplets.push_back({i, 0, 1e-3});
  }
  return csr_from_triplets<double>(context, n, n, triplets);
}

/// Matrices collected in the order in which they are added.
class Collection {
 public:
  void add(std::string kind, bool kept_aside, GallerySpec spec) {
    std::string name = fmt::format("{}:{}", spec.name, fmt::join(spec.size, "x"));
    if (spec.density > 0) name += fmt::format(":{}", spec.density);
    add(std::move(kind), kept_aside, std::move(name),
        [spec](HostContext& context) { return generate<double>(context, spec); });
  }

  void add_permuted(bool kept_aside, GallerySpec spec) {
    add("permuted", kept_aside, fmt::format("{}:{}:permuted", spec.name, fmt::join(spec.size, "x")),
        [spec](HostContext& context) {
          return permuted(context, generate<double>(context, spec));
        });
  }

  void add(std::string kind, bool kept_aside, std::string name,
           std::function<Matrix(HostContext&)> make) {
    matrices_.push_back({std::move(name), std::move(kind), kept_aside, std::move(make)});
  }

  std::vector<StudyMatrix> take() { return std::move(matrices_); }

 private:
  std::vector<StudyMatrix> matrices_;
};

constexpr bool kFitted = false;
constexpr bool kAside = true;

void add_meshes(Collection& all) {
  all.add("grid", kFitted, {"laplace2d", {1000, 1000}});
  all.add("grid", kFitted, {"laplace3d", {100, 100, 100}});
  all.add("grid", kFitted, {"stencil27", {64, 64, 64}});
  all.add("grid", kFitted, {"lattice4d", {20, 20, 20, 16}});
  all.add("grid", kFitted, {"laplace1d", {1'000'000}});
  all.add("grid", kAside, {"laplace2d", {300, 300}});
  all.add("grid", kAside, {"laplace3d", {40, 40, 40}});
  all.add("grid", kAside, {"stencil27", {32, 32, 32}});
  all.add("grid", kAside, {"lattice4d", {12, 12, 16, 16}});
  all.add("elements", kFitted, {"elasticity3d", {28, 28, 28}});
  all.add("elements", kFitted, {"wathen", {300, 300}});
  all.add("elements", kFitted, {"elasticity3d_mass", {16, 16, 16}});
  all.add("elements", kAside, {"elasticity3d", {12, 12, 12}});
  all.add("elements", kAside, {"wathen", {100, 100}});
  all.add_permuted(kFitted, {"laplace3d", {100, 100, 100}});
  all.add_permuted(kFitted, {"elasticity3d", {20, 20, 20}});
  all.add_permuted(kFitted, {"stencil27", {32, 32, 32}});
  all.add_permuted(kAside, {"stencil27", {64, 64, 64}});
  all.add_permuted(kAside, {"laplace2d", {1000, 1000}});
}

void add_bands(Collection& all) {
  all.add("band", kFitted, {"band", {200'000, 20}});
  all.add("band", kFitted, {"band", {8'000, 400}});
  all.add("band", kFitted, {"trefethen", {100'000}});
  all.add("band", kAside, {"band", {800'000, 3}});
  all.add("band", kAside, {"band", {50'000, 64}});
}

void add_random(Collection& all) {
  all.add("random", kFitted, {"random_uniform", {500'000}, 12});
  all.add("random", kFitted, {"random_uniform", {60'000}, 80});
  all.add("random", kFitted, {"random_uniform", {300'000, 20'000}, 16});
  all.add("random", kAside, {"random_uniform", {1'000'000}, 4});
  all.add("random", kAside, {"random_symmetric", {150'000}, 32});
  all.add("graph", kFitted, {"rmat", {17}, 16});
  all.add("graph", kFitted, {"rmat", {14}, 64});
  all.add("graph", kFitted, {"random_geometric", {400'000}, 8});
  all.add("graph", kAside, {"rmat", {19}, 5});
  all.add("graph", kAside, {"random_geometric", {100'000}, 40});
  all.add("uneven", kFitted, {"random_uniform", {4'000, 1'000'000}, 1000});
  all.add("uneven", kAside, {"random_uniform", {1'000'000, 4'000}, 5});
  all.add("uneven", kFitted, "grid_with_dense_rows",
          [](HostContext& context) { return with_dense_rows(context, 700, 10, 50'000); });
  all.add("uneven", kAside, "arrow:500000",
          [](HostContext& context) { return arrow(context, 500'000); });
}

void add_large(Collection& all) {
  all.add("grid", kAside, {"stencil27", {128, 128, 128}});
  all.add("grid", kAside, {"laplace3d", {160, 160, 160}});
  all.add("grid", kAside, {"lattice4d", {24, 24, 24, 24}});
  all.add("elements", kAside, {"elasticity3d", {56, 56, 56}});
  all.add("band", kAside, {"band", {1'000'000, 20}});
  all.add("band", kAside, {"band", {16'000, 512}});
}

void add_real(Collection& all, const std::filesystem::path& folder) {
  struct Real {
    const char* name;
    bool kept_aside;
  };
  constexpr Real kReal[] = {
      {"mycielskian14", kFitted}, {"bcsstk29", kFitted},       {"Trefethen_20000", kFitted},
      {"cit-HepPh", kFitted},     {"ca-AstroPh", kFitted},     {"bcsstk16", kFitted},
      {"wing", kFitted},          {"luxembourg_osm", kFitted}, {"delaunay_n15", kFitted},
      {"GT01R", kFitted},         {"email-Enron", kFitted},    {"memplus", kFitted},
      {"bcsstk33", kAside},       {"bcsstk17", kAside},        {"rgg_n_2_15_s0", kAside},
      {"bfly", kAside},           {"ca-CondMat", kAside},      {"p2p-Gnutella31", kAside},
      {"Dubcova1", kAside}};
  for (const Real& real : kReal) {
    for (const char* ending : {".mtx", ".mtx.gz"}) {
      const std::filesystem::path path = folder / (std::string(real.name) + ending);
      if (!std::filesystem::exists(path)) continue;
      all.add("real", real.kept_aside, real.name,
              [path](HostContext& context) { return read_matrix<double>(context, path); });
      break;
    }
  }
}

}  // namespace

std::vector<StudyMatrix> study_matrices(const std::filesystem::path& folder, bool large) {
  Collection all;
  add_real(all, folder);
  add_meshes(all);
  add_bands(all);
  add_random(all);
  if (large) add_large(all);
  return all.take();
}

}  // namespace heddle::lab
