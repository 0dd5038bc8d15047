#pragma once

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/matrix_market/header.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <string>
#include <string_view>

#include "fuzz/property.hpp"

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

/// What the readers get wrong about `text`, whatever it is; empty if nothing.
inline std::string matrix_market_fault(std::string_view text) {
  if (claims_much(text)) return {};
  HostContext context(1);
  std::string fault = refusal_fault(text, [&] {
    const auto A = parse_matrix_market<double>(context, text, "fuzz");
    return matrix_fault(A.view());
  });
  if (!fault.empty()) return fault;
  fault = refusal_fault(text, [&] {
    const auto A = parse_matrix_market<std::complex<double>>(context, text, "fuzz");
    return matrix_fault(A.view());
  });
  if (!fault.empty()) return fault;
  return refusal_fault(text, [&] {
    const auto block = parse_matrix_market_block<float>(context, text, "fuzz");
    return block_fault<float>(block.view());
  });
}

}  // namespace heddle::test
