#pragma once

#include <functional>
#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <string>

/// The choice of a method for a problem.
namespace heddle::detail {

/// The numbers on which a choice between a factor and products depends.
struct InverseEstimate {
  FactorCost factor{};  ///< of A − σB
  double norm = 0;      ///< of A, or an estimate from its entries
};

/// The method for a problem, and why.
struct MethodChoice {
  Request request;     ///< with the method and the limit of iterations in place of automatic values
  std::string reason;  ///< empty where the caller named the method
  /// Whether block Lanczos with an inverse may continue where LOBPCG does not reach the digits.
  bool may_continue = false;
};

/// `request` with the default number of pairs, where it asks for some and leaves their number open.
/// `systems`: the problem has right-hand sides. An interval has as many pairs as it has.
Request with_pairs(const Request& request, bool systems);

/// Chooses the method for `request`. `Method::automatic` stands for
///
///   block CG        if there are right-hand sides
///   block Lanczos   for an interval, for pairs nearest to sigma and, without constraints, for
///   singular triplets, for the
///                   largest end, and for the smallest end if B is singular or A − σB can be
///                   factored at a moderate cost
///   LOBPCG          otherwise. If it does not reach the digits, block Lanczos continues from its
///                   vectors with the inverse. Neither has anything to do if all wanted pairs are
///                   known null vectors.
///
/// All pairs of an interval are found by slices, with `filter: inverse`, if there is a B, or if
/// A − σB can be factored and that is estimated to cost less than polynomial filters. These are
/// taken otherwise, with `filter: chebyshev`. Each of several processes has a factor, and all of
/// these must fit into the memory of this machine.
///
/// `estimate` is called where the choice depends on a factorisation of A − σB.
MethodChoice choose_method(const Request& request, const Facts& facts,
                           const std::function<InverseEstimate()>& estimate);

/// `request` with the columns that block Lanczos iterates at once in place of an automatic number
/// that depends on where it runs. On a host, up to `kFewPairs` largest eigenpairs of A x = λ x, or
/// largest singular triplets, are found with blocks of 4 columns. They take as many products with a
/// block as wider ones, and each costs less. Everywhere else the method chooses: on a GPU a product
/// with 8 columns costs little more, and the smallest end takes up to three times as long with 4.
Request with_block_size(const Request& request, const ProblemSizes& sizes, bool on_host);

}  // namespace heddle::detail
