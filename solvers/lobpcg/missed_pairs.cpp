#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/missed_pairs.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Products with random vectors from which the size of each row is taken.
constexpr Index kProbes = 6;

/// The weight of a row of size d in the first random vector is d to this power.
constexpr double kWeight = 0.25;

/// The random vectors are smoothed if ‖A‖₁ exceeds the rows of a pair in X by this factor.
constexpr double kStiff = 10;

/// The polynomial damps the eigenvalues of D⁻¹A from this share of the largest one on, to
/// 1/(kDamping · stiffness) with the ratio of ‖A‖₁ to the rows of X as the stiffness. Constraints
/// couple stiff rows with all others, so that motions which meet them need more smoothing.
constexpr double kDampedFrom = 0.005;
constexpr double kDampedFromConstrained = 0.002;
constexpr double kDamping = 100;

/// Steps of CG with D⁻¹ at most, and the share of a part of usual size in a random vector to which
/// they must reduce the residual.
constexpr Index kSteps = 32;
constexpr double kSeen = 0.1;

/// Steps of the power iteration for the largest eigenvalue of D⁻¹A, and the factor by which its
/// result is raised.
constexpr Index kPowerSteps = 12;
constexpr double kSafety = 1.3;

}  // namespace

template <Scalar T, class Ctx>
OrthonormalBlock MissedPairs<T, Ctx>::fill_P(std::uint64_t stream, Index constraints) {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  due_ = false;
  list_wanted(s_.wanted_values);
  blocks.set_p(0);
  const Index room = s_.shape.n() - blocks.locked() - blocks.x();
  const Index columns = std::min({blocks.kSearchColumns, room, blocks.columns_left()});
  OrthonormalBlock made;
  if (columns == 0) return made;
  const double shift = s_.wanted_values.back();
  measure_rows(std::min(kProbes, columns), shift, stream);
  const double inverse_scale = inverse_scale_of_X();
  blocks.set_w(std::min(blocks.kSearchWidth, columns));
  s_.scaled_constraints.prepare(context_, blocks.basis_of_constraints(constraints),
                                s_.row_scale.columns(1, 1), blocks.S().W);
  draw_weighted_W(std::min(blocks.kSearchWidth, columns), stream + 2);
  if (2 * blocks.w() <= columns && !smooth_W(inverse_scale, constraints > 0)) {
    draw_weighted_W(blocks.kSearchWidth, stream + 3);
  }
  while (true) {
    made = make_orthonormal(context_, s_.orthogonalizer, problem_.B,
                            {blocks.locked_basis(), blocks.XP_basis()}, blocks.S().W, blocks.BS().W,
                            s_.result.orthogonalization);
    blocks.set_w(made.rank);
    if (made.rank == 0) return made;
    problem_.A->apply(context_, blocks.S().W, blocks.AS().W);
    const Index next = std::min(made.rank, columns - blocks.p() - made.rank);
    blocks.set_p(blocks.p() + made.rank);  // P ← [P W]
    if (next == 0) return made;
    next_W(next, shift);
  }
}

template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::conclude() {
  list_wanted(s_.found_values);
  done_ = s_.found_values.size() == s_.wanted_values.size();
  for (std::size_t j = 0; done_ && j < s_.found_values.size(); ++j) {
    const double change = std::abs(s_.found_values[j] - s_.wanted_values[j]);
    done_ = s_.pairs.convergence().settled(s_.found_values[j], change);
  }
}

/// values ← the nev best values of the locked pairs and X together, best first.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::list_wanted(std::vector<double>& values) const {
  const auto ritz = s_.ritz.theta();
  s_.pairs.list(s_.ritz.values(), values, s_.monitor_residuals);
  values.resize(static_cast<std::size_t>(s_.pairs.locked()));  // which are listed first
  values.insert(values.end(), ritz.begin(), ritz.end());
  std::sort(values.begin(), values.end());
  if (options_.which == Which::largest) std::reverse(values.begin(), values.end());
  values.resize(std::min(values.size(), static_cast<std::size_t>(options_.nev)));
}

template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::draw_W(Index cols, std::uint64_t stream) {
  s_.blocks.set_w(cols);
  fill_random(context_, options_.seed, stream, s_.blocks.S().W, s_.shape.rows.first);
}

template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::draw_weighted_W(Index cols, std::uint64_t stream) {
  draw_W(cols, stream);
  const Block W = s_.blocks.S().W;
  scale_rows<T>(context_, s_.row_scale.columns(0, 1), W.columns(0, 1), W.columns(0, 1));
  project(W);
}

/// D, as its powers for the weight and D⁻¹, from products of [A σB] with random vectors.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::measure_rows(Index probes, double shift, std::uint64_t stream) {
  draw_W(probes, stream);
  problem_.A->apply(context_, s_.blocks.S().W, s_.blocks.AS().W);
  draw_W(probes, stream + 1);
  if (problem_.B != nullptr) problem_.B->apply(context_, s_.blocks.S().W, s_.blocks.BS().W);
  const Block sums = s_.blocks.AS().W;
  axpby<T>(context_, shift, s_.blocks.BS().W, 1, sums);  // A G + σ B G'
  row_maxima<T>(context_, sums, kWeight, s_.row_scale.columns(0, 1));
  row_maxima<T>(context_, sums, -1, s_.row_scale.columns(1, 1));
}

/// W ← D⁻¹A V, projected onto YᵀBW = 0.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::scaled_product(Block V, Block W) {
  problem_.A->apply(context_, V, W);
  scale_rows<T>(context_, s_.row_scale.columns(1, 1), W, W);
  project(W);
}

/// Projects W onto YᵀBW = 0 for the constraints Y. The last columns of A S are scratch memory.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::project(Block W) {
  const Block scratch = s_.blocks.AS_scratch();
  s_.scaled_constraints.project(context_, W, scratch.columns(scratch.cols() - W.cols(), W.cols()));
}

/// W ← D⁻¹(A − σB) V with V the last columns of P.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::next_W(Index cols, double shift) {
  LobpcgBlocks<T, Ctx>& blocks = s_.blocks;
  blocks.set_w(cols);
  const Index last = blocks.p() - cols;
  const Block W = blocks.S().W;
  copy<T>(context_, blocks.AS().P.columns(last, cols), W);
  axpby<T>(context_, -shift, blocks.BS().P.columns(last, cols), 1, W);
  scale_rows<T>(context_, s_.row_scale.columns(1, 1), W, W);
  project(W);
}

/// max ‖w_j‖/‖v_j‖ over the columns of V and W.
template <Scalar T, class Ctx>
double MissedPairs<T, Ctx>::growth(ConstBlockView<T, Space> V, ConstBlockView<T, Space> W) {
  s_.packet.clear();
  const auto before = s_.packet.add(V.cols(), 1);
  const auto after = s_.packet.add(V.cols(), 1);
  column_norms<T>(context_, V, before.there);
  column_norms<T>(context_, W, after.there);
  s_.packet.fetch(context_);
  double largest = 0;
  for (Index j = 0; j < V.cols(); ++j) {
    largest = std::max(largest, after.here(j, 0) / before.here(j, 0));
  }
  return largest;
}

/// max ‖D⁻¹x‖/‖x‖ over the columns of X, the inverse of the smallest size of rows in which a pair
/// of X lies. Overwrites W.
template <Scalar T, class Ctx>
double MissedPairs<T, Ctx>::inverse_scale_of_X() {
  const Block X = s_.blocks.S().X;
  const Index cols = std::min(X.cols(), s_.blocks.columns_left());
  s_.blocks.set_w(cols);
  const Block W = s_.blocks.S().W;
  scale_rows<T>(context_, s_.row_scale.columns(1, 1), X.columns(0, cols), W);
  return growth(X.columns(0, cols), W);
}

/// Smooths W if A has rows that are much larger than those of X. False if W is not finite
/// afterwards.
template <Scalar T, class Ctx>
bool MissedPairs<T, Ctx>::smooth_W(double inverse_scale, bool constrained) {
  const double most = 1 / static_cast<double>(std::numeric_limits<T>::epsilon());
  const double stiffness = std::min(most, s_.pairs.convergence().scale(0) * inverse_scale);
  if (!(stiffness > kStiff)) return true;
  if (!constrained && hides_nothing()) return true;
  const double upper = kSafety * largest_of_scaled_A();
  if (!(upper > 0) || !std::isfinite(upper)) return true;
  const double lower = (constrained ? kDampedFromConstrained : kDampedFrom) * upper;
  // The polynomial grows where D⁻¹A, or −D⁻¹A at the largest end, is negative. How far it is
  // negative follows from the first of the wanted values.
  const double first = s_.wanted_values.front();
  const double beyond = (options_.which == Which::smallest ? -first : first) * inverse_scale;
  if (beyond > lower) return true;
  const double degree =
      std::acosh(kDamping * stiffness) / std::acosh((upper + lower) / (upper - lower));
  damp(static_cast<Index>(std::ceil(degree)), lower, upper);
  const Block W = s_.blocks.S().W;
  return std::isfinite(growth(W, W));
}

/// Whether A is positive definite, and D⁻¹A has no eigenvalue below the damped ones. Then a few
/// steps of CG with D⁻¹ reduce the residual of a random vector to less than its part along any
/// eigenvector, which they would leave as it is where the eigenvalue is near 0, unless the
/// condition number that they find shows that eigenvalue.
template <Scalar T, class Ctx>
bool MissedPairs<T, Ctx>::hides_nothing() {
  if (options_.which != Which::smallest) return false;
  const Index n = s_.shape.rows.local;
  const auto column = [n](Block X, Index k) { return Block(X.data() + k * n, n, 1, 1); };
  const Block r = column(s_.U.view(), 0), p = column(s_.U.view(), 1);
  const Block q = column(s_.V.view(), 0), z = column(s_.V.view(), 1);
  const auto scale = [&](Index power, Block x, Block y) {
    scale_rows<T>(context_, s_.row_scale.columns(power, 1), x, y);
  };
  // D^½ g = D^¼ (D^¼ g): parts of equal size along the eigenvectors in the inner product in which
  // these are orthonormal.
  scale(0, s_.blocks.S().W.columns(0, 1), r);
  scale(1, r, z);
  copy<T>(context_, z, p);
  double rho = dot(r, z);
  const double goal = kSeen / std::sqrt(static_cast<double>(s_.shape.rows.global));
  const double half_way = goal * rho;
  const double end = goal * half_way;
  CgCoefficients steps;
  bool definite = true;
  while (rho > end && steps.steps() < (rho > half_way ? kSteps / 2 : kSteps)) {
    problem_.A->apply(context_, p, q);
    const double alpha = rho / dot(p, q);
    definite = alpha > 0 && std::isfinite(alpha);
    if (!definite) break;
    steps.add_alpha(alpha);
    axpby<T>(context_, -alpha, q, 1, r);
    scale(1, r, z);
    const double next = dot(r, z);
    steps.add_beta(next / rho);
    axpby<T>(context_, 1, z, next / rho, p);
    rho = next;
  }
  return definite && rho <= end && steps.estimate().whole < 1 / kDampedFrom;
}

/// xᵀy for two columns.
template <Scalar T, class Ctx>
double MissedPairs<T, Ctx>::dot(ConstBlockView<T, Space> x, ConstBlockView<T, Space> y) {
  s_.packet.clear();
  const auto product = s_.packet.add(1, 1);
  column_dots<T>(context_, x, y, product.there);
  s_.packet.fetch(context_);
  return product.here(0, 0);
}

/// An estimate of the largest |μ| among the eigenvalues of D⁻¹A, by power iteration from W.
template <Scalar T, class Ctx>
double MissedPairs<T, Ctx>::largest_of_scaled_A() {
  const Block W = s_.blocks.S().W;
  const Block U = s_.U.columns(0, W.cols());
  const Block next = s_.V.columns(0, W.cols());
  copy<T>(context_, W, U);
  for (Index k = 1; k < kPowerSteps; ++k) {
    scaled_product(U, next);
    copy<T>(context_, next, U);
  }
  scaled_product(U, next);
  return growth(U, next);
}

/// W ← p(D⁻¹A) W, with p of `degree`, p(0) = 1 and |p| as small as possible in [lower, upper], by
/// the Chebyshev semi-iteration for A Z = 0 with start vectors W. At the largest end, −A takes the
/// place of A. Source: Golub & Varga, Numer. Math. 3 (1961) 147.
template <Scalar T, class Ctx>
void MissedPairs<T, Ctx>::damp(Index degree, double lower, double upper) {
  const Block W = s_.blocks.S().W;
  const double sign = options_.which == Which::smallest ? 1 : -1;
  const double center = (upper + lower) / 2;
  const double half_width = (upper - lower) / 2;
  const Block Z = s_.Z.columns(0, W.cols());
  const Block step = s_.U.columns(0, W.cols());
  const Block R = s_.V.columns(0, W.cols());
  copy<T>(context_, W, Z);
  double rho = half_width / center;
  for (Index k = 0; k < degree; ++k) {
    scaled_product(Z, R);
    if (k == 0) {
      axpby<T>(context_, -sign / center, R, 0, step);
    } else {
      const double next = 1 / (2 * center / half_width - rho);
      axpby<T>(context_, -sign * 2 * next / half_width, R, next * rho, step);
      rho = next;
    }
    axpby<T>(context_, 1, step, 1, Z);
  }
  copy<T>(context_, Z, W);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class MissedPairs<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
