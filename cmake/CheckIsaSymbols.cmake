# Checks that the objects of kernels for avx2 and avx512 share no function with the rest of the
# program. A function that several objects define ("weak") is linked from any of them, and would then
# run on a CPU that lacks the instructions. Allowed are functions in a namespace of the instruction
# set, and templates instantiated for it.
#   cmake -DNM=... "-DOBJECTS=<object files>" -P CheckIsaSymbols.cmake

set(shared "")
foreach(object IN LISTS OBJECTS)
  if(NOT object MATCHES "\\.(avx2|avx512)\\.cpp\\.o$")
    continue()
  endif()
  set(isa ${CMAKE_MATCH_1})
  execute_process(COMMAND ${NM} --defined-only ${object}
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  # A mangled name holds the length and the name of each namespace, and 3IsaE1E for Isa::avx2.
  # DW.ref.* are pointers, no functions.
  string(REGEX MATCHALL " [WVu] [^\n]+" weak "${symbols}")
  list(FILTER weak EXCLUDE REGEX "[46]${isa}|3IsaE[12]E| DW\\.ref\\.")
  foreach(symbol IN LISTS weak)
    string(APPEND shared "\n  ${object}:${symbol}")
  endforeach()
endforeach()
if(shared)
  message(FATAL_ERROR
    "Kernels for one instruction set share functions with the rest of the program; put them in the "
    "namespace HEDDLE_ISA, or compile with more optimisation:${shared}")
endif()
