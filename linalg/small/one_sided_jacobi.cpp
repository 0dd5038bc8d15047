#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/small/one_sided_jacobi.hpp>
#include <limits>
#include <numeric>
#include <utility>

namespace heddle {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Sweeps over all pairs of columns at most. Convergence is quadratic; ten suffice as a rule.
constexpr int kMostSweeps = 60;

using Matrix = Eigen::MatrixXd;
using Map = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

Map map_of(const SmallView<double, HostSpace>& M) {
  return {M.data, M.rows, M.cols, Eigen::OuterStride<>(M.ld)};
}

/// Makes columns i and j of G orthogonal. False if they are, up to rounding. `squares`: ‖g‖² of the
/// columns, which the rotation updates. Cancellation may leave errors in them, which change no more
/// than its angle.
bool rotate(Map& G, Eigen::VectorXd& squares, Index i, Index j) {
  const double a = squares(i);
  const double b = squares(j);
  const double c = G.col(i).dot(G.col(j));
  const double size = std::sqrt(a) * std::sqrt(b);
  if (!(std::abs(c) > static_cast<double>(G.rows()) * kEpsilon * size)) return false;
  const double zeta = std::abs(b - a) / (2 * std::abs(c));
  const double root = zeta < 1e8 ? std::sqrt(1 + zeta * zeta) : zeta;  // ζ² may overflow
  const double t = std::copysign(1 / (zeta + root), b < a ? -c : c);
  const double cosine = 1 / std::sqrt(1 + t * t);
  const double sine = t * cosine;
  double* const x = G.col(i).data();
  double* const y = G.col(j).data();
  for (Index r = 0; r < G.rows(); ++r) {
    const double old = x[r];
    x[r] = cosine * old - sine * y[r];
    y[r] = sine * old + cosine * y[r];
  }
  squares(i) = std::max(0.0, a - t * c);
  squares(j) = std::max(0.0, b + t * c);
  return true;
}

/// The numbers of the columns of G by descending norm.
std::vector<Index> by_norm(const Map& G) {
  std::vector<Index> order(static_cast<std::size_t>(G.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return G.col(i).norm() > G.col(j).norm(); });
  return order;
}

void sort_columns(Map& G) {
  const Matrix copy = G;
  const std::vector<Index> order = by_norm(G);
  for (Index j = 0; j < G.cols(); ++j) G.col(j) = copy.col(order[static_cast<std::size_t>(j)]);
}

}  // namespace

std::vector<double> one_sided_jacobi(SmallView<double, HostSpace> view) {
  Map G = map_of(view);
  if (!G.allFinite()) return {};
  // The squares of norms then neither overflow nor underflow for columns of any use.
  const double largest = G.cwiseAbs().maxCoeff();
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  G *= std::ldexp(1.0, -exponent);
  sort_columns(G);  // a large column first: rotations then leave the small ones small
  for (int sweep = 0, rotations = 1; sweep < kMostSweeps && rotations > 0; ++sweep) {
    rotations = 0;
    Eigen::VectorXd squares = G.colwise().squaredNorm();  // anew, so that the last sweep is exact
    for (Index i = 0; i + 1 < G.cols(); ++i) {
      for (Index j = i + 1; j < G.cols(); ++j) rotations += rotate(G, squares, i, j) ? 1 : 0;
    }
  }
  sort_columns(G);
  std::vector<double> theta;
  for (Index j = 0; j < G.cols(); ++j) {
    const double norm = G.col(j).norm();
    if (norm > 0) G.col(j) /= norm;
    theta.push_back(std::ldexp(norm * norm, 2 * exponent));
  }
  return theta;
}

bool factor_semidefinite(SmallView<double, HostSpace> view) {
  Map B = map_of(view);
  if (!B.allFinite()) return false;
  const Index n = B.rows();
  const double noise = 10 * static_cast<double>(n) * kEpsilon;
  const Eigen::VectorXd sizes = B.diagonal();
  Matrix M = Matrix::Zero(n, n);
  Eigen::VectorXd rest = sizes;  // the diagonal of the Schur complement
  std::vector<bool> done(static_cast<std::size_t>(n));
  for (Index k = 0; k < n; ++k) {
    // The pivot that keeps the largest part of its entry, so that scaling B changes nothing.
    Index pivot = -1;
    double most = noise;
    for (Index i = 0; i < n; ++i) {
      const bool open = !done[static_cast<std::size_t>(i)];
      if (open && rest(i) < -noise * std::abs(sizes(i))) return false;
      if (!open || !(sizes(i) > 0) || !(rest(i) / sizes(i) > most)) continue;
      most = rest(i) / sizes(i);
      pivot = i;
    }
    if (pivot < 0) break;
    done[static_cast<std::size_t>(pivot)] = true;
    M.col(k) =
        (B.col(pivot) - M.leftCols(k) * M.row(pivot).head(k).transpose()) / std::sqrt(rest(pivot));
    for (Index i = 0; i < n; ++i) {
      if (done[static_cast<std::size_t>(i)] && i != pivot) M(i, k) = 0;
      rest(i) -= M(i, k) * M(i, k);
    }
  }
  B = M;
  return (rest.array() >= -noise * sizes.array().abs()).all();
}

}  // namespace heddle
