# Checks that the README's program is that of the consumer project beside this file. Installs the
# heddle built in BUILD_DIR under WORK_DIR, builds the project against it and runs it; then
# configures the project with heddle as a subdirectory, where everything but the library is off.
#   cmake -DBUILD_DIR=... -DWORK_DIR=... -DCXX=... -P run.cmake

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(READ ${CMAKE_CURRENT_LIST_DIR}/solve.cpp program)
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../README.md readme)
string(FIND "${readme}" "```cpp\n${program}```" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md does not hold the program in tests/consumer/solve.cpp")
endif()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
foreach(pattern LICENSE CITATION.cff quickstart.yaml)
  file(GLOB_RECURSE installed ${WORK_DIR}/prefix/${pattern})
  if(NOT installed)
    message(FATAL_ERROR "${pattern} is not installed")
  endif()
endforeach()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --parallel 2)
run(${WORK_DIR}/build/solve)

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/subdirectory
  -DHEDDLE_SOURCE_DIR=${CMAKE_CURRENT_LIST_DIR}/../.. -DCMAKE_CXX_COMPILER=${CXX})
file(READ ${WORK_DIR}/subdirectory/CMakeCache.txt cache)
foreach(option CUDA NATIVE INSTALL BUILD_APPS BUILD_TESTS BUILD_LAB BUILD_FUZZERS)
  if(NOT cache MATCHES "\nHEDDLE_${option}:[A-Z]+=OFF\n")
    message(FATAL_ERROR "HEDDLE_${option} is not off where heddle is a subdirectory of a project")
  endif()
endforeach()
