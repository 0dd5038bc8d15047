#pragma once

#include <deque>
#include <heddle/spmm/kernels/kernel_plan.hpp>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

/// There is one table of SpMM kernels per backend. A kernel is a folder next to this file, with a
/// class derived from `KernelPlan`, and a row of the table. Plans, options and configuration files
/// refer to a kernel by its name in the table.
namespace heddle::detail {

/// The description of a kernel in the table. All text is of static storage duration.
struct KernelTraits {
  std::string_view name;         ///< the name that `SpmmOptions::kernel` accepts
  std::string_view description;  ///< one line
  std::string_view keeps =
      "nothing";  ///< bytes of its data in addition to A, in terms of nnz, rows, N, sizeof(T)
  std::string_view limits = "none";  ///< matrices or blocks that it rejects
  bool epilogue = false;  ///< adds γ B' + δ X and Y += η C itself; else the plan does it afterwards
  bool takes_complex = false;     ///< multiplies complex matrices, too
  bool repeatable = true;         ///< equal input gives equal bits in every run
  bool prepares_by_width = true;  ///< false: the first product of a new shape allocates, too
};

/// Creates the plan of a kernel for one matrix. The plan may keep the view of A, but no reference
/// to the `KernelMatrix`.
template <class T, class Space>
using MakeKernel = std::unique_ptr<KernelPlan<T, Space>> (*)(typename ContextOf<Space>::type&,
                                                             KernelMatrix<T, Space>&);

/// One maker per scalar type. That of complex matrices is null if the kernel takes real ones only.
template <class Space>
using KernelMakers = std::tuple<MakeKernel<float, Space>, MakeKernel<double, Space>,
                                MakeKernel<std::complex<double>, Space>>;

/// The makers that call a `Make` without state, whose operator() is a template of the scalar. That
/// of complex matrices only if `kComplexToo`.
template <class Space, bool kComplexToo, class Make>
KernelMakers<Space> makers_for(Make) {
  using Ctx = typename ContextOf<Space>::type;
  const auto maker = []<class T>(T) -> MakeKernel<T, Space> {
    return [](Ctx& context, KernelMatrix<T, Space>& matrix) {
      return Make{}.template operator()<T>(context, matrix);
    };
  };
  KernelMakers<Space> makers{maker(float{}), maker(double{}), nullptr};
  if constexpr (kComplexToo) std::get<2>(makers) = maker(std::complex<double>{});
  return makers;
}

/// The makers of `Plan<T>`, a class derived from `KernelPlan<T, Space>` with a constructor from
/// (context, KernelMatrix&). `Kernel` has the traits.
template <class Kernel, template <class> class Plan, class Space>
KernelMakers<Space> makers_of() {
  return makers_for<Space, Kernel::kTraits.takes_complex>(
      []<class T>(typename ContextOf<Space>::type& context,
                  KernelMatrix<T, Space>& matrix) -> std::unique_ptr<KernelPlan<T, Space>> {
        return std::make_unique<Plan<T>>(context, matrix);
      });
}

/// A kernel: its traits and its makers. The makers are null in a build without the backend, where
/// the table still lists the kernel.
template <class Space>
struct KernelRow {
  KernelTraits traits;
  KernelMakers<Space> makers;

  /// Whether the kernel multiplies matrices of values of T.
  template <class T>
  bool takes() const noexcept {
    return !kComplex<T> || traits.takes_complex;
  }

  template <class T>
  std::unique_ptr<KernelPlan<T, Space>> make(typename ContextOf<Space>::type& context,
                                             KernelMatrix<T, Space>& matrix) const {
    return std::get<MakeKernel<T, Space>>(makers)(context, matrix);
  }
};

/// The kernels of one backend, in the order in which they are listed to users. Rows are never
/// removed, so pointers to them stay valid.
template <class Space>
class KernelTable {
 public:
  explicit KernelTable(const std::vector<KernelRow<Space>>& rows = {});

  /// The row with this name, nullptr if there is none.
  const KernelRow<Space>* find(std::string_view name) const noexcept;

  const std::deque<KernelRow<Space>>& rows() const noexcept { return rows_; }
  const std::vector<std::string_view>& names() const noexcept { return names_; }

  /// Adds a kernel, which can then be chosen by its name like the built-in ones. The call must come
  /// before other threads use the table. Throws `InvalidArgument` if the name is taken.
  void add(const KernelRow<Space>& row);

 private:
  std::deque<KernelRow<Space>> rows_;
  std::vector<std::string_view> names_;
};

/// The tables of this process, which initially hold the built-in kernels.
KernelTable<HostSpace>& host_kernel_table();
KernelTable<DeviceSpace>& cuda_kernel_table();

}  // namespace heddle::detail
