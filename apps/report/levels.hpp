#pragma once

#include <heddle/solvers/operators/preconditioner.hpp>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

/// Reports on the levels of a multigrid preconditioner.
namespace heddle::apps {

/// An aligned table: rows, entries, entries per row, aggregates and seconds of each level, and
/// their sums. Entries of all levels per entry of the finest one are the operator complexity.
std::string levels_table(std::span<const OperatorLevel> levels);

/// {"levels": [{"rows", "nnz", "aggregates", "seconds"}, …], "operator_complexity"}.
nlohmann::ordered_json levels_json(std::span<const OperatorLevel> levels);

}  // namespace heddle::apps
