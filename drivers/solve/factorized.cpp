#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/solve/factorized.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/shifted_factor.hpp>
#include <heddle/solvers/factor/shifted_solves.hpp>
#include <utility>
#include <vector>

namespace heddle {
namespace {

/// Columns that are solved at once, as copies of so many are made.
constexpr Index kColumns = 32;

/// Steps of iterative refinement.
constexpr int kRefinements = 1;

template <WideScalar W>
void check(HostContext& context, ProblemPart part, const HostMatrix<W>& A) {
  if (!A.is_stored()) throw ProblemError(part, "a callable cannot be factored");
  detail::check_square(part, A.rows(), A.cols());
  detail::check_symmetric(context, part, A);
}

template <WideScalar W>
void check_order(ProblemPart part, const HostMatrix<W>& A, Index order) {
  if (A.rows() == order) return;
  throw ProblemError(part, fmt::format("the matrix has order {}, A had {}", A.rows(), order));
}

/// Calls body(A) with a view of the real form of A, which is A itself if it is real.
template <WideScalar W, class Body>
auto with_real_form(HostContext& context, const HostMatrix<W>& A, const Body& body) {
  if constexpr (kComplex<W>) {
    HostCsrMatrix<double> form;
    if (A.rows() > 0) form = real_form(context, A.view());
    return body(std::as_const(form).view());
  } else {
    return body(A.view());
  }
}

}  // namespace

template <WideScalar W>
void Factorized::order(const HostMatrix<W>& A, const HostMatrix<W>& B) {
  HostContext context;
  check(context, ProblemPart::matrix, A);
  if (B.rows() > 0) {
    check(context, ProblemPart::mass, B);
    check_order(ProblemPart::mass, B, order_);
  }
  const double bytes = detail::unused_bytes(context);
  const detail::FactorLibraryRow& library = detail::indefinite_library();
  with_real_form(context, A, [&](const CsrView<double, HostSpace>& real_A) {
    with_real_form(context, B, [&](const CsrView<double, HostSpace>& real_B) {
      factor_ = std::make_unique<detail::ShiftedFactor>(
          real_A, real_B, library, [&](const CsrView<double, HostSpace>& lower) {
            return (kComplex<W> ? library.make_hermitian : library.make)(lower, bytes);
          });
    });
  });
}

Factorized::Factorized(const Matrix& A, const Matrix& B) : order_(A.rows()), real_rows_(1) {
  order(A, B);
}

Factorized::Factorized(const ComplexMatrix& A, const ComplexMatrix& B)
    : order_(A.rows()), real_rows_(2) {
  order(A, B);
}

Factorized::~Factorized() = default;

template <WideScalar W>
void Factorized::take_values(const HostMatrix<W>& A) {
  HostContext context;
  check(context, ProblemPart::matrix, A);
  check_order(ProblemPart::matrix, A, order_);
  if (kComplex<W> != complex()) {
    throw ProblemError(ProblemPart::matrix,
                       complex() ? "the matrix is real, A was complex: pass it as complex numbers"
                                 : "the matrix is complex, A was real: factorise it anew");
  }
  const std::lock_guard lock(mutex_);
  const bool fits = with_real_form(context, A, [&](const CsrView<double, HostSpace>& real) {
    return factor_->set_values(real);
  });
  if (fits) return;
  throw ProblemError(
      ProblemPart::matrix,
      "the matrix has entries outside of the pattern that was analysed: factorise it "
      "anew");
}

void Factorized::set_values(const Matrix& A) { take_values(A); }
void Factorized::set_values(const ComplexMatrix& A) { take_values(A); }

bool Factorized::factor(double sigma) {
  if (!std::isfinite(sigma)) {
    throw InvalidArgument(fmt::format("sigma is {}, it must be a number", sigma));
  }
  const std::lock_guard lock(mutex_);
  sigma_ = sigma;
  return factor_->factor(sigma, 1);
}

double Factorized::sigma() const {
  const std::lock_guard lock(mutex_);
  return sigma_;
}

std::string Factorized::trouble() const {
  const detail::FactorLibraryRow& library = factor_->library();
  if (library.pivots) return "the matrix is singular to rounding";
  return fmt::format(
      "the matrix is singular to rounding, or {}, which does not pivot, is not stable for it",
      library.name);
}

template <WideScalar W>
void Factorized::solve_columns(ConstBlockView<W, HostSpace> R, BlockView<W, HostSpace> X) {
  if (R.rows() != order_ || X.rows() != order_ || R.cols() != X.cols()) {
    throw InvalidArgument(fmt::format("Factorized: R is {}x{}, X {}x{}, the order is {}", R.rows(),
                                      R.cols(), X.rows(), X.cols(), order_));
  }
  const std::lock_guard lock(mutex_);
  if (!factor_->factored()) throw InvalidArgument("Factorized: there is no factor to solve with");
  for (Index first = 0; first < R.cols(); first += kColumns) {
    const Index width = std::min(kColumns, R.cols() - first);
    std::vector<W> columns = detail::by_columns<W>(R.columns(first, width));
    factor_->solve(detail::real_numbers(columns.data()), width, kRefinements);
    for (Index i = 0; i < order_; ++i) {
      for (Index j = 0; j < width; ++j) {
        X(i, first + j) = columns[static_cast<std::size_t>(j * order_ + i)];
      }
    }
  }
}

void Factorized::solve(ConstBlockView<double, HostSpace> R, BlockView<double, HostSpace> X) {
  if (complex()) throw InvalidArgument("Factorized: the matrix is complex, R is real");
  solve_columns(R, X);
}

void Factorized::solve(ConstBlockView<std::complex<double>, HostSpace> R,
                       BlockView<std::complex<double>, HostSpace> X) {
  if (complex()) return solve_columns(R, X);
  solve_columns(real_view(R), real_view(X));
}

std::optional<Inertia> Factorized::inertia() const {
  const std::lock_guard lock(mutex_);
  if (!factor_->certain()) return std::nullopt;
  const Index negative = factor_->below() / real_rows_;
  return Inertia{negative, 0, order_ - negative};
}

std::string Factorized::library() const { return std::string(factor_->library().name); }

}  // namespace heddle
