#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
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

/// What a method gives: a solution without vectors, and its vectors in the memory of the context.
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

/// All that distinguishes a method from the others. The functions take a request with its method
/// chosen.
struct MethodKind {
  std::string_view name;
  std::string_view solves;  ///< the equation
  bool (*suits)(const Request&, const ProblemSizes&);
  /// Columns that A multiplies at once.
  Index (*block_size)(const Request&, const ProblemSizes&);
  /// Bytes that the method holds beside the operators, its result included, for scalars of so many
  /// bytes.
  double (*memory_bytes)(const Request&, const ProblemSizes&, std::size_t scalar_size);
  /// Columns of the eigenvectors or the solution.
  Index (*result_columns)(const Request&, const ProblemSizes&);
  bool both_sides = false;  ///< it gives left vectors, too
  MethodCalls calls;
};

/// All methods. Of several that suit, the first is taken.
const std::vector<MethodKind>& method_table();

/// The method for `request`, its field `method` chosen, and a problem of `sizes`.
const MethodKind& method_of(const Request& request, const ProblemSizes& sizes);

/// The name of the iteration: "lobpcg", "block_lanczos", "block_cg"; "auto".
std::string_view method_name(Method method) noexcept;

/// `inner_solves`: whether every product with B⁻¹A takes a solve with B.
BlockLanczosOptions block_lanczos_options(const Request& request, bool inner_solves = false);

}  // namespace heddle::detail
