#pragma once

#include <string>
#include <vector>

#include "spgemm/comparison.hpp"

namespace heddle::lab {

/// One product of a run of heddle-spgemm.
struct ProductReport {
  std::string formula;  ///< such as "A A"
  SpgemmComparison comparison;
};

/// A table per product: its size, and per implementation times, GFLOP/s and memory.
std::string to_text(const std::vector<ProductReport>& products);

/// The same as JSON.
std::string to_json(const std::vector<ProductReport>& products);

}  // namespace heddle::lab
