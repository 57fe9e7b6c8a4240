#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""<softhca/prm.h>: in strict C and in C++, each field where the layouts have it, alone beside libmlx5."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, SOFTHCA, TIMEOUT, TOP  # noqa: E402

INCLUDE = os.path.join(BUILD, 'include')
STRICT = ('-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror')


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as f:
        return f.read()


def fields(text):
    """[(name, bit, width)]"""
    return re.findall(r'^#define PRM_(\w+) (0x[0-9a-f]+), (\d+)$', text, re.M)


class Header(unittest.TestCase):
    def setUp(self):
        self.text = read(INCLUDE, 'softhca', 'prm.h')

    def compiled(self, compiler, *options, code):
        """The program's standard output."""
        with tempfile.TemporaryDirectory() as place:
            out = os.path.join(place, 'a.out')
            r = subprocess.run([compiler, *options, '-I' + INCLUDE, '-', '-o', out], input=code,
                               capture_output=True, errors='replace', timeout=TIMEOUT)
            self.assertEqual((r.returncode, r.stderr), (0, ''))
            r = subprocess.run([out], capture_output=True, errors='replace', timeout=TIMEOUT)
            self.assertEqual((r.returncode, r.stderr), (0, ''))
            return r.stdout

    def test_every_field_in_every_language(self):
        """What is set is read again, and no other bit changes."""
        all_of = fields(self.text)
        self.assertGreater(len(all_of), 1000)
        tests = ''.join(f'\ttry_one("{name}", PRM_{name});\n' for name, _, _ in all_of)
        code = '''#include <softhca/prm.h>
#include <stdio.h>
#include <string.h>
static void try_one(const char *name, unsigned int bit, unsigned int width)
{
	static uint8_t p[8192];
	uint64_t max = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
	unsigned int n = 0;

	memset(p, 0, sizeof(p));
	prm_set(p, bit, width, UINT64_MAX);
	for (unsigned int i = 0; i < 8 * sizeof(p); i++)
		n += p[i / 8] >> (7 - i % 8) & 1u;
	if (prm_get(p, bit, width) != max || n != width)
		printf("%s\\n", name);
	prm_set(p, bit, width, 0);
	if (prm_get(p, bit, width))
		printf("%s is not cleared\\n", name);
}
int main(void)
{
	uint8_t in[PRM_SIZE(create_cq_in)] = {0};
	void *cqc = PRM_IN(create_cq_in, cq_context, in);

	PRM_SET(create_cq_in, in, opcode, PRM_OP_CREATE_CQ);
	PRM_SET(cqc, cqc, log_cq_size, 4);
	printf("%d %d %u %u\\n", in[0], in[0x1c], PRM_BIT(cqc, log_cq_size), PRM_WIDTH(cqc, log_cq_size));
''' + tests + '\treturn 0;\n}\n'
        for compiler, options in (('gcc', ('-std=c99', '-xc')), ('gcc', ('-std=c17', '-xc')),
                                  ('g++', ('-std=c++11', '-xc++'))):
            self.assertEqual(self.compiled(compiler, *STRICT, *options, code=code), '4 4 99 5\n')

    def test_the_places_are_those_of_the_layouts(self):
        lines = ['#include "wire/prm/prm.h"'] + [
            f'_Static_assert(LF_{name}_BIT == {bit} && LF_{name}_WIDTH == {width}, "{name}");'
            for name, bit, width in fields(self.text)]
        lines += [f'_Static_assert(LAYOUT_SZ({name}) == {size}, "{name}");'
                  for name, size in re.findall(r'^#define PRM_(\w+)_SIZE (\w+)$', self.text, re.M)]
        lines += [f'_Static_assert(LP_{name} == {at} && LAYOUT_SZ({inner}) && 1, "{name}");'
                  for name, at, inner in re.findall(r'^#define PRM_(\w+) (\w+) /\* (\w+) \*/$', self.text, re.M)]
        lines += [f'_Static_assert(PRM_{name} == {op}, "{name}");'
                  for name, op in re.findall(r'^#define PRM_(OP_\w+) (\w+)$', self.text, re.M)]
        self.assertGreater(len(lines), 1500)
        r = subprocess.run(['gcc', '-std=gnu17', '-D_GNU_SOURCE', '-I' + os.path.join(TOP, 'src'), '-fsyntax-only',
                            '-xc', '-'], input='\n'.join(lines), capture_output=True, errors='replace')
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_it_has_all_that_the_example_has_chosen(self):
        """examples/prm.h is written by hand."""
        mine = set(re.findall(r'^#define PRM_\w+ 0x[0-9a-f]+(?:, \d+)?', self.text, re.M))
        theirs = set(re.findall(r'^#define PRM_\w+ 0x[0-9a-f]+(?:, \d+)?', read(TOP, 'examples', 'prm.h'), re.M))
        self.assertGreater(len(theirs), 100)
        self.assertEqual(theirs - mine, set())

    def test_values_and_version(self):
        version = re.search(r"version: '(\d+)\.(\d+)\.", read(TOP, 'meson.build'))
        self.assertEqual(re.findall(r'^#define PRM_HEADER_M\w+ (\d+)', self.text, re.M), list(version.groups()))
        for want in ('PRM_qpc_state_RTS 0x3', 'PRM_mkc_access_mode_1_0_KLM 0x2'):
            self.assertIn(f'#define {want}\n', self.text)

    def test_a_program_needs_only_libmlx5(self):
        program = os.path.join(BUILD, 'examples', 'devx_prm')
        r = subprocess.run([SOFTHCA, 'run', '--', program], capture_output=True, errors='replace', timeout=TIMEOUT)
        self.assertEqual((r.returncode, r.stderr), (0, ''))
        self.assertRegex(r.stdout, r'^2\^\d+ QPs, 2\^\d+ CQs, 1 ports\nkey of 65536 bytes\n'
                                   r'with pages of 1 GiB: refused \(status 0x3, syndrome 0x20018\)\n$')
        needed = subprocess.run(['readelf', '-d', program], capture_output=True, errors='replace').stdout
        self.assertEqual(set(re.findall(r'\[lib(\w+)\.so', needed)) - {'c'}, {'mlx5', 'ibverbs'})


if __name__ == '__main__':
    unittest.main()
