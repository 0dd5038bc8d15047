#pragma once

#include <heddle/drivers/plan/machine.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/spmm/reorder/row_order.hpp>

/// The order in which a solve by one process takes the rows of its problem.
namespace heddle::detail {

/// Throws `RequestError` for an order that the problem or this build rules out: problems with
/// callables, several processes, an A that is not square (whose rows and columns have no order in
/// common) and preconditioners that are not for `any_row_order` keep their own.
void check_row_order(const Request& request, const Facts& facts, const Matrix& A,
                     const PreconditionerPlan& preconditioner);

/// The order that `request.reorder` names, or the one that `heddle::choose_order` takes for as many
/// products as a solve usually does. Problems that `check_row_order` rules out keep their order, as
/// do problems whose copy in another order would not fit into memory. For an order that was asked
/// for, the latter throws `OutOfMemory`. `solve_bytes`: of host memory that the solve takes.
OrderChoice choose_row_order(HostContext& host, const Machine& machine, const Facts& facts,
                             const Matrix& A, const Request& request,
                             const PreconditionerPlan& preconditioner, double solve_bytes,
                             const Monitor& monitor);

/// `request` for rows in this order: a checkpoint fits the same order only.
Request request_in_order(Request request, const OrderChoice& order);

}  // namespace heddle::detail
