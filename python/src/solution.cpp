#include <algorithm>
#include <heddle/linalg/base/profile.hpp>
#include <utility>
#include <variant>

#include "bindings.hpp"

namespace heddle::python {
namespace {

/// The first `count` columns of a block as an array that keeps `owner` alive.
nb::object columns_of(const HostVectors& vectors, Index count, nb::handle owner) {
  return std::visit(
      [&]<Scalar T>(const HostBlock<T>& block) {
        // The solution is the only owner of its vectors, and Python may change them.
        T* const data = const_cast<T*>(block.view().data());
        const auto rows = static_cast<std::size_t>(block.rows());
        const auto cols = static_cast<std::size_t>(std::min(count, block.cols()));
        return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(data, {rows, cols}, owner,
                                                               {block.view().ld(), 1}));
      },
      vectors);
}

/// The history as the rows of an array: iteration, converged, worst residual, seconds, active
/// columns, columns multiplied by A.
nb::object history_of(const Solution& solution) {
  constexpr std::size_t kColumns = 6;
  const std::size_t rows = solution.history.size();
  auto values = std::make_unique<double[]>(rows * kColumns);
  double* out = values.get();
  for (const IterationRecord& record : solution.history) {
    *out++ = static_cast<double>(record.iteration);
    *out++ = static_cast<double>(record.converged);
    *out++ = record.worst_residual;
    *out++ = record.seconds;
    *out++ = static_cast<double>(record.active_columns);
    *out++ = static_cast<double>(record.operator_applications);
  }
  double* const data = values.get();
  nb::capsule owner(values.release(), [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<2>>(data, {rows, kColumns}, owner));
}

/// {phase: (seconds, bytes, flops)} of the phases that took time.
nb::dict profile_of(const Solution& solution) {
  nb::dict phases;
  for (std::size_t k = 0; k < kPhaseCount; ++k) {
    const auto phase = static_cast<Phase>(k);
    const PhaseTotals& totals = solution.profile[phase];
    if (totals.seconds <= 0) continue;
    const std::string_view name = phase_name(phase);
    phases[nb::str(name.data(), name.size())] =
        nb::make_tuple(totals.seconds, totals.bytes, totals.flops);
  }
  return phases;
}

/// Vectors of the solution `self`, which the array keeps alive.
template <HostVectors Solution::*member>
nb::object vectors(nb::handle_t<Solution> self) {
  const auto& solution = nb::cast<const Solution&>(self);
  return columns_of(solution.*member, solution.count(), self);
}

}  // namespace

void bind_solution(nb::module_& m) {
  nb::class_<Solution>(m, "Solution", "The result of a solve, with the fields of the library's.")
      .def_prop_ro("status",
                   [](const Solution& self) { return std::string(status_name(self.status)); })
      .def_ro("reason", &Solution::reason)
      .def_ro("iterations", &Solution::iterations)
      .def_ro("operator_applications", &Solution::operator_applications)
      .def_ro("inverse_applications", &Solution::inverse_applications)
      .def_ro("factor_library", &Solution::factor_library)
      .def_ro("eigenvalues", &Solution::eigenvalues)
      .def_ro("infinite_eigenvalues", &Solution::infinite_eigenvalues)
      .def_ro("null_vectors", &Solution::null_vectors)
      .def_ro("singular_values", &Solution::singular_values)
      .def_ro("frequencies", &Solution::frequencies)
      .def_ro("residuals", &Solution::residuals)
      .def_ro("converged", &Solution::converged)
      .def_ro("error_bounds", &Solution::error_bounds)
      .def_ro("limited_by_rounding", &Solution::limited_by_rounding)
      .def_ro("straddles", &Solution::straddles)
      .def_prop_ro("completeness",
                   [](const Solution& self) {
                     const CompletenessEvidence& known = self.completeness;
                     return nb::make_tuple(std::string(known.name()), known.proven);
                   })
      .def_ro("orthogonality", &Solution::orthogonality)
      .def_ro("matrix_passes", &Solution::matrix_passes)
      .def_ro("backward_errors", &Solution::backward_errors)
      .def_ro("error_estimates", &Solution::error_estimates)
      .def_ro("residual_norms", &Solution::residual_norms)
      .def_prop_ro("history", &history_of, nb::sig("def history(self) -> numpy.ndarray"))
      .def_prop_ro("vectors", &vectors<&Solution::vectors>,
                   nb::sig("def vectors(self) -> numpy.ndarray"))
      .def_prop_ro("left_vectors", &vectors<&Solution::left_vectors>,
                   nb::sig("def left_vectors(self) -> numpy.ndarray"))
      .def_ro("method", &Solution::method)
      .def_ro("method_reason", &Solution::method_reason)
      .def_ro("device", &Solution::device)
      .def_ro("device_note", &Solution::device_note)
      .def_ro("block_size", &Solution::block_size)
      .def_ro("kernel", &Solution::spmm_kernel)
      .def_ro("row_order", &Solution::row_order)
      .def_ro("row_order_reason", &Solution::row_order_reason)
      .def_ro("preconditioner", &Solution::preconditioner_name)
      .def_ro("setup_seconds", &Solution::setup_seconds)
      .def_ro("solve_seconds", &Solution::solve_seconds)
      .def_prop_ro("profile", &profile_of)
      .def_ro("peak_bytes", &Solution::peak_bytes)
      .def_ro("peak_bytes_most", &Solution::peak_bytes_most);
}

}  // namespace heddle::python
