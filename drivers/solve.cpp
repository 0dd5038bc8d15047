#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <heddle/drivers/choice.hpp>
#include <heddle/drivers/consistent_rhs.hpp>
#include <heddle/drivers/followers.hpp>
#include <heddle/drivers/held_rows.hpp>
#include <heddle/drivers/input.hpp>
#include <heddle/drivers/memory.hpp>
#include <heddle/drivers/methods.hpp>
#include <heddle/drivers/mixed.hpp>
#include <heddle/drivers/near_null.hpp>
#include <heddle/drivers/null_space.hpp>
#include <heddle/drivers/order.hpp>
#include <heddle/drivers/order_problem.hpp>
#include <heddle/drivers/own_rows.hpp>
#include <heddle/drivers/own_vectors.hpp>
#include <heddle/drivers/precision.hpp>
#include <heddle/drivers/scaling.hpp>
#include <heddle/drivers/share.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve_placed.hpp>
#include <heddle/drivers/stages.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace heddle {
namespace detail {
namespace {

/// The context that a solve runs in, and the host context beside it.
template <class Ctx>
struct Place {
  Device& device;
  Ctx& context;
  bool keeps_vectors = false;  // each process its rows, where there are several

  /// Copies X to a block in host memory that keeps its context alive.
  template <Scalar T>
  HostBlock<T> fetched(MultiVector<T, typename Ctx::Space> X, const Partition& rows) const {
    return {whole(device.team(), device.host(), fetch(context, device.team(), std::move(X)),
                  rows.order),
            device.shared_host()};
  }

  /// The rows of this process of X, with that of all processes.
  template <Scalar T>
  std::pair<HostVectors, RowRanges> kept(MultiVector<T, typename Ctx::Space> X) const {
    RowRanges rows = ranges_of_all(*device.team().processes(), X.rows());
    return {HostBlock<T>(fetch(context, device.team(), std::move(X)), device.shared_team()),
            std::move(rows)};
  }

  /// Where process 0 gets the rows of all processes.
  Place of_all_vectors() const { return {device, context}; }
};

/// At its end, returns what the solve freed to the system: results may keep a context for long.
class FreedMemory {
 public:
  explicit FreedMemory(Device& device) noexcept : device_(device) {}
  ~FreedMemory() {
    device_.host().release_kept_memory();
    device_.team().release_kept_memory();
  }
  FreedMemory(const FreedMemory&) = delete;
  FreedMemory& operator=(const FreedMemory&) = delete;

 private:
  Device& device_;
};

/// The request as this process carries it out.
template <Scalar T>
Request request_in(const HostContext& team, const Request& request,
                   const SharedProblem<T>& shared) {
  if (team.processes() == nullptr) return request_in_order(request, shared.problem.row_order.get());
  return own_request(*team.processes(), request, !shared.row_numbers.empty());
}

/// Calls the other processes of the team to a solve of `problem`.
template <Scalar T, class Ctx>
void call_others(const Place<Ctx>& on, const HostProblem<T>& problem, const Request& request,
                 const PreconditionerPlan& plan) {
  Processes* const processes = on.device.team().processes();
  if (processes == nullptr) return;
  send_order(*processes, {.duty = Order::Duty::solve,
                          .single = std::same_as<T, float>,
                          .request = request,
                          .plan = plan,
                          .own_rows = problem.own_rows != nullptr,
                          .keeps_vectors = on.keeps_vectors});
}

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

/// The plan for a problem that `share` has divided or given another order: what is known of A
/// refers to the memory of the shared problem.
template <Scalar T>
PreconditionerPlan plan_for(const HostContext& team, const SharedProblem<T>& shared,
                            PreconditionerPlan plan) {
  const HostProblem<T>& problem = shared.problem;
  NearNullSpace known{problem.near_null.view(), problem.unknowns};
  const bool whole_nodes = known.unknowns == 0 || keeps_nodes(row_range(problem.A.view()),
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

/// Moves the vectors that have been found to `solution`, those of both sides or of one.
template <Scalar T, class Ctx>
void take_vectors(const Place<Ctx>& on, Solved<T, typename Ctx::Space> found,
                  SharedProblem<T> shared, bool both_sides, Solution& solution) {
  if (on.keeps_vectors) {
    OwnVectors own;
    std::tie(own.right, own.right_rows) = on.kept(std::move(found.vectors));
    if (both_sides) std::tie(own.left, own.left_rows) = on.kept(std::move(found.left_vectors));
    own.row_numbers = std::move(shared.row_numbers);
    solution.own_vectors = std::make_shared<const OwnVectors>(std::move(own));
    return;
  }
  solution.vectors = on.fetched(std::move(found.vectors), shared.partition);
  if (both_sides) {
    solution.left_vectors = on.fetched(std::move(found.left_vectors), shared.partition);
  }
}

/// Solves `problem` together with the other processes of the context. Only process 0 gets vectors
/// and, but for `own_rows`, has a problem.
template <Scalar T, class Ctx>
Solution solve_in(Place<Ctx> on, HostProblem<T> problem, const PreconditionerPlan& plan,
                  const Request& asked, const Monitor& monitor) {
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  SharedProblem<T> shared = share(on.device.team(), std::move(problem), asked.distribution);
  const Request request = request_in(on.device.team(), asked, shared);
  const RowNumbers<Ctx> numbers(on.context, shared.row_numbers);
  const MethodKind& method = method_of(request, shared.problem.sizes());
  const PreconditionerPlan own_plan = plan_for(on.device.team(), shared, plan);
  const double sharing_seconds = seconds_since(start);
  Solved<T, typename Ctx::Space> solved = solve_placed<T>(
      on.context, on.device.team(), std::move(shared.problem), own_plan, request, monitor);
  Solution solution = std::move(solved.solution);
  solution.setup_seconds += sharing_seconds;
  solution.distribution = shared.partition.reason;
  take_vectors(on, std::move(solved), std::move(shared), method.both_sides, solution);
  solution.peak_bytes_most = largest_peak(on);
  return solution;
}

/// Calls the other processes to a solve in T, and solves `problem` with them.
template <Scalar T, class Ctx>
Solution solve_together(Place<Ctx> on, HostProblem<T> problem, const PreconditionerPlan& plan,
                        const Request& request, const Monitor& monitor) {
  Solution solution;
  on.device.together([&] {
    call_others(on, problem, request, plan);
    solution = solve_in<T>(on, std::move(problem), plan, request, monitor);
  });
  return solution;
}

template <class Ctx>
Solution solve_on(Place<Ctx> on, Problem problem, const Request& request, const Monitor& monitor) {
  find_nodes(on.device.host(), request, problem);
  const PreconditionerPlan plan = plan_preconditioner(request, problem);
  const auto full = [&](Problem exact, const Request& asked, const Monitor& watch) {
    return solve_together<double>(on, std::move(exact), plan, asked, watch);
  };
  const auto single = [&](HostProblem<float> rounded, const Request& asked, const Monitor& watch) {
    const bool first_of_two = request.precision == Precision::mixed;
    return solve_together<float>(first_of_two ? on.of_all_vectors() : on, std::move(rounded), plan,
                                 asked, watch);
  };
  switch (request.precision) {
    case Precision::full:
      return full(std::move(problem), request, monitor);
    case Precision::single: {
      HostProblem<float> rounded = to_single(on.device.host(), problem);
      problem = {};
      return single(std::move(rounded), request, monitor);
    }
    case Precision::mixed:
      return solve_mixed(on.device.host(), std::move(problem), request, monitor, single, full);
  }
  return {};
}

/// Solves `problem` as a scaled one.
template <class Ctx>
Solution solve_scaled(Place<Ctx> on, Problem problem, Request request,
                      const ProblemScaling& scaling, const Monitor& monitor) {
  scale(on.device.host(), problem, request, scaling);
  Solution solution = solve_on(on, std::move(problem), request, unscaled(monitor, scaling));
  unscale(on.device, solution, scaling);
  return solution;
}

/// Solves `given` as a scaled problem. Where rows were scaled, the criterion has judged residuals
/// of the scaled problem. If those of `given` exceed it, a second solve has a smaller tolerance.
template <class Ctx>
Solution solve_by_scaling(Place<Ctx> on, Problem given, Request request,
                          const ProblemScaling& scaling, const Monitor& monitor) {
  if (!scaling.graded()) return solve_scaled(on, std::move(given), request, scaling, monitor);
  Solution first = solve_scaled(on, given, request, scaling, monitor);
  require_digits(request, first);
  const double excess = take_given_residuals(on.device.host(), given, request, first);
  if (excess <= 1 || first.status != SolveStatus::converged) return first;
  given.initial_guess = guess_from(on.device.host(), first);
  Request stricter = remaining(request, first);
  stricter.tolerance = 0.1 * tolerance_of(request) / excess;
  Solution second = solve_scaled(on, given, stricter, scaling, continued(first, monitor));
  const bool met = take_given_residuals(on.device.host(), given, request, second) <= 1;
  if (met) keep_verdict(first, second);
  require_digits(request, second);
  if (!met && second.status == SolveStatus::converged) {
    second.status = SolveStatus::verification_failed;
    second.reason += "; residuals of the problem without this scaling exceed the tolerance";
  }
  prepend(first, second, "of the scaled problem");
  return second;
}

}  // namespace

Solution solve_prepared(Device& device, Problem problem, const Request& request,
                        const Monitor& monitor, bool keeps_vectors) {
  const FreedMemory freed(device);
  return device.with_context([&](auto& context) {
    context.synchronize();
    context.profile().reset();
    order_problem(device, problem, request, monitor);
    const std::shared_ptr<const OrderChoice> order = problem.row_order;
    const std::string preconditioner = describe_preconditioner(request, problem, !device.is_host());
    const bool pencil = problem.sizes().pencil;
    Request scaled = with_block_size(request, problem.sizes(), device.is_host());
    const ConsistentRhs consistent(device.host(), problem, scaled);
    const HeldRows held(device.host(), problem, scaled);
    const ProblemScaling scaling = scaling_of(problem, scaled);
    const bool by_rows =
        keeps_vectors && device.processes() > 1 && scaling.changes_nothing() && held.empty();
    Solution solution = solve_by_scaling(
        Place<std::remove_reference_t<decltype(context)>>{device, context, by_rows},
        std::move(problem), scaled, scaling, monitor);
    held.put_back(device, solution);
    consistent.report(solution);
    if (pencil) solution.frequencies = frequencies_of(solution.eigenvalues);
    if (solution.preconditioner_name.empty()) solution.preconditioner_name = preconditioner;
    report_order(*order, solution);
    solution.device = device.kind();
    solution.device_note = device.note();
    solution.profile = context.profile();
    solution.peak_bytes = context.allocation_count().peak_bytes;
    solution.peak_bytes_most = std::max(solution.peak_bytes_most, solution.peak_bytes);
    return solution;
  });
}

Solution solve_prepared(Device& device, Problem problem, const MethodChoice& choice,
                        const Monitor& monitor) {
  if (!choice.may_continue) {
    Solution solution =
        solve_prepared(device, std::move(problem), choice.request, monitor, choice.keeps_vectors);
    solution.method_reason = choice.reason;
    return solution;
  }
  order_problem(device, problem, choice.request, monitor);
  Solution first = solve_prepared(device, problem, choice.request, monitor);
  first.method_reason = choice.reason;
  if (!is_unfinished(choice.request, first)) return first;
  try {
    Request rest = remaining(choice.request, first);
    rest.max_iterations = choice.request.max_iterations;
    rest.method = Method::block_lanczos;
    rest.filter = LanczosFilter::inverse;
    problem.initial_guess = guess_from(device.host(), first);
    Solution second = solve_prepared(device, std::move(problem), rest, continued(first, monitor));
    if (first.status == SolveStatus::converged && second.status != SolveStatus::converged) {
      return first;
    }
    prepend(first, second, "of LOBPCG, which did not reach the digits");
    second.method_reason =
        choice.reason +
        "; LOBPCG did not reach the digits, block Lanczos continued with an inverse";
    return second;
  } catch (const OutOfMemory& error) {
    first.reason +=
        std::string("; block Lanczos with an inverse would need more memory: ") + error.what();
    return first;
  }
}

namespace {

/// What a process that follows process 0 keeps between its orders.
struct OwnPart {
  Problem problem{};                            ///< with own rows, until the last solve of it
  std::shared_ptr<const OwnVectors> vectors{};  ///< of the last solve
};

/// Does the part of this process in the solve of `order`.
void take_part(Device& device, const Order& order, OwnPart& own) {
  own.vectors.reset();
  const bool first_of_two = order.single && order.request.precision == Precision::mixed;
  Problem problem = first_of_two ? own.problem : std::exchange(own.problem, {});
  if (!order.own_rows) problem = {};
  if (order.own_rows && !problem.own_rows) {
    throw InvalidArgument("a problem with own rows is solved once: make the rows again");
  }
  device.with_context([&](auto& context) {
    const Place<std::remove_reference_t<decltype(context)>> here{device, context,
                                                                 order.keeps_vectors};
    Solution solution;
    if (order.single) {
      HostProblem<float> rounded;
      if (problem.own_rows) rounded = to_single(device.host(), problem);
      problem = {};
      solution = solve_in<float>(here, std::move(rounded), order.plan, order.request, {});
    } else {
      solution = solve_in<double>(here, std::move(problem), order.plan, order.request, {});
    }
    own.vectors = std::move(solution.own_vectors);
  });
}

}  // namespace

}  // namespace detail

Solution solve(Device& device, Problem problem, const Request& request, const Monitor& monitor) {
  problem.processes = device.processes();
  const std::string_view callable = detail::callable_part(problem);
  if (!callable.empty() && !device.is_host()) {
    throw RequestError("device", std::string(": cuda cannot be used: ") + std::string(callable) +
                                     " is a callable on host blocks");
  }
  if (request.method == Method::automatic) detail::inspect_mass(device.host(), problem);
  detail::inspect_null_space(device.host(), problem, request);
  const detail::MethodChoice choice = detail::choose_method(request, problem);
  const Request& chosen = choice.request;
  detail::check_kernel(device, chosen);
  detail::prepare(device.host(), problem, chosen, monitor);
  detail::check_memory(detail::estimate_memory(problem, chosen, !device.is_host()), chosen, device);
  return detail::solve_prepared(device, std::move(problem), choice, monitor);
}

Solution solve(const Problem& problem, const Request& request, const Monitor& monitor) {
  const bool several =
      request.devices > 1 || (request.devices == 0 && detail::callable_part(problem).empty());
  Device device = several ? device_for(request) : Device(request, problem);
  return solve(device, problem, request, monitor);
}

namespace {

/// The choice of the other processes where that of process 0 is `choice`. Where there is no GPU for
/// each, process 0 alone reports it.
DeviceChoice followed(DeviceChoice choice) {
  return choice == DeviceChoice::cuda ? DeviceChoice::automatic : choice;
}

}  // namespace

int serve(const std::shared_ptr<Processes>& processes) {
  std::unique_ptr<Device> device;
  detail::OwnPart own;
  for (;;) {
    const detail::Order order = detail::receive_order(*processes);
    switch (order.duty) {
      case detail::Order::Duty::end:
        return order.code;
      case detail::Order::Duty::device:
        own = {};
        device.reset();
        device = std::make_unique<Device>(followed(order.device), order.threads, processes);
        break;
      case detail::Order::Duty::rows:
        own = {};
        own.problem =
            detail::own_rows(device->team(), order.matrices, order.request).value_or(Problem{});
        break;
      case detail::Order::Duty::solve:
        detail::take_part(*device, order, own);
        break;
      case detail::Order::Duty::vectors:
        detail::send_part(*processes, *own.vectors, order.part);
    }
  }
}

void dismiss(Processes& processes, int code) {
  detail::send_order(processes, {.duty = detail::Order::Duty::end, .code = code});
}

std::shared_ptr<detail::Followers> detail::followers(int size) {
  return std::make_shared<Followers>(
      size, Followers::Duty{[](const std::shared_ptr<Processes>& processes) { serve(processes); },
                            [](Processes& processes) { dismiss(processes); }});
}

}  // namespace heddle
