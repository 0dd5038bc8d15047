#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle::detail {

template <class Space>
KernelTable<Space>::KernelTable(const std::vector<KernelRow<Space>>& rows) {
  for (const KernelRow<Space>& row : rows) add(row);
}

template <class Space>
const KernelRow<Space>* KernelTable<Space>::find(std::string_view name) const noexcept {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const KernelRow<Space>& row) {
    return row.traits.name == name;
  });
  return found == rows_.end() ? nullptr : &*found;
}

template <class Space>
void KernelTable<Space>::add(const KernelRow<Space>& row) {
  if (find(row.traits.name) != nullptr) {
    throw InvalidArgument(fmt::format("an SpMM kernel '{}' exists already", row.traits.name));
  }
  rows_.push_back(row);
  names_.push_back(row.traits.name);
}

template class KernelTable<HostSpace>;
template class KernelTable<DeviceSpace>;

}  // namespace heddle::detail

namespace heddle {

std::vector<std::string_view> all_spmm_kernels() {
  const detail::KernelTable<HostSpace>& host = detail::host_kernel_table();
  std::vector<std::string_view> names = host.names();
  for (const std::string_view name : detail::cuda_kernel_table().names()) {
    if (host.find(name) == nullptr) names.push_back(name);
  }
  return names;
}

}  // namespace heddle
