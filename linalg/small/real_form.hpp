#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/small_matrix.hpp>

/// The real form of a complex matrix: each number c becomes the 2×2 block [Re c, Im c; −Im c, Re
/// c], which acts on a row (Re x, Im x) as c does on x. Sums, products and adjoints of matrices are
/// those of their real forms. No matrix may share memory with another.
namespace heddle::detail {

/// G(i, j) = conj(xᵢ)·yⱼ (G a×b) from the products of the parts of x and y (2a×2b).
void fold_gram(HostContext& context, ConstSmallView<double, HostSpace> parts,
               SmallView<std::complex<double>, HostSpace> G);
void fold_gram(CudaContext& context, ConstSmallView<double, DeviceSpace> parts,
               SmallView<std::complex<double>, DeviceSpace> G);

/// R (2a×2b) = the real form of C (a×b).
void write_real_form(HostContext& context, ConstSmallView<std::complex<double>, HostSpace> C,
                     SmallView<double, HostSpace> R);
void write_real_form(CudaContext& context, ConstSmallView<std::complex<double>, DeviceSpace> C,
                     SmallView<double, DeviceSpace> R);

/// C = the complex matrix whose real form is R.
void read_real_form(CudaContext& context, ConstSmallView<double, DeviceSpace> R,
                    SmallView<std::complex<double>, DeviceSpace> C);

/// values(j, 0) = parts(2j, 0) + parts(2j + 1, 0).
void fold_sums(HostContext& context, ConstSmallView<double, HostSpace> parts,
               SmallView<double, HostSpace> values);
void fold_sums(CudaContext& context, ConstSmallView<double, DeviceSpace> parts,
               SmallView<double, DeviceSpace> values);

/// norms(j, 0) = √(a² + b²) of the norms a and b of the parts of column j.
void fold_norms(HostContext& context, ConstSmallView<double, HostSpace> parts,
                SmallView<double, HostSpace> norms);
void fold_norms(CudaContext& context, ConstSmallView<double, DeviceSpace> parts,
                SmallView<double, DeviceSpace> norms);

/// twice(2j, 0) = twice(2j + 1, 0) = values(j, 0).
void write_twice(HostContext& context, ConstSmallView<double, HostSpace> values,
                 SmallView<double, HostSpace> twice);
void write_twice(CudaContext& context, ConstSmallView<double, DeviceSpace> values,
                 SmallView<double, DeviceSpace> twice);

}  // namespace heddle::detail
