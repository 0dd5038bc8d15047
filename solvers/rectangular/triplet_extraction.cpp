#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/rectangular/triplet_extraction.hpp>

namespace heddle::detail {
namespace {

/// The random stream for columns that complete a basis. It differs from those of the eigensolvers'
/// start blocks.
constexpr std::uint64_t kFillStream = 1u << 20;

void reverse_columns(SmallView<double, HostSpace> M) {
  for (Index j = 0; j < M.cols / 2; ++j) {
    std::swap_ranges(&M(0, j), &M(0, j) + M.rows, &M(0, M.cols - 1 - j));
  }
}

/// M ← A, by products with panels of the identity.
template <Scalar T, class Ctx>
void multiply_identity(Ctx& context, HostContext& host, LinearOperator<T, Ctx>& A,
                       SmallView<double, HostSpace> M) {
  using Space = typename Ctx::Space;
  const Index panel = std::min(kPanelColumns, M.cols);
  MultiVector<T, Space> X(context, M.cols, panel), AX(context, M.rows, panel);
  MultiVector<T, HostSpace> columns(host, M.cols, panel), product(host, M.rows, panel);
  for (Index first = 0; first < M.cols; first += panel) {
    const Index count = std::min(panel, M.cols - first);
    set_zero(host, columns.view());
    for (Index j = 0; j < count; ++j) columns.view()(first + j, j) = 1;
    send<T>(context, columns.columns(0, count), X.columns(0, count));
    A.apply(context, X.columns(0, count), AX.columns(0, count));
    fetch<T>(context, AX.columns(0, count), product.columns(0, count));
    for (Index i = 0; i < M.rows; ++i) {
      for (Index j = 0; j < count; ++j) {
        M(i, first + j) = static_cast<double>(product.view()(i, j));
      }
    }
  }
}

/// X ← the first columns of M, rounded to T.
template <Scalar T, class Ctx>
void send_rounded(Ctx& context, HostContext& host, ConstSmallView<double, HostSpace> M,
                  BlockView<T, typename Ctx::Space> X) {
  MultiVector<T, HostSpace> rounded(host, X.rows(), X.cols());
  for (Index j = 0; j < X.cols(); ++j) {
    for (Index i = 0; i < X.rows(); ++i) rounded.view()(i, j) = static_cast<T>(M(i, j));
  }
  send<T>(context, rounded.view(), X);
  context.synchronize();  // the copy reads `rounded` until then
}

}  // namespace

template <Scalar T, class Ctx>
TripletExtraction<T, Ctx>::TripletExtraction(Ctx& context, const AdjointPair<T, Ctx>& pair,
                                             Index max_cols, std::uint64_t seed)
    : pair_(pair),
      orthogonalizer_(context, max_cols, max_cols),
      host_(1),
      W_(context, pair.A->rows(), max_cols),
      Q_(context, pair.A->rows(), max_cols),
      R_(*host_, max_cols, max_cols),
      P_(*host_, max_cols, max_cols),
      Z_(*host_, max_cols, max_cols),
      sigma_(*host_, max_cols, 1),
      small_(context, max_cols, max_cols),
      theta_(context, max_cols, 1),
      norms_(context, max_cols, 1),
      seed_(seed) {}

/// A X = Q R. Q has as many columns as X: where A X has a lower rank, random columns complete it.
/// Returns false if A X is not finite.
template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::factor(Ctx& context, ConstBlockView<T, Space> X) {
  const Index c = X.cols();
  const BlockView<T, Space> W = W_.columns(0, c);
  const BlockView<T, Space> Q = Q_.columns(0, c);
  pair_.A->apply(context, X, W);
  copy<T>(context, W, Q);
  const OrthoReport report = orthogonalizer_.orthonormalize(context, Q, Q);
  if (!report.finite) return false;
  counts_.add(report, c);
  const Index rank = report.rank;
  if (rank < c) {
    const BlockView<T, Space> fill = Q.columns(rank, c - rank);
    const Basis<T, Space> basis{Q.columns(0, rank), Q.columns(0, rank)};
    fill_random(context, seed_, kFillStream, fill);
    make_orthonormal<T, Ctx>(context, orthogonalizer_, nullptr, {basis}, fill, fill, counts_);
  }
  const SmallView<double, Space> R = small_.view(c, c);
  gram<T>(context, Q, W, R);  // R = Qᵀ A X   c×c
  fetch(context, R, R_.view(c, c));
  return true;
}

/// R = P diag(σ) Zᵀ for the leading c×c block of R_, ordered from the wanted end. Returns false if
/// R is not finite.
template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::decompose(Which which, Index c) {
  const SmallView<double, HostSpace> P = P_.view(c, c);
  const SmallView<double, HostSpace> Z = Z_.view(c, c);
  const SmallView<double, HostSpace> sigma = sigma_.view(c, 1);
  if (!singular_value_decomposition(R_.view(c, c), P, sigma, Z)) return false;
  if (which == Which::smallest) {
    std::reverse(sigma.data, sigma.data + c);
    reverse_columns(P);
    reverse_columns(Z);
  }
  return true;
}

template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::extract(Ctx& context, Which which, ConstBlockView<T, Space> X,
                                        BlockView<T, Space> U, BlockView<T, Space> V) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  const Index c = X.cols();
  const Index k = U.cols();
  if (!factor(context, X) || !decompose(which, c)) return false;
  const ConstSmallView<double, HostSpace> sigma = sigma_.view(c, 1);
  largest_ = std::max(sigma(0, 0), sigma(c - 1, 0));
  values_.assign(sigma.data, sigma.data + k);
  const SmallView<double, Space> wanted = small_.view(c, k);
  send(context, P_.view(c, c).block(0, 0, c, k), wanted);
  multiply<T>(context, 1, Q_.columns(0, c), wanted, 0, U);  // U = Q P   m×k
  send(context, Z_.view(c, c).block(0, 0, c, k), wanted);
  multiply<T>(context, 1, X, wanted, 0, V);  // V = X Z   n×k
  return true;
}

template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::decompose_all(Ctx& context, Which which, BlockView<T, Space> U,
                                              BlockView<T, Space> V) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  const Index m = pair_.A->rows();
  const Index n = pair_.A->cols();
  SmallMatrix<double, HostSpace> dense(*host_, m, n), left(*host_, m, n), right(*host_, n, n);
  SmallMatrix<double, HostSpace> sigma(*host_, n, 1);
  multiply_identity(context, *host_, *pair_.A, dense.view(m, n));
  const SmallView<double, HostSpace> values = sigma.view(n, 1);
  if (!singular_value_decomposition(dense.view(m, n), left.view(m, n), values, right.view(n, n))) {
    return false;
  }
  if (which == Which::smallest) {
    std::reverse(values.data, values.data + n);
    reverse_columns(left.view(m, n));
    reverse_columns(right.view(n, n));
  }
  largest_ = std::max(values(0, 0), values(n - 1, 0));
  values_.assign(values.data, values.data + U.cols());
  send_rounded<T>(context, *host_, left.view(m, n), U);
  send_rounded<T>(context, *host_, right.view(n, n), V);
  return true;
}

template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::refine(Ctx& context, Which which, Index first,
                                       BlockView<T, Space> U, BlockView<T, Space> V) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  const Index k = U.cols();
  const BlockView<T, Space> AV = W_.columns(0, k);
  const SmallView<double, Space> small = small_.view(k, k);
  pair_.A->apply(context, V, AV);
  gram<T>(context, U, AV, small);  // Uᵀ A V   k×k
  fetch(context, small, R_.view(k, k));
  if (!decompose(which, k)) return false;
  std::copy_n(sigma_.view(k, 1).data, k, values_.begin() + first);
  send(context, P_.view(k, k), small);
  multiply<T>(context, 1, U, small, 0, U);  // U P   m×k
  send(context, Z_.view(k, k), small);
  multiply<T>(context, 1, V, small, 0, V);  // V Z   n×k
  return true;
}

template <Scalar T, class Ctx>
void TripletExtraction<T, Ctx>::measure(Ctx& context, ConstBlockView<T, Space> U,
                                        ConstBlockView<T, Space> V) {
  const PhaseScope phase(context, Phase::verify);
  const Index k = U.cols();
  send(context, ConstSmallView<double, HostSpace>{values_.data(), k, 1, k}, theta_.view(k, 1));
  residuals_.assign(static_cast<std::size_t>(k), 0);
  orthogonality_ = 0;
  // A has at least as many rows as columns, so Aᵀ U fits into the memory of A X.
  const BlockView<T, Space> W = W_.columns(0, k);
  const BlockView<T, Space> shorter{W.data(), V.rows(), k, W.ld()};
  add_residuals(context, *pair_.A, V, U, W);                   // A V − U Σ    m×k
  add_residuals(context, *pair_.A_transposed, U, V, shorter);  // Aᵀ U − V Σ   n×k
  add_orthogonality(context, U);
  add_orthogonality(context, V);
}

template <Scalar T, class Ctx>
void TripletExtraction<T, Ctx>::add_residuals(Ctx& context, LinearOperator<T, Ctx>& A,
                                              ConstBlockView<T, Space> X,
                                              ConstBlockView<T, Space> Y,
                                              BlockView<T, Space> scratch) {
  const Index k = X.cols();
  const SmallView<double, HostSpace> norms = sigma_.view(k, 1);
  A.apply(context, X, scratch);
  residual<T>(context, scratch, Y, theta_.view(k, 1), scratch, norms_.view(k, 1));
  fetch(context, norms_.view(k, 1), norms);
  for (Index j = 0; j < k; ++j) {
    keep_worst(residuals_[static_cast<std::size_t>(j)], norms(j, 0));
  }
}

template <Scalar T, class Ctx>
void TripletExtraction<T, Ctx>::add_orthogonality(Ctx& context, ConstBlockView<T, Space> X) {
  const Index k = X.cols();
  const SmallView<double, HostSpace> G = R_.view(k, k);
  gram<T>(context, X, X, small_.view(k, k));
  fetch(context, small_.view(k, k), G);
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < k; ++i) {
      keep_worst(orthogonality_, std::abs(G(i, j) - (i == j ? 1 : 0)));
    }
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class TripletExtraction<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
