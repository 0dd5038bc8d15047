#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/matrix_market/header.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <string>
#include <string_view>

#include "support/csr_invariants.hpp"

namespace heddle::test {

/// Whether `text` claims a shape that takes a fuzzer's memory and time without teaching it a thing.
inline bool claims_much(std::string_view text) {
  constexpr Index kMost = 1 << 20;
  try {
    const matrix_market::Header header = matrix_market::parse_header(text, "fuzz");
    return header.rows > kMost || header.rows * std::max<Index>(header.cols, 1) > kMost;
  } catch (const InputError&) {
    return false;
  }
}

/// What `read` gets wrong about `text`, empty if nothing: it may refuse it with an `InputError`
/// that names a line of it, and nothing else may escape.
template <class Read>
std::string refusal_fault(std::string_view text, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    return error.line() <= lines ? "" : "the error names a line behind the end";
  }
}

/// What the readers get wrong about `text`, whatever it is; empty if nothing.
inline std::string matrix_market_fault(std::string_view text) {
  if (claims_much(text)) return {};
  HostContext context(1);
  std::string fault = refusal_fault(text, [&] {
    const auto A = parse_matrix_market<double>(context, text, "fuzz");
    const double* values = A.view().values;
    if (!std::all_of(values, values + A.nnz(), [](double x) { return std::isfinite(x); })) {
      return std::string("a value is not finite");
    }
    return csr_fault(A.view());
  });
  if (!fault.empty()) return fault;
  return refusal_fault(text, [&] {
    const auto block = parse_matrix_market_block<float>(context, text, "fuzz");
    const ConstBlockView<float, HostSpace> X = block.view();
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) {
        if (!std::isfinite(X(i, j))) return std::string("a value of the block is not finite");
      }
    }
    return std::string();
  });
}

}  // namespace heddle::test
