#include <chrono>
#include <utility>

#include "bindings.hpp"

namespace heddle::python {
namespace {

/// The state of a solve after an iteration, as a copy that may outlive the call.
struct State {
  IterationRecord record;
  Index nev;
  std::vector<double> eigenvalues;
  std::vector<double> residuals;
};

/// The time between two looks for signals. A look takes the interpreter's lock, for which other
/// threads of the program may have to be waited.
constexpr std::chrono::milliseconds kLookInterval{20};

}  // namespace

PythonMonitor::PythonMonitor(nb::object iteration, nb::object stage)
    : iteration_(std::move(iteration)), stage_(std::move(stage)) {}

bool PythonMonitor::looks_stopped() {
  const auto now = std::chrono::steady_clock::now();
  if (stopped_ || now < next_look_) return stopped_;
  next_look_ = now + kLookInterval;
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) {
    stopped_ = true;
    nb::python_error error;
    ctrl_c_ = error.matches(PyExc_KeyboardInterrupt);
    raised_ = std::make_exception_ptr(std::move(error));
  }
  return stopped_;
}

Monitor PythonMonitor::monitor() {
  Monitor monitor;
  if (!iteration_.is_none()) {
    monitor.iteration = [this](const MonitorState& state) {
      const nb::gil_scoped_acquire lock;
      State copy{state.record,
                 state.nev,
                 {state.eigenvalues.begin(), state.eigenvalues.end()},
                 {state.residuals.begin(), state.residuals.end()}};
      return !iteration_(nb::cast(std::move(copy))).is(nb::handle(Py_False));
    };
  }
  monitor.stop = [this] { return looks_stopped(); };
  if (!stage_.is_none()) {
    monitor.stage = [this](std::string_view name) {
      const nb::gil_scoped_acquire lock;
      stage_(nb::str(name.data(), name.size()));
    };
  }
  return monitor;
}

void PythonMonitor::rethrow(bool ctrl_c_is_told) const {
  if (raised_ && !(ctrl_c_ && ctrl_c_is_told)) std::rethrow_exception(raised_);
}

void bind_monitor(nb::module_& m) {
  nb::class_<State> state(m, "State", "The state of a solve after an iteration.");
  const auto add = [&](const char* name, auto IterationRecord::*field, const char* doc) {
    state.def_prop_ro(
        name, [field](const State& self) { return self.record.*field; }, doc);
  };
  add("iteration", &IterationRecord::iteration, "Iterations so far.");
  add("converged", &IterationRecord::converged, "Pairs or columns that pass the criterion.");
  add("worst_residual", &IterationRecord::worst_residual, "The largest of the residuals.");
  add("seconds", &IterationRecord::seconds, "Since the solve began.");
  add("active_columns", &IterationRecord::active_columns, "Columns of the search directions.");
  add("operator_applications", &IterationRecord::operator_applications,
      "Columns multiplied by A so far.");
  state.def_ro("nev", &State::nev, "Pairs or columns wanted.");
  state.def_ro("eigenvalues", &State::eigenvalues,
               "Ritz values of the wanted pairs. Empty for linear systems.");
  state.def_ro("residuals", &State::residuals, "Scaled as those of the result.");
}

}  // namespace heddle::python
