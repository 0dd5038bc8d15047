#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/plan/choice.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/solvers/problem/options.hpp>

namespace heddle::detail {
namespace {

/// Up to this estimated number of operations, some seconds, a factorisation is taken at once.
constexpr double kModerateOperations = 8e9;

/// Up to this number of pairs of the largest end, narrow blocks are faster on a host.
constexpr Index kFewPairs = 8;
constexpr Index kNarrowBlock = 4;

/// Whether A − σB of the problem can be factored at all.
bool has_inverse(const Request& request, const Facts& facts) {
  return request.which == Which::smallest && !request.interval && !request.sigma &&
         !facts.normal_equations && facts.A.stored && (!facts.B.given || facts.B.stored) &&
         facts.A.rows == facts.A.cols;
}

MethodChoice choose_at_smallest_end(const Request& request, const Facts& facts,
                                    const std::function<InverseEstimate()>& estimate) {
  const auto choice = [&](Method method, std::string reason, bool may_continue = false) {
    MethodChoice chosen{request, std::move(reason), may_continue};
    chosen.request.method = method;
    return chosen;
  };
  if (request.filter || request.max_basis > 0) {
    return choice(Method::block_lanczos, "the request has options of block Lanczos");
  }
  if (facts.preconditioner.given || request.preconditioner.type != "auto") {
    return choice(Method::lobpcg, "a preconditioner is given");
  }
  if (facts.infinite_eigenvalues.value_or(0) > 0) {
    return choice(Method::block_lanczos, "the mass matrix is singular");
  }
  if (facts.sizes().null_vectors >= request.nev) {
    return choice(Method::lobpcg, "all wanted pairs are null vectors that the graph of A shows");
  }
  if (!has_inverse(request, facts)) {
    return choice(Method::lobpcg, "the matrices are not stored, so that none can be factored");
  }
  if (facts.processes > 1) {
    return choice(Method::lobpcg,
                  "several processes or GPUs hold the matrices, so that none is factored");
  }
  // The first stage of mixed precision iterates in single, which spoils inverses of stiff matrices.
  if (request.precision != Precision::full) {
    return choice(Method::lobpcg, "the precision is not double");
  }
  const double operations = estimate().factor.operations;
  if (operations <= kModerateOperations) {
    return choice(
        Method::block_lanczos,
        fmt::format("factoring A - sigma B is cheap, about {:.0e} operations", operations));
  }
  const std::string expensive =
      fmt::format("factoring A - sigma B is expensive, about {:.0e} operations", operations);
  // LOBPCG needs multigrid or incomplete factors to be faster than filters, see
  // `PreconditionerKind::takes_complex`.
  if (facts.complex && !facts.B.given) {
    MethodChoice filtered =
        choice(Method::block_lanczos, expensive + ", and filters beat Chebyshev preconditioners");
    filtered.request.filter = LanczosFilter::chebyshev;
    return filtered;
  }
  return choice(Method::lobpcg, expensive, true);
}

/// Estimated operations per pair of an interval, by slices and by polynomial filters. The numbers
/// of pairs and columns are those of wide intervals. Entries of L and A are read for few columns.
double operations_of_slices(const FactorCost& factor) {
  constexpr double kPairsPerFactor = 40;
  constexpr double kColumnsPerPair = 2.5;
  return 2 * factor.operations / kPairsPerFactor + kColumnsPerPair * 12 * factor.entries;
}
double operations_of_filter(const Facts& facts, double norm, const RealInterval& interval) {
  constexpr double kColumnsPerPair = 2;
  constexpr double kDegree = 6;
  const double width = std::min(interval.upper, norm) - std::max(interval.lower, -norm);
  const double degree = std::clamp(kDegree * norm / std::max(width, 1e-300), 1.0, 8192.0);
  const double of_number = facts.complex ? 4 : 1;  // operations in units of a real number's
  const double per_product =
      of_number * (6 * static_cast<double>(facts.A.nnz) + 20 * static_cast<double>(facts.order()));
  return kColumnsPerPair * degree * per_product;
}

/// Why the pairs of an interval cannot be found by slices. Empty if they can.
std::string no_slices(const Request& request, const Facts& facts) {
  if (!callable_part(facts).empty()) return "the matrix is a callable";
  if (request.precision != Precision::full) return "the precision is not double";
  return "";
}

/// Chooses between slices and polynomial filters for all pairs of an interval.
void choose_for_interval(MethodChoice& choice, const Facts& facts,
                         const std::function<InverseEstimate()>& estimate) {
  constexpr Index kPairsByFilter = 100;
  constexpr double kBytesPerEntry = 24;  // of a factor in work
  Request& request = choice.request;
  const auto decide = [&](LanczosFilter filter, std::string_view reason) {
    request.filter = filter;
    choice.reason += choice.reason.empty() ? "" : "; ";
    choice.reason += reason;
    if (filter == LanczosFilter::chebyshev && request.nev == 0) {
      request.nev = std::min(kPairsByFilter, facts.order());
    }
  };
  const LanczosFilter asked = request.filter.value_or(LanczosFilter::automatic);
  if (asked != LanczosFilter::automatic) return decide(asked, "the filter is given");
  if (facts.B.given) return decide(LanczosFilter::inverse, "slices count the pairs of a pencil");
  if (const std::string reason = no_slices(request, facts); !reason.empty()) {
    return decide(LanczosFilter::chebyshev, "no factor counts the pairs: " + reason);
  }
  const InverseEstimate inverse = estimate();
  const double factors = kBytesPerEntry * inverse.factor.entries * facts.processes;
  if (factors > kFactorShare * host_memory_bytes()) {
    return decide(LanczosFilter::chebyshev,
                  "no factor counts the pairs: it would not fit into memory");
  }
  if (inverse.factor.operations <= kModerateOperations ||
      operations_of_slices(inverse.factor) <=
          operations_of_filter(facts, inverse.norm, *request.interval)) {
    return decide(LanczosFilter::inverse, "factors of A - sigma I that count the pairs are cheap");
  }
  decide(LanczosFilter::chebyshev, "polynomial filters cost less than factors of A - sigma I");
}

}  // namespace

Request with_pairs(const Request& request, bool systems) {
  Request complete = request;
  const bool pairs = !systems && request.method != Method::block_cg && !request.interval;
  if (request.nev == 0 && pairs) complete.nev = EigenOptions{}.nev;
  return complete;
}

MethodChoice choose_method(const Request& request, const Facts& facts,
                           const std::function<InverseEstimate()>& estimate) {
  MethodChoice choice{request, "", false};
  if (request.method == Method::automatic) {
    if (facts.rhs.cols > 0) {
      choice.request.method = Method::block_cg;
      choice.reason = "there are right-hand sides";
    } else if (request.interval) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "an interval is given";
    } else if (request.sigma) {
      choice.request.method = Method::block_lanczos;
      choice.reason =
          facts.buckling ? "load factors are wanted" : "pairs nearest to sigma are wanted";
    } else if (facts.constraints.cols > 0) {
      choice.request.method = Method::lobpcg;
      choice.reason = "constraints are given";
    } else if (request.which == Which::largest) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "the largest end needs no preconditioner";
    } else if (facts.normal_equations) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "polynomial filters reach small singular values";
    } else {
      choice = choose_at_smallest_end(request, facts, estimate);
    }
  }
  if (choice.request.interval && choice.request.method == Method::block_lanczos) {
    choose_for_interval(choice, facts, estimate);
  }
  if (facts.processes > 1 && counts_by_factors(choice.request)) {
    choice.reason += choice.reason.empty() ? "" : "; ";
    choice.reason += choice.request.interval
                         ? "processes solve slices side by side, with all rows each"
                         : "process 0 solves, with all rows";
  }
  if (choice.request.max_iterations == 0) {
    choice.request.max_iterations = is_eigensolver(choice.request.method)
                                        ? EigenOptions{}.max_iterations
                                        : LinearOptions{}.max_iterations;
  }
  // A checkpoint holds one solve.
  if (!request.checkpoint.file.empty()) choice.may_continue = false;
  return choice;
}

Request with_block_size(const Request& request, const ProblemSizes& sizes, bool on_host) {
  Request sized = request;
  const bool narrow = on_host && request.method == Method::block_lanczos &&
                      request.which == Which::largest && !request.interval && !sizes.pencil &&
                      request.nev <= kFewPairs;
  if (narrow && request.block_size == 0) sized.block_size = kNarrowBlock;
  return sized;
}

}  // namespace heddle::detail
