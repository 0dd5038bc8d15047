# Writes the commit of SOURCE, as git describes it, to OUTPUT if it has changed. Empty where SOURCE is
# no working tree of git. Run at each build by cmake -P.
set(HEDDLE_COMMIT "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(
    COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE HEDDLE_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/commit.hpp.in ${OUTPUT} @ONLY)
