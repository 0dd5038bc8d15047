#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/rectangular/dense_triplets.hpp>
#include <heddle/solvers/rectangular/triplet_extraction.hpp>

namespace heddle::detail {
namespace {

/// The random stream for columns that complete a basis. It differs from those of the eigensolvers'
/// start blocks.
constexpr std::uint64_t kFillStream = 1u << 20;

}  // namespace

template <Scalar T, class Ctx>
TripletExtraction<T, Ctx>::TripletExtraction(Ctx& context, const AdjointPair<T, Ctx>& pair,
                                             Index max_cols, std::uint64_t seed)
    : pair_(pair),
      orthogonalizer_(context, max_cols, max_cols),
      host_(1),
      W_(context, std::max(pair.A->rows(), pair.A->cols()), max_cols),
      Q_(context, pair.A->rows(), max_cols),
      R_(*host_, max_cols, max_cols),
      P_(*host_, max_cols, max_cols),
      Z_(*host_, max_cols, max_cols),
      sigma_(*host_, max_cols, 1),
      small_(context, max_cols, max_cols),
      theta_(context, max_cols, 1),
      norms_(context, max_cols, 1),
      seed_(seed) {}

/// Memory for products with A or Aᴴ. A process may hold more rows of V than of U, although A has at
/// least as many rows as columns.
template <Scalar T, class Ctx>
BlockView<T, typename Ctx::Space> TripletExtraction<T, Ctx>::products(Index rows, Index cols) {
  return {W_.view().data(), rows, cols, W_.ld()};
}

/// A X = Q R. Q has as many columns as X: where A X has a lower rank, random columns complete it.
/// Returns false if A X is not finite.
template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::factor(Ctx& context, ConstBlockView<T, Space> X) {
  const Index c = X.cols();
  const BlockView<T, Space> W = products(pair_.A->rows(), c);
  const BlockView<T, Space> Q = Q_.columns(0, c);
  pair_.A->apply(context, X, W);
  copy<T>(context, W, Q);
  if (!orthonormalize(context, Q, pair_.A->row_range().first)) return false;
  const SmallView<Wide<T>, Space> R = small_.view(c, c);
  gram<T>(context, Q, W, R);  // R = Qᴴ A X   c×c
  fetch(context, R, R_.view(c, c));
  return true;
}

/// R = P diag(σ) Zᴴ for the leading c×c block of R_, ordered from the wanted end. Returns false if
/// R is not finite.
template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::decompose(Which which, Index c) {
  const SmallView<Wide<T>, HostSpace> P = P_.view(c, c);
  const SmallView<Wide<T>, HostSpace> Z = Z_.view(c, c);
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
  const SmallView<Wide<T>, Space> wanted = small_.view(c, k);
  send(context, P_.view(c, c).block(0, 0, c, k), wanted);
  multiply<T>(context, 1, Q_.columns(0, c), wanted, 0, U);  // U = Q P   m×k
  send(context, Z_.view(c, c).block(0, 0, c, k), wanted);
  multiply<T>(context, 1, X, wanted, 0, V);  // V = X Z   n×k
  return true;
}

template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::orthonormalize(Ctx& context, BlockView<T, Space> X,
                                               Index first_row) {
  const OrthoReport report = orthogonalizer_.orthonormalize(context, X, X);
  if (!report.finite) return false;
  counts_.add(report, X.cols());
  if (report.rank == X.cols()) return true;
  const BlockView<T, Space> fill = X.columns(report.rank, X.cols() - report.rank);
  const ConstBlockView<T, Space> found = X.columns(0, report.rank);
  fill_random<T>(context, seed_, kFillStream, fill, first_row);
  make_orthonormal<T, Ctx>(context, orthogonalizer_, nullptr, {Basis<T, Space>{found, found}}, fill,
                           fill, counts_);
  return true;
}

template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::decompose_all(Ctx& context, Which which, BlockView<T, Space> U,
                                              BlockView<T, Space> V) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  const auto values = dense_triplets<T, Ctx>(context, *host_, *pair_.A, which, U, V);
  if (!values) return false;
  largest_ = std::max(values->front(), values->back());
  values_.assign(values->begin(), values->begin() + U.cols());
  return true;
}

template <Scalar T, class Ctx>
bool TripletExtraction<T, Ctx>::refine(Ctx& context, Which which, Index first,
                                       BlockView<T, Space> U, BlockView<T, Space> V) {
  const PhaseScope phase(context, Phase::rayleigh_ritz);
  const Index k = U.cols();
  const BlockView<T, Space> AV = products(pair_.A->rows(), k);
  const SmallView<Wide<T>, Space> small = small_.view(k, k);
  pair_.A->apply(context, V, AV);
  gram<T>(context, U, AV, small);  // Uᴴ A V   k×k
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
  add_residuals(context, *pair_.A, V, U, products(U.rows(), k));             // A V − U Σ    m×k
  add_residuals(context, *pair_.A_transposed, U, V, products(V.rows(), k));  // Aᴴ U − V Σ   n×k
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
  const SmallView<Wide<T>, HostSpace> G = R_.view(k, k);
  gram<T>(context, X, X, small_.view(k, k));
  fetch(context, small_.view(k, k), G);
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < k; ++i) {
      keep_worst(orthogonality_, std::abs(G(i, j) - Wide<T>(i == j ? 1 : 0)));
    }
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class TripletExtraction<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
