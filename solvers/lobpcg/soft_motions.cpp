#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/lobpcg/coupled_rows.hpp>
#include <heddle/solvers/lobpcg/soft_motions.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Rows belong to S from the largest power of 2 on that is at most this factor above the rows of a
/// pair in X. Of a row that is smaller by a share of 1/kEdge, about a third counts.
constexpr double kStiff = 10;
constexpr double kEdge = 64;

/// In place of `kStiff`, a factor that no row reaches.
constexpr double kNone = 1e6;

/// The polynomial damps the eigenvalues of D⁻¹A from this share of the largest one on, to
/// 1/(kDamping · stiffness) with the ratio of ‖A‖₁ to the rows of X as the stiffness. Constraints
/// couple stiff rows with all others, so that motions which meet them need more smoothing.
constexpr double kDampedFrom = 0.005;
constexpr double kDampedFromConstrained = 0.002;
constexpr double kDamping = 100;

/// The share of rows up to which S is factored before CG looks for a hidden motion.
constexpr double kFewRows = 0.05;

/// Random vectors that look for a hidden motion, steps of CG with D⁻¹ for each at most, and the
/// share of a part of usual size in a random vector to which they must reduce the residual.
constexpr Index kLooks = 2;
constexpr Index kSteps = 32;
constexpr double kSeen = 0.01;

/// Soft motions have at most this many times the last of the wanted values, where the rows are
/// factored. Steps of inverse iteration for them.
constexpr double kNear = 10;
constexpr Index kInverseSteps = 4;

/// Where all rows are factored: wanted values that differ by less than this share of the last one
/// are one cluster; steps of bisection for σ.
constexpr double kNarrow = 1e-3;
constexpr Index kBisections = 4;

/// Steps of the power iteration for the largest eigenvalue of D⁻¹A, and the factor by which its
/// result is raised.
constexpr Index kPowerSteps = 12;
constexpr double kSafety = 1.3;

}  // namespace

template <Scalar T, class Ctx>
Index SoftMotions<T, Ctx>::find(double first, bool constrained, Index most, std::uint64_t stream) {
  method_ = CompletenessMethod::random_search;
  uneven_ = true;
  if (most < kSlab) return 0;
  if (!constrained) {
    const Index found = find_in_all_rows(most, stream++);
    if (found > 0) return found;
  }
  const double inverse_scale = std::max(inverse_scale_of_X(), inverse_scale_of_rows());
  const double largest = 1 / static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  const double stiffness = std::min(largest, s_.pairs.convergence().scale(0) * inverse_scale);
  const bool stiff = stiffness > kStiff;
  if (constrained && !stiff) return 0;
  const bool any = choose_rows((stiff ? kStiff : kNone) / inverse_scale, constrained);
  uneven_ = stiff || any;
  if (!any) return 0;
  if (!constrained) method_ = CompletenessMethod::stiff_rows;
  s_.blocks.set_w(most);
  if (!constrained && options_.which == Which::smallest) {
    // A factor of few rows costs less than CG. Many rows are not even copied where CG is enough.
    if (!few_rows_ && hides_nothing(stream)) return 0;
    const auto factor = StiffFactor<T, Ctx>::make(context_, problem_, s_.row_scale.columns(1, 1),
                                                  s_.row_scale.columns(inverse_D_, 1));
    if (factor) method_ = CompletenessMethod::stiff_factor;
    if (factor && factor->factor(context_, softest().limit)) return 0;
    if (!factor && few_rows_ && hides_nothing(stream)) return 0;
    stream += kLooks;
    const Index found = factor ? find_by(*factor, stream) : 0;
    if (found > 0) return found;
    method_ = CompletenessMethod::stiff_rows;
  }
  draw(slab(0), stream);
  // The polynomial grows where D⁻¹A, or −D⁻¹A at the largest end, is negative. How far it is
  // negative follows from the first of the wanted values.
  const double beyond = (options_.which == Which::smallest ? -first : first) * inverse_scale;
  if (!choose_polynomial(stiffness, beyond, constrained)) return 0;
  Index motions = 0, columns = 0;
  while (motions == columns && columns + kSlab <= most) {
    const Index goal = std::min(std::max(2 * columns, kSlab), most - most % kSlab);
    for (; columns < goal; columns += kSlab) {
      draw(slab(columns), stream++);
      damp(slab(columns));
      if (!std::isfinite(growth(slab(columns), slab(columns)))) return 0;
    }
    if (constrained) return columns;
    motions = separate(columns);
  }
  return motions;
}

/// max ‖D⁻¹x‖/‖x‖ over the columns of X, the inverse of the smallest size of rows in which a pair
/// of X lies. Overwrites W.
template <Scalar T, class Ctx>
double SoftMotions<T, Ctx>::inverse_scale_of_X() {
  const Block X = s_.blocks.S().X;
  const Index cols = std::min(X.cols(), s_.blocks.columns_left());
  s_.blocks.set_w(cols);
  const Block W = s_.blocks.S().W;
  scale_rows<T>(context_, s_.row_scale.columns(1, 1), X.columns(0, cols), W);
  return growth(X.columns(0, cols), W);
}

/// The same for a vector whose entries are of equal size, or 1/|σ| if that is smaller: the values
/// of vectors in rows that are no larger than σ are no small ones for these rows. X alone would not
/// tell where all of its pairs are motions of stiff parts.
template <Scalar T, class Ctx>
double SoftMotions<T, Ctx>::inverse_scale_of_rows() {
  s_.packet.clear();
  const auto norm = s_.packet.add(1, 1);
  column_norms<T>(context_, s_.row_scale.columns(1, 1), norm.there);
  s_.packet.fetch(context_);
  const EigenConvergence& convergence = s_.pairs.convergence();
  const double norm_B = convergence.norm_B() > 0 ? convergence.norm_B() : 1;
  const double last = std::abs(s_.wanted_values.back()) * norm_B;
  return std::min(norm.here(0, 0) / std::sqrt(static_cast<double>(s_.shape.rows.global)), 1 / last);
}

/// Chooses S, the rows with sizes `from` on and those that `mark_coupled_rows` finds, and computes
/// D_S^¼ and D_S⁻¹ with zeros in the other rows. False if S is empty.
template <Scalar T, class Ctx>
bool SoftMotions<T, Ctx>::choose_rows(double from, bool constrained) {
  weight_ = constrained ? 0 : 2;
  inverse_D_ = weight_ + 1;
  if (constrained) return true;
  const auto column = [this](Index j) { return s_.row_scale.columns(j, 1); };
  // min(1, D/c)^kEdge for the edge c: 1 in S, and nearly 0 in rows that are a little smaller. It is
  // 0 in rows of zeros, in which D^¼ and D⁻¹ are 0.
  const double edge = std::exp2(std::floor(std::log2(from)));
  const Block ratios = s_.Z.view();
  axpby<T>(context_, edge, column(1), 0, ratios.columns(0, 1));
  row_maxima<T>(context_, column(1), 0, ratios.columns(1, 1));
  row_maxima<T>(context_, ratios, -kEdge, column(2));
  if (options_.which == Which::smallest) {
    mark_coupled_rows<T, Ctx>(*problem_.A, kFewRows, ratios.columns(0, 1), column(2));
    join_coupled_rows<T, Ctx>(*problem_.A, ratios.columns(0, 1), column(2));
  }
  s_.packet.clear();
  const auto rows = s_.packet.add(1, 1);
  column_norms<T>(context_, column(2), rows.there);
  s_.packet.fetch(context_);
  scale_rows<T>(context_, column(2), column(1), column(3));
  scale_rows<T>(context_, column(2), column(0), column(2));
  const double count = rows.here(0, 0) * rows.here(0, 0);
  few_rows_ = count <= kFewRows * static_cast<double>(s_.shape.rows.global);
  return count > 0.25;
}

/// The values up to which motions are soft where S is factored. Other rows may yield to a motion
/// and reduce its energy, so that these are kNear times the last of the wanted values.
template <Scalar T, class Ctx>
typename SoftMotions<T, Ctx>::Values SoftMotions<T, Ctx>::softest() const {
  const double last = s_.wanted_values.back();
  const double size = std::max(std::abs(last), s_.pairs.convergence().unresolved(last));
  return {std::min(0.0, s_.wanted_values.front()), size, last + kNear * size};
}

/// The same as `find` by inverse iteration with A_SS − σB_SS.
template <Scalar T, class Ctx>
Index SoftMotions<T, Ctx>::find_by(StiffFactor<T, Ctx>& factor, std::uint64_t stream) {
  const Values values = softest();
  const auto below = {1 / kNear, 1.0, kNear};
  if (std::none_of(below.begin(), below.end(), [&](double part) {
        return factor.factor(context_, values.first - part * values.size);
      })) {
    return 0;
  }
  const Block V = iterate_inverse(factor, s_.blocks.S().W, {}, stream);
  return V.cols() == 0 ? 0 : keep_ritz_vectors(V, 1, values.limit);
}

/// The same with all rows, orthogonal to the pairs in Y and X. 0 if they are not factored.
template <Scalar T, class Ctx>
Index SoftMotions<T, Ctx>::find_in_all_rows(Index most, std::uint64_t stream) {
  const auto factor = StiffFactor<T, Ctx>::of_all_rows(context_, problem_, options_.which,
                                                       static_cast<double>(kInverseSteps * most));
  if (!factor || !factor_beyond(*factor)) return 0;
  weight_ = 0;
  inverse_D_ = 1;
  s_.blocks.set_w(most);
  const Block V = iterate_inverse(*factor, s_.blocks.S().W,
                                  {s_.blocks.locked_basis(), s_.blocks.XP_basis()}, stream);
  if (V.cols() > 0) method_ = CompletenessMethod::factor;
  return V.cols();
}

/// Factors all rows of A − σB, or of σB − A at the largest end, for a σ beyond all eigenvalues
/// there that is near the wanted values. False if there is none. Where σ must lie far from these, a
/// pair is missing: bisection brings σ near it.
template <Scalar T, class Ctx>
bool SoftMotions<T, Ctx>::factor_beyond(StiffFactor<T, Ctx>& factor) {
  const double sign = options_.which == Which::smallest ? 1 : -1;
  const double first = sign * s_.wanted_values.front();
  const double last = sign * s_.wanted_values.back();
  const EigenConvergence& convergence = s_.pairs.convergence();
  const double width =
      std::max({last - first, kNarrow * std::abs(last), convergence.unresolved(last)});
  double step = width / kNear;
  double refused = first;
  while (!factor.factor(context_, first - step)) {
    refused = first - step;
    if (step == 0 || step > kNear * convergence.scale(first)) return false;  // 0: A is 0
    step *= kNear;
  }
  if (refused == first) return true;
  double sigma = first - step;
  for (Index k = 0; k < kBisections; ++k) {
    const double between = (sigma + refused) / 2;
    (factor.factor(context_, between) ? sigma : refused) = between;
  }
  return factor.factor(context_, sigma);
}

/// V ← an orthonormal basis of what inverse iteration with the factor of A_SS − σB_SS makes of
/// random vectors `beside` others. V has no columns if they depend on these.
template <Scalar T, class Ctx>
typename SoftMotions<T, Ctx>::Block SoftMotions<T, Ctx>::iterate_inverse(
    StiffFactor<T, Ctx>& factor, Block V, std::initializer_list<Basis<T, Space>> beside,
    std::uint64_t stream) {
  Block BV = s_.blocks.BS().W;
  fill_random(context_, options_.seed, stream, V, s_.shape.rows.first);
  for (Index step = 0; step < kInverseSteps; ++step) {
    if (problem_.B != nullptr) problem_.B->apply(context_, V, BV);
    const Block R = s_.blocks.AS().W.columns(0, V.cols());
    copy<T>(context_, BV, R);
    for (const Index power : {weight_, Index{1}, Index{0}, Index{0}, Index{0}})
      scale(power, R);  // 1 in S
    factor.apply(context_, R, V);
    const OrthonormalBlock made = make_orthonormal<T, Ctx>(
        context_, s_.orthogonalizer, problem_.B, beside, V, BV, s_.result.orthogonalization);
    V = V.columns(0, made.rank);
    BV = BV.columns(0, made.rank);
    if (made.rank == 0) break;
  }
  return V;
}

/// Whether A_SS is positive definite, and D⁻¹A has no eigenvalue below the damped ones. Then a few
/// steps of CG with D⁻¹ reduce the residual of a random vector to less than its part along any
/// eigenvector, which they would leave as it is where the eigenvalue is near 0, unless the
/// condition number that they find shows that eigenvalue. Several vectors are tried, because a part
/// of one may be small by chance.
template <Scalar T, class Ctx>
bool SoftMotions<T, Ctx>::hides_nothing(std::uint64_t stream) {
  for (Index look = 0; look < kLooks; look += kSlab) {
    draw(slab(0), stream++);
    for (Index j = 0; j < kSlab; ++j) {
      if (!resolves(slab(0).columns(j, 1))) return false;
    }
  }
  return true;
}

/// Whether CG resolves all of D⁻¹A_SS from a random vector that is weighted by D^¼.
template <Scalar T, class Ctx>
bool SoftMotions<T, Ctx>::resolves(ConstBlockView<T, Space> start) {
  const Index n = s_.shape.rows.local;
  const auto column = [n](Block X, Index k) { return Block(X.data() + k * n, n, 1, 1); };
  const Block r = column(s_.U.view(), 0), p = column(s_.U.view(), 1);
  const Block q = column(s_.V.view(), 0), z = column(s_.V.view(), 1);
  const auto multiply_by_scale = [&](Index scale, ConstBlockView<T, Space> x, Block y) {
    scale_rows<T>(context_, s_.row_scale.columns(scale, 1), x, y);
  };
  // D^½ g = D^¼ (D^¼ g): parts of equal size along the eigenvectors in the inner product in which
  // these are orthonormal.
  multiply_by_scale(weight_, start, r);
  multiply_by_scale(inverse_D_, r, z);
  copy<T>(context_, z, p);
  double rho = dot(r, z);
  const double goal = kSeen / std::sqrt(static_cast<double>(s_.shape.rows.global));
  const double half_way = goal * rho;
  const double end = goal * half_way;
  CgCoefficients& steps = s_.search_steps;
  steps.clear();
  bool definite = true;
  while (rho > end && steps.steps() < (rho > half_way ? kSteps / 2 : kSteps)) {
    problem_.A->apply(context_, p, q);
    const double alpha = rho / dot(p, q);
    definite = alpha > 0 && std::isfinite(alpha);
    if (!definite) break;
    steps.add_alpha(alpha);
    axpby<T>(context_, -alpha, q, 1, r);
    multiply_by_scale(inverse_D_, r, z);
    const double next = dot(r, z);
    steps.add_beta(next / rho);
    axpby<T>(context_, 1, z, next / rho, p);
    rho = next;
  }
  return definite && rho <= end && steps.estimate().whole < 1 / kDampedFrom;
}

/// False if no polynomial damps all but the soft motions.
template <Scalar T, class Ctx>
bool SoftMotions<T, Ctx>::choose_polynomial(double stiffness, double beyond, bool constrained) {
  upper_ = kSafety * largest_of_scaled_A();
  lower_ = (constrained ? kDampedFromConstrained : kDampedFrom) * upper_;
  if (!(upper_ > 0) || !std::isfinite(upper_) || beyond > lower_) return false;
  const double degree =
      std::acosh(kDamping * stiffness) / std::acosh((upper_ + lower_) / (upper_ - lower_));
  degree_ = static_cast<Index>(std::ceil(degree));
  return true;
}

/// An estimate of the largest |μ| among the eigenvalues of D⁻¹A, by power iteration from the first
/// slab.
template <Scalar T, class Ctx>
double SoftMotions<T, Ctx>::largest_of_scaled_A() {
  const Block U = s_.U.view();
  const Block next = s_.V.view();
  copy<T>(context_, slab(0), U);
  for (Index k = 1; k < kPowerSteps; ++k) {
    scaled_product(U, next);
    copy<T>(context_, next, U);
  }
  scaled_product(U, next);
  return growth(U, next);
}

/// Random columns, of which the first is weighted by D^¼. They are 0 outside of S.
template <Scalar T, class Ctx>
void SoftMotions<T, Ctx>::draw(Block slab, std::uint64_t stream) {
  fill_random(context_, options_.seed, stream, slab, s_.shape.rows.first);
  if (weight_ == 0) {
    scale(weight_, slab.columns(0, 1));
  } else {
    scale(weight_, slab);
  }
  project(slab);
}

/// W ← p(D⁻¹A) W, with p of the chosen degree, p(0) = 1 and |p| as small as possible in [lower,
/// upper], by the Chebyshev semi-iteration for A Z = 0 with start vectors W. At the largest end, −A
/// takes the place of A. Source: Golub & Varga, Numer. Math. 3 (1961) 147.
template <Scalar T, class Ctx>
void SoftMotions<T, Ctx>::damp(Block W) {
  const double sign = options_.which == Which::smallest ? 1 : -1;
  const double center = (upper_ + lower_) / 2;
  const double half_width = (upper_ - lower_) / 2;
  const Block Z = s_.Z.view(), step = s_.U.view(), R = s_.V.view();
  copy<T>(context_, W, Z);
  double rho = half_width / center;
  for (Index k = 0; k < degree_; ++k) {
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

/// W ← D⁻¹A V, projected onto YᵀBW = 0.
template <Scalar T, class Ctx>
void SoftMotions<T, Ctx>::scaled_product(Block V, Block W) {
  problem_.A->apply(context_, V, W);
  scale(inverse_D_, W);
  project(W);
}

/// Replaces the first `columns` columns of W by the soft motions in their span, which are the Ritz
/// vectors of D⁻¹A with values below the damped interval, and returns their number.
template <Scalar T, class Ctx>
Index SoftMotions<T, Ctx>::separate(Index columns) {
  // In Y = D^½V the problem is a standard one. D^½ = D^¼D^¼, and D^-½ = D⁻¹D^¼D^¼.
  Block V = s_.blocks.S().W.columns(0, columns);
  for (const Index power : {0, 0}) scale(power, V);
  const OrthonormalBlock made = make_orthonormal<T, Ctx>(context_, s_.orthogonalizer, nullptr, {},
                                                         V, V, s_.result.orthogonalization);
  if (made.rank == 0) return 0;
  V = V.columns(0, made.rank);
  for (const Index power : {1, 0, 0}) scale(power, V);
  return keep_ritz_vectors(V, options_.which == Which::smallest ? 1 : -1, lower_);
}

/// The first columns of V ← the Ritz vectors of `sign` A in the span of V with values below
/// `limit`. Returns their number. V is orthonormal in the inner product of the problem.
template <Scalar T, class Ctx>
Index SoftMotions<T, Ctx>::keep_ritz_vectors(Block V, double sign, double limit) {
  const Block AV = s_.blocks.AS().W.columns(0, V.cols());
  problem_.A->apply(context_, V, AV);
  s_.packet.clear();
  const auto H = s_.packet.template add<Wide<T>>(V.cols(), V.cols());
  gram<T>(context_, V, AV, H.there);
  s_.packet.fetch(context_);
  const Index kept = s_.search_ritz.solve(H.here, sign, limit);
  s_.search_ritz.rotate(context_, V, kept);
  return kept;
}

/// max ‖w_j‖/‖v_j‖ over the columns of V and W.
template <Scalar T, class Ctx>
double SoftMotions<T, Ctx>::growth(ConstBlockView<T, Space> V, ConstBlockView<T, Space> W) {
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

/// xᵀy for two columns.
template <Scalar T, class Ctx>
double SoftMotions<T, Ctx>::dot(ConstBlockView<T, Space> x, ConstBlockView<T, Space> y) {
  s_.packet.clear();
  const auto product = s_.packet.add(1, 1);
  column_dots<T>(context_, x, y, product.there);
  s_.packet.fetch(context_);
  return product.here(0, 0);
}

template <Scalar T, class Ctx>
void SoftMotions<T, Ctx>::scale(Index column, Block W) {
  scale_rows<T>(context_, s_.row_scale.columns(column, 1), W, W);
}

template <Scalar T, class Ctx>
void SoftMotions<T, Ctx>::project(Block W) {
  const Block scratch = s_.blocks.AS_scratch();
  s_.scaled_constraints.project(context_, W, scratch.columns(scratch.cols() - W.cols(), W.cols()));
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class SoftMotions<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
