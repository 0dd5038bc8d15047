#include <fmt/format.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/factor/constraint_factor.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <heddle/solvers/factor/factor_costs.hpp>
#include <heddle/solvers/factor/shifted_solves.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <limits>

namespace heddle {
namespace {

template <Scalar T>
std::unique_ptr<detail::ShiftedSolves<T, HostContext>> make_solves(
    HostContext& context, const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& B,
    double max_bytes, FactorLibrary library, const detail::FactorLibraryRow& on_host) {
  if (is_cudss(library)) {
    throw InvalidArgument("cuDSS factors matrices in the memory of a GPU, this one is on the host");
  }
  return detail::host_solves<T>(context, A, B, max_bytes, on_host);
}

template <Scalar T>
std::unique_ptr<detail::ShiftedSolves<T, CudaContext>> make_solves(
    CudaContext& context, const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
    double max_bytes, FactorLibrary library, const detail::FactorLibraryRow& on_host) {
  if constexpr (kComplex<T>) {
    if (is_cudss(library)) throw InvalidArgument("cuDSS factors real matrices only");
  } else {
    const bool automatic = library == FactorLibrary::automatic;
    const bool missing = automatic && !detail::cudss_missing().empty();
    try {
      if (library != FactorLibrary::host && !missing) {
        return detail::cudss_solves<T>(context, A, B, max_bytes,
                                       library == FactorLibrary::cudss_deterministic);
      }
    } catch (const OutOfMemory&) {
      if (!automatic) throw;
    }
  }
  return detail::host_solves<T>(context, A, B, max_bytes, on_host);
}

}  // namespace

template <Scalar T, class Ctx>
IndefiniteInverse<T, Ctx>::IndefiniteInverse(Matrix A, Matrix B, double max_bytes,
                                             FactorLibrary library)
    : LinearOperator<T, Ctx>(A.rows, A.cols),
      A_(A),
      B_(B),
      max_bytes_(max_bytes),
      choice_(library) {
  if (A.rows == A.cols && (B.rows == 0 || (B.rows == A.rows && B.cols == A.rows))) return;
  throw InvalidArgument(
      fmt::format("IndefiniteInverse: A is {}x{}, B {}x{}: they must be square, of one order",
                  A.rows, A.cols, B.rows, B.cols));
}

template <Scalar T, class Ctx>
IndefiniteInverse<T, Ctx>::~IndefiniteInverse() = default;

template <Scalar T, class Ctx>
const detail::FactorLibraryRow& IndefiniteInverse<T, Ctx>::host_library(Ctx& context) {
  if (!estimate_) {
    const PhaseScope phase(context, Phase::analysis);
    estimate_ = std::make_unique<const detail::FactorCost>(
        detail::indefinite_factor_cost<T>(context, A_, B_));
  }
  if (needs_pivots_) return detail::indefinite_library();
  return detail::cheapest_indefinite_library(detail::kRealRows<T> * A_.rows, *estimate_);
}

template <Scalar T, class Ctx>
FactorEstimate IndefiniteInverse<T, Ctx>::estimate(Ctx& context) {
  const detail::FactorLibraryRow& library = host_library(context);
  constexpr auto kRows = static_cast<double>(detail::kRealRows<T>);
  const auto rows = static_cast<double>(A_.rows);
  const auto products =
      [&](double cost) {  // an entry of a complex A costs as much as four real ones
        return detail::in_products<Ctx>(detail::kHostUnit<Ctx> * cost / (kRows * kRows), rows,
                                        static_cast<double>(A_.nnz));
      };
  return {estimate_->operations, detail::kIndefiniteBytes * estimate_->entries,
          products(library.row * kRows * rows),
          products(detail::factorisation_cost(library, *estimate_)),
          products(library.solve * estimate_->entries)};
}

/// Whether another library is tried where one has failed: on the host one that pivots, for a factor
/// on a GPU only if that was not stable.
template <Scalar T, class Ctx>
bool IndefiniteInverse<T, Ctx>::pivots_may_help() const {
  const detail::ShiftedFactor& tried = solves_->shifted();
  if (tried.library().on_device) return choice_ == FactorLibrary::automatic && tried.unstable();
  return !tried.library().pivots && detail::indefinite_library().pivots;
}

template <Scalar T, class Ctx>
bool IndefiniteInverse<T, Ctx>::factor(Ctx& context, double sigma) {
  if (!solves_) {
    const detail::FactorLibraryRow& on_host = host_library(context);
    const PhaseScope phase(context, Phase::ordering);
    solves_ = make_solves<T>(context, A_, B_, max_bytes_, choice_, on_host);
  }
  {
    const PhaseScope phase(context, Phase::factorization);
    if (solves_->factor(context, sigma)) {
      return !constraints_ || constraints_->factor(context, solves_->shifted());
    }
  }
  if (!pivots_may_help()) return false;
  choice_ = FactorLibrary::host;
  needs_pivots_ = true;
  solves_.reset();
  return factor(context, sigma);
}

template <Scalar T, class Ctx>
void IndefiniteInverse<T, Ctx>::constrain(Ctx& context, ConstBlockView<T, Space> C) {
  constraints_.reset();
  if (C.cols() == 0) return;
  if (C.rows() != A_.rows) {
    throw InvalidArgument(fmt::format("IndefiniteInverse: the constraints have {} rows, A has {}",
                                      C.rows(), A_.rows));
  }
  constraints_ = std::make_unique<detail::ConstraintFactor<T, Ctx>>(context, C);
}

template <Scalar T, class Ctx>
double IndefiniteInverse<T, Ctx>::shift() const noexcept {
  return solves_ ? solves_->shifted().shift() : 0;
}

template <Scalar T, class Ctx>
Index IndefiniteInverse<T, Ctx>::below() const noexcept {
  if (!solves_) return 0;
  const Index below = solves_->shifted().below() / detail::kRealRows<T>;
  return below - (constraints_ ? constraints_->negative() : 0);
}

template <Scalar T, class Ctx>
bool IndefiniteInverse<T, Ctx>::graded() const noexcept {
  return solves_ && solves_->shifted().graded();
}

template <Scalar T, class Ctx>
std::vector<double> IndefiniteInverse<T, Ctx>::errors_along(Ctx& context,
                                                            ConstBlockView<T, Space> X) const {
  if (!graded()) return {};
  HostContext host{1};
  MultiVector<T, HostSpace> block(host_of(context, host), X.rows(), X.cols());
  fetch<T>(context, X, block.view());
  constexpr auto kEpsilon = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  std::vector<double> errors;
  for (Index j = 0; j < X.cols(); ++j) {
    const std::vector<Wide<T>> x = detail::by_columns<T>(block.columns(j, 1));
    errors.push_back(solves_->shifted().error_along(detail::real_numbers(x.data()), kEpsilon));
  }
  return errors;
}

template <Scalar T, class Ctx>
double IndefiniteInverse<T, Ctx>::factor_entries() const noexcept {
  return solves_ ? solves_->shifted().entries() : 0;
}

template <Scalar T, class Ctx>
std::string IndefiniteInverse<T, Ctx>::library() const {
  return solves_ ? std::string(solves_->shifted().library().name) : std::string();
}

template <Scalar T, class Ctx>
void IndefiniteInverse<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                            BlockView<T, Space> Y) {
  if (!solves_ || !solves_->shifted().factored() ||
      (constraints_ && !constraints_->factored(solves_->shifted()))) {
    throw InvalidArgument("IndefiniteInverse: applied before a matrix was factored");
  }
  const PhaseScope phase(context, Phase::preconditioner);
  solves_->solve(context, X, Y);
  if (constraints_) constraints_->project(context, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IndefiniteInverse<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
