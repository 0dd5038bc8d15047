#include <algorithm>
#include <cmath>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/detail/inverse_diagonal.hpp>
#include <heddle/solvers/detail/lanczos_bounds.hpp>
#include <heddle/solvers/preconditioners/chebyshev.hpp>
#include <string>
#include <utility>

namespace heddle {

/// What the preconditioner is made of, in the memory of `Space`.
template <Scalar T, class Space>
struct ChebyshevSetup {
  Buffer<T, Space> scaling;     // D^(-1/2)
  CsrMatrix<T, Space> shifted;  // Â + σ I − c I
  double upper_bound = 0;       // β
  double middle = 0;            // c
};

namespace {

/// D A D with D = diag(d); every diagonal entry is stored.
template <Scalar T>
HostCsrMatrix<T> scale_both_sides(HostContext& context, CsrView<T, HostSpace> A, const T* d) {
  const auto diagonal_missing = [&](Index i) {
    const std::int32_t* end = A.columns + A.row_offsets[i + 1];
    return !std::binary_search(A.columns + A.row_offsets[i], end, static_cast<std::int32_t>(i));
  };
  Index missing = 0;
  for (Index i = 0; i < A.rows; ++i) missing += diagonal_missing(i);
  HostCsrMatrix<T> scaled(context, A.rows, A.cols, A.nnz + missing);
  std::int64_t next = 0;
  const auto store = [&](Index column, T value) {
    scaled.columns()[next] = static_cast<std::int32_t>(column);
    scaled.values()[next++] = value;
  };
  scaled.row_offsets()[0] = 0;
  for (Index i = 0; i < A.rows; ++i) {
    bool insert = diagonal_missing(i);
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      const Index j = A.columns[e];
      if (insert && j > i) {
        store(i, T{0});
        insert = false;
      }
      store(j, d[i] * A.values[e] * d[j]);
    }
    if (insert) store(i, T{0});
    scaled.row_offsets()[i + 1] = next;
  }
  return scaled;
}

/// A ← A − shift·I, every diagonal entry stored.
template <Scalar T>
void shift_diagonal(HostCsrMatrix<T>& A, double shift) {
  const CsrView<T, HostSpace> view = A.view();
  for (Index i = 0; i < view.rows; ++i) {
    const std::int32_t* first = view.columns + view.row_offsets[i];
    const std::int32_t* end = view.columns + view.row_offsets[i + 1];
    const auto at = std::lower_bound(first, end, static_cast<std::int32_t>(i)) - view.columns;
    A.values()[at] -= static_cast<T>(shift);
  }
}

/// c/e of the interval over which d steps halve every error: T_d(c/e) = 2.
double middle_over_half_width(int degree) { return std::cosh(std::acosh(2.0) / degree); }

template <Scalar T>
ChebyshevSetup<T, HostSpace> prepare(HostContext& context, CsrView<T, HostSpace> A, int degree) {
  if (degree < 1) {
    throw InvalidArgument("ChebyshevPreconditioner: the degree must be at least 1, it is " +
                          std::to_string(degree));
  }
  Buffer<T, HostSpace> d = inverse_diagonal(context, A);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::sqrt(d[i]);
  HostCsrMatrix<T> scaled = scale_both_sides(context, A, d.data());
  SpectrumBounds spectrum = lanczos_bounds(context, scaled.view());
  if (spectrum.smallest_ritz < 0) {  // scaling would turn the end around: large entries count there
    std::fill_n(d.data(), d.size(), T{1});
    scaled = scale_both_sides(context, A, d.data());
    spectrum = lanczos_bounds(context, scaled.view());
  }
  const double largest = std::min(norm_1(context, scaled.view()), spectrum.upper);
  // The wanted end must lie at 0: a Ritz value below it proves that the spectrum goes on there.
  const double shift =
      spectrum.smallest_ritz < 0 && std::isfinite(spectrum.lower) ? -spectrum.lower : 0;
  const double bound = largest + shift > 0 ? largest + shift : 1;
  const double x = middle_over_half_width(degree);
  const double middle = bound * x / (x + 1);  // c + e = β
  shift_diagonal(scaled, middle - shift);
  return {std::move(d), std::move(scaled), bound, middle};
}

/// The same for a matrix on a GPU, by way of the host: once for each matrix.
template <Scalar T>
ChebyshevSetup<T, DeviceSpace> prepare(CudaContext& context, CsrView<T, DeviceSpace> A,
                                       int degree) {
  HostContext host;
  ChebyshevSetup<T, HostSpace> setup = prepare(host, fetch(context, host, A).view(), degree);
  return {place(context, std::move(setup.scaling)), place(context, std::move(setup.shifted)),
          setup.upper_bound, setup.middle};
}

}  // namespace

template <Scalar T, class Ctx>
ChebyshevPreconditioner<T, Ctx>::ChebyshevPreconditioner(Ctx& context, CsrView<T, Space> A,
                                                         int degree, const SpmmOptions& options)
    : ChebyshevPreconditioner(context, prepare(context, A, degree), degree, options) {}

template <Scalar T, class Ctx>
ChebyshevPreconditioner<T, Ctx>::ChebyshevPreconditioner(Ctx& context,
                                                         ChebyshevSetup<T, Space> setup, int degree,
                                                         const SpmmOptions& options)
    : Preconditioner<T, Ctx>(setup.shifted.rows(), setup.shifted.cols()),
      degree_(degree),
      upper_bound_(setup.upper_bound),
      middle_(setup.middle),
      half_width_(setup.upper_bound - setup.middle),
      scaling_(std::move(setup.scaling)),
      shifted_(std::move(setup.shifted)),
      plan_(context, shifted_.view(), options) {}

template <Scalar T, class Ctx>
void ChebyshevPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                  BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  if (right_.cols() < b) {
    for (MultiVector<T, Space>* block : {&right_, &y_, &next_}) {
      *block = MultiVector<T, Space>();
      *block = MultiVector<T, Space>(context, X.rows(), b);
    }
  }
  const ConstBlockView<T, Space> d(scaling_.data(), X.rows(), 1, 1);
  const double sigma = half_width_ / middle_;
  BlockView<T, Space> x = right_.columns(0, b);
  BlockView<T, Space> y = y_.columns(0, b);
  BlockView<T, Space> next = next_.columns(0, b);  // holds y_{k−1} until it becomes y_{k+1}
  scale_rows(context, d, X, x);
  axpby<T>(context, 1 / middle_, x, 0, y);  // y₁ = x/c
  double omega = 2;
  for (int k = 1; k < degree_; ++k) {  // y_{k+1} = y_{k−1} + ω (y_k − y_{k−1} + (x − Â y_k)/c)
    omega = 1 / (1 - sigma * sigma * omega / 4);
    axpby<T>(context, omega / middle_, x, k == 1 ? 0 : 1 - omega, next);
    plan_.multiply(context, static_cast<T>(-omega / middle_), y, T{1}, next);
    std::swap(y, next);
  }
  scale_rows<T>(context, d, y, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ChebyshevPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
