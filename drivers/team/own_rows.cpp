#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/inspect/null_space.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/scaling.hpp>
#include <heddle/drivers/team/own_rows.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/distributed/distribute.hpp>
#include <heddle/linalg/distributed/global_rows.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/null_space/distributed_null_space.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace heddle::detail {
namespace {

/// Halo shares up to which rows in order are better than the best distribution, for which process 0
/// needs the whole of A. On the host and on GPUs, halos of this size travel during products.
constexpr double kModerateHalo = 0.25;

/// The structure of a generated matrix. Null for files, and if there is none of this name.
const GalleryStructure* structure_of(const RowSource& source) {
  const auto* const spec = std::get_if<GallerySpec>(&source);
  if (spec == nullptr) return nullptr;
  for (const GalleryStructure& each : gallery_structures()) {
    if (each.name == spec->name) return &each;
  }
  return nullptr;
}

bool is_file(const RowSource& source) { return std::holds_alternative<MatrixMarketFile>(source); }

/// Whether `own_rows` can find all that must be known of the matrix.
bool suits(const RowSource& source) {
  if (const auto* const file = std::get_if<MatrixMarketFile>(&source)) {
    return file->header.symmetry != matrix_market::Symmetry::skew_symmetric;
  }
  const GalleryStructure* const structure = structure_of(source);
  return structure != nullptr && structure->positive_definite;
}

/// The order of a square matrix.
Index order_of(HostContext& context, const RowSource& source) {
  if (const auto* const file = std::get_if<MatrixMarketFile>(&source)) return file->header.rows;
  return generate<double>(context, std::get<GallerySpec>(source), {0, 0}).cols();
}

/// Makes the rows of this process in ranges, with columns in global numbers. All processes call it
/// together.
using MakeRows = std::function<HostCsrMatrix<double>(const RowRanges&)>;

/// The maker of rows of a matrix, which refers to `team` and `source`. Empty, on all processes, for
/// a file that cannot be read by parts.
MakeRows rows_of(HostContext& team, const RowSource& source) {
  if (const auto* const spec = std::get_if<GallerySpec>(&source)) {
    return [&team, spec](const RowRanges& ranges) {
      const RowRange own = ranges.of(team.processes()->rank());
      return generate<double>(team, *spec, {own.first, own.first + own.local});
    };
  }
  std::optional<MatrixMarketPart> read =
      MatrixMarketPart::read(team, std::get<MatrixMarketFile>(source));
  if (!read) return {};
  const auto part = std::make_shared<const MatrixMarketPart>(std::move(*read));
  return [&team, part](const RowRanges& ranges) { return part->rows(team, ranges); };
}

/// Ranges of about as many rows, which begin at multiples of all numbers of unknowns per node.
RowRanges ranges_of_nodes(Index order, int processes) {
  RowRanges ranges = equal_rows((order + kWholeNodes - 1) / kWholeNodes, processes);
  for (Index& begin : ranges.begins) begin = std::min(begin * kWholeNodes, order);
  return ranges;
}

/// Sets the unknowns per node of `problem`, and its partition with the ranges that `balanced_rows`
/// has for the whole of A.
void set_ranges(HostContext& team, const RowSource& source, const MakeRows& make,
                const Request& request, Problem& problem, Partition& partition) {
  Processes& processes = *team.processes();
  const Index order = order_of(team, source);
  const RowRanges held = ranges_of_nodes(order, processes.size());
  const HostCsrMatrix<double> rows = make(held);
  problem.unknowns = known_unknowns(request, Facts{});
  if (problem.unknowns == 0) {
    const GalleryStructure* const structure = structure_of(source);
    problem.unknowns = structure != nullptr
                           ? structure->unknowns
                           : unknowns_per_node(team, rows.view(), held.of(processes.rank()));
  }
  const Index node = whole_nodes(order, processes.size(), problem.unknowns);
  partition.ranges = balanced_rows(processes, rows.view(), held, 1, node);
}

/// Whether |a_ij − a_ji| is that of a symmetric matrix for all entries. All processes call it
/// together.
bool is_symmetric(HostContext& team, const DistributedCsrView<double, HostSpace>& A,
                  double largest) {
  const HostCsrMatrix<double> rows = global_rows(team, A);
  const HostCsrMatrix<double> transposed = transposed_rows(team, A);
  double apart = largest_difference(rows.view(), transposed.view());
  team.processes()->largest({&apart, 1});
  return apart <= kSymmetryTolerance * largest;
}

/// Whether 0.99 b_ii ≥ Σ |b_ij| over the others in all rows of this process. Then no eigenvalue of
/// D⁻¹B, with the diagonal D of B, is below 0.01 (Gershgorin's theorem).
bool is_dominant(const CsrView<double, HostSpace>& B_rows, const RowRange& own) {
  for (Index i = 0; i < B_rows.rows; ++i) {
    double diagonal = 0, others = 0;
    for (Index k = B_rows.row_offsets[i]; k < B_rows.row_offsets[i + 1]; ++k) {
      const bool on_diagonal = B_rows.columns[k] == own.first + i;
      (on_diagonal ? diagonal : others) +=
          on_diagonal ? B_rows.values[k] : std::abs(B_rows.values[k]);
    }
    if (!(diagonal > 0 && 0.99 * diagonal >= others)) return false;
  }
  return true;
}

/// The distributed matrix with these ranges. None, on all processes, if it comes from a file and
/// has infinite sums of entries, is not symmetric or, where it must be `definite`, does not show
/// this.
std::optional<Matrix> distributed_matrix(HostContext& team, const RowSource& source,
                                         const MakeRows& make,
                                         std::shared_ptr<const Partition> partition,
                                         bool definite) {
  const RowRanges& ranges = partition->ranges;
  Processes& processes = *team.processes();
  const RowRange own = ranges.of(processes.rank());
  HostCsrMatrix<double> rows = make(ranges);
  double largest = Matrix(rows.view()).largest();
  double entries = static_cast<double>(rows.nnz());
  processes.largest({&largest, 1});
  processes.sum({&entries, 1});
  const auto* const file = std::get_if<MatrixMarketFile>(&source);
  if (file != nullptr) {
    const bool finite = std::all_of(rows.values(), rows.values() + rows.nnz(),
                                    [](double value) { return std::isfinite(value); });
    const bool known = finite && (!definite || is_dominant(rows.view(), own));
    if (processes.any(!known)) return std::nullopt;
  }
  DistributedCsr<double, HostSpace> A = distribute(team, rows.view(), own, ranges);
  rows = {};
  const bool general = file != nullptr && file->header.symmetry == matrix_market::Symmetry::general;
  if (general && !is_symmetric(team, A.view(), largest)) return std::nullopt;
  return Matrix(std::move(A), {static_cast<Index>(entries), largest, std::move(partition)});
}

/// Sets A, the partition and what follows from A. False if process 0 needs the whole.
bool set_matrix(HostContext& team, const RowSource& source, const Request& request,
                Problem& problem, const std::shared_ptr<Partition>& rows) {
  Partition& partition = *rows;
  MakeRows make = rows_of(team, source);
  if (!make) return false;
  set_ranges(team, source, make, request, problem, partition);
  std::optional<Matrix> A = distributed_matrix(team, source, make, rows, false);
  if (!A) return false;
  make = {};
  problem.A = std::move(*A);
  partition.reason = reason_for_order(request.distribution,
                                      halo_share(*team.processes(), problem.A.distributed_view()),
                                      problem.A.rows(), problem.A.nnz(), kModerateHalo);
  if (partition.reason.empty()) return false;
  const bool known = !is_file(source) || !may_concern_null_space(request);
  return known || shows_no_null_vector(team, problem.A.distributed_view());
}

/// Sets B. False if process 0 needs the whole.
bool set_mass(HostContext& team, const RowSource& source, Problem& problem,
              const std::shared_ptr<Partition>& rows) {
  const MakeRows make = rows_of(team, source);
  if (!make) return false;
  problem.B = distributed_matrix(team, source, make, rows, true);
  problem.infinite_eigenvalues = 0;
  return problem.B.has_value();
}

}  // namespace

template <Scalar T>
HostBlock<T> generated_rhs(HostContext& context, Index random, Index ones, std::uint64_t seed,
                           Index first, Index rows) {
  const Index columns = random > 0 ? random : ones;
  require_host_memory(static_cast<double>(rows) * static_cast<double>(columns) * sizeof(T),
                      kFewerRightHandSides);
  MultiVector<T, HostSpace> R(context, rows, columns);
  if (random > 0) {
    fill_random<T>(context, seed, 0, R.view(), first);
  } else {
    for (Index i = 0; i < rows; ++i) std::fill_n(&R.view()(i, 0), columns, T{1});
  }
  return HostBlock<T>(std::move(R));
}

template Block generated_rhs(HostContext&, Index, Index, std::uint64_t, Index, Index);
template ComplexBlock generated_rhs(HostContext&, Index, Index, std::uint64_t, Index, Index);

bool suits_own_rows(const MatricesByRows& matrices, const Request& request, int processes) {
  if (processes == 1 || request.distribution == Distribution::metis) return false;
  // The cost of a factor decides on the method, and a factor needs all rows.
  if (request.sigma || (request.interval && request.filter != LanczosFilter::chebyshev)) {
    return false;
  }
  if (!suits(matrices.A) || (matrices.B && !suits(*matrices.B))) return false;
  HostContext context(1);
  try {
    const Index order = order_of(context, matrices.A);
    return order >= processes && (!matrices.B || order_of(context, *matrices.B) == order);
  } catch (const InvalidArgument&) {
    return false;
  }
}

std::optional<Problem> own_rows(HostContext& team, const MatricesByRows& matrices,
                                const Request& request) {
  auto partition = std::make_shared<Partition>();
  Problem problem;
  if (!set_matrix(team, matrices.A, request, problem, partition)) return std::nullopt;
  if (matrices.B && !set_mass(team, *matrices.B, problem, partition)) return std::nullopt;
  const Facts facts = shape_of(problem, team.processes()->size());
  if (!scaling_of(problem, facts, request, {}).changes_nothing()) return std::nullopt;
  if (matrices.random_rhs + matrices.ones_rhs > 0) {
    const RowRange own = row_range(problem.A.distributed_view());
    problem.rhs = generated_rhs<double>(team, matrices.random_rhs, matrices.ones_rhs, request.seed,
                                        own.first, own.local);
  }
  return problem;
}

}  // namespace heddle::detail
