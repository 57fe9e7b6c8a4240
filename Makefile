# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make        build into build/ (installs what is missing)
# make demo   see it work       make check   the whole gate      make install DESTDIR=... PREFIX=/usr/local
# make quick        what changed, and the tests that it concerns
# make check T=fw   the tests of one layer (or suite, or one test), and what they need
# make check-long   every test, in both trees: a minute of fuzzing for each target, 10 000 programs of the model, every level of optimization
# make check-ship   build packages, image and CI steps, and use them in a Debian of their own: a part of check-long
# make check-distro SUITES="trixie sid"   `make demo` and the gate on other releases of Debian: a part of check-long
# make oracle       compare the answers to raw calls with those of a real kernel, in a virtual machine: a part of check-long
# make check-slow   its tests as a machine ten times slower would run them
# make uninstall    remove what install has installed, with the same DESTDIR and PREFIX
# make help         these lines
# make fuzz T=ioctl SECONDS=600   one fuzz target: fw devx ioctl write wqe umad rmpp ucma netlink
PREFIX ?= /usr/local
BUILD ?= build

all: build

deps:
	@tools/deps

configured:
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) >$(BUILD).log 2>&1 || { cat $(BUILD).log; false; }
	@rm -f $(BUILD).log

# What users run, without tests and measurements.
build: deps configured
	@ninja -C $(BUILD) program

demo: build
	@tools/demo $(BUILD)

deps-all:
	@tools/deps all

quick: deps-all
	@tools/check --quick $(BUILD)

check: deps-all
	@tools/check $(if $(T),--tests $(T)) $(BUILD)

check-long: check-all check-ship check-distro oracle

check-all: deps-all
	@SOFTHCA_FUZZ_SECONDS=60 SOFTHCA_STRESS_SECONDS=60 SOFTHCA_MODEL_PROGRAMS=10000 tools/check --long $(BUILD)

# As root: it makes a Debian to install the packages into.
check-ship: deps-all build
	@tools/deps ship
	@/usr/bin/python3 tests/ship/ship.py $(PARTS)

# As root, with debootstrap, and skipped without them.
check-distro:
	@tests/distro/distro.py $(if $(T),--tests $(T)) $(SUITES) || [ $$? = 77 ]

# Needs qemu and a kernel image (see tests/oracle/boot), and is skipped without them.
oracle: deps-all configured
	@meson configure $(BUILD) -Dtests=true
	@ninja -C $(BUILD) program $(ORACLE)
	@tests/oracle/oracle.py $(BUILD) || [ $$? = 77 ]

# The build is not what is to be slow.
check-slow: deps-all
	@tools/check --build-only $(BUILD)
	@tools/slow tools/check --tests-only $(BUILD)

SECONDS ?= 60
fuzz: deps-all
	@test -f build-asan/build.ninja || CC=clang meson setup build-asan -Db_sanitize=address,undefined \
		-Db_lundef=false -Dfuzz=true -Dguided=true -Ddebug=false -Doptimization=1 -Dc_args=-gline-tables-only >/dev/null
	@meson configure build-asan -Dfuzz=true -Dguided=true -Dtests=true
	@ninja -C build-asan >/dev/null
	@tests/fuzz/run.py build-asan $(or $(T),ioctl) $(SECONDS)

# The prefix is asked for here, whatever the tree was built for: the program knows where its library is.
install: deps configured
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD) program
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

# Its name while `make` built the tests, too.
install-program: install

ORACLE = tests/abi/abi tests/abi/files tests/ucma/ucma_rows tests/oracle/oracle_random tests/oracle/umad/oracle_umad tests/cards/cards tests/oracle/libown_ptracer.so

uninstall: build
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@tools/uninstall $(BUILD) $(if $(DESTDIR),$(abspath $(DESTDIR)))

help:
	@sed -n 's/^# make/make/p' $(firstword $(MAKEFILE_LIST))

clean:
	rm -rf $(BUILD)

# One after the other, also with -j: the packages are installed first.
.NOTPARALLEL:
.PHONY: all deps deps-all configured build demo quick check check-all check-long check-slow check-ship check-distro oracle fuzz install install-program uninstall help clean
