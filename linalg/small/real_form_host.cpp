#include <cmath>
#include <heddle/linalg/small/real_form.hpp>

namespace heddle::detail {

void fold_gram(HostContext&, ConstSmallView<double, HostSpace> parts,
               SmallView<std::complex<double>, HostSpace> G) {
  for (Index j = 0; j < G.cols; ++j) {
    for (Index i = 0; i < G.rows; ++i) {
      G(i, j) = {parts(2 * i, 2 * j) + parts(2 * i + 1, 2 * j + 1),
                 parts(2 * i, 2 * j + 1) - parts(2 * i + 1, 2 * j)};
    }
  }
}

void write_real_form(HostContext&, ConstSmallView<std::complex<double>, HostSpace> C,
                     SmallView<double, HostSpace> R) {
  for (Index j = 0; j < C.cols; ++j) {
    for (Index i = 0; i < C.rows; ++i) {
      const std::complex<double> c = C(i, j);
      R(2 * i, 2 * j) = R(2 * i + 1, 2 * j + 1) = c.real();
      R(2 * i, 2 * j + 1) = c.imag();
      R(2 * i + 1, 2 * j) = -c.imag();
    }
  }
}

void fold_sums(HostContext&, ConstSmallView<double, HostSpace> parts,
               SmallView<double, HostSpace> values) {
  for (Index j = 0; j < values.rows; ++j) values(j, 0) = parts(2 * j, 0) + parts(2 * j + 1, 0);
}

void fold_norms(HostContext&, ConstSmallView<double, HostSpace> parts,
                SmallView<double, HostSpace> norms) {
  for (Index j = 0; j < norms.rows; ++j) {
    norms(j, 0) = std::hypot(parts(2 * j, 0), parts(2 * j + 1, 0));
  }
}

void write_twice(HostContext&, ConstSmallView<double, HostSpace> values,
                 SmallView<double, HostSpace> twice) {
  for (Index j = 0; j < values.rows; ++j) twice(2 * j, 0) = twice(2 * j + 1, 0) = values(j, 0);
}

}  // namespace heddle::detail
