# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make        build into build/ (installs what is missing)
# make demo   see it work       make check   the whole gate      make install DESTDIR=... PREFIX=/usr/local
# make check-long   the same with a minute of fuzzing for each target, and every level of optimization
# make check-slow   the tests of it as a machine ten times slower would run them
# make fuzz T=ioctl SECONDS=600   one fuzz target: fw devx ioctl write wqe umad rmpp
PREFIX ?= /usr/local
BUILD ?= build

all: build

deps:
	@tools/deps

build: deps
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX) >$(BUILD).log 2>&1 || \
		{ cat $(BUILD).log; false; }
	@rm -f $(BUILD).log
	@ninja -C $(BUILD)

demo: build
	@tools/demo $(BUILD)

check:
	@tools/deps all
	@$(MAKE) --no-print-directory build
	@tools/check $(BUILD)

check-long: export SOFTHCA_FUZZ_SECONDS = 60
check-long: export SOFTHCA_STRESS_SECONDS = 60
check-long: export SOFTHCA_LEVELS = all
check-long: check

# The build is not what is to be slow.
check-slow:
	@tools/deps all
	@$(MAKE) --no-print-directory build
	@tools/check --build-only $(BUILD)
	@tools/slow tools/check --tests-only $(BUILD)

T ?= ioctl
SECONDS ?= 60
fuzz: deps
	@test -f build-asan/build.ninja || CC=clang meson setup build-asan -Db_sanitize=address,undefined \
		-Db_lundef=false -Dfuzz=true >/dev/null
	@meson configure build-asan -Dfuzz=true
	@ninja -C build-asan >/dev/null
	@tests/fuzz/run.py build-asan $(T) $(SECONDS)

# The prefix is asked for here, whatever the tree was built for: the program knows where its library is.
install: build
	@meson configure $(BUILD) -Dprefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD)
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

clean:
	rm -rf $(BUILD)

.PHONY: all deps build demo check check-long check-slow fuzz install clean
