#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""softhca in the build systems and the CI of others, from where it is installed."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, TOP, fabric_dir  # noqa: E402

PROGRAMS = os.path.join(BUILD, 'tests', 'check')
CMAKE = '''cmake_minimum_required(VERSION 3.16)
project(user NONE)
enable_testing()
find_package(softhca REQUIRED)
set(pkey /sys/class/infiniband/mlx5_0/ports/1/pkeys/0)
softhca_add_test(NAME good OPTIONS --hca 2 COMMAND sh -c "ibv_devices | grep -q mlx5_1")
softhca_add_test(NAME bad COMMAND sh -c "ibv_devices | grep -q mlx5_1")
softhca_add_test(NAME good-world OPTIONS --world pkey-shifted COMMAND grep -q 8001 ${pkey})
softhca_add_test(NAME good-faults INJECT "fw[cmd=CREATE_CQ]:status=EXCEED_LIM" "ibv_alloc_mw:error=EIO:when=7+" SEED 5
    TIME_SCALE 100 INJECT_UNUSED ok COMMAND sh -c "! ibv_rc_pingpong && softhca status -j | tr -d '[:space:]' | \
    grep 'CREATE_CQ.*fired.:1.*alloc_mw.*time_scale.:100'")
softhca_add_test(NAME bad-faults INJECT ibv_alloc_mw:error=EIO COMMAND true)
softhca_add_test(NAME good-file INJECT_FILE rules COMMAND sh -c "! ibv_rc_pingpong")
softhca_add_test(NAME good-rules CHECK error COMMAND PROGRAMS/timeout_zero_wrong)
softhca_add_test(NAME good-known CHECK warning SUPPRESS known COMMAND PROGRAMS/timeout_zero_wrong)
softhca_add_test(NAME bad-warning CHECK warning COMMAND PROGRAMS/timeout_zero_wrong)
softhca_add_test(NAME bad-rules CHECK error COMMAND PROGRAMS/lkey_range_wrong)
softhca_add_test(NAME bad-worlds ALL_WORLDS COMMAND grep -q ffff ${pkey})
'''.replace('PROGRAMS', PROGRAMS)
MESON = '''project('user')
test('good', find_program('sh'), args: ['-c', 'ibv_devices | grep -q mlx5_0'])
test('bad', find_program('sh'), args: ['-c', 'ibv_devices | grep -q mlx5_1'])
add_test_setup('softhca', exe_wrapper: [find_program('softhca'), 'run', '--hca', '2', '--'])
'''


class Wrappers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dest = tempfile.mkdtemp(prefix='softhca-wrap-')
        subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', cls.dest], check=True,
                       stdout=subprocess.DEVNULL)
        found = subprocess.run(['find', cls.dest, '-path', '*/bin/softhca'], capture_output=True, errors='replace').stdout
        cls.prefix = os.path.dirname(os.path.dirname(found.strip()))
        cls.place = fabric_dir()
        cls.run_dir = os.path.join(cls.place, 'run')
        cls.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=cls.run_dir,
                       PATH=os.path.join(cls.prefix, 'bin') + ':' + os.environ['PATH'])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dest)
        shutil.rmtree(cls.place)

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix='softhca-work-')
        self.addCleanup(shutil.rmtree, self.work)

    def sh(self, *argv, status=0):
        r = subprocess.run(argv, cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, errors='replace')
        self.assertEqual(r.returncode, status, f'{argv}\n{r.stdout}')
        return r.stdout

    def write(self, name, text):
        with open(os.path.join(self.work, name), 'w', encoding='utf-8') as f:
            f.write(text)

    def test_a_step_that_succeeds_leaves_nothing(self):
        ci = os.path.join(self.prefix, 'share', 'softhca', 'softhca-ci')
        self.sh(ci, '--hca', '2', '--', 'sh', '-c', 'ibv_devices | grep -q mlx5_1')
        self.assertEqual(os.listdir(self.work), [])

    def test_a_step_that_fails_keeps_trace_and_packets(self):
        ci = os.path.join(self.prefix, 'share', 'softhca', 'softhca-ci')
        self.sh(ci, '--', 'sh', '-c', 'ibv_devinfo; saquery; exit 7', status=7)
        kept = os.path.join(self.work, 'softhca-artifacts')
        with open(os.path.join(kept, 'trace.txt'), encoding='utf-8') as f:
            self.assertIn('fw', f.read())
        self.assertGreater(os.path.getsize(os.path.join(kept, 'packets.pcap')), 24)

    def test_faults_of_a_step(self):
        """The action's inputs of their own, one by one."""
        ci = os.path.join(self.prefix, 'share', 'softhca', 'softhca-ci')
        kept = os.path.join(self.work, 'softhca-artifacts')
        self.write('rules', 'ibv_alloc_mw:error=EIO\n')

        def step(command, status, **inputs):
            more = [f'SOFTHCA_{name}={value}' for name, value in inputs.items()]
            return self.sh('env', *more, ci, '--', 'sh', '-c', command, status=status)
        out = step('ibv_rc_pingpong || test $? = 1', 0,
                   INJECT='\n# two\nfw[cmd=CREATE_CQ]:status=EXCEED_LIM:p=0.999999999\n ibv_alloc_pd:error=EIO:when=2..4',
                   SEED=77, INJECT_UNUSED='ok')
        self.assertIn('inject: fired 1 x: fw[cmd=CREATE_CQ]:status=EXCEED_LIM:p=0.999999999\n', out)
        self.assertIn('never fired: ibv_alloc_pd:error=EIO:when=2..4\n', out)
        self.assertIn('--seed 77\n', out)
        self.assertFalse(os.path.exists(kept))
        out = step('softhca status -j | tr -d " " | grep time_scale.:0.5', 4, INJECT_FILE='rules', TIME_SCALE='0.5')
        self.assertIn('never fired: ibv_alloc_mw:error=EIO\n', out)
        shutil.rmtree(kept)
        out = step('true', 2, INJECT='ibv_alloc_mw:error=EIO\nibv_alloc_pd:nothing')
        self.assertIn('rules.txt:2: there is no effect', out)
        with open(os.path.join(TOP, 'action.yml'), encoding='utf-8') as f:
            action = f.read()
        for name in ('inject', 'inject-file', 'seed', 'inject-unused', 'time-scale'):
            self.assertIn(f'\n  {name}:\n', action)
            self.assertIn(f'        SOFTHCA_{name.upper().replace("-", "_")}: ${{{{ inputs.{name} }}}}\n', action)

    def test_rules_of_a_step(self):
        """A broken rule fails it and is kept; one that is known, or of a lower level, does not."""
        ci = os.path.join(self.prefix, 'share', 'softhca', 'softhca-ci')
        kept = os.path.join(self.work, 'softhca-artifacts')
        self.write('known', 'timeout-zero\n')

        def step(program, status, **inputs):
            more = [f'SOFTHCA_{name}={value}' for name, value in inputs.items()]
            return self.sh('env', *more, ci, '--', os.path.join(PROGRAMS, program), status=status)
        self.assertNotIn('softhca: check:', step('lkey_range_wrong', 0))
        step('timeout_zero_wrong', 0, CHECK='error')
        step('timeout_zero_wrong', 0, CHECK='warning', SUPPRESS='known')
        self.assertFalse(os.path.exists(kept))
        self.assertIn('softhca: check: warning timeout-zero: ', step('timeout_zero_wrong', 1, CHECK='warning'))
        out = step('lkey_range_wrong', 1, CHECK='error')
        self.assertIn('softhca: check: error lkey: ', out)
        self.assertIn('; reports and packets are in', out)
        with open(os.path.join(kept, 'reports.json'), encoding='utf-8') as f:
            self.assertEqual([r['rule'] for r in json.load(f)], ['lkey'])
        self.assertGreater(os.path.getsize(os.path.join(kept, 'packets.pcap')), 24)
        with open(os.path.join(TOP, 'action.yml'), encoding='utf-8') as f:
            action = f.read()
        for name in ('check', 'suppress'):
            self.assertIn(f'\n  {name}:\n', action)
            self.assertIn(f'        SOFTHCA_{name.upper()}: ${{{{ inputs.{name} }}}}\n', action)

    def test_ctest(self):
        if not shutil.which('ctest'):
            self.skipTest('cmake is not installed')
        self.write('CMakeLists.txt', CMAKE)
        self.write('rules', 'ibv_create_cq:error=ENOMEM\n')
        self.write('known', 'timeout-zero to_rts\n')
        self.sh('cmake', '-B', 'out', f'-DCMAKE_PREFIX_PATH={self.prefix}')
        self.sh('ctest', '--test-dir', 'out', '-R', 'good')
        self.sh('ctest', '--test-dir', 'out', '-R', 'bad', status=8)

    def test_cmake_tells_a_mistake(self):
        if not shutil.which('cmake'):
            self.skipTest('cmake is not installed')
        self.write('CMakeLists.txt', CMAKE + 'softhca_add_test(NAME none)\n')
        self.assertIn('softhca_add_test(NAME name', self.sh('cmake', '-B', 'out', f'-DCMAKE_PREFIX_PATH={self.prefix}',
                                                            status=1))

    def test_meson_wrapper(self):
        self.write('meson.build', MESON)
        self.sh('meson', 'setup', 'out')
        self.sh('meson', 'test', '-C', 'out', '--wrapper', 'softhca run --', 'good')
        self.sh('meson', 'test', '-C', 'out', '--wrapper', 'softhca run --', 'bad', status=1)
        self.sh('meson', 'test', '-C', 'out', '--setup', 'softhca', 'good', 'bad')

    def test_files_of_the_ci_are_read(self):
        try:
            import yaml
        except ImportError:
            self.skipTest('python3-yaml is not installed')
        for name in ('action.yml', 'packaging/ci/gitlab.yml'):
            with open(os.path.join(TOP, name), encoding='utf-8') as f:
                self.assertIn('softhca', str(yaml.safe_load(f)))


if __name__ == '__main__':
    unittest.main()
