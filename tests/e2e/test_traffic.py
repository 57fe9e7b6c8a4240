# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Two processes on one fabric, stock programs, every byte checked where the program can."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import (Case, Fabric, LONG, NOBODY, ordinary_user_can_run, wait_for, listening, needs_ucx,  # noqa: E402
                     ucx_perftest)


class Pairs:
    """Two processes on a fabric of this class, and UCX's programs as such a pair."""
    doorbell = 'trap'
    user = []

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

    def ucx(self, tls, tests, size=8, env=(), options=(), run=(), ends=(0,)):
        """
        Runs one test after the other in the same pair, because UCX takes most of the time to start.
        `ends`: the exit statuses that it may have.
        """
        batch = tempfile.NamedTemporaryFile('w')
        self.addCleanup(batch.close)
        batch.writelines(f'{t} -t {t} -s {size}\n' for t in tests)
        batch.flush()
        os.chmod(batch.name, 0o644)
        env = {'UCX_TLS': tls + ',self', 'UCX_NET_DEVICES': 'mlx5_0:1', 'UCX_LOG_LEVEL': 'warn', **dict(env)}
        port = Case.port
        Case.port += 1
        cmd = ucx_perftest('-p', str(port), '-b', batch.name, '-n', '50', '-w', '5')
        srv = self.fab.start(*cmd, env=env, options=(*self.opt[0], *run))
        try:
            wait_for(lambda: listening(port) or srv.proc.poll() is not None, 'server to listen')
            r = self.fab.run(*cmd, *options, 'localhost', env=env, options=(*self.opt[1], *run))
            self.assertIn(r.status, ends, str(r))
            out = r.out
            self.assertEqual(re.findall(r'^\+([a-z]\w+)-+\+', out, re.M), list(tests), out)
            self.assertEqual(len(re.findall('^Final:', out, re.M)), len(tests), out)
            self.assertNotIn('ERROR', str(r))
            end = srv.finish()
            self.assertIn(end.status, ends, str(end))
            return out, end.out
        finally:
            srv.kill()

    def test_zz_nothing_is_left(self):
        s = self.status(self.fab)
        self.assertEqual(s['objects'], {k: 0 for k in s['objects']}, s)
        self.assertEqual(s['processes'], [])


class Traffic(Pairs, Case):
    every_size = ('ib_write_bw',) if LONG else ()  # programs that send messages of each size that perftest knows
    sizes = ('2', '4096', '65536', '8388608')  # for other programs: inline, one packet, many packets, the longest
    ucx_tests = ('tag_lat', 'ucp_put_lat', 'ucp_get', 'ucp_fadd', 'ucp_cswap')
    # tagged messages: size, the kind that the trace names, options of the run
    tagged = ((64, 'message', ()), (100000, 'rendezvous', ('-C',)))
    # How many messages of programs that poll, instead of their own 1 000: on a busy machine each message
    # costs the end that waits for it a slice of a processor. Rings of 20, not of 500, are still used again.
    few = ('-n', '100')
    rings = ('-n', '100', '-r', '20')

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

    @needs_ucx
    def test_ucx(self):
        """UCX's RC transports, by verbs, and by DEVX with WQEs of its own and KSM keys; and its DC."""
        for tls in ('rc_v', 'rc_x', 'dc_x'):
            with self.subTest(tls):
                self.ucx(tls, self.ucx_tests)
        with self.subTest('masked atomics'):
            self.ucx('rc_x', ('ucp_fadd', 'ucp_swap', 'ucp_cswap'), 4)

    @needs_ucx
    def test_ucx_tag_matching(self):
        """
        The adapter looks for tags at both ends, also for any tag. Whether a message comes before its
        receive depends on the machine; what becomes of both is looked at by engine-tm and pyverbs.
        """
        # Later releases of UCX have another way to choose protocols, which takes no rendezvous for this.
        env = {'UCX_RC_MLX5_TM_ENABLE': 'y', 'UCX_TM_THRESH': '1', 'UCX_TM_FORCE_THRESH': '1',
               'UCX_PROTO_ENABLE': 'n'}
        for size, takes, options in self.tagged:
            with self.subTest(size=size):
                for out in self.ucx('rc_x', ('tag_lat',), size, env, options, ('--trace=cqe',)):
                    self.assertRegex(out, takes + ' with tag 0x[0-9a-f]+ (takes entry|is unexpected)')

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

    def test_dc_streams(self):
        for prog in ('ib_send_bw', 'ib_write_bw', 'ib_read_bw'):
            with self.subTest(prog):
                self.both(prog, '-F', '-c', 'DC', '--log_dci_streams=2', *self.few)

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


class TrafficPolledDoorbells(Traffic):
    """
    Poll mode differs only in how a doorbell is seen. So test an inline message, one of many packets,
    the longest.
    """
    doorbell = 'poll'
    every_size = ()
    sizes = ('2', '65536', '8388608')
    ucx_tests = ('tag_lat', 'ucp_get', 'ucp_cswap')
    tagged = Traffic.tagged[1:]


@unittest.skipUnless(ordinary_user_can_run(), 'not root, or an ordinary user cannot reach the build')
class TrafficAsOrdinaryUser(Traffic):
    """Files and copies belong to another user. Few sizes and tests are enough to see the difference."""
    user = NOBODY
    every_size = ()
    sizes = ('2', '65536', '8388608')
    ucx_tests = ('tag_lat', 'ucp_get', 'ucp_cswap')
    tagged = Traffic.tagged[1:]


class OnDemand(Pairs, Case):
    """
    On-demand paging. ibv_rc_pingpong's options for it are among the other tests.

    UCX 1.13 registers memory on demand if a program does not want to wait (ucx_perftest -B), without
    QPs made by DEVX (uct_ib_mlx5_devx_check_odp()), and up to a size that is 0 unless it is set.
    The buffers are untouched, so that the adapter comes to absent pages first.
    """
    tests = ('tag_lat', 'ucp_put_lat', 'ucp_get', 'ucp_am_lat')
    size = 300000
    no_devx = {'UCX_IB_MLX5_DEVX': 'n'}
    devx_keys = {'UCX_IB_MLX5_DEVX_OBJECTS': ''}
    devx_dc = {'UCX_IB_MLX5_DEVX_OBJECTS': 'rcsrq,dct,dcsrq,dci'}

    @staticmethod
    def chooses_methods():
        """
        Later releases of UCX have no UCX_IB_REG_METHODS, and with DEVX use keys on demand only where the
        adapter has umr_extended_translation_offset (uct_ib_mlx5_devx_check_odp()).
        """
        return 'UCX_IB_REG_METHODS' in subprocess.run(['ucx_info', '-cf'], capture_output=True, errors='replace').stdout

    def needs_methods(self):
        if not self.chooses_methods():
            self.skipTest('this UCX has no UCX_IB_REG_METHODS')

    def test_perftest(self):
        for prog in ('ib_send_bw', 'ib_write_bw', 'ib_read_bw', 'ib_send_lat'):
            with self.subTest(prog):
                self.both(prog, '-F', '-n', '100', '--odp')

    def on_demand(self, tls, env, tests=tests, size=size):
        if self.chooses_methods():
            env = {'UCX_IB_REG_METHODS': 'rcache', 'UCX_IB_ODP_MAX_SIZE': 'inf', **env}
        outs = self.ucx(tls, tests, size, env, ('-B',), ('--trace=fw,mem',))
        for out in outs:
            keys = {int(index, 0) << 8 | int(low or '0', 0) for low, index in re.findall(
                r'CREATE_MKEY(?=.*pg_access=1)(?:.*mkey_7_0=(\w+))?.*mkey_index=(\w+)', out)}
            self.assertTrue(keys, out)
            yield keys, {int(k, 16) for k in re.findall(r'mem: key (\w+): \d+ page faults', out)}

    @needs_ucx
    def test_ucx_all_transports(self):
        """Each end's adapter reaches pages by keys that are on demand: it found some absent."""
        for tls, env in (('rc_v', self.no_devx), ('rc_v', self.devx_keys), ('rc_x', self.no_devx),
                         ('rc_x', self.devx_keys), ('dc_x', self.no_devx), ('dc_x', self.devx_dc)):
            if env != self.no_devx and not self.chooses_methods():
                continue
            with self.subTest(tls, **env):
                found = list(self.on_demand(tls, env))
                self.assertTrue(any(faulted for _, faulted in found), found)
                made = set().union(*(keys for keys, _ in found))
                self.assertLessEqual(set().union(*(faulted for _, faulted in found)), made)

    @needs_ucx
    def test_ucx_atomics(self):
        """With DEVX the keys of atomics are KSM keys over on-demand keys."""
        self.needs_methods()
        for env in (self.no_devx, self.devx_keys):
            with self.subTest(**env):
                list(self.on_demand('rc_x', env, ('ucp_fadd', 'ucp_swap', 'ucp_cswap'), 8))

    @needs_ucx
    def test_ucx_prefetch(self):
        """UCX asks for all pages when it registers (ibv_advise_mr), so that none is absent later."""
        for tls in ('rc_v', 'dc_x'):
            with self.subTest(tls):
                for _, faulted in self.on_demand(tls, {**self.no_devx, 'UCX_IB_ODP_PREFETCH': 'y'}):
                    self.assertEqual(faulted, set())

    @needs_ucx
    def test_ucx_everything(self):
        """
        One key for all memory (UCX_IB_REG_METHODS=odp). UCX 1.13.1 dies of it at its end, on a card, too:
        uct_ib_md_release_reg_method() hands the key to uct_ib_mem_dereg(), which takes parameters.
        """
        self.needs_methods()
        env = {'UCX_IB_REG_METHODS': 'odp,direct', 'UCX_HANDLE_ERRORS': 'none', **self.no_devx}
        for tls in ('rc_v', 'dc_x'):
            with self.subTest(tls):
                found = ''.join(self.ucx(tls, ('tag_lat',), self.size, env, (), ('--trace=fw,mem',),
                                         (0, -signal.SIGSEGV)))
                self.assertRegex(found, r'CREATE_MKEY.*pg_access=1.* len=0xf{16},')
                self.assertRegex(found, r'mem: key \w+: \d+ page faults')


if __name__ == '__main__':
    unittest.main(verbosity=2)
