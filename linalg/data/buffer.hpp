#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>
#include <type_traits>
#include <utility>

namespace heddle {

/// An owning array of `size` uninitialised values in the memory of `Space`. It is move-only. The
/// context must outlive it.
template <class T, class Space>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using ContextType = typename ContextOf<Space>::type;

  Buffer() = default;

  /// Throws `OutOfMemory`.
  Buffer(ContextType& context, std::size_t size)
      : context_(&context),
        data_(static_cast<T*>(context.allocate(size * sizeof(T)))),
        size_(size) {}

  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) context_->deallocate(data_, size_ * sizeof(T));
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

  /// Element access; host memory only.
  T& operator[](std::size_t i) noexcept requires std::same_as<Space, HostSpace> { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept requires std::same_as<Space, HostSpace> {
    return data_[i];
  }

  /// Exchanges the memory of both.
  void swap(Buffer& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  ContextType* context_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace heddle
