#include <algorithm>
#include <heddle/drivers/memory.hpp>
#include <heddle/drivers/order.hpp>
#include <heddle/drivers/own_rows.hpp>
#include <heddle/drivers/scaling.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/distributed/distribute.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// Halo shares up to which rows in order are better than the best distribution, for which process 0
/// needs the whole of A. On the host and on GPUs, halos of this size travel beside products.
constexpr double kModerateHalo = 0.25;

/// The order of a square generated matrix.
Index order_of(HostContext& context, const GallerySpec& spec) {
  return generate<double>(context, spec, {0, 0}).cols();
}

/// The structure of this name, null if there is none.
const GalleryStructure* structure_of(const GallerySpec& spec) {
  for (const GalleryStructure& each : gallery_structures()) {
    if (each.name == spec.name) return &each;
  }
  return nullptr;
}

bool is_positive_definite(const GallerySpec& spec) {
  const GalleryStructure* const structure = structure_of(spec);
  return structure != nullptr && structure->positive_definite;
}

HostCsrMatrix<double> rows_of(HostContext& team, const GallerySpec& spec, const RowRanges& ranges) {
  const RowRange own = ranges.of(team.processes()->rank());
  return generate<double>(team, spec, {own.first, own.first + own.local});
}

/// The ranges that `balanced_rows` has for the whole matrix.
RowRanges balanced_ranges(HostContext& team, const GallerySpec& spec) {
  Processes& processes = *team.processes();
  const Index order = order_of(team, spec);
  const RowRanges equal = equal_rows(order, processes.size());
  const Index node = whole_nodes(order, processes.size(), structure_of(spec)->unknowns);
  return balanced_rows(processes, rows_of(team, spec, equal).view(), equal, 1, node);
}

Matrix distributed_matrix(HostContext& team, const GallerySpec& spec, const RowRanges& ranges) {
  const HostCsrMatrix<double> rows = rows_of(team, spec, ranges);
  double largest = Matrix(rows.view()).largest();
  double entries = static_cast<double>(rows.nnz());
  team.processes()->largest({&largest, 1});
  team.processes()->sum({&entries, 1});
  const RowRange own = ranges.of(team.processes()->rank());
  return {distribute(team, rows.view(), own, ranges), {static_cast<Index>(entries), largest}};
}

}  // namespace

Block generated_rhs(HostContext& context, const GeneratedMatrices& matrices, std::uint64_t seed,
                    Index first, Index rows) {
  const Index columns = matrices.random_rhs > 0 ? matrices.random_rhs : matrices.ones_rhs;
  require_host_memory(static_cast<double>(rows) * static_cast<double>(columns) * sizeof(double),
                      kFewerRightHandSides);
  MultiVector<double, HostSpace> R(context, rows, columns);
  if (matrices.random_rhs > 0) {
    fill_random<double>(context, seed, 0, R.view(), first);
  } else {
    for (Index i = 0; i < rows; ++i) std::fill_n(&R.view()(i, 0), columns, 1.0);
  }
  return Block(std::move(R));
}

bool suits_own_rows(const GeneratedMatrices& matrices, const Request& request, int processes) {
  if (processes == 1 || request.distribution == Distribution::metis) return false;
  if (!is_positive_definite(matrices.A)) return false;
  if (matrices.B && !is_positive_definite(*matrices.B)) return false;
  HostContext context(1);
  try {
    const Index order = order_of(context, matrices.A);
    return order >= processes && (!matrices.B || order_of(context, *matrices.B) == order);
  } catch (const InvalidArgument&) {
    return false;
  }
}

std::optional<Problem> own_rows(HostContext& team, const GeneratedMatrices& matrices,
                                const Request& request) {
  Processes& processes = *team.processes();
  auto partition = std::make_shared<Partition>();
  partition->ranges = balanced_ranges(team, matrices.A);
  Problem problem;
  problem.processes = processes.size();
  problem.A = distributed_matrix(team, matrices.A, partition->ranges);
  problem.unknowns = structure_of(matrices.A)->unknowns;
  partition->reason =
      reason_for_order(request.distribution, halo_share(processes, problem.A.view()),
                       problem.order(), problem.nnz(), kModerateHalo);
  if (partition->reason.empty()) return std::nullopt;
  if (matrices.B) {
    problem.B = distributed_matrix(team, *matrices.B, partition->ranges);
    problem.infinite_eigenvalues = 0;
  }
  if (scaling_of(problem, request) != ProblemScaling{}) return std::nullopt;
  if (matrices.random_rhs + matrices.ones_rhs > 0) {
    const RowRange own = row_range(problem.A.view());
    problem.rhs = generated_rhs(team, matrices, request.seed, own.first, own.local);
    problem.own_rhs = true;
  }
  problem.own_rows = std::move(partition);
  return problem;
}

std::optional<Problem> make_own_rows(Device& device, const GeneratedMatrices& matrices,
                                     const Request& request) {
  std::optional<Problem> problem;
  device.together([&] {
    send_order(*device.team().processes(),
               {.duty = Order::Duty::rows, .matrices = matrices, .request = request});
    problem = own_rows(device.team(), matrices, request);
  });
  return problem;
}

}  // namespace heddle::detail
