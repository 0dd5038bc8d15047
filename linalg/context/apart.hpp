#pragma once

#include <cstdint>
#include <heddle/linalg/context/context.hpp>

namespace heddle::detail {

/// As long as it lives, a context of several processes computes with blocks and matrices of which
/// this process has all rows, without the others. With one process it changes nothing.
template <Context Ctx>
class Apart {
 public:
  explicit Apart(Ctx& context) noexcept
      : context_(context), numbers_(context.row_numbers()), was_apart_(context.set_apart(true)) {
    context.set_row_numbers(nullptr);
  }
  ~Apart() {
    context_.set_apart(was_apart_);
    context_.set_row_numbers(numbers_);
  }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

 private:
  Ctx& context_;
  const std::int32_t* numbers_;
  bool was_apart_;
};

}  // namespace heddle::detail
