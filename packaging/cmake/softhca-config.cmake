# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# find_package(softhca) for CTest:
#
#	softhca_add_test(NAME sends OPTIONS --hca 2 COMMAND sends --count 10)
#
# adds a test that runs COMMAND (a target or a program) by `softhca run` with these options, among
# them --world NAME; with ALL_WORLDS by `softhca world --all`. Where
# softhca is not installed, find_package() fails, or sets softhca_FOUND to false without REQUIRED.

find_program(SOFTHCA_PROGRAM softhca HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin")
if(NOT SOFTHCA_PROGRAM)
	set(softhca_FOUND FALSE)
	return()
endif()

function(softhca_add_test)
	cmake_parse_arguments(arg "ALL_WORLDS" "NAME" "OPTIONS;COMMAND" ${ARGN})
	if(NOT arg_NAME OR NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "softhca_add_test(NAME name [ALL_WORLDS] [OPTIONS option...] COMMAND command...)")
	endif()
	list(POP_FRONT arg_COMMAND program)
	if(TARGET "${program}")
		set(program "$<TARGET_FILE:${program}>")
	endif()
	set(how run)
	if(arg_ALL_WORLDS)
		set(how world --all)
	endif()
	add_test(NAME "${arg_NAME}"
		COMMAND "${SOFTHCA_PROGRAM}" ${how} ${arg_OPTIONS} -- "${program}" ${arg_COMMAND})
endfunction()
