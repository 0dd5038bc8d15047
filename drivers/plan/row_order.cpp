#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/drivers/plan/row_order.hpp>
#include <heddle/linalg/base/available_memory.hpp>

namespace heddle::detail {
namespace {

/// Why the rows of a problem must keep their order. Empty if they need not.
std::string bound_to_order(const Facts& facts, const PreconditionerPlan& preconditioner) {
  if (facts.processes > 1) {
    return "rows of several processes are ordered by their distribution, see the key distribution";
  }
  if (facts.A.rows != facts.A.cols) {
    return "rows and columns of a matrix that is not square have no order in common";
  }
  if (const std::string_view part = callable_part(facts); !part.empty()) {
    return fmt::format("{} is a callable, which knows the rows in their own order only", part);
  }
  const PreconditionerKind* const kind = preconditioner.kind;
  if (kind == nullptr || kind->any_row_order) return {};
  return fmt::format("the preconditioner {} is not for matrices in another order", kind->name);
}

/// Products of A or Aᵀ with the whole block that a solve does, as a rule.
double usual_products(const Request& request, const Facts& facts) {
  constexpr double kUsual = 150;
  constexpr double kWithInverse = 20;
  // Without this filter, products come first until they have cost more than a factor.
  const bool inverts = request.method == Method::block_lanczos &&
                       request.filter == LanczosFilter::inverse &&
                       may_invert(request, facts.sizes());
  const double most =
      request.max_iterations > 0 ? static_cast<double>(request.max_iterations) : kUsual;
  const double per_iteration = facts.normal_equations ? 2 : 1;
  return per_iteration * std::min(most, inverts ? kWithInverse : kUsual);
}

OrderedProducts products_of(const Machine& machine, const Facts& facts, const Request& request) {
  const ProblemSizes sizes = facts.sizes();
  OrderedProducts products;
  products.N = method_of(request, sizes).block_size(request, sizes);
  products.scalar_bytes = request.precision == Precision::full ? sizeof(double) : sizeof(float);
  products.count = usual_products(request, facts);
  products.unknowns = known_unknowns(request, facts);
  products.gpu = machine.gpu;
  return products;
}

OrderChoice order_by(HostContext& host, const RowPattern& pattern, const Request& request,
                     const OrderedProducts& products) {
  if (request.reorder == RowOrder::automatic) return choose_order(host, pattern, products);
  OrderChoice choice;
  choice.order = request.reorder;
  choice.rows = heddle::order_rows(host, pattern, request.reorder, products.unknowns);
  return choice;
}

}  // namespace

void check_row_order(const Request& request, const Facts& facts, const Matrix& A,
                     const PreconditionerPlan& preconditioner) {
  if (request.reorder == RowOrder::automatic || request.reorder == RowOrder::none) return;
  std::string reason = bound_to_order(facts, preconditioner);
  if (reason.empty()) reason = no_row_order_reason(request.reorder, pattern_of(A.view()));
  if (reason.empty()) return;
  throw RequestError("reorder", fmt::format(": {} cannot be used: {}; auto and none keep the order",
                                            row_order_name(request.reorder), reason));
}

OrderChoice choose_row_order(HostContext& host, const Machine& machine, const Facts& facts,
                             const Matrix& A, const Request& request,
                             const PreconditionerPlan& preconditioner, double solve_bytes,
                             const Monitor& monitor) {
  const auto keep = [](std::string reason) {
    return OrderChoice{RowOrder::none, {}, std::move(reason)};
  };
  if (request.reorder == RowOrder::none) return keep("");
  if (std::string reason = bound_to_order(facts, preconditioner); !reason.empty()) {
    return keep(reason);
  }
  const OrderedProducts products = products_of(machine, facts, request);
  const RowPattern pattern = pattern_of(A.view());
  if (request.reorder == RowOrder::automatic) {
    if (std::string reason = no_order_helps(pattern, products); !reason.empty()) {
      return keep(reason);
    }
  }
  // The ordered copy, and the graph and the numbers that lead to it.
  const double bytes =
      solve_bytes + facts.bytes() + 8 * static_cast<double>(facts.A.nnz + 4 * facts.order());
  if (request.reorder == RowOrder::automatic && bytes > available_memory().bytes) {
    return keep("the matrix's own: a copy in another order would not fit into memory");
  }
  require_host_memory(bytes, "leave spmm.reorder out");
  monitor.begin_stage("ordering");
  return order_by(host, pattern, request, products);
}

Request request_in_order(Request request, const OrderChoice& order) {
  if (order.order == RowOrder::none) return request;
  std::uint64_t sum = 0;
  for (const std::int32_t row : order.rows) {
    sum = (sum ^ static_cast<std::uint64_t>(row)) * 0x9E3779B97F4A7C15;
    sum ^= sum >> 29;
  }
  // First, because norms of A follow from it to their last digits.
  std::vector<std::string>& identity = request.checkpoint.identity;
  identity.insert(identity.begin(),
                  fmt::format("order of rows: {} {:016x}", row_order_name(order.order), sum));
  return request;
}

}  // namespace heddle::detail
