#include <algorithm>
#include <cmath>
#include <heddle/apps/info/matrix_report.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <span>
#include <utility>

namespace heddle::apps {
namespace {

/// Steps of Lanczos' method for the ends of the spectrum.
constexpr Index kSteps = 40;

DiagonalReport inspect_diagonal(std::span<const double> diagonal) {
  DiagonalReport report;
  const auto [smallest, largest] = std::minmax_element(diagonal.begin(), diagonal.end());
  report.smallest = *smallest;
  report.largest = *largest;
  const auto not_positive = [](double value) { return !(value > 0); };
  report.not_positive = std::count_if(diagonal.begin(), diagonal.end(), not_positive);
  report.first_not_positive =
      std::find_if(diagonal.begin(), diagonal.end(), not_positive) - diagonal.begin();
  return report;
}

/// The union of Gershgorin's discs on the real line: a_ii ± Σ_{j≠i} |a_ij|.
template <WideScalar W>
SpectrumEnds gershgorin_bounds(const CsrView<W, HostSpace>& A, std::span<const double> diagonal) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  SpectrumEnds bounds{kInfinity, -kInfinity};
  for (Index i = 0; i < A.rows; ++i) {
    double radius = 0;
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      if (A.columns[k] != i) radius += std::abs(A.values[k]);
    }
    const double centre = diagonal[static_cast<std::size_t>(i)];
    bounds.lower = std::min(bounds.lower, centre - radius);
    bounds.upper = std::max(bounds.upper, centre + radius);
  }
  return bounds;
}

template <WideScalar W>
void inspect_square(HostContext& context, const CsrView<W, HostSpace>& A, MatrixReport& report) {
  const std::vector<AsymmetryOf<W>> worst = find_asymmetry(context, A, 0);
  report.symmetric = worst.empty();
  for (const AsymmetryOf<W>& pair : worst) {
    report.asymmetry = {pair.row, pair.col, pair.value, pair.transposed};
  }
  if (A.rows == 0) return;
  const Buffer<W, HostSpace> entries = extract_diagonal(context, A);
  std::vector<double> diagonal(entries.size());
  std::transform(entries.data(), entries.data() + entries.size(), diagonal.begin(), real_part<W>);
  report.diagonal = inspect_diagonal(diagonal);
  if (!report.symmetric) return;
  report.gershgorin = gershgorin_bounds(A, diagonal);
  const auto ends = detail::lanczos_bounds<W>(context, DistributedCsrView<W, HostSpace>(A), kSteps);
  report.ritz = SpectrumEnds{ends.smallest_ritz, ends.largest_ritz};
}

}  // namespace

std::string definiteness(const MatrixReport& report) {
  const SpectrumEnds& ritz = *report.ritz;
  const double rounding =
      100 * std::numeric_limits<double>::epsilon() * std::max(report.norm_1, 0.0);
  if (report.gershgorin->lower > 0) return "positive definite (Gershgorin)";
  if (report.gershgorin->upper < 0) return "negative definite (Gershgorin)";
  if (ritz.lower < -rounding && ritz.upper > rounding) return "no, eigenvalues of both signs";
  if (ritz.lower < -rounding) return "no positive eigenvalue was seen, negative ones were";
  return report.gershgorin->lower == 0 ? "at least positive semidefinite (Gershgorin)"
                                       : "no negative eigenvalue was seen, which proves nothing";
}

template <WideScalar W>
MatrixReport inspect(HostContext& context, std::string name, CsrView<W, HostSpace> A,
                     const std::vector<Index>& widths) {
  MatrixReport report;
  report.name = std::move(name);
  report.complex = kComplex<W>;
  report.features = matrix_features(context, A);
  report.norm_1 = norm_1(context, A);
  for (Index k = 0; k < A.nnz; ++k) {
    report.largest_entry = std::max(report.largest_entry, std::abs(A.values[k]));
  }
  if (A.rows == A.cols) inspect_square(context, A, report);
  if (widths.empty()) return report;
  const SpmmPlan<W, HostContext> plan(context, A);
  for (const Index N : widths) {
    KernelReport& kernel = report.kernels.emplace_back(
        KernelReport{N, plan.compulsory_bytes(N), std::string(plan.kernel(N)), plan.reason(N)});
    if constexpr (RealScalar<W>) {
      const KernelChoice cuda = choose_by_model(report.features, N, sizeof(W), DeviceSpeed{});
      kernel.cuda = cuda.kernel;
      kernel.cuda_reason = cuda.reason;
    }
  }
  return report;
}

template MatrixReport inspect(HostContext&, std::string, CsrView<double, HostSpace>,
                              const std::vector<Index>&);
template MatrixReport inspect(HostContext&, std::string, CsrView<std::complex<double>, HostSpace>,
                              const std::vector<Index>&);

}  // namespace heddle::apps
