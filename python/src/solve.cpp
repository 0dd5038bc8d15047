#include <heddle/drivers/solve.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "parts.hpp"

namespace heddle::python {
namespace {

DeviceChoice device_choice(const std::string& name) {
  if (name == "auto") return DeviceChoice::automatic;
  if (name == "host" || name == "cpu") return DeviceChoice::host;
  if (name == "cuda" || name == "gpu") return DeviceChoice::cuda;
  throw RequestError("device", " is '" + name + "', not one of 'auto', 'host', 'cuda'");
}

using Sizes = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A matrix or a block of the library.
template <Scalar T>
struct OnHost {
  HostMatrix<T> operator()(const PythonMatrix<T>& A) const { return A.matrix; }
  HostBlock<T> operator()(const Array2<T>& X) const { return block_of(X); }
};

template <Scalar T>
using HostParts = Parts<PythonMatrix<T>, Array2<T>>;

template <Scalar T>
HostProblem<T> problem_of(const HostParts<T>& parts,
                          const std::optional<Sizes>& null_vector_sizes) {
  auto problem = parts.template problem<HostProblem<T>>(OnHost<T>{});
  if (null_vector_sizes) {
    const double* const sizes = null_vector_sizes->data();
    problem.null_vector_sizes.assign(sizes, sizes + null_vector_sizes->size());
  }
  return problem;
}

template <Scalar T>
Solution solve(Device& device, const nb::dict& options, const HostParts<T>& parts,
               const std::optional<Sizes>& null_vector_sizes, nb::object iteration,
               nb::object stage) {
  HostProblem<T> problem = problem_of<T>(parts, null_vector_sizes);
  const Request request = request_of(options);
  PythonMonitor python(std::move(iteration), std::move(stage));
  Solution solution = [&] {
    const nb::gil_scoped_release unlock;
    return heddle::solve(device, std::move(problem), request, python.monitor());
  }();
  python.rethrow(true);
  return solution;
}

template <Scalar T>
SolvePlan plan(Device& device, const nb::dict& options, const HostParts<T>& parts,
               const std::optional<Sizes>& null_vector_sizes) {
  const HostProblem<T> problem = problem_of<T>(parts, null_vector_sizes);
  const Request request = request_of(options);
  PythonMonitor python{nb::none(), nb::none()};
  SolvePlan made = [&] {
    const nb::gil_scoped_release unlock;
    return heddle::plan(device, problem, request, python.monitor());
  }();
  python.rethrow(false);
  return made;
}

template <Scalar T>
SpectralDensity density(Device& device, const PythonMatrix<T>& A, double resolution,
                        Index max_degree, Index vectors, std::uint64_t seed) {
  PythonMonitor python{nb::none(), nb::none()};
  const SpectralDensityOptions options{.resolution = resolution,
                                       .max_degree = max_degree,
                                       .vectors = vectors,
                                       .seed = seed,
                                       .stop = python.monitor().stop};
  SpectralDensity result = [&] {
    const nb::gil_scoped_release unlock;
    return spectral_density(device, A.matrix, options);
  }();
  python.rethrow(false);
  return result;
}

void bind_density(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<EigenvalueCount>(m, "EigenvalueCount", "An estimated number of eigenvalues.")
      .def_ro("count", &EigenvalueCount::count)
      .def_ro("deviation", &EigenvalueCount::deviation, "Standard deviation of the count.");
  nb::class_<SpectralDensity>(m, "SpectralDensity", "Estimated numbers of eigenvalues.")
      .def_prop_ro("order", &SpectralDensity::order)
      .def_prop_ro("lower", &SpectralDensity::lower, "No eigenvalue lies below.")
      .def_prop_ro("upper", &SpectralDensity::upper, "No eigenvalue lies above.")
      .def_prop_ro("resolution", &SpectralDensity::resolution)
      .def_prop_ro("finite", &SpectralDensity::finite)
      .def("count", &SpectralDensity::count, "a"_a, "b"_a, "Eigenvalues in [a, b].")
      .def("histogram", &SpectralDensity::histogram, "bins"_a,
           "Eigenvalues in equal parts of [lower, upper].");
}

/// Binds the problems of one scalar under `name`, and the functions that take them or their matrix.
template <Scalar T>
void bind_problem(nb::module_& m, const char* name, const char* doc) {
  using namespace nb::literals;
  bind_parts<PythonMatrix<T>, Array2<T>>(m, name, doc);
  m.def("solve", &solve<T>, "device"_a, "options"_a, "problem"_a, nb::kw_only(),
        "null_vector_sizes"_a.noconvert() = nb::none(), "iteration"_a = nb::none(),
        "stage"_a = nb::none(), "Solves a problem in host memory.");
  m.def("plan", &plan<T>, "device"_a, "options"_a, "problem"_a, nb::kw_only(),
        "null_vector_sizes"_a.noconvert() = nb::none(),
        "The plan for solving a problem in host memory.");
  m.def("spectral_density", &density<T>, "device"_a, "A"_a, nb::kw_only(), "resolution"_a = 0.0,
        "max_degree"_a = SpectralDensityOptions{}.max_degree,
        "vectors"_a = SpectralDensityOptions{}.vectors, "seed"_a = SpectralDensityOptions{}.seed,
        "The spectral density of a symmetric or Hermitian matrix.");
}

}  // namespace

void bind_solve(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Device>(m, "Device",
                     "The host, a GPU, or several that solve together. It may serve several "
                     "solves, one at a time. devices: the number of GPUs, 0 for all.")
      .def(
          "__init__",
          [](Device* self, const std::string& name, int threads, int gpu, int devices) {
            const DeviceChoice choice = device_choice(name);
            if (devices == 1) {
              new (self) Device(choice, threads, nullptr, gpu);
            } else {
              new (self)
                  Device(device_for({.device = choice, .devices = devices, .threads = threads}));
            }
          },
          "name"_a = "auto", "threads"_a = 0, "gpu"_a = 0, "devices"_a = 1)
      .def_prop_ro("kind", [](const Device& self) { return std::string(self.kind()); })
      .def_prop_ro("name", &Device::name)
      .def_prop_ro("note", &Device::note)
      .def_prop_ro("threads", [](Device& self) { return self.host().threads(); });

  nb::class_<SolvePlan>(m, "Plan", "What a solve will do, and why.")
      .def_prop_ro("choices",
                   [](const SolvePlan& self) {
                     std::vector<std::tuple<std::string, std::string, std::string>> list;
                     for (PlannedChoice& choice : self.choices()) {
                       list.emplace_back(std::move(choice.name), std::move(choice.value),
                                         std::move(choice.reason));
                     }
                     return list;
                   })
      .def_ro("method", &SolvePlan::method)
      .def_ro("method_reason", &SolvePlan::method_reason)
      .def_ro("block_size", &SolvePlan::block_size)
      .def_ro("preconditioner", &SolvePlan::preconditioner)
      .def_ro("device_bytes", &SolvePlan::device_bytes)
      .def_ro("host_bytes", &SolvePlan::host_bytes);
  bind_problem<double>(m, "Problem", "A problem in host memory.");
  bind_problem<std::complex<double>>(m, "ComplexProblem",
                                     "A problem of complex numbers in host memory.");
  bind_density(m);
}

}  // namespace heddle::python
