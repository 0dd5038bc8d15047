#pragma once

#include <heddle/apps/spgemm/format.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <string>
#include <vector>

namespace heddle::apps {

/// One product of a run of heddle-spgemm.
struct ProductReport {
  std::string formula;  ///< such as "A A"
  SpgemmCounts counts;
  FormatChoice format;
  std::string device;  ///< "the host", or the GPU's name
  double seconds = 0;  ///< from the factors in host memory to C in host memory
};

/// The size of each product, how it was computed and in which time.
std::string to_text(const std::vector<ProductReport>& products);

/// The same as JSON.
std::string to_json(const std::vector<ProductReport>& products);

}  // namespace heddle::apps
