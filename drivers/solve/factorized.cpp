#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/solve/factorized.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/factor/shifted_factor.hpp>
#include <vector>

namespace heddle {
namespace {

/// Columns that are solved at once, as copies of so many are made.
constexpr Index kColumns = 32;

/// Steps of iterative refinement.
constexpr int kRefinements = 1;

void check(HostContext& context, ProblemPart part, const Matrix& A) {
  if (!A.is_stored()) throw ProblemError(part, "a callable cannot be factored");
  detail::check_square(part, A.rows(), A.cols());
  detail::check_symmetric(context, part, A);
}

void check_order(ProblemPart part, const Matrix& A, Index order) {
  if (A.rows() == order) return;
  throw ProblemError(part, fmt::format("the matrix has order {}, A had {}", A.rows(), order));
}

}  // namespace

Factorized::Factorized(const Matrix& A, const Matrix& B) : order_(A.rows()) {
  HostContext context;
  check(context, ProblemPart::matrix, A);
  if (B.rows() > 0) {
    check(context, ProblemPart::mass, B);
    check_order(ProblemPart::mass, B, order_);
  }
  factor_ =
      std::make_unique<detail::ShiftedFactor>(A.view(), B.view(), detail::unused_bytes(context));
}

Factorized::~Factorized() = default;

void Factorized::set_values(const Matrix& A) {
  HostContext context;
  check(context, ProblemPart::matrix, A);
  check_order(ProblemPart::matrix, A, order_);
  const std::lock_guard lock(mutex_);
  if (factor_->set_values(A.view())) return;
  throw ProblemError(
      ProblemPart::matrix,
      "the matrix has entries outside of the pattern that was analysed: factorise it "
      "anew");
}

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

void Factorized::solve(ConstBlockView<double, HostSpace> R, BlockView<double, HostSpace> X) {
  if (R.rows() != order_ || X.rows() != order_ || R.cols() != X.cols()) {
    throw InvalidArgument(fmt::format("Factorized: R is {}x{}, X {}x{}, the order is {}", R.rows(),
                                      R.cols(), X.rows(), X.cols(), order_));
  }
  const std::lock_guard lock(mutex_);
  if (!factor_->factored()) throw InvalidArgument("Factorized: there is no factor to solve with");
  for (Index first = 0; first < R.cols(); first += kColumns) {
    const Index width = std::min(kColumns, R.cols() - first);
    std::vector<double> columns(static_cast<std::size_t>(order_ * width));
    for (Index i = 0; i < order_; ++i) {
      for (Index j = 0; j < width; ++j) {
        columns[static_cast<std::size_t>(j * order_ + i)] = R(i, first + j);
      }
    }
    factor_->solve(columns.data(), width, kRefinements);
    for (Index i = 0; i < order_; ++i) {
      for (Index j = 0; j < width; ++j) {
        X(i, first + j) = columns[static_cast<std::size_t>(j * order_ + i)];
      }
    }
  }
}

std::optional<Inertia> Factorized::inertia() const {
  const std::lock_guard lock(mutex_);
  if (!factor_->certain()) return std::nullopt;
  return Inertia{factor_->below(), 0, order_ - factor_->below()};
}

std::string Factorized::library() const { return std::string(factor_->library().name); }

}  // namespace heddle
