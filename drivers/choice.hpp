#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <optional>
#include <string>

/// The choice of a method for a problem.
namespace heddle::detail {

/// The method for a problem, and why.
struct MethodChoice {
  Request request;     ///< with the method and the limit of iterations in place of automatic values
  std::string reason;  ///< empty where the caller named the method
  /// Whether block Lanczos with an inverse may continue where LOBPCG does not reach the digits.
  bool may_continue = false;
  /// Whether each of several processes keeps its rows of the vectors, see `Solution::own_vectors`.
  /// Where the result is scaled, or the first stage of mixed precision ends a solve, process 0 has
  /// all rows nevertheless.
  bool keeps_vectors = false;
};

/// Chooses the method for `request`. `Method::automatic`, for which `inspect_mass` must have
/// looked at B and `inspect_null_space` at A, stands for
///
///   block CG        if there are right-hand sides
///   block Lanczos   for an interval and, without constraints, for singular triplets, for the
///                   largest end, and for the smallest end if B is singular or A − σB can be
///                   factored at a moderate cost
///   LOBPCG          otherwise. If it does not reach the digits, block Lanczos continues from its
///                   vectors with the inverse. Neither has anything to do if all wanted pairs are
///                   known null vectors.
MethodChoice choose_method(const Request& request, const Problem& problem);

}  // namespace heddle::detail
