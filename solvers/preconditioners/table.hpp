#pragma once

#include <deque>
#include <heddle/solvers/preconditioners/kind.hpp>
#include <mutex>
#include <string_view>
#include <vector>

namespace heddle {

/// Preconditioners by name. All functions may be called from several threads.
class PreconditionerTable {
 public:
  /// The rows of the table.
  explicit PreconditionerTable(std::deque<PreconditionerKind> kinds);

  /// The row with the given name, null if there is none. Its address is valid as long as the table
  /// exists.
  const PreconditionerKind* find(std::string_view name) const;

  /// The row with the given name. Throws `InvalidArgument` for an unknown name, with a list of the
  /// known ones.
  const PreconditionerKind& get(std::string_view name) const;

  /// All names, in the order in which the rows were added.
  std::vector<std::string_view> names() const;

  /// Appends a row. Throws `InvalidArgument` if its name is empty, taken, "none" or "auto", if it
  /// has no maker, if two keys share a name, or if a key does not accept its own default.
  void add(PreconditionerKind kind);

 private:
  const PreconditionerKind* find_locked(std::string_view name) const;

  mutable std::mutex mutex_;
  std::deque<PreconditionerKind> kinds_;  // a deque: rows keep their addresses
};

/// The table of this process. It contains the preconditioners of heddle and those that user code
/// adds.
PreconditionerTable& preconditioner_table();

/// The rule of `automatic_preconditioner` as a text for documentation.
inline constexpr std::string_view kAutomaticPreconditionerRule =
    "chebyshev for the smallest end and for linear systems, jacobi for the largest end of a "
    "pencil, "
    "else none; in place of chebyshev multigrid where it saves its setup; on the host jacobi for "
    "well conditioned matrices, and first with one right-hand side; for linear systems a complete "
    "factor where it costs less";

/// The name of the preconditioner that `problem` gets if the user chooses none. "none" means no
/// preconditioner. It is also the result for least squares and for operators without a stored
/// matrix. For "chebyshev", drivers may take multigrid, jacobi or a complete factor instead, see
/// docs/methods/preconditioners.md.
std::string_view automatic_preconditioner(const PreconditionedProblem& problem);

/// Makes the preconditioner `name` of the table for A, with `options` in place of its defaults:
///
///     auto M = make_preconditioner<double>(context, "chebyshev", A.view(), {{"degree", 8}});
///     problem.preconditioner = M.get();
///
/// A is in the context's memory and is not needed afterwards. Throws as `PreconditionerTable::get`,
/// `PreconditionerKind::options` and `PreconditionerKind::make` do.
template <Scalar T, class Ctx>
std::unique_ptr<Preconditioner<T, Ctx>> make_preconditioner(
    Ctx& context, std::string_view name, DistributedCsrView<T, typename Ctx::Space> A,
    const OptionValues& options = {}, const SpmmOptions& spmm = {}) {
  const PreconditionerKind& kind = preconditioner_table().get(name);
  return kind.make<T>(context, A, kind.options(options), spmm);
}

}  // namespace heddle
