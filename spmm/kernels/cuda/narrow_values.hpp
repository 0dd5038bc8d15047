#pragma once

#include <cuda_runtime_api.h>

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>
#include <memory>
#include <type_traits>

/// Values of A in double that are all exact in single precision, as those of stencils and graphs
/// are. Kernels read them as floats, 4 bytes instead of 8, and convert them: the same sums, bit for
/// bit. Each plan of a kernel is a template of the scalar T of the product and the type V in which
/// A's values are stored.
namespace heddle::detail::cuda {

/// Expands F(T, V) once per real scalar T and type V of stored values.
#define HEDDLE_FOR_EACH_STORED_REAL(F) F(float, float) F(double, double) F(double, float)

/// Expands F(T, V) once per scalar T and type V of stored values.
#define HEDDLE_FOR_EACH_STORED_VALUE(F) \
  HEDDLE_FOR_EACH_STORED_REAL(F) F(std::complex<double>, std::complex<double>)

/// narrow[i] = values[i], i < count. Moves 12·count bytes.
void launch_narrow_values(const double* values, Index count, float* narrow, cudaStream_t stream);

/// A's values in single precision, shared by the kernels of a matrix.
struct NarrowValues {
  Buffer<float, DeviceSpace> values;
};

/// The values of A for a kernel that reads A in compressed rows: A's own, or their narrow copy.
template <class T, class V>
class StoredValues {
 public:
  StoredValues(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix) {
    if constexpr (kNarrow) {
      narrow_ = matrix.formats.template get<NarrowValues>(0, [&] {
        NarrowValues copy{
            Buffer<float, DeviceSpace>(context, static_cast<std::size_t>(matrix.A.nnz))};
        launch_narrow_values(matrix.A.values, matrix.A.nnz, copy.values.data(), context.stream());
        return copy;
      });
    }
  }

  /// The product as the kernel takes it.
  template <class Product>
  auto in(const Product& product) const {
    if constexpr (kNarrow) {
      return NarrowProduct<Product>{product, narrow_->values.data()};
    } else {
      return product;
    }
  }

 private:
  static constexpr bool kNarrow = !std::is_same_v<T, V>;

  std::shared_ptr<const NarrowValues> narrow_;  ///< null where V is T
};

/// The makers of `Plan<T, V>` with a constructor from (context, KernelMatrix&): V is float where
/// all values of A are floats, else T. `Kernel` has the traits.
template <class Kernel, template <class, class> class Plan>
KernelMakers<DeviceSpace> makers_by_values() {
  return makers_for<DeviceSpace, Kernel::kTraits.takes_complex>(
      []<class T>(
          CudaContext& context,
          KernelMatrix<T, DeviceSpace>& matrix) -> std::unique_ptr<KernelPlan<T, DeviceSpace>> {
        if constexpr (std::is_same_v<T, double>) {
          if (matrix.features.values_are_floats) {
            return std::make_unique<Plan<double, float>>(context, matrix);
          }
        }
        return std::make_unique<Plan<T, T>>(context, matrix);
      });
}

}  // namespace heddle::detail::cuda
