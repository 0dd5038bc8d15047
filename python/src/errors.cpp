#include <heddle/drivers/problem/request_values.hpp>

#include "bindings.hpp"

namespace heddle::python {
namespace {

/// Raises the exception `name` of heddle with the given arguments.
template <class... Arguments>
void raise(const char* name, const Arguments&... arguments) {
  const nb::object type = nb::module_::import_("heddle._errors").attr(name);
  PyErr_SetObject(type.ptr(), nb::make_tuple(arguments...).ptr());
}

void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const RequestError& e) {
    raise("FieldError", keyword_of(e.field()), std::string(e.what()).substr(e.field().size()));
  } catch (const ProblemError& e) {
    const std::string what = e.what();
    const std::size_t end = what.find(':');
    raise("FieldError", what.substr(0, end), what.substr(end));
  } catch (const OutOfMemory& e) {
    raise("OutOfMemory", std::string(e.what()));
  } catch (const DeviceError& e) {
    raise("DeviceError", std::string(e.what()));
  } catch (const InputError& e) {
    raise("InputError", std::string(e.what()));
  } catch (const Error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  }
}

}  // namespace

void register_errors() { nb::register_exception_translator(translate); }

}  // namespace heddle::python
