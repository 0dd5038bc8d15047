#include <algorithm>
#include <cstdint>
#include <heddle/drivers/solve/solve_resident.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "parts.hpp"

namespace heddle::python {
namespace {

using Address = std::uintptr_t;

template <class T>
T* at(Address address) {
  return reinterpret_cast<T*>(address);
}

/// A matrix in the memory of a device, of any numbers. The caller keeps its arrays alive.
struct DeviceMatrix {
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  Address row_offsets = 0;
  Address columns = 0;
  Address values = 0;
  nb::object product{};  // a function of addresses, of a matrix that is not stored
};

/// A row-major block: address, rows, columns, leading dimension.
using DeviceBlock = std::tuple<Address, Index, Index, Index>;

/// The stream on which the caller's library works, whose work and that of a solve wait for each
/// other. The host has none.
struct CallersStream {
  Address stream;

  void before(HostContext&) const {}
  void after(HostContext&) const {}
#ifdef HEDDLE_HAS_CUDA
  /// Work of the caller from now on waits for what the context has queued.
  void before(CudaContext& context) const { context.let_wait(at<CUstream_st>(stream)); }
  /// Work of the context from now on waits for what the caller has queued.
  void after(CudaContext& context) const { context.wait_for(at<CUstream_st>(stream)); }
#endif
};

/// A Python function that writes A X to Y. The solve copies it, and destroys the copies without the
/// lock of the interpreter.
template <Scalar T, class Ctx>
typename ResidentMatrix<T, Ctx>::Apply apply_of(const DeviceMatrix& A, CallersStream caller) {
  using Space = typename Ctx::Space;
  return [&A, caller](Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) {
    const nb::gil_scoped_acquire lock;
    caller.before(context);
    A.product(nb::make_tuple(reinterpret_cast<Address>(X.data()), X.rows(), X.cols(), X.ld()),
              nb::make_tuple(reinterpret_cast<Address>(Y.data()), Y.rows(), Y.cols(), Y.ld()));
    caller.after(context);
  };
}

template <Scalar T, class Ctx>
ResidentMatrix<T, Ctx> resident(const DeviceMatrix& A, CallersStream caller) {
  if (A.product.is_valid()) return {A.rows, A.cols, apply_of<T, Ctx>(A, caller)};
  return ResidentMatrix<T, Ctx>({A.rows, A.cols, A.nnz, at<const std::int64_t>(A.row_offsets),
                                 at<const std::int32_t>(A.columns), at<const T>(A.values)});
}

/// A matrix or a block in the memory of a context.
template <Scalar T, class Ctx>
struct OnDevice {
  CallersStream caller;

  ResidentMatrix<T, Ctx> operator()(const DeviceMatrix& A) const {
    return resident<T, Ctx>(A, caller);
  }
  ConstBlockView<T, typename Ctx::Space> operator()(const DeviceBlock& X) const {
    const auto [address, rows, cols, ld] = X;
    return {at<const T>(address), rows, cols, ld};
  }
};

using DeviceParts = Parts<DeviceMatrix, DeviceBlock>;

/// Calls work.operator()<T>() for the type T of numbers that NumPy calls `dtype`.
template <class Work>
auto with_numbers(const std::string& dtype, const Work& work) {
  if (dtype == "float32") return work.template operator()<float>();
  if (dtype == "complex128") return work.template operator()<std::complex<double>>();
  return work.template operator()<double>();
}

/// Calls receive(block), which gives a block of the caller for the first `count` columns of X, or
/// whose columns it has, and copies them there.
template <Scalar T, class Ctx>
void deliver(Ctx& context, CallersStream caller, const MultiVector<T, typename Ctx::Space>& X,
             Index count, const char* name, const nb::object& receive) {
  const Index cols = std::min(count, X.cols());
  const nb::object given = receive(name, X.rows(), cols);
  if (given.is_none()) return;
  const auto target = nb::cast<Address>(given);
  caller.after(context);  // the memory may have been in use by the caller's stream
  const BlockView<T, typename Ctx::Space> out(at<T>(target), X.rows(), cols, cols);
  if (X.rows() > 0 && cols > 0) copy(context, X.columns(0, cols), out);
  context.synchronize();
}

template <Scalar T, class Ctx>
Solution solve_in(Device& device, Ctx& context, const DeviceParts& parts, const Request& request,
                  CallersStream caller, const Monitor& monitor, const nb::object& receive) {
  const auto problem = parts.problem<ResidentProblem<T, Ctx>>(OnDevice<T, Ctx>{caller});
  caller.after(context);
  ResidentSolution<T, typename Ctx::Space> solved = [&] {
    const nb::gil_scoped_release unlock;
    return heddle::solve<T, Ctx>(device, problem, request, monitor);
  }();
  const Index count = solved.solution.count();
  deliver<T>(context, caller, solved.vectors, count, "vectors", receive);
  deliver<T>(context, caller, solved.left_vectors, count, "left_vectors", receive);
  return std::move(solved.solution);
}

Solution solve_resident(Device& device, const nb::dict& options, const std::string& dtype,
                        Address stream, const nb::object& receive, const DeviceParts& parts,
                        nb::object iteration, nb::object stage) {
  const Request request = request_of(options);
  PythonMonitor python(std::move(iteration), std::move(stage));
  const Monitor monitor = python.monitor();
  const CallersStream caller{stream};
  Solution solution = device.with_context([&]<class Ctx>(Ctx& context) {
    return with_numbers(dtype, [&]<Scalar T> {
      return solve_in<T>(device, context, parts, request, caller, monitor, receive);
    });
  });
  python.rethrow(true);
  return solution;
}

template <Scalar T, class Ctx>
SolvePlan plan_in(Device& device, Ctx& context, const DeviceParts& parts, const Request& request,
                  CallersStream caller, const Monitor& monitor) {
  const auto problem = parts.problem<ResidentProblem<T, Ctx>>(OnDevice<T, Ctx>{caller});
  caller.after(context);
  const nb::gil_scoped_release unlock;
  return heddle::plan<T, Ctx>(device, problem, request, monitor);
}

SolvePlan plan_resident(Device& device, const nb::dict& options, const std::string& dtype,
                        Address stream, const DeviceParts& parts) {
  const Request request = request_of(options);
  PythonMonitor python{nb::none(), nb::none()};
  const Monitor monitor = python.monitor();
  const CallersStream caller{stream};
  SolvePlan made = device.with_context([&]<class Ctx>(Ctx& context) {
    return with_numbers(dtype, [&]<Scalar T> {
      return plan_in<T>(device, context, parts, request, caller, monitor);
    });
  });
  python.rethrow(false);
  return made;
}

SpectralDensity density(Device& device, const std::string& dtype, Address stream,
                        const DeviceMatrix& A, double resolution, Index max_degree, Index vectors,
                        std::uint64_t seed) {
  PythonMonitor python{nb::none(), nb::none()};
  const SpectralDensityOptions options{.resolution = resolution,
                                       .max_degree = max_degree,
                                       .vectors = vectors,
                                       .seed = seed,
                                       .stop = python.monitor().stop};
  const CallersStream caller{stream};
  SpectralDensity result = device.with_context([&]<class Ctx>(Ctx& context) {
    caller.after(context);
    const nb::gil_scoped_release unlock;
    return with_numbers(dtype, [&]<Scalar T> {
      return spectral_density(device, resident<T, Ctx>(A, caller), options);
    });
  });
  python.rethrow(false);
  return result;
}

}  // namespace

void bind_resident(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<DeviceMatrix>(m, "DeviceMatrix", "A matrix in the memory of a device, by addresses.")
      .def_static(
          "from_csr",
          [](Index rows, Index cols, Index nnz, Address row_offsets, Address columns,
             Address values) {
            return DeviceMatrix{rows, cols, nnz, row_offsets, columns, values};
          },
          "rows"_a, "cols"_a, "nnz"_a, "row_offsets"_a, "columns"_a, "values"_a,
          "Offsets of 64 bits, columns of 32 bits, and values, which the caller keeps alive.")
      .def_static(
          "from_function",
          [](Index rows, Index cols, nb::object function) {
            return DeviceMatrix{.rows = rows, .cols = cols, .product = std::move(function)};
          },
          "rows"_a, "cols"_a, "function"_a,
          "function(X, Y) writes A X to Y. Both are blocks: address, rows, columns, leading "
          "dimension.")
      .def_ro("values", &DeviceMatrix::values, "The address of the values.")
      .def_prop_ro("shape",
                   [](const DeviceMatrix& self) { return std::tuple(self.rows, self.cols); })
      .def_prop_ro("is_stored", [](const DeviceMatrix& self) { return !self.product.is_valid(); });
  bind_parts<DeviceMatrix, DeviceBlock>(m, "DeviceProblem", "A problem in the memory of a device.");
  m.def("solve_resident", &solve_resident, "device"_a, "options"_a, "dtype"_a, "stream"_a,
        "receive"_a, "problem"_a, nb::kw_only(), "iteration"_a = nb::none(), "stage"_a = nb::none(),
        "Solves a problem in the memory of the device. receive(name, rows, columns) returns the "
        "address of contiguous memory for the vectors, or None.");
  m.def("plan_resident", &plan_resident, "device"_a, "options"_a, "dtype"_a, "stream"_a,
        "problem"_a, "The plan for solving a problem in the memory of the device.");
  m.def("spectral_density_resident", &density, "device"_a, "dtype"_a, "stream"_a, "A"_a,
        nb::kw_only(), "resolution"_a = 0.0, "max_degree"_a = SpectralDensityOptions{}.max_degree,
        "vectors"_a = SpectralDensityOptions{}.vectors, "seed"_a = SpectralDensityOptions{}.seed,
        "The spectral density of a symmetric or Hermitian matrix in the memory of the device.");
}

}  // namespace heddle::python
