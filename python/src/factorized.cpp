#include <heddle/drivers/solve/factorized.hpp>
#include <tuple>

#include "bindings.hpp"

namespace heddle::python {
namespace {

/// Raises numpy.linalg.LinAlgError.
[[noreturn]] void raise_numerical(const std::string& message) {
  const nb::object type = nb::module_::import_("numpy.linalg").attr("LinAlgError");
  PyErr_SetString(type.ptr(), message.c_str());
  throw nb::python_error();
}

void factor(Factorized& self, double sigma) {
  const std::string trouble = [&] {
    const nb::gil_scoped_release unlock;
    return self.factor(sigma) ? std::string() : self.trouble();
  }();
  if (!trouble.empty()) raise_numerical(trouble);
}

template <class T>
nb::object solve(Factorized& self, const Array2<T>& R) {
  const HostBlock<T> block = block_of(R);
  HostContext context{1};
  MultiVector<T, HostSpace> X(context, block.rows(), block.cols());
  {
    const nb::gil_scoped_release unlock;
    self.solve(block.view(), X.view());
  }
  return numpy_copy(std::as_const(X).view());
}

std::tuple<Index, Index, Index> inertia(const Factorized& self) {
  const std::optional<Inertia> signs = self.inertia();
  if (!signs) {
    raise_numerical("the inertia is not certain: an eigenvalue is near 0 to rounding");
  }
  return {signs->negative, signs->zero, signs->positive};
}

/// What takes matrices and blocks of numbers of type T.
template <class T>
void bind_numbers(nb::class_<Factorized>& bound) {
  using namespace nb::literals;
  bound
      .def(
          "__init__",
          [](Factorized* self, const PythonMatrix<T>& A, const PythonMatrix<T>* B) {
            const nb::gil_scoped_release unlock;
            new (self) Factorized(A.matrix, B == nullptr ? HostMatrix<T>() : B->matrix);
          },
          "A"_a, "B"_a = nb::none())
      .def(
          "set_values",
          [](Factorized& self, const PythonMatrix<T>& A) {
            const nb::gil_scoped_release unlock;
            self.set_values(A.matrix);
          },
          "A"_a, "Takes other values in the same pattern.")
      .def(kComplex<T> ? "solve_complex" : "solve", &solve<T>, "R"_a.noconvert(),
           "(A - sigma B)^-1 R for an n x b block.",
           nb::sig(kComplex<T> ? "def solve_complex(self, R: numpy.ndarray) -> numpy.ndarray"
                               : "def solve(self, R: numpy.ndarray) -> numpy.ndarray"));
}

}  // namespace

void bind_factorized(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Factorized> bound(m, "Factorized",
                               "Solves with A - sigma B, which copies the matrices.");
  bind_numbers<double>(bound);
  bind_numbers<std::complex<double>>(bound);
  bound.def("factor", &factor, "sigma"_a, "Factors A - sigma B.")
      .def_prop_ro("is_complex", &Factorized::complex)
      .def_prop_ro("sigma", &Factorized::sigma)
      .def_prop_ro("inertia", &inertia)
      .def_prop_ro("library", &Factorized::library);
}

}  // namespace heddle::python
