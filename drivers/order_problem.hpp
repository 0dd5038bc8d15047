#pragma once

#include <heddle/drivers/device.hpp>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>

/// The order in which a solve takes the rows of its problem.
namespace heddle::detail {

/// Sets `problem.row_order` where it is null: the order that `request.reorder` names, or the one
/// that `choose_order` takes for as many products as a solve usually does. The problem keeps its
/// rows: `share` gives them the order, `whole` takes it back.
///
/// Problems with callables, several processes, an A that is not square (whose rows and columns have
/// no order in common) and preconditioners that are not for `any_row_order` keep their own. So do
/// problems whose copy in another order would not fit into memory. For an order that was asked for,
/// each of these throws `RequestError`, the last one `OutOfMemory`.
void order_problem(Device& device, Problem& problem, const Request& request,
                   const Monitor& monitor = {});

/// Throws `RequestError` for an order that the problem or this build rules out.
void check_order(const Request& request, const Problem& problem);

/// `request` for rows in this order: a checkpoint fits the same order only.
Request request_in_order(Request request, const OrderChoice* order);

/// Adds name and reason of the order to `solution`.
void report_order(const OrderChoice& order, Solution& solution);

}  // namespace heddle::detail
