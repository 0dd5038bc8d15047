#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <limits>

namespace heddle {
namespace {

using Small = SmallView<double, HostSpace>;

template <class T>
constexpr double kEps = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

/// Each round multiplies the smallest singular value by at least 10⁴, so further rounds than these
/// do not improve the block.
constexpr int kMaxRounds = 10;

/// The expected rounding c·m·ε in a Gram matrix of m unit columns.
template <class T>
double gram_rounding(Index m) {
  return 10 * static_cast<double>(m) * kEps<T>;
}

template <class T, class Space>
bool separate(const BlockView<T, Space>& X, const BlockView<T, Space>& BX) {
  return BX.data() != X.data();
}

void require_room(const char* operation, const char* what, Index cols, Index max_cols) {
  if (cols > max_cols) {
    throw InvalidArgument(fmt::format("Orthogonalizer::{}: {} of {} columns, made for {}",
                                      operation, what, cols, max_cols));
  }
}

/// Whether Q lies directly before X in memory, so that [Q X] is one block.
template <class T, class Space>
bool lies_before(const ConstBlockView<T, Space>& Q, const BlockView<T, Space>& X) {
  return Q.cols() > 0 && Q.data() + Q.cols() == X.data() && Q.ld() == X.ld() &&
         Q.rows() == X.rows();
}

/// Calls visit(factor, row, last) for each factor of [Q₁ Q₂ … X], where `row` is the factor's first
/// row of coefficients. The coefficients of X are last. If a basis lies directly before X in
/// memory, it is one factor with X, and its coefficients come directly before those of X. The other
/// bases keep their order. The factor that contains X is visited first.
template <class T, class Space, class Visit>
void for_each_factor(std::initializer_list<Basis<T, Space>> bases, const BlockView<T, Space>& X,
                     const Visit& visit) {
  Index c = 0;
  for (const auto& basis : bases) c += basis.Q.cols();
  const auto* beside = std::find_if(bases.begin(), bases.end(),
                                    [&](const auto& basis) { return lies_before(basis.Q, X); });
  const Index width = beside == bases.end() ? 0 : beside->Q.cols();
  visit(ConstBlockView<T, Space>(X.data() - width, X.rows(), width + X.cols(), X.ld()), c - width,
        true);
  Index row = 0;
  for (const auto* basis = bases.begin(); basis != bases.end(); ++basis) {
    if (basis == beside || basis->Q.cols() == 0) continue;
    visit(basis->Q, row, false);
    row += basis->Q.cols();
  }
}

}  // namespace

template <Scalar T, class Ctx>
Orthogonalizer<T, Ctx>::Orthogonalizer(Ctx& context, Index max_cols, Index max_basis)
    : ladder_(max_cols, kEps<T>),
      host_(1),
      host_norms_(*host_, max_cols, 2),
      norms_(context, max_cols, 2),
      small_(context, std::max(max_cols, max_basis), max_cols),
      products_(context, max_basis + max_cols, max_cols),
      coefficients_(context, max_basis + max_cols, max_cols),
      max_cols_(max_cols),
      max_basis_(max_basis) {}

template <Scalar T, class Ctx>
double Orthogonalizer<T, Ctx>::project(Ctx& context, const Basis<T, Space>& basis, Block X,
                                       Block BX, bool drop) {
  const PhaseScope phase(context, Phase::orthogonalize);
  const Index b = X.cols();
  if (X.empty() || basis.Q.cols() == 0) return 1;
  const SmallView<double, Space> norms = norms_.view(b, 2);
  column_norms(context, ConstBlock(X), norms.block(0, 0, b, 1));
  subtract(context, basis, X);
  if (!BX.empty() && separate(X, BX)) {
    const SmallView<Wide<T>, Space> C = small_.view(basis.Q.cols(), b);  // of `subtract`
    multiply<T>(context, -1, basis.BQ, C, 1, BX);                        // BX ← BX − BQ C  n×b
  }
  column_norms(context, ConstBlock(X), norms.block(0, 1, b, 1));
  const Small host = host_norms_.view(b, 2);
  fetch(context, norms, host);
  double smallest = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < b; ++j) {
    if (!std::isfinite(host(j, 0)) || !std::isfinite(host(j, 1))) return 0;
    if (drop && !(host(j, 1) > kUnchanged * host(j, 0))) {
      set_zero(context, X.columns(j, 1));
    } else if (host(j, 0) > 0) {
      smallest = std::min(smallest, host(j, 1) / host(j, 0));
    }
  }
  return smallest;
}

template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::subtract(Ctx& context, const Basis<T, Space>& basis, Block X) {
  const PhaseScope phase(context, Phase::orthogonalize);
  require_room("project", "a block", X.cols(), max_cols_);
  require_room("project", "a basis", basis.Q.cols(), max_basis_);
  if (X.empty() || basis.Q.cols() == 0) return;
  const SmallView<Wide<T>, Space> C = small_.view(basis.Q.cols(), X.cols());
  gram(context, basis.BQ, ConstBlock(X), C);   // C = (BQ)ᵀX      c×b
  multiply<T>(context, -1, basis.Q, C, 1, X);  // X ← X − Q C     n×b
}

template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::cholesky_qr(Ctx& context, ConstBlock X, ConstBlock BX, Block Y,
                                         SmallView<double, Space> status) {
  const PhaseScope phase(context, Phase::orthogonalize);
  const Index b = X.cols();
  require_room("cholesky_qr", "a block", b, max_cols_);
  require_same_shape("cholesky_qr", X, BX);
  require_same_shape("cholesky_qr", X, Y);
  const SmallView<Wide<T>, Space> G = products_.view(b, b);
  const SmallView<Wide<T>, Space> M = coefficients_.view(b, b);
  gram(context, X, BX, G);
  cholesky_qr_coefficients(context, G, M, status);
  multiply<T>(context, 1, X, M, 0, Y);
}

template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::gram_schmidt(Ctx& context,
                                          std::initializer_list<Basis<T, Space>> bases, Block X,
                                          ConstBlock BX, SmallView<double, Space> status) {
  const PhaseScope phase(context, Phase::orthogonalize);
  const Index b = X.cols();
  Index c = 0;
  for (const auto& basis : bases) {
    require_same_shape("gram_schmidt", basis.Q, basis.BQ);
    c += basis.Q.cols();
  }
  require_room("gram_schmidt", "a block", b, max_cols_);
  require_room("gram_schmidt", "bases", c, max_basis_);
  require_same_shape("gram_schmidt", X, BX);
  const SmallView<Wide<T>, Space> products = products_.view(c + b, b);
  const SmallView<Wide<T>, Space> N = coefficients_.view(c + b, b);
  for_each_factor(bases, X, [&](ConstBlock factor, Index row, bool) {
    gram(context, factor, BX, products.block(row, 0, factor.cols(), b));
  });
  cholesky_qr_coefficients(context, products, N, status);
  for_each_factor(bases, X, [&](ConstBlock factor, Index row, bool last) {
    multiply<T>(context, 1, factor, N.block(row, 0, factor.cols(), b), last ? 0 : 1, X);
  });
}

template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::subtract_and_orthonormalize(Ctx& context, ConstBlock X,
                                                         ConstSmallView<Wide<T>, Space> C,
                                                         ConstBlock Q, Block W, Block Y,
                                                         SmallView<double, Space> status) {
  const PhaseScope phase(context, Phase::orthogonalize);
  const Index b = W.cols();
  const Index c = Q.cols();
  require_room("subtract_and_orthonormalize", "a block", b, max_cols_);
  require_room("subtract_and_orthonormalize", "a basis", c, max_basis_);
  if (c > 0 && !lies_before(Q, Y)) {
    throw InvalidArgument("Orthogonalizer::subtract_and_orthonormalize: Q is not before Y");
  }
  const ConstBlock QY(Y.data() - c, Y.rows(), c + b, Y.ld());
  const SmallView<Wide<T>, Space> G = products_.view(b, b);
  const SmallView<Wide<T>, Space> M = coefficients_.view(b, b);
  multiply_gram<T>(context, -1, X, C, 1, W, W, W, G);  // W ← W − X C, G = WᵀW
  cholesky_qr_coefficients(context, G, M, status.block(0, 0, status.rows, 1));
  const SmallView<Wide<T>, Space> products = products_.view(c + b, b);
  const SmallView<Wide<T>, Space> N = coefficients_.view(c + b, b);
  multiply_gram<T>(context, 1, W, M, 0, Y, Y, QY, products);  // Y ← W M, [Q Y]ᵀY
  cholesky_qr_coefficients(context, products, N, status.block(0, 1, status.rows, 1));
  multiply_and_copy<T>(context, QY, N, Y, W);  // Y ← [Q Y] N
}

template <Scalar T, class Ctx>
OrthoReport Orthogonalizer<T, Ctx>::orthonormalize(Ctx& context, Block X, Block BX) {
  const PhaseScope phase(context, Phase::orthogonalize);
  require_room("orthonormalize", "a block", X.cols(), max_cols_);
  require_same_shape("orthonormalize", X, BX);
  OrthoReport report = climb(context, X, BX);
  if (report.indefinite || !report.finite) return report;
  report.rank = ladder_.cols();
  const Index lost = X.cols() - report.rank;
  set_zero(context, X.columns(report.rank, lost));
  if (separate(X, BX)) set_zero(context, BX.columns(report.rank, lost));
  return report;
}

template <Scalar T, class Ctx>
OrthoReport Orthogonalizer<T, Ctx>::climb(Ctx& context, Block X, Block BX) {
  OrthoReport report;
  ladder_.begin(X.cols());
  for (int round = 0; round < kMaxRounds && ladder_.cols() > 0; ++round) {
    X = X.columns(0, ladder_.cols());
    BX = BX.columns(0, ladder_.cols());
    report.finite = read_gram(context, X, BX);
    if (round == 0 && !(report.finite && gram_in_range())) {
      report.finite = normalize_columns(context, X, BX) && read_gram(context, X, BX);
      report.indefinite = report.finite && !clear_small_squares(context, X, BX);
    }
    if (!report.finite || report.indefinite || ladder_.orthonormal()) return report;
    const OrthoMethod rung = ladder_.decide([&] { return total_rows(context, X.rows()); });
    report.indefinite = round == 0 && rung == OrthoMethod::svqb && separate(X, BX) &&
                        ladder_.smallest_eigenvalue() < -image_rounding(context, X, BX);
    if (report.indefinite) return report;
    report.method = std::max(report.method, rung);
    if (round > 0) report.method = std::max(report.method, OrthoMethod::cholqr2);
    transform(context, X, BX);
    if (rung == OrthoMethod::cholqr) return report;
  }
  return report;
}

/// The ladder's G ← XᵀBX, made symmetric to the bit. Returns false if it is not finite.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::read_gram(Ctx& context, Block X, Block BX) {
  const SmallView<Wide<T>, HostSpace> G = ladder_.gram();
  gram(context, ConstBlock(X), ConstBlock(BX), small_.view(G.rows, G.cols));
  fetch(context, small_.view(G.rows, G.cols), G);
  bool finite = true;
  for (Index j = 0; j < G.cols; ++j) {
    for (Index i = 0; i <= j; ++i) {
      G(i, j) = 0.5 * (G(i, j) + conjugate(G(j, i)));
      G(j, i) = conjugate(G(i, j));
      finite = finite && is_finite(G(i, j));
    }
  }
  return finite;
}

/// Whether the norms of all columns are far enough inside the range of T that their squares and
/// inverses do not overflow or underflow.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::gram_in_range() {
  const double lowest = std::pow(static_cast<double>(std::numeric_limits<RealOf<T>>::min()), 0.8);
  const SmallView<Wide<T>, HostSpace> G = ladder_.gram();
  for (Index j = 0; j < G.cols; ++j) {
    const double square = real_part(G(j, j));
    if (!(square > lowest && square < 1 / lowest)) return false;
  }
  return true;
}

/// A b×2 matrix with ‖x_j‖₂ in its first column and ‖Bx_j‖₂ in its second.
template <Scalar T, class Ctx>
SmallView<double, HostSpace> Orthogonalizer<T, Ctx>::read_norms(Ctx& context, Block X, Block BX) {
  const Index b = X.cols();
  const SmallView<double, Space> norms = norms_.view(b, 2);
  column_norms(context, ConstBlock(X), norms.block(0, 0, b, 1));
  column_norms(context, ConstBlock(BX), norms.block(0, 1, b, 1));
  const Small host = host_norms_.view(b, 2);
  fetch(context, norms, host);
  return host;
}

/// Scales X and BX so that ‖x_j‖₂ = 1 (zero columns stay 0). Returns false and changes nothing if a
/// norm is not finite.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::normalize_columns(Ctx& context, Block X, Block BX) {
  const Small norms = read_norms(context, X, BX);
  for (Index j = 0; j < norms.rows; ++j) {
    if (!std::isfinite(norms(j, 0)) || !std::isfinite(norms(j, 1))) return false;
  }
  const Small factors = norms.block(0, 0, norms.rows, 1);
  for (Index j = 0; j < norms.rows; ++j) {
    factors(j, 0) = 1 / std::max(norms(j, 0), std::numeric_limits<double>::min());
  }
  send(context, factors, norms_.view(norms.rows, 1));
  scale_columns<T>(context, norms_.view(norms.rows, 1), X);
  if (separate(X, BX)) scale_columns<T>(context, norms_.view(norms.rows, 1), BX);
  return true;
}

/// Sets those squares xᵀBx to 0 that are of the size of rounding. Returns false if one is negative
/// by more than rounding.
template <Scalar T, class Ctx>
bool Orthogonalizer<T, Ctx>::clear_small_squares(Ctx& context, Block X, Block BX) {
  const Small norms = read_norms(context, X, BX);
  const SmallView<Wide<T>, HostSpace> G = ladder_.gram();
  for (Index j = 0; j < G.cols; ++j) {
    const double rounding = gram_rounding<T>(G.cols) * norms(j, 0) * norms(j, 1);
    const double square = real_part(G(j, j));
    if (square < -rounding) return false;
    if (square <= rounding) G(j, j) = 0;
  }
  return true;
}

/// The expected rounding in G scaled to unit diagonal, given that BX is a rounded product.
template <Scalar T, class Ctx>
double Orthogonalizer<T, Ctx>::image_rounding(Ctx& context, Block X, Block BX) {
  const Small norms = read_norms(context, X, BX);
  const SmallView<Wide<T>, HostSpace> G = ladder_.gram();
  double largest = 1;
  for (Index j = 0; j < G.cols; ++j) {
    const double square = real_part(G(j, j));
    if (square > 0) largest = std::max(largest, norms(j, 0) * norms(j, 1) / square);
  }
  return gram_rounding<T>(G.cols) * largest;
}

/// X ← X M and BX ← BX M with the ladder's M. The result has fewer columns if some were dropped.
template <Scalar T, class Ctx>
void Orthogonalizer<T, Ctx>::transform(Ctx& context, Block X, Block BX) {
  const ConstSmallView<Wide<T>, HostSpace> M = ladder_.advance();
  const SmallView<Wide<T>, Space> C = small_.view(M.rows, M.cols);
  send(context, M, C);
  multiply<T>(context, 1, X, C, 0, X.columns(0, M.cols));
  if (separate(X, BX)) multiply<T>(context, 1, BX, C, 0, BX.columns(0, M.cols));
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class Orthogonalizer<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
