#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/request_fields.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <string_view>
#include <tuple>
#include <vector>

/// The methods that solve. Each is one row of `method_table`.
namespace heddle::detail {

template <Scalar T, class Ctx>
class PlacedProblem;

/// The result of a method: a solution without vectors, and the vectors in the memory of the
/// context.
template <Scalar T, class Space>
struct Solved {
  Solution solution;
  MultiVector<T, Space> vectors;
  MultiVector<T, Space> left_vectors{};  ///< of singular triplets
};

template <Scalar T, class Ctx>
using MethodCall = Solved<T, typename Ctx::Space> (*)(Ctx&, PlacedProblem<T, Ctx>&, const Request&,
                                                      const Monitor&);

/// One call per pair of scalar and context.
using MethodCalls = std::tuple<MethodCall<float, HostContext>, MethodCall<double, HostContext>
#ifdef HEDDLE_HAS_CUDA
                               ,
                               MethodCall<float, CudaContext>, MethodCall<double, CudaContext>
#endif
                               >;

/// The description of one method. The method of the requests passed to its functions has been
/// chosen.
struct MethodKind {
  std::string_view name;
  std::string_view solves;  ///< the equation that it solves
  bool (*suits)(const Request&, const ProblemSizes&);
  /// The number of columns that A multiplies at once.
  Index (*block_size)(const Request&, const ProblemSizes&);
  /// Estimated bytes that the method holds, with its result and without the operators.
  /// `scalar_size`: bytes per scalar.
  double (*memory_bytes)(const Request&, const ProblemSizes&, std::size_t scalar_size);
  /// The number of columns of the eigenvectors or the solution.
  Index (*result_columns)(const Request&, const ProblemSizes&);
  bool both_sides = false;  ///< whether the result has left vectors
  MethodCalls calls;
};

/// All methods. If several suit a request and a problem, the first one is used.
const std::vector<MethodKind>& method_table();

/// The method for `request`, whose method has been chosen, and a problem of the given sizes.
const MethodKind& method_of(const Request& request, const ProblemSizes& sizes);

/// The tolerance of `request`, or its default.
double tolerance_of(const Request& request) noexcept;

/// The options of block Lanczos for `request`. `inner_solves`: whether each product with B⁻¹A needs
/// an iterative solve with B.
BlockLanczosOptions block_lanczos_options(const Request& request, bool inner_solves = false);

}  // namespace heddle::detail
