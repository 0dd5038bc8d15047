#include "bindings.hpp"

namespace heddle::python {
namespace {

/// The exceptions of the module. They live as long as the interpreter.
struct Exceptions {
  PyObject* field = nullptr;
  PyObject* input = nullptr;
  PyObject* device = nullptr;
  PyObject* memory = nullptr;
};

Exceptions& exceptions() {
  static Exceptions all;
  return all;
}

PyObject* make(nb::module_& m, const char* name, PyObject* base, const char* doc) {
  const std::string full = std::string("heddle.") + name;
  PyObject* const type = PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr);
  if (type == nullptr) nb::raise_python_error();
  m.attr(name) = nb::handle(type);
  return type;
}

/// Raises FieldError(field, message), where `message` follows the name of the field.
void set_field_error(const std::string& field, const std::string& message) {
  const nb::tuple arguments = nb::make_tuple(field, message);
  PyErr_SetObject(exceptions().field, arguments.ptr());
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const RequestError& e) {
    set_field_error(e.field(), std::string(e.what()).substr(e.field().size()));
  } catch (const ProblemError& e) {
    const std::string what = e.what();
    const std::size_t end = what.find(':');
    set_field_error(what.substr(0, end), what.substr(end));
  } catch (const OutOfMemory& e) {
    PyErr_SetString(exceptions().memory, e.what());
  } catch (const DeviceError& e) {
    PyErr_SetString(exceptions().device, e.what());
  } catch (const InputError& e) {
    PyErr_SetString(exceptions().input, e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  }
}

}  // namespace

void bind_errors(nb::module_& m) {
  exceptions() = {
      .field = make(m, "FieldError", PyExc_ValueError,
                    "A field of a problem or a request is wrong: args are its name in the library "
                    "and the rest of the sentence."),
      .input = make(m, "InputError", PyExc_ValueError,
                    "A file cannot be read in the format expected, or cannot be written."),
      .device = make(m, "DeviceError", PyExc_RuntimeError,
                     "A device is missing, cannot be used or fails."),
      .memory = make(m, "OutOfMemory", PyExc_MemoryError,
                     "A solve needs more memory of the host or the device than there is."),
  };
  nb::register_exception_translator(translate);
}

}  // namespace heddle::python
