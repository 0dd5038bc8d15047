#pragma once

#include <cstddef>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::detail {

/// The values to be loaded do not fit. The message completes a sentence about the file.
class ArchiveError : public Error {
 public:
  using Error::Error;
};

/// Saves values to memory or loads them. A class passes its values to an archive in one function
/// for both directions. Therefore the saved and the loaded values, and their order, cannot differ.
class Archive {
 public:
  enum class Mode { save, load };

  /// Appends to `memory`, or reads from its start. `memory` must outlive the archive.
  Archive(std::vector<std::byte>& memory, Mode mode) noexcept : memory_(memory), mode_(mode) {}

  bool loading() const noexcept { return mode_ == Mode::load; }

  template <class... Values>
  requires(std::is_trivially_copyable_v<Values>&&...) void values(Values&... values) {
    (bytes(&values, sizeof values), ...);
  }

  template <class Value>
  requires std::is_trivially_copyable_v<Value>
  void list(std::vector<Value>& values) { list(values, values.size()); }

  /// Saves the first `count` entries of `values`, or loads as many as were saved.
  template <class Value>
  requires std::is_trivially_copyable_v<Value>
  void list(std::vector<Value>& values, std::size_t count) {
    bytes(&count, sizeof count);
    if (loading()) {
      require_left(count, sizeof(Value));
      values.resize(count);
    }
    bytes(values.data(), count * sizeof(Value));
  }

  void text(std::string& value) {
    std::size_t count = value.size();
    bytes(&count, sizeof count);
    if (loading()) {
      require_left(count, 1);
      value.resize(count);
    }
    bytes(value.data(), count);
  }

 private:
  void require_left(std::size_t count, std::size_t size) const {
    if (count > (memory_.size() - position_) / size)
      throw ArchiveError("holds less than it should");
  }

  void bytes(void* data, std::size_t count) {
    if (count == 0) return;
    if (loading()) {
      require_left(count, 1);
      std::memcpy(data, memory_.data() + position_, count);
      position_ += count;
    } else {
      const auto* begin = static_cast<const std::byte*>(data);
      memory_.insert(memory_.end(), begin, begin + count);
    }
  }

  std::vector<std::byte>& memory_;
  Mode mode_;
  std::size_t position_ = 0;
};

}  // namespace heddle::detail
