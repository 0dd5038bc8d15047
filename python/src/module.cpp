#include <heddle/linalg/base/instruction_set.hpp>

#include "bindings.hpp"

NB_MODULE(_core, m) {
  using namespace heddle::python;
  m.doc() = "The library of heddle with NumPy's arrays. Use the functions of heddle instead.";
#ifdef HEDDLE_HAS_CUDA
  m.attr("has_cuda") = true;
#else
  m.attr("has_cuda") = false;
#endif
  m.attr("instruction_set") = nb::str(std::string(heddle::instruction_set()).c_str());
  register_errors();
  bind_matrix(m);
  bind_monitor(m);
  bind_request(m);
  bind_solution(m);
  bind_solve(m);
  bind_factorized(m);
  bind_resident(m);
}
