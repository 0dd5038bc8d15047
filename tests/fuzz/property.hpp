#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <string>
#include <string_view>

#include "support/csr_invariants.hpp"

namespace heddle::test {

/// What `read` gets wrong about `text`, empty if nothing: it may refuse it with an `InputError` of
/// one line that names a line of it, and nothing else may escape.
template <class Read>
std::string refusal_fault(std::string_view text, const Read& read) {
  try {
    return read();
  } catch (const InputError& error) {
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) {
      return "the message has more than one line";
    }
    return error.line() <= lines ? "" : "the error names a line behind the end";
  }
}

/// The fault in a matrix that was read, empty if nothing.
template <Scalar T>
std::string matrix_fault(const CsrView<T, HostSpace>& A) {
  if (!std::all_of(A.values, A.values + A.nnz, [](T x) { return is_finite(x); })) {
    return "a value is not finite";
  }
  return csr_fault(A);
}

/// The fault in a block that was read, empty if nothing.
template <Scalar T>
std::string block_fault(ConstBlockView<T, HostSpace> X) {
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      if (!is_finite(X(i, j))) return "a value of the block is not finite";
    }
  }
  return {};
}

}  // namespace heddle::test
