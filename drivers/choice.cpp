#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <heddle/drivers/choice.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <vector>

namespace heddle::detail {
namespace {

/// Up to this number of operations, some seconds, a factorisation is taken at once.
constexpr double kModerateOperations = 1e10;

/// One breadth-first search of the pattern from `start` over vertices of which `seen` is not
/// `mark`.
class LevelSearch {
 public:
  explicit LevelSearch(CsrView<double, HostSpace> A)
      : A_(A), seen_(static_cast<std::size_t>(A.rows)) {}

  struct Levels {
    Index last;     ///< a vertex of the last level
    Index largest;  ///< vertices of the largest level
  };

  Levels from(Index start, std::uint8_t mark) {
    std::vector<std::int32_t>& now = now_;
    now.assign(1, static_cast<std::int32_t>(start));
    seen_[static_cast<std::size_t>(start)] = mark;
    Levels levels{start, 0};
    while (!now.empty()) {
      levels.largest = std::max<Index>(levels.largest, std::ssize(now));
      levels.last = now.front();
      next_.clear();
      for (const std::int32_t i : now) visit_neighbours(i, mark);
      std::swap(now, next_);
    }
    return levels;
  }

  bool seen(Index i) const { return seen_[static_cast<std::size_t>(i)] != 0; }

 private:
  void visit_neighbours(std::int32_t i, std::uint8_t mark) {
    for (Index e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e) {
      std::uint8_t& seen = seen_[static_cast<std::size_t>(A_.columns[e])];
      if (seen == mark) continue;
      seen = mark;
      next_.push_back(A_.columns[e]);
    }
  }

  CsrView<double, HostSpace> A_;
  std::vector<std::uint8_t> seen_;
  std::vector<std::int32_t> now_, next_;
};

/// Whether A − σB of the problem can be factored at all.
bool has_inverse(const Request& request, const Problem& problem) {
  return request.which == Which::smallest && !request.interval && !problem.normal_equations &&
         problem.A.is_stored() && (!problem.B || problem.B->is_stored()) &&
         problem.A.rows() == problem.A.cols();
}

MethodChoice choose_at_smallest_end(const Request& request, const Problem& problem) {
  const auto choice = [&](Method method, std::string reason, bool may_continue = false) {
    MethodChoice chosen{request, std::move(reason), may_continue};
    chosen.request.method = method;
    return chosen;
  };
  if (request.filter || request.max_basis > 0) {
    return choice(Method::block_lanczos, "the request has options of block Lanczos");
  }
  if (problem.preconditioner || request.preconditioner.type != "auto") {
    return choice(Method::lobpcg, "a preconditioner is given");
  }
  if (problem.infinite_eigenvalues.value_or(0) > 0) {
    return choice(Method::block_lanczos, "the mass matrix is singular");
  }
  if (!has_inverse(request, problem)) {
    return choice(Method::lobpcg, "the matrices are not stored, so that none can be factored");
  }
  // The first stage of mixed precision iterates in single, which spoils inverses of stiff matrices.
  if (request.precision != Precision::full) {
    return choice(Method::lobpcg, "the precision is not double");
  }
  const double operations = estimated_factor_operations(problem.A.view());
  if (operations <= kModerateOperations) {
    return choice(
        Method::block_lanczos,
        fmt::format("factoring A - sigma B is cheap, about {:.0e} operations", operations));
  }
  return choice(
      Method::lobpcg,
      fmt::format("factoring A - sigma B is expensive, about {:.0e} operations", operations), true);
}

}  // namespace

double estimated_factor_operations(CsrView<double, HostSpace> A) {
  LevelSearch search(A);
  double separator = 0;
  for (Index i = 0; i < A.rows; ++i) {
    if (search.seen(i)) continue;
    const Index rim = search.from(i, 1).last;
    separator = std::max(separator, static_cast<double>(search.from(rim, 2).largest));
  }
  return 10 * separator * separator * separator;
}

MethodChoice choose_method(const Request& request, const Problem& problem) {
  MethodChoice choice{request, "", false};
  if (request.method == Method::automatic) {
    if (problem.rhs.cols() > 0) {
      choice.request.method = Method::block_cg;
      choice.reason = "there are right-hand sides";
    } else if (request.interval) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "an interval is given";
    } else if (problem.constraints.cols() > 0) {
      choice.request.method = Method::lobpcg;
      choice.reason = "constraints are given";
    } else if (request.which == Which::largest) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "the largest end needs no preconditioner";
    } else if (problem.normal_equations) {
      choice.request.method = Method::block_lanczos;
      choice.reason = "polynomial filters reach small singular values";
    } else {
      choice = choose_at_smallest_end(request, problem);
    }
  }
  if (choice.request.max_iterations == 0) {
    choice.request.max_iterations = is_eigensolver(choice.request.method)
                                        ? EigenOptions{}.max_iterations
                                        : LinearOptions{}.max_iterations;
  }
  return choice;
}

}  // namespace heddle::detail
