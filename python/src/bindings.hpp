#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <exception>
#include <heddle/drivers/solve.hpp>
#include <memory>
#include <string>
#include <vector>

/// The module `heddle._core`: the library `drivers` with NumPy's arrays as matrices and blocks. The
/// functions of `heddle` that users call are written in Python on top of it.
namespace heddle::python {

namespace nb = nanobind;

/// A matrix, and the Python arrays that it refers to.
template <Scalar T>
struct PythonMatrix {
  HostMatrix<T> matrix;
  std::vector<nb::object> arrays{};
};

/// A block of a Python program. The solve takes it without a copy if its rows are contiguous.
template <Scalar T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

/// X as a block that refers to the memory of the array. Throws `InvalidArgument` for an array whose
/// rows are not contiguous.
template <Scalar T>
HostBlock<T> block_of(const Array2<T>& X);

/// A copy of X as a NumPy array of its own.
template <Scalar T>
nb::object numpy_copy(ConstBlockView<T, HostSpace> X);

/// Connects a solve with Python: calls its functions, and looks for signals between products. A
/// signal whose handler raises an exception ends the solve as `interrupted`. All members except
/// `monitor`'s functions need the global lock of the interpreter.
class PythonMonitor {
 public:
  /// `iteration` is called with the state of each iteration, and ends the solve by returning False.
  /// `stage` is called with the name of each stage. Both may be None.
  PythonMonitor(nb::object iteration, nb::object stage);

  /// A monitor that refers to this object.
  Monitor monitor();

  /// Throws what a signal handler raised. `ctrl_c_is_told`: KeyboardInterrupt is not thrown,
  /// because the status of a solution tells it.
  void rethrow(bool ctrl_c_is_told) const;

 private:
  bool looks_stopped();

  nb::object iteration_;
  nb::object stage_;
  std::exception_ptr raised_;
  bool stopped_ = false;
  bool ctrl_c_ = false;
  std::chrono::steady_clock::time_point next_look_{};
};

/// The request with the given fields, such as nev=10. Throws a TypeError or ValueError of Python
/// for an unknown field or value, with the known ones.
Request request_of(const nb::dict& fields);

/// Errors of the library become the exceptions of `heddle._errors`, which tell the same.
void register_errors();

void bind_factorized(nb::module_& m);
void bind_matrix(nb::module_& m);
void bind_monitor(nb::module_& m);
void bind_request(nb::module_& m);
void bind_resident(nb::module_& m);
void bind_solution(nb::module_& m);
void bind_solve(nb::module_& m);

}  // namespace heddle::python
