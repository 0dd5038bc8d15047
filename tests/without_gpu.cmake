# CTest reads this file after the tests of each executable that needs a GPU (heddle_gpu_tests). On a
# machine without one, it disables all of them but the first, which says why it is skipped. CTest
# starts a process per test.
file(GLOB gpus /dev/nvidia[0-9]* /dev/dxg /dev/nvmap) # Linux, Windows' subsystem for it, Jetson
if(NOT gpus AND heddle_gpu_tests)
  list(POP_FRONT heddle_gpu_tests first)
  if(heddle_gpu_tests)
    set_tests_properties(${heddle_gpu_tests} PROPERTIES DISABLED TRUE)
  endif()
endif()
set(heddle_gpu_tests)
