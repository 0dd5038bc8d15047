#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace heddle::detail {

/// The sparse formats of one matrix that several kernels use. Each is built once.
class FormatCache {
 public:
  /// The `Format` of this matrix in its `variant`, a number whose meaning the format defines. The
  /// first call builds it with `build()`, and later calls return the same object.
  template <class Format, class Build>
  std::shared_ptr<const Format> get(int variant, Build&& build) {
    std::shared_ptr<const void>& format = formats_[{typeid(Format), variant}];
    if (!format) format = std::make_shared<const Format>(build());
    return std::static_pointer_cast<const Format>(format);
  }

 private:
  std::map<std::pair<std::type_index, int>, std::shared_ptr<const void>> formats_;
};

}  // namespace heddle::detail
