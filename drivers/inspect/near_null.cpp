#include <fmt/format.h>

#include <cmath>
#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <heddle/solvers/preconditioners/options.hpp>
#include <utility>

namespace heddle::detail {
namespace {

void check_finite(const Block& X, ProblemPart part) {
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      if (std::isfinite(X.view()(i, j))) continue;
      throw ProblemError(
          part, fmt::format("the number in row {}, column {} is not finite", i + 1, j + 1));
    }
  }
}

void check_not_zero(const Block& X) {
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      if (X.view()(i, j) != 0) return;
    }
  }
  throw ProblemError(ProblemPart::near_null,
                     "all entries are zero: give vectors that the matrix nearly maps to zero, or "
                     "leave them out");
}

/// The unknowns per node that the coordinates leave possible, 0 if they do not fit.
Index unknowns_of(const Block& coordinates, Index order) {
  const Index nodes = coordinates.rows(), d = coordinates.cols();
  const bool whole = nodes > 0 && order % nodes == 0;
  const Index unknowns = whole ? order / nodes : 0;
  const bool known = d == 2 ? unknowns == 2 || unknowns == 3 : unknowns == 3 || unknowns == 6;
  return (d == 2 || d == 3) && known ? unknowns : 0;
}

/// The motions of the nodes, whose number of unknowns `facts` then has.
Block motions(HostContext& context, const Block& X, Facts& facts) {
  facts.unknowns = unknowns_of(X, facts.order());
  if (facts.unknowns == 0) {
    throw ProblemError(
        ProblemPart::coordinates,
        fmt::format(
            "the positions are {} x {}, the matrix has order {}: a row is the position of a node, "
            "with 2 coordinates for each 2 or 3 rows of the matrix, or 3 for each 3 or 6",
            X.rows(), X.cols(), facts.order()));
  }
  check_finite(X, ProblemPart::coordinates);
  return Block(rigid_body_motions(context, X.view(), facts.unknowns));
}

/// The sum of the null vectors, which have no row in common, with ones in the rows of no vector,
/// whose components of the graph are not singular.
Block sum_of(HostContext& context, const GraphNullSpace& null_space) {
  MultiVector<double, HostSpace> X(context, std::ssize(null_space.entries), 1);
  for (Index i = 0; i < X.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    X.view()(i, 0) = null_space.vector[k] >= 0 ? null_space.entries[k] : 1;
  }
  return Block(std::move(X));
}

}  // namespace

void find_near_null(HostContext& context, const Block& coordinates, Facts& facts) {
  Block& near_null = facts.near_null;
  if (facts.normal_equations && (coordinates.cols() > 0 || near_null.cols() > 0)) {
    throw ProblemError(near_null.cols() > 0 ? ProblemPart::near_null : ProblemPart::coordinates,
                       "normal equations take none");
  }
  if (coordinates.cols() > 0) {
    if (near_null.cols() > 0) {
      throw ProblemError(ProblemPart::near_null,
                         "coordinates are given, too, from which the vectors would be made: leave "
                         "one of both out");
    }
    near_null = motions(context, coordinates, facts);
  }
  if (near_null.cols() > 0) {
    if (near_null.rows() != facts.order()) {
      throw ProblemError(ProblemPart::near_null,
                         fmt::format("the block has {} rows, the matrix has order {}",
                                     near_null.rows(), facts.order()));
    }
    check_finite(near_null, ProblemPart::near_null);
    return check_not_zero(near_null);
  }
  if (facts.null_space && facts.null_space->complete) {
    near_null = sum_of(context, *facts.null_space);
  }
}

void find_nodes(HostContext& context, const Request& request, const Matrix& A, Facts& facts) {
  if (facts.processes == 1 || facts.normal_equations || !A.is_stored()) return;
  facts.unknowns = known_unknowns(request, facts);
  if (facts.unknowns == 0) facts.unknowns = unknowns_per_node(context, A.distributed_view());
}

}  // namespace heddle::detail
