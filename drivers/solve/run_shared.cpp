#include <heddle/drivers/solve/run_placed.hpp>
#include <heddle/drivers/solve/run_shared.hpp>
#include <heddle/drivers/team/own_vectors.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <tuple>
#include <utility>

namespace heddle::detail {
namespace {

/// Lets a context draw random rows by their numbers in the problem. No numbers: they are
/// consecutive.
template <class Ctx>
class RowNumbers {
 public:
  RowNumbers(Ctx& context, const std::vector<std::int32_t>& numbers) : context_(context) {
    if (numbers.empty()) return;
    HostContext beside(1);
    Buffer<std::int32_t, HostSpace> copy(host_of(context, beside), numbers.size());
    std::copy(numbers.begin(), numbers.end(), copy.data());
    numbers_ = place(context, std::move(copy));
    context.set_row_numbers(numbers_.data());
  }
  ~RowNumbers() { context_.set_row_numbers(nullptr); }
  RowNumbers(const RowNumbers&) = delete;
  RowNumbers& operator=(const RowNumbers&) = delete;

 private:
  Ctx& context_;
  Buffer<std::int32_t, typename Ctx::Space> numbers_;
};

/// Whether the rows of this process are whole nodes of u unknowns: rows u·k … u·k + u − 1 in the
/// order `rows`, which is empty for consecutive ones, those of one node.
bool keeps_nodes(const RowRange& range, const std::vector<std::int32_t>& rows, Index unknowns) {
  if (range.first % unknowns != 0 || range.local % unknowns != 0) return false;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto place = static_cast<std::int32_t>(k % static_cast<std::size_t>(unknowns));
    const std::int32_t first = rows[k - static_cast<std::size_t>(place)];
    if (first % unknowns != 0 || rows[k] != first + place) return false;
  }
  return true;
}

/// The plan for a problem that was divided or has another order: what is known of A refers to the
/// memory of its facts.
template <Scalar T>
PreconditionerPlan plan_for(const HostContext& team, const SharedProblem<T>& shared,
                            PreconditionerPlan plan) {
  NearNullSpace known = near_null_of(shared.facts);
  const bool whole_nodes =
      known.unknowns == 0 || keeps_nodes(row_range(shared.problem.A.distributed_view()),
                                         shared.row_numbers, known.unknowns);
  if (team.agree(!whole_nodes)) known.unknowns = 0;
  const auto tell = [&](const PreconditionerKind* kind, PreconditionerOptions& options) {
    if (takes_near_null(kind, plan.matrix)) options.set_near_null(known);
  };
  tell(plan.kind, plan.options);
  tell(plan.strong, plan.strong_options);
  return plan;
}

/// The largest peak of the memory that the contexts of all processes have held.
template <class Ctx>
std::size_t largest_peak(const Place<Ctx>& on) {
  auto bytes = static_cast<double>(on.context.allocation_count().peak_bytes);
  if (Processes* const processes = on.device.team().processes()) processes->largest({&bytes, 1});
  return static_cast<std::size_t>(bytes);
}

/// X as a block in host memory that keeps its context alive: on process 0 with the rows of all
/// processes in the order of the problem, on the others empty.
template <Scalar T, class Ctx>
HostBlock<T> to_host(const Place<Ctx>& on, MultiVector<T, typename Ctx::Space> X,
                     const std::vector<std::int32_t>& order) {
  Device& device = on.device;
  MultiVector<T, HostSpace> all = fetch(on.context, device.team(), std::move(X));
  if (Processes* const processes = device.team().processes()) {
    all = gather(*processes, all, device.host());
  }
  if (!order.empty() && all.cols() > 0) {
    all = reordered<T>(device.host(), std::as_const(all).view(), order, true);
  }
  return {std::move(all), device.shared_host()};
}

/// The rows of this process of X, with those of all processes.
template <Scalar T, class Ctx>
std::pair<HostVectors, RowRanges> own_part(const Place<Ctx>& on,
                                           MultiVector<T, typename Ctx::Space> X) {
  Device& device = on.device;
  RowRanges rows = ranges_of_all(*device.team().processes(), X.rows());
  return {HostBlock<T>(fetch(on.context, device.team(), std::move(X)), device.shared_team()),
          std::move(rows)};
}

/// Moves the vectors that have been found to `solution`, those of both sides or of one.
template <Scalar T, class Ctx>
void take_vectors(const Place<Ctx>& on, Solved<T, typename Ctx::Space> found,
                  std::vector<std::int32_t> row_numbers, const std::vector<std::int32_t>& order,
                  bool both_sides, Solution& solution) {
  if (on.keeps_vectors) {
    OwnVectors own;
    std::tie(own.right, own.right_rows) = own_part<T>(on, std::move(found.vectors));
    if (both_sides)
      std::tie(own.left, own.left_rows) = own_part<T>(on, std::move(found.left_vectors));
    own.row_numbers = std::move(row_numbers);
    solution.own_vectors = std::make_shared<const OwnVectors>(std::move(own));
    return;
  }
  solution.vectors = to_host<T>(on, std::move(found.vectors), order);
  if (both_sides) solution.left_vectors = to_host<T>(on, std::move(found.left_vectors), order);
}

}  // namespace

template <Scalar T, class Ctx>
Solution run_shared(const Place<Ctx>& on, SharedProblem<T> shared, const PreconditionerPlan& plan,
                    const Request& request, const Monitor& monitor) {
  const RowNumbers<Ctx> numbers(on.context, shared.row_numbers);
  const bool both_sides = method_of(request, shared.facts.sizes()).both_sides;
  const PreconditionerPlan own_plan = plan_for(on.device.team(), shared, plan);
  Solved<T, typename Ctx::Space> solved =
      run_placed<T>(on.context, on.device.team(), std::move(shared.problem), shared.facts, own_plan,
                    request, monitor);
  Solution solution = std::move(solved.solution);
  solution.distribution = shared.partition.reason;
  take_vectors<T>(on, std::move(solved), std::move(shared.row_numbers), shared.partition.order,
                  both_sides, solution);
  solution.peak_bytes_most = largest_peak(on);
  return solution;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                             \
  template Solution run_shared(const Place<Ctx>&, SharedProblem<T>, const PreconditionerPlan&, \
                               const Request&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
