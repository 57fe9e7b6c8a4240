# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# find_package(softhca) for CTest:
#
#	softhca_add_test(NAME sends OPTIONS --hca 2 COMMAND sends --count 10)
#
# adds a test that runs COMMAND (a target or a program) by `softhca run` with these options, among
# them --world NAME; with ALL_WORLDS by `softhca world --all`. Faults on purpose (softhca-inject(1)):
#
#	softhca_add_test(NAME retries INJECT SEND:lost:when=3 "RECV:status=LOC_LEN_ERR:when=9" SEED 1
#		TIME_SCALE 100 COMMAND sends)
#
# INJECT has a rule in each argument, INJECT_FILE a file of rules; INJECT_UNUSED ok lets a test pass
# whose rules never fire. With CHECK error (or warning, note) the test also fails if softhca-check(1)
# reports something of that level; SUPPRESS is a file of what it shall not report. Where softhca is not installed, find_package() fails, or sets softhca_FOUND
# to false without REQUIRED.

find_program(SOFTHCA_PROGRAM softhca HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin")
if(NOT SOFTHCA_PROGRAM)
	set(softhca_FOUND FALSE)
	return()
endif()

function(softhca_add_test)
	cmake_parse_arguments(arg "ALL_WORLDS"
		"NAME;INJECT_FILE;SEED;INJECT_UNUSED;TIME_SCALE;CHECK;SUPPRESS"
		"OPTIONS;INJECT;COMMAND" ${ARGN})
	if(NOT arg_NAME OR NOT arg_COMMAND OR arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
		message(FATAL_ERROR "softhca_add_test(NAME name [ALL_WORLDS] [OPTIONS option...] "
			"[INJECT rule...] [INJECT_FILE file] [SEED number] [INJECT_UNUSED ok|fail] "
			"[TIME_SCALE factor] [CHECK error|warning|note] [SUPPRESS file] COMMAND command...)")
	endif()
	if(arg_ALL_WORLDS AND DEFINED arg_CHECK)
		message(FATAL_ERROR "softhca_add_test(): CHECK and ALL_WORLDS exclude each other")
	endif()
	foreach(rule IN LISTS arg_INJECT)
		list(APPEND arg_OPTIONS --inject "${rule}")
	endforeach()
	if(DEFINED arg_INJECT_FILE)
		get_filename_component(file "${arg_INJECT_FILE}" ABSOLUTE)
		list(APPEND arg_OPTIONS --inject-file "${file}")
	endif()
	foreach(name SEED INJECT_UNUSED TIME_SCALE)
		if(DEFINED arg_${name})
			string(REPLACE _ - option "${name}")
			string(TOLOWER "${option}" option)
			list(APPEND arg_OPTIONS --${option} "${arg_${name}}")
		endif()
	endforeach()
	set(how run)
	if(arg_ALL_WORLDS)
		set(how world --all)
	elseif(DEFINED arg_CHECK)
		set(how check -W ${arg_CHECK} --fail-on ${arg_CHECK} --fail-exit 1)
	endif()
	if(DEFINED arg_SUPPRESS)
		get_filename_component(file "${arg_SUPPRESS}" ABSOLUTE)
		list(APPEND how --suppress "${file}")
	endif()
	list(POP_FRONT arg_COMMAND program)
	if(TARGET "${program}")
		set(program "$<TARGET_FILE:${program}>")
	endif()
	add_test(NAME "${arg_NAME}"
		COMMAND "${SOFTHCA_PROGRAM}" ${how} ${arg_OPTIONS} -- "${program}" ${arg_COMMAND})
endfunction()
