#pragma once

#include <heddle/linalg/context/context.hpp>
#include <memory>

namespace heddle::detail {

/// A host context of a class that allocates memory of its own, such as small matrices in addition
/// to memory of a GPU. A member of this type is declared before the memory. Its address stays when
/// the class is moved.
///
/// Move assignment exchanges the contexts. The class can then be move-assigned member by member:
/// the memory that it held is freed after its context has been assigned, and by the context that it
/// came from, which now belongs to the other object.
class OwnedHostContext {
 public:
  /// Owns no context. Only assignment and destruction are allowed.
  OwnedHostContext() = default;

  explicit OwnedHostContext(int threads) : context_(std::make_unique<HostContext>(threads)) {}

  OwnedHostContext(OwnedHostContext&& other) noexcept = default;
  OwnedHostContext& operator=(OwnedHostContext&& other) noexcept {
    context_.swap(other.context_);
    return *this;
  }

  HostContext& operator*() const noexcept { return *context_; }

 private:
  std::unique_ptr<HostContext> context_;
};

}  // namespace heddle::detail
