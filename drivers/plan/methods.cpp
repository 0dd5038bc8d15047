#include <algorithm>
#include <heddle/drivers/plan/method_options.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/solvers/null_space/null_pairs.hpp>
#include <utility>

namespace heddle::detail {
namespace {

Index wanted_pairs(const Request& request, const ProblemSizes&) { return request.nev; }
Index right_hand_sides(const Request&, const ProblemSizes& sizes) { return sizes.rhs; }

MethodKind singular_values_row() {
  return {
      .algorithm = Algorithm::singular_values,
      .name = "singular_values",
      .solves = "A v = sigma u, an end of the spectrum",
      .suits =
          [](const Request& request, const ProblemSizes& sizes) {
            return sizes.normal_equations && is_eigensolver(request.method);
          },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return singular_block_size(singular_options(request), sizes.n, sizes.cols);
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return singular_memory_bytes(singular_options(request), sizes.n, sizes.cols,
                                         scalar_size);
          },
      .result_columns = wanted_pairs,
      .both_sides = true,
  };
}

MethodKind least_squares_row() {
  return {
      .algorithm = Algorithm::least_squares,
      .name = "least_squares",
      .solves = "min |B - A X|",
      .suits =
          [](const Request& request, const ProblemSizes& sizes) {
            return sizes.normal_equations && request.method == Method::block_cg;
          },
      .block_size = right_hand_sides,
      .memory_bytes =
          [](const Request&, const ProblemSizes& sizes, std::size_t scalar_size) {
            return least_squares_memory_bytes(sizes.n, sizes.cols, sizes.rhs, scalar_size);
          },
      .result_columns = right_hand_sides,
  };
}

/// The pairs of an interval for which memory is planned if their number is not known.
constexpr Index kPlannedPairs = 500;

Index pairs_of_slices(const Request& request, const ProblemSizes& sizes) {
  return request.nev > 0 ? request.nev : std::min(sizes.n, kPlannedPairs);
}

MethodKind slices_row() {
  return {
      .algorithm = Algorithm::slices,
      .name = "slices",
      .solves = "A x = lambda B x, lambda in an interval",
      .suits =
          [](const Request& request, const ProblemSizes&) {
            return request.interval.has_value() && counts_by_factors(request);
          },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return interval_block_size(sliced_options(request, sizes.n), sizes.n);
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return sliced_memory_bytes(sliced_options(request, sizes.n), sizes.n,
                                       pairs_of_slices(request, sizes), sizes.pencil, scalar_size,
                                       sizes.processes);
          },
      .result_columns = pairs_of_slices,
  };
}

MethodKind interval_row() {
  return {
      .algorithm = Algorithm::interval,
      .name = "interval",
      .solves = "A x = lambda x, lambda in an interval",
      .suits =
          [](const Request& request, const ProblemSizes&) {
            return request.method == Method::block_lanczos && request.interval.has_value();
          },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return interval_block_size(interval_options(request), sizes.n);
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return interval_memory_bytes(interval_options(request), sizes.n, scalar_size);
          },
      .result_columns = wanted_pairs,
  };
}

MethodKind nearest_row() {
  return {
      .algorithm = Algorithm::nearest,
      .name = "nearest",
      .solves = "A x = lambda B x, lambda nearest to sigma",
      .suits =
          [](const Request& request, const ProblemSizes&) {
            return request.method == Method::block_lanczos && request.sigma.has_value();
          },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return nearest_block_size(nearest_options(request, sizes.buckling), sizes.n);
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return nearest_memory_bytes(nearest_options(request, sizes.buckling), sizes.n,
                                        sizes.constraints, sizes.pencil, scalar_size);
          },
      .result_columns = wanted_pairs,
  };
}

MethodKind null_space_row() {
  return {
      .algorithm = Algorithm::null_space,
      .name = "null_space",
      .solves = "A x = 0, for a matrix whose graph shows as many null vectors as are wanted",
      .suits = all_known,
      .block_size =
          [](const Request& request, const ProblemSizes&) {
            return null_pairs_block_size(eigen_options(request));
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return null_pairs_memory_bytes(eigen_options(request), sizes.n, sizes.pencil,
                                           scalar_size);
          },
      .result_columns = wanted_pairs,
  };
}

MethodKind lobpcg_row() {
  return {
      .algorithm = Algorithm::lobpcg,
      .name = "lobpcg",
      .solves = "A x = lambda B x, an end of the spectrum",
      .suits = [](const Request& request,
                  const ProblemSizes&) { return request.method == Method::lobpcg; },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return lobpcg_block_size(eigen_options(request), sizes.n, sizes.constraints);
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return lobpcg_memory_bytes(eigen_options(request), sizes.n, sizes.constraints,
                                       sizes.pencil, scalar_size);
          },
      .result_columns = wanted_pairs,
  };
}

MethodKind block_lanczos_row() {
  return {
      .algorithm = Algorithm::block_lanczos,
      .name = "block_lanczos",
      .solves = "A x = lambda B x, an end of the spectrum",
      .suits = [](const Request& request,
                  const ProblemSizes&) { return request.method == Method::block_lanczos; },
      .block_size =
          [](const Request& request, const ProblemSizes& sizes) {
            return block_lanczos_shape(block_lanczos_options(request), sizes.n, sizes.pencil).block;
          },
      .memory_bytes =
          [](const Request& request, const ProblemSizes& sizes, std::size_t scalar_size) {
            return block_lanczos_memory_bytes(block_lanczos_options(request), sizes.n, sizes.pencil,
                                              scalar_size);
          },
      .result_columns = wanted_pairs,
  };
}

MethodKind block_cg_row() {
  return {
      .algorithm = Algorithm::block_cg,
      .name = "block_cg",
      .solves = "A X = B",
      .suits = [](const Request& request,
                  const ProblemSizes&) { return request.method == Method::block_cg; },
      .block_size = right_hand_sides,
      .memory_bytes =
          [](const Request&, const ProblemSizes& sizes, std::size_t scalar_size) {
            return block_cg_memory_bytes(sizes.n, sizes.rhs, scalar_size);
          },
      .result_columns = right_hand_sides,
  };
}

}  // namespace

const std::vector<MethodKind>& method_table() {
  static const std::vector<MethodKind> table = {
      singular_values_row(), least_squares_row(), slices_row(),
      interval_row(),        nearest_row(),       null_space_row(),
      lobpcg_row(),          block_lanczos_row(), block_cg_row()};
  return table;
}

const MethodKind& method_of(const Request& request, const ProblemSizes& sizes) {
  for (const MethodKind& kind : method_table()) {
    if (kind.suits(request, sizes)) return kind;
  }
  throw InvalidArgument("no method is chosen");
}

double tolerance_of(const Request& request) noexcept {
  if (request.tolerance > 0) return request.tolerance;
  return request.precision == Precision::single ? kDefaultTolerance<float>
                                                : kDefaultTolerance<double>;
}

bool counts_by_factors(const Request& request) noexcept {
  if (request.method != Method::block_lanczos) return false;
  return request.sigma || (request.interval && request.filter == LanczosFilter::inverse);
}

bool may_invert(const Request& request, const ProblemSizes& sizes) {
  const LanczosFilter filter = request.filter.value_or(LanczosFilter::automatic);
  return request.method == Method::block_lanczos && sizes.processes == 1 && !request.interval &&
         !request.sigma && !sizes.normal_equations && request.which == Which::smallest &&
         (filter == LanczosFilter::automatic || filter == LanczosFilter::inverse);
}

}  // namespace heddle::detail
