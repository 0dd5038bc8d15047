# cmake -DPROGRAM=... -DARGUMENTS=a,b -DOUTPUT=file -P WriteOutput.cmake: runs the program and writes
# what it prints to the file. Used where a build step needs the output of a program of this build.
string(REPLACE "," ";" ARGUMENTS "${ARGUMENTS}")
execute_process(
  COMMAND ${PROGRAM} ${ARGUMENTS} OUTPUT_FILE ${OUTPUT} ERROR_VARIABLE message RESULT_VARIABLE result)
if(result)
  file(REMOVE ${OUTPUT})
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} failed (${result}): ${message}")
endif()
