# Checks that the objects of kernels for avx2 and avx512 share no function with the rest of the
# program: a function that several objects define ("weak") is linked from any of them, and would then
# run on a CPU that lacks the instructions. Allowed are those in a namespace of the instruction set,
# and instantiations for it, whose names hold IsaConstant's value or the namespace.
#   cmake -DNM=... "-DOBJECTS=<object files>" -P CheckIsaSymbols.cmake

set(shared "")
foreach(object IN LISTS OBJECTS)
  if(NOT object MATCHES "\\.(avx2|avx512)\\.cpp\\.o$")
    continue()
  endif()
  set(isa ${CMAKE_MATCH_1})
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    # The mangled name of the namespace is its length and its name; that of the value ends with 3IsaE1E or 3IsaE2E.
    if(symbol MATCHES " [WVu] (.*)$" AND NOT symbol MATCHES "[46]${isa}|3IsaE[12]E")
      string(APPEND shared "\n  ${object}: ${CMAKE_MATCH_1}")
    endif()
  endforeach()
endforeach()
if(shared)
  message(FATAL_ERROR
    "Kernels for one instruction set share functions with the rest of the program; put them in the "
    "namespace HEDDLE_ISA, or compile with more optimisation:${shared}")
endif()
