# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs with SIGSEGV handlers of their own, under the preloaded doorbells (libtrapfake.so)."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

FAKE = os.environ["TRAPFAKE"]

RING = r"""
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern void *fake_map(uint32_t) __attribute__((weak));
extern uint32_t fake_count(void) __attribute__((weak));
static char *page;
static void *ring(void *arg)
{
	for (int i = 0; i < 100; i++)
		*(volatile uint64_t *)(page + 0x800) = 1;
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	char *volatile p = malloc(8);
	page = fake_map(1);
	ring(NULL);
	pthread_create(&t, NULL, ring, NULL);
	pthread_join(t, NULL);
	if (fake_count() != 200)
		return 3;
	if (argc > 1 && !strcmp(argv[1], "null"))
		*(volatile int *)(argc - 2l) = 1;
	if (argc > 1 && !strcmp(argv[1], "heap"))
		((volatile char *)p)[8 + argc - 2] = 1;
	puts("fine");
	free(p);
	return 0;
}
"""

# A fault becomes an exception that unwinds through the signal frame.
THROW = r"""
#include <csignal>
#include <cstdint>
#include <cstdio>
extern "C" void *fake_map(uint32_t) __attribute__((weak));
struct fault {};
static void raise_it(int) { throw fault(); }
static int __attribute__((noinline)) touch(int *p) { return *(volatile int *)p; }
int main(int argc, char **)
{
	char *page = (char *)fake_map(1);
	struct sigaction a = {};
	int caught = 0;
	a.sa_handler = raise_it;
	a.sa_flags = SA_NODEFER;
	sigaction(SIGSEGV, &a, nullptr);
	for (int i = 0; i < 10; i++) {
		*(volatile uint64_t *)(page + 0x800) = 1;
		try {
			touch((int *)(uintptr_t)(argc - 1));
		} catch (const fault &) {
			caught++;
		}
	}
	std::printf("caught %d\n", caught);
	return caught != 10;
}
"""

PYTHON = r"""
import ctypes, sys
lib = ctypes.CDLL(None)
lib.fake_map.restype = ctypes.c_void_p
page = lib.fake_map(1)
def ring():
    ctypes.c_uint64.from_address(page + 0x800).value = 1
for i in range(100):
    ring()
assert lib.fake_count() == 100, lib.fake_count()
"""


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="trap-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def build(self, name, source, *command):
        if not shutil.which(command[0]):
            self.skipTest(command[0] + " is not installed")
        path = os.path.join(self.dir, name)
        src = path + (".cc" if "++" in command[0] else ".c")
        with open(src, "w") as f:
            f.write(source)
        r = subprocess.run([*command, "-g", "-O1", "-w", "-o", path, src, "-lpthread"],
                           capture_output=True, errors='replace')
        if r.returncode and "sanitize" in " ".join(command) and "cannot find" in r.stderr:
            self.skipTest(command[0] + " has no such sanitizer runtime")
        self.assertEqual(r.returncode, 0, r.stderr)
        return path

    def run_fake(self, *command, **env):
        return subprocess.run(command, capture_output=True, errors='replace', timeout=600,
                              env={**os.environ, "LD_PRELOAD": FAKE, **env})

    def sanitized(self, name, *command):
        path = self.build(name, RING, *command)
        env = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        r = self.run_fake(path, **env)
        self.assertEqual((r.returncode, r.stdout), (0, "fine\n"), r.stderr)
        return path, env

    def asan(self, name, compiler):
        path, env = self.sanitized(name, compiler, "-fsanitize=address")
        r = self.run_fake(path, "null", **env)
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("AddressSanitizer: SEGV on unknown address", r.stderr)
        if compiler != "clang" or shutil.which("llvm-symbolizer"):
            self.assertIn(" in main ", r.stderr)
        r = self.run_fake(path, "heap", **env)
        self.assertIn("heap-buffer-overflow", r.stderr)

    def test_gcc_asan(self):
        self.asan("gcc-asan", "gcc")

    def test_clang_asan(self):
        self.asan("clang-asan", "clang")

    def test_gcc_ubsan(self):
        self.sanitized("gcc-ubsan", "gcc", "-fsanitize=undefined")

    def test_clang_tsan(self):
        self.sanitized("clang-tsan", "clang", "-fsanitize=thread")

    def test_exception_out_of_a_handler(self):
        path = self.build("throw", THROW, "g++", "-fnon-call-exceptions", "-fexceptions")
        r = self.run_fake(path)
        self.assertEqual((r.returncode, r.stdout), (0, "caught 10\n"), r.stderr)

    def test_python_faulthandler(self):
        r = self.run_fake(sys.executable, "-X", "faulthandler", "-c",
                          PYTHON + "def die():\n    ctypes.string_at(1)\ndie()\n")
        self.assertEqual(r.returncode, -signal.SIGSEGV, r.stderr)
        self.assertIn("Fatal Python error: Segmentation fault", r.stderr)
        self.assertIn("in die", r.stderr)

    def test_python_faulthandler_stack_overflow(self):
        r = self.run_fake(sys.executable, "-X", "faulthandler", "-c", PYTHON +
                          "import faulthandler\nring()\nfaulthandler._stack_overflow()\n")
        self.assertEqual(r.returncode, -signal.SIGSEGV, r.stderr)
        self.assertIn("Fatal Python error: Segmentation fault", r.stderr)

    def test_python_signal_masks(self):
        r = self.run_fake(sys.executable, "-c", PYTHON + """
import signal, subprocess
old = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
assert signal.SIGSEGV not in old
now = signal.pthread_sigmask(signal.SIG_BLOCK, [])
assert signal.SIGSEGV in now and signal.SIGBUS in now
ring()
subprocess.run(["true"], check=True)
ring()
signal.pthread_sigmask(signal.SIG_SETMASK, [])
import os
assert os.fork() or ring() or os._exit(0)
os.wait()
ring()
print(lib.fake_count())
""")
        self.assertEqual((r.returncode, r.stdout), (0, "103\n"), r.stderr)

    def test_gdb_backtrace_through_the_handler(self):
        if not shutil.which("gdb"):
            self.skipTest("gdb is not installed")
        path = self.build("plain", RING, "gcc")
        r = subprocess.run(["gdb", "-q", "-batch", "-ex", "set startup-with-shell off",
                            "-ex", "set env LD_PRELOAD " + FAKE, "-ex", "set env SOFTHCA_DOORBELL trap",
                            "-ex", "handle SIGSEGV nostop noprint pass",
                            "-ex", "set breakpoint pending on", "-ex", "break eng_uar_write",
                            "-ex", "run", "-ex", "bt", path],
                           capture_output=True, errors='replace', timeout=600)
        if "ptrace" in r.stderr:
            self.skipTest("gdb may not trace here")
        self.assertIn("<signal handler called>", r.stdout, r.stderr)
        self.assertIn("in main ", r.stdout)


if __name__ == "__main__":
    unittest.main()
