# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make        build into build/ (installs what is missing)
# make demo   see it work       make check   the whole gate      make install DESTDIR=... PREFIX=/usr/local
# make quick        what changed, and all unit tests: in seconds
# make check T=fw   the tests of one layer (or suite, or one test), and what they need
# make check-long   the gate with a minute of fuzzing for each target, 10 000 programs of the model, and every level of optimization
# make check-ship   build packages, image and CI steps, and use them in a Debian of their own: a part of check-long
# make oracle       compare the answers to raw calls with those of a real kernel, in a virtual machine: a part of check-long
# make check-slow   its tests as a machine ten times slower would run them
# make install-program   install without building the tests first
# make uninstall    remove what install has installed, with the same DESTDIR and PREFIX
# make help         these lines
# make fuzz T=ioctl SECONDS=600   one fuzz target: fw devx ioctl write wqe umad rmpp ucma netlink
PREFIX ?= /usr/local
BUILD ?= build

all: build

deps:
	@tools/deps

configured:
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX) >$(BUILD).log 2>&1 || \
		{ cat $(BUILD).log; false; }
	@rm -f $(BUILD).log

build: deps configured
	@ninja -C $(BUILD)

demo: build
	@tools/demo $(BUILD)

deps-all:
	@tools/deps all

quick: deps-all configured
	@tools/check --quick $(BUILD)

check: deps-all configured
	@tools/check $(if $(T),--tests $(T)) $(BUILD)

check-long: export SOFTHCA_FUZZ_SECONDS = 60
check-long: export SOFTHCA_STRESS_SECONDS = 60
check-long: export SOFTHCA_MODEL_PROGRAMS = 10000
check-long: export SOFTHCA_LEVELS = all
check-long: check check-ship oracle

# As root: it makes a Debian to install the packages into.
check-ship: deps-all configured
	@tools/deps ship
	@ninja -C $(BUILD) $(PROGRAM)
	@/usr/bin/python3 tests/ship/ship.py $(PARTS)

# Needs qemu and a kernel image (see tests/oracle/boot), and is skipped without them.
oracle: deps configured
	@ninja -C $(BUILD) $(PROGRAM) $(ORACLE)
	@tests/oracle/oracle.py $(BUILD) || [ $$? = 77 ]

# The build is not what is to be slow.
check-slow: deps-all configured
	@tools/check --build-only $(BUILD)
	@tools/slow tools/check --tests-only $(BUILD)

SECONDS ?= 60
fuzz: deps
	@test -f build-asan/build.ninja || CC=clang meson setup build-asan -Db_sanitize=address,undefined \
		-Db_lundef=false -Dfuzz=true -Ddebug=false -Doptimization=1 -Dc_args=-gline-tables-only >/dev/null
	@meson configure build-asan -Dfuzz=true
	@ninja -C build-asan >/dev/null
	@tests/fuzz/run.py build-asan $(or $(T),ioctl) $(SECONDS)

# The prefix is asked for here, whatever the tree was built for: the program knows where its library is.
install: build
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD)
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

# Without the tests, which take most of the time to build.
PROGRAM = softhca src/shim/libsofthca.so src/devx/libdevx.so.1.0.0 src/devx/libdevx.a
ORACLE = tests/abi/abi tests/abi/files tests/ucma/ucma_rows tests/oracle/oracle_random tests/oracle/umad/oracle_umad
install-program: deps configured
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD) $(PROGRAM)
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

uninstall: build
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@tools/uninstall $(BUILD) $(if $(DESTDIR),$(abspath $(DESTDIR)))

help:
	@sed -n 's/^# make/make/p' $(firstword $(MAKEFILE_LIST))

clean:
	rm -rf $(BUILD)

# One after the other, also with -j: the packages are installed first.
.NOTPARALLEL:
.PHONY: all deps deps-all configured build demo quick check check-long check-slow check-ship oracle fuzz install install-program uninstall help clean
