#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <utility>

namespace heddle {
namespace detail {

// Each is defined in NAME/NAME_kind.cpp.
PreconditionerKind jacobi_kind();
PreconditionerKind block_jacobi_kind();
PreconditionerKind chebyshev_kind();
PreconditionerKind incomplete_cholesky_kind();
PreconditionerKind multigrid_kind();

}  // namespace detail

namespace {

/// Throws `InvalidArgument` if `kind` could not be used under its name.
void check(const PreconditionerKind& kind) {
  const auto refuse = [&](std::string_view reason) {
    throw InvalidArgument(fmt::format("preconditioner \"{}\": {}", kind.name, reason));
  };
  if (kind.name.empty() || kind.name == "none" || kind.name == "auto") {
    refuse("a name is needed, and none and auto are taken");
  }
  if (!kind.maker) refuse("it has no maker");
  for (const PreconditionerKey& key : kind.keys) {
    const auto same_name = [&](const PreconditionerKey& other) { return other.name == key.name; };
    if (std::count_if(kind.keys.begin(), kind.keys.end(), same_name) > 1) {
      refuse(fmt::format("it has two options named {}", key.name));
    }
    if (!key.accepts(key.fallback)) {
      refuse(fmt::format("the default of {} must be {}", key.name, key.describe_values()));
    }
  }
}

}  // namespace

PreconditionerTable::PreconditionerTable(std::deque<PreconditionerKind> kinds) {
  for (PreconditionerKind& kind : kinds) add(std::move(kind));
}

const PreconditionerKind* PreconditionerTable::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return find_locked(name);
}

const PreconditionerKind& PreconditionerTable::get(std::string_view name) const {
  if (const PreconditionerKind* kind = find(name)) return *kind;
  throw InvalidArgument(fmt::format("no preconditioner is named \"{}\", the names are: {}", name,
                                    fmt::join(names(), ", ")));
}

std::vector<std::string_view> PreconditionerTable::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string_view> names;
  for (const PreconditionerKind& kind : kinds_) names.push_back(kind.name);
  return names;
}

void PreconditionerTable::add(PreconditionerKind kind) {
  check(kind);
  const std::lock_guard lock(mutex_);
  if (find_locked(kind.name) != nullptr) {
    throw InvalidArgument(fmt::format("preconditioner \"{}\": the name is taken", kind.name));
  }
  kinds_.push_back(std::move(kind));
}

const PreconditionerKind* PreconditionerTable::find_locked(std::string_view name) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const auto& kind) { return kind.name == name; });
  return found != kinds_.end() ? &*found : nullptr;
}

PreconditionerTable& preconditioner_table() {
  static PreconditionerTable table({
      detail::jacobi_kind(),
      detail::block_jacobi_kind(),
      detail::chebyshev_kind(),
      detail::incomplete_cholesky_kind(),
      detail::multigrid_kind(),
  });
  return table;
}

std::string_view automatic_preconditioner(const PreconditionedProblem& problem) {
  if (!problem.stored) return "none";
  switch (problem.task) {
    case PreconditionedTask::eigenpairs:
      if (problem.which == Which::smallest) return "chebyshev";
      return problem.pencil ? "jacobi" : "none";
    case PreconditionedTask::linear_system:
      return "chebyshev";
    case PreconditionedTask::least_squares:
    case PreconditionedTask::unpreconditioned:
      break;
  }
  return "none";
}

}  // namespace heddle
