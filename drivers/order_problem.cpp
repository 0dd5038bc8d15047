#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/choice.hpp>
#include <heddle/drivers/memory.hpp>
#include <heddle/drivers/methods.hpp>
#include <heddle/drivers/near_null.hpp>
#include <heddle/drivers/order_problem.hpp>
#include <heddle/drivers/placed.hpp>
#include <heddle/drivers/preconditioner.hpp>
#include <heddle/linalg/base/available_memory.hpp>

namespace heddle::detail {
namespace {

/// Why the rows of `problem` must keep their order. Empty if they need not.
std::string bound_to_order(const Request& request, const Problem& problem) {
  if (problem.processes > 1) {
    return "rows of several processes are ordered by their distribution, see the key distribution";
  }
  if (problem.A.rows() != problem.A.cols()) {
    return "rows and columns of a matrix that is not square have no order in common";
  }
  if (const std::string_view part = callable_part(problem); !part.empty()) {
    return fmt::format("{} is a callable, which knows the rows in their own order only", part);
  }
  if (problem.preconditioner) return {};
  const PreconditionerPlan plan = plan_preconditioner(request, problem);
  if (plan.kind == nullptr || plan.kind->any_row_order) return {};
  return fmt::format("the preconditioner {} is not for matrices in another order", plan.kind->name);
}

/// Products of A or Aᵀ with the whole block that a solve does, as a rule.
double usual_products(const Request& request, const Problem& problem) {
  constexpr double kUsual = 150;
  constexpr double kWithInverse = 20;
  // Without this filter, products come first until they have cost more than a factor.
  const bool inverts = request.method == Method::block_lanczos &&
                       request.filter == LanczosFilter::inverse &&
                       may_invert(request, problem.sizes());
  const double most =
      request.max_iterations > 0 ? static_cast<double>(request.max_iterations) : kUsual;
  const double per_iteration = problem.normal_equations ? 2 : 1;
  return per_iteration * std::min(most, inverts ? kWithInverse : kUsual);
}

OrderedProducts products_of(Device& device, const Problem& problem, const Request& request) {
  OrderedProducts products;
  const ProblemSizes sizes = problem.sizes();
  const Request sized = with_block_size(request, sizes, device.is_host());
  products.N = method_of(sized, sizes).block_size(sized, sizes);
  products.scalar_bytes = request.precision == Precision::full ? sizeof(double) : sizeof(float);
  products.count = usual_products(request, problem);
  products.unknowns = known_unknowns(request, problem);
#ifdef HEDDLE_HAS_CUDA
  device.with_context([&](auto& context) {
    if constexpr (std::same_as<std::remove_reference_t<decltype(context)>, CudaContext>) {
      products.gpu = device_speed(context);
    }
  });
#else
  static_cast<void>(device);
#endif
  return products;
}

OrderChoice chosen(Device& device, const Problem& problem, const Request& request,
                   const OrderedProducts& products) {
  const RowPattern pattern = pattern_of(problem.A.view());
  if (request.reorder == RowOrder::automatic) {
    return choose_order(device.host(), pattern, products);
  }
  OrderChoice choice;
  choice.order = request.reorder;
  choice.rows = heddle::order_rows(device.host(), pattern, request.reorder, products.unknowns);
  return choice;
}

}  // namespace

void check_order(const Request& request, const Problem& problem) {
  if (request.reorder == RowOrder::automatic || request.reorder == RowOrder::none) return;
  std::string reason = bound_to_order(request, problem);
  if (reason.empty()) {
    reason = no_row_order_reason(request.reorder, pattern_of(problem.A.view()));
  }
  if (reason.empty()) return;
  throw RequestError("reorder", fmt::format(": {} cannot be used: {}; auto and none keep the order",
                                            row_order_name(request.reorder), reason));
}

void order_problem(Device& device, Problem& problem, const Request& request,
                   const Monitor& monitor) {
  if (problem.row_order) return;
  check_order(request, problem);
  const auto keep = [&](std::string reason) {
    problem.row_order =
        std::make_shared<const OrderChoice>(OrderChoice{RowOrder::none, {}, std::move(reason)});
  };
  if (request.reorder == RowOrder::none) return keep("");
  if (std::string reason = bound_to_order(request, problem); !reason.empty()) return keep(reason);
  const OrderedProducts products = products_of(device, problem, request);
  if (request.reorder == RowOrder::automatic) {
    const RowPattern pattern = pattern_of(problem.A.view());
    if (std::string reason = no_order_helps(pattern, products); !reason.empty())
      return keep(reason);
  }
  // The ordered copy, and the graph and the numbers that lead to it.
  const double bytes = estimate_memory(problem, request, !device.is_host()).host + problem.bytes() +
                       8 * static_cast<double>(problem.nnz() + 4 * problem.order());
  if (request.reorder == RowOrder::automatic && bytes > available_memory().bytes) {
    return keep("the matrix's own: a copy in another order would not fit into memory");
  }
  require_host_memory(bytes, "leave spmm.reorder out");
  monitor.begin_stage("ordering");
  problem.row_order =
      std::make_shared<const OrderChoice>(chosen(device, problem, request, products));
}

Request request_in_order(Request request, const OrderChoice* order) {
  if (order == nullptr || order->order == RowOrder::none) return request;
  std::uint64_t sum = 0;
  for (const std::int32_t row : order->rows) {
    sum = (sum ^ static_cast<std::uint64_t>(row)) * 0x9E3779B97F4A7C15;
    sum ^= sum >> 29;
  }
  // First, because norms of A follow from it to their last digits.
  std::vector<std::string>& identity = request.checkpoint.identity;
  identity.insert(identity.begin(),
                  fmt::format("order of rows: {} {:016x}", row_order_name(order->order), sum));
  return request;
}

void report_order(const OrderChoice& order, Solution& solution) {
  solution.row_order = row_order_name(order.order);
  solution.row_order_reason = order.reason;
}

}  // namespace heddle::detail
