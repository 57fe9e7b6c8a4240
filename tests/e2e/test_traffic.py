# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Two processes on one fabric, stock programs, every byte checked where the program can."""
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, NOBODY, ordinary_user_can_run, wait_for, listening  # noqa: E402


class Traffic(Case):
    doorbell = 'trap'
    user = []
    every_size = ('ib_write_bw',)  # programs that send messages of each size that perftest knows
    sizes = ('2', '4096', '65536', '8388608')  # the others': inline, one packet, many, the longest
    ucx_tests = ('tag_lat', 'ucp_put_lat', 'ucp_get', 'ucp_fadd', 'ucp_cswap')
    # sizes of tagged messages, and what becomes of them
    tagged = ((64, 'message', ()), (100000, 'rendezvous', ('-C',)))
    # How many messages of programs that poll, instead of their own 1 000: on a busy machine each message
    # costs the end that waits for it a slice of a processor. Rings of 20, not of 500, are still used again.
    few = ('-n', '100')
    rings = ('-n', '100', '-r', '20')

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric(user=cls.user)
        cls.fab.__enter__()
        cls.opt = (('--doorbell', cls.doorbell),) * 2

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def both(self, *cmd):
        return self.pair(self.fab, cmd, options=self.opt)

    def test_rc_pingpong(self):
        self.both('ibv_rc_pingpong', *self.rings)

    def test_rc_pingpong_events(self):
        self.both('ibv_rc_pingpong', '-e')

    def test_rc_pingpong_megabyte(self):
        self.both('ibv_rc_pingpong', '-s', '1048576', '-n', '50', '-r', '20')

    def test_rc_pingpong_checked(self):
        _, c = self.both('ibv_rc_pingpong', '-c', *self.rings)
        self.assertNotIn('invalid data', c.out)

    def test_rc_pingpong_device_memory(self):
        self.both('ibv_rc_pingpong', '-c', '-j', *self.rings)

    def test_rc_pingpong_on_demand(self):
        self.both('ibv_rc_pingpong', '-c', '-o', *self.rings)

    def test_rc_pingpong_on_demand_everything(self):
        self.both('ibv_rc_pingpong', '-c', '-o', '-o', '-P', *self.rings)

    def test_ud_pingpong(self):
        self.both('ibv_ud_pingpong', *self.rings)

    def test_ud_pingpong_events(self):
        self.both('ibv_ud_pingpong', '-e')

    def test_srq_pingpong(self):
        self.both('ibv_srq_pingpong', *self.few)

    def test_srq_pingpong_events(self):
        self.both('ibv_srq_pingpong', '-e')

    def test_latency(self):
        for prog in ('ib_send_lat', 'ib_write_lat', 'ib_read_lat'):
            with self.subTest(prog):
                self.both(prog, '-F', *self.few)

    def test_atomics(self):
        for prog in ('ib_atomic_lat', 'ib_atomic_bw'):
            for kind in ('CMP_AND_SWAP', 'FETCH_AND_ADD'):
                with self.subTest(prog, kind=kind):
                    self.both(prog, '-F', '-n', '500', '-A', kind)

    @unittest.skipUnless(shutil.which('ucx_perftest'), 'ucx is not installed')
    def test_ucx(self):
        """UCX's RC transports, by verbs, and by DEVX with WQEs of its own and KSM keys; and its DC."""
        for tls in ('rc_v', 'rc_x', 'dc_x'):
            with self.subTest(tls):
                self.ucx(tls, self.ucx_tests)
        with self.subTest('masked atomics'):
            self.ucx('rc_x', ('ucp_fadd', 'ucp_swap', 'ucp_cswap'), 4)

    @unittest.skipUnless(shutil.which('ucx_perftest'), 'ucx is not installed')
    def test_ucx_tag_matching(self):
        """
        The adapter looks for tags at both ends, also for any tag. Whether a message comes before its
        receive depends on the machine; what becomes of both is looked at by engine-tm and pyverbs.
        """
        env = {'UCX_RC_MLX5_TM_ENABLE': 'y', 'UCX_TM_THRESH': '1', 'UCX_TM_FORCE_THRESH': '1'}
        for size, takes, options in self.tagged:
            with self.subTest(size=size):
                for out in self.ucx('rc_x', ('tag_lat',), size, env, options, ('--trace=cqe',)):
                    self.assertRegex(out, takes + ' with tag [0-9a-f]+ (takes entry|is unexpected)')

    def ucx(self, tls, tests, size=8, env=(), options=(), run=()):
        """One test after the other in the same pair: most of the time UCX takes to start."""
        batch = tempfile.NamedTemporaryFile('w')
        self.addCleanup(batch.close)
        batch.writelines(f'{t} -t {t} -s {size}\n' for t in tests)
        batch.flush()
        os.chmod(batch.name, 0o644)
        env = {'UCX_TLS': tls + ',self', 'UCX_NET_DEVICES': 'mlx5_0:1', 'UCX_LOG_LEVEL': 'warn', **dict(env)}
        port = Case.port
        Case.port += 1
        cmd = ('ucx_perftest', '-p', str(port), '-b', batch.name, '-n', '50', '-w', '5')
        srv = self.fab.start(*cmd, env=env, options=(*self.opt[0], *run))
        try:
            wait_for(lambda: listening(port) or srv.proc.poll() is not None, 'server to listen')
            r = self.fab.run(*cmd, *options, 'localhost', env=env, options=(*self.opt[1], *run))
            out = self.ok(r)
            self.assertEqual(re.findall(r'^\+([a-z]\w+)-+\+', out, re.M), list(tests), out)
            self.assertEqual(len(re.findall('^Final:', out, re.M)), len(tests), out)
            self.assertNotIn('ERROR', str(r))
            return r.out, self.ok(srv.finish())
        finally:
            srv.kill()

    def test_latency_ud(self):
        self.both('ib_send_lat', '-F', '-c', 'UD', *self.few)

    def test_latency_events(self):
        self.both('ib_send_lat', '-F', '-e', '-n', '200')

    def test_bandwidth_of_sizes(self):
        """
        For each size that it reports, perftest burns 0.2 s of a processor, whatever the number of
        messages: it measures the processor's frequency again.
        """
        for prog in ('ib_send_bw', 'ib_write_bw', 'ib_read_bw'):
            for size in ('-a',) if prog in self.every_size else self.sizes:
                with self.subTest(prog, size=size):
                    which = (size,) if size == '-a' else ('-s', size)
                    _, c = self.both(prog, '-F', *which, '-n', '200')
                    last = '8388608' if size == '-a' else size
                    self.assertRegex(c.out, rf'(?m)^\s*{last}\s')

    def test_bandwidth_bidirectional(self):
        for prog in ('ib_send_bw', 'ib_write_bw'):
            with self.subTest(prog):
                self.both(prog, '-F', '-b', '-n', '500')

    def test_send_bw_srq(self):
        self.both('ib_send_bw', '-F', '--use-srq', '-n', '500')

    def test_write_bw_eight_qps(self):
        self.both('ib_write_bw', '-F', '-q', '8', '-n', '1000')

    def test_four_pairs_at_once(self):
        base = Case.port
        Case.port += 10
        run = []
        try:
            for i in range(4):
                p = str(base + i)
                srv = self.fab.start('ib_write_bw', '-F', '-p', p, '-n', '1000', options=self.opt[0])
                run.append(srv)
                wait_for(lambda: listening(base + i) or srv.proc.poll() is not None, 'server')
            for i in range(4):
                run.append(self.fab.start('ib_write_bw', '-F', '-p', str(base + i), '-n', '1000',
                                          'localhost', options=self.opt[1]))
            for r in run:
                self.ok(r.finish())
        finally:
            for r in run:
                r.kill()

    def test_zz_nothing_is_left(self):
        s = self.status(self.fab)
        self.assertEqual(s['objects'], {k: 0 for k in s['objects']}, s)
        self.assertEqual(s['processes'], [])


class TrafficPolledDoorbells(Traffic):
    """What differs is how a doorbell is seen: an inline message, one of many packets, the longest."""
    doorbell = 'poll'
    every_size = ()
    sizes = ('2', '65536', '8388608')
    ucx_tests = ('tag_lat', 'ucp_get', 'ucp_cswap')
    tagged = Traffic.tagged[1:]


@unittest.skipUnless(ordinary_user_can_run(), 'not root, or an ordinary user cannot reach the build')
class TrafficAsOrdinaryUser(Traffic):
    """Files and copies are another user's: what differs is seen with few sizes and tests."""
    user = NOBODY
    every_size = ()
    sizes = ('2', '65536', '8388608')
    ucx_tests = ('tag_lat', 'ucp_get', 'ucp_cswap')
    tagged = Traffic.tagged[1:]


if __name__ == '__main__':
    unittest.main(verbosity=2)
