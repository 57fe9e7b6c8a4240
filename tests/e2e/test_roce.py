# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock programs on Ethernet ports: what they see, and connections by each entry of the GID table."""
import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, Case, Fabric, Running, wait_for, listening  # noqa: E402

PORT = '/sys/class/infiniband/mlx5_0/ports/1/'
LOCAL = 'fe80:0000:0000:0000:5817:caff:fe00:0001'


class Seen(Case):
    def embedded(self, *cmd, options=()):
        """One private fabric for one command."""
        return self.ok(Running([SOFTHCA, 'run', '--link', 'eth', *options, '--', *cmd]).finish())

    def test_ibv_devinfo(self):
        out = self.embedded('ibv_devinfo', '-v')
        for want in (r'transport:\s+InfiniBand \(0\)', r'state:\s+PORT_ACTIVE \(4\)', r'link_layer:\s+Ethernet',
                     r'sm_lid:\s+0\s', r'port_lid:\s+0\s', r'max_mtu:\s+4096 \(5\)', r'active_mtu:\s+1024 \(3\)',
                     r'port_cap_flags:\s+0x04010000', r'pkey_tbl_len:\s+1\s', r'gid_tbl_len:\s+16\s',
                     r'phys_state:\s+LINK_UP \(5\)', rf'GID\[\s*0\]:\s+{LOCAL}, RoCE v1',
                     r'GID\[\s*1\]:\s+fe80::5817:caff:fe00:1, RoCE v2', r'GID\[\s*2\]:\s+.*:ffff:7f01:0001, RoCE v1',
                     r'GID\[\s*3\]:\s+::ffff:127\.1\.0\.1, RoCE v2'):
            self.assertRegex(out, want)
        self.assertEqual(out.count('GID['), 4)

    def test_mtu_of_the_interface(self):
        for mtu, want in (('1500', '1024 (3)'), ('4200', '4096 (5)'), ('9000', '4096 (5)'), ('2200', '2048 (4)')):
            with self.subTest(mtu):
                out = self.embedded('ibv_devinfo', options=('--mtu', mtu))
                self.assertIn(want, re.search(r'active_mtu:.*', out).group())

    def test_addresses_are_gids(self):
        out = self.embedded('ibv_devinfo', '-v', options=('--ip', 'h1=10.2.3.4/8', '--ip', 'h1=fd00::9/64'))
        for want in (r'GID\[\s*3\]:\s+::ffff:10\.2\.3\.4, RoCE v2', r'GID\[\s*5\]:\s+fd00::9, RoCE v2'):
            self.assertRegex(out, want)

    def test_ibstat(self):
        out = self.embedded('ibstat')
        for want in ('State: Active', 'Physical state: LinkUp', 'Rate: 200', 'Base lid: 0', 'SM lid: 0',
                     'Capability mask: 0x00010000', 'Link layer: Ethernet'):
            self.assertIn(want, out)

    def test_ibstatus(self):
        out = self.embedded('ibstatus')
        for want in (f'default gid:\t {LOCAL}', 'base lid:\t 0x0', 'sm lid:\t\t 0x0', 'state:\t\t 4: ACTIVE',
                     'link_layer:\t Ethernet'):
            self.assertIn(want, out)

    def test_tables_as_show_gids_reads_them(self):
        """A type and an interface for each GID; the interface is one of the adapter's."""
        out = self.embedded('sh', '-c', f'cd {PORT}; for i in 0 1 2 3; do '
                            'echo $(cat gids/$i) $(cat gid_attrs/types/$i) @$(cat gid_attrs/ndevs/$i); done; '
                            f'ls {PORT}gids | wc -l; ls {PORT}pkeys; ls /sys/class/infiniband/mlx5_0/device/net')
        rows, rest = out.split('\n')[:4], out.split('\n')[4:]
        self.assertEqual([r.split(' @')[0] for r in rows], [
            LOCAL + ' IB/RoCE v1', LOCAL + ' RoCE v2',
            '0000:0000:0000:0000:0000:ffff:7f01:0001 IB/RoCE v1',
            '0000:0000:0000:0000:0000:ffff:7f01:0001 RoCE v2'])
        self.assertEqual(rest[:2], ['16', '0'])
        self.assertEqual({r.split(' @')[1] for r in rows}, {rest[2]})

    @unittest.skipUnless(shutil.which('ucx_info'), 'ucx is not installed')
    def test_capabilities_of_ucx(self):
        out = self.embedded('ucx_info', '-d')
        for want in ('rc_mlx5', 'dc_mlx5', 'ud_mlx5'):
            self.assertIn(f'Transport: {want}', out)


class Connected(Case):
    """Two hosts; reliable and unreliable connections."""
    HOSTS = (('--host', 'h1'), ('--host', 'h2'))

    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric('--hosts', '2', '--link', 'eth')
        cls.fab.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def both(self, *cmd):
        return self.pair(self.fab, cmd, options=self.HOSTS)

    def test_rc_pingpong(self):
        for index in '0123':
            with self.subTest(index):
                _, c = self.both('ibv_rc_pingpong', '-c', '-g', index)
                self.assertNotIn('invalid data', c.out)

    def test_uc_pingpong(self):
        for index in '0123':
            with self.subTest(index):
                self.both('ibv_uc_pingpong', '-g', index)

    def test_srq_pingpong(self):
        self.both('ibv_srq_pingpong', '-g', '3')

    def test_xrc_pingpong(self):
        self.both('ibv_xsrq_pingpong', '-g', '3')

    def test_without_an_index_there_is_no_path(self):
        """verbs.c rdma_check_ah_attr(): RoCE needs a GRH; libibverbs' examples then leave it out."""
        srv = self.fab.start('ibv_rc_pingpong', '-p', str(self.port), options=self.HOSTS[0])
        try:
            wait_for(lambda: listening(self.port) or srv.ended(), 'server to listen')
            r = self.fab.run('ibv_rc_pingpong', '-p', str(self.port), 'localhost', options=self.HOSTS[1])
            self.assertEqual(r.status, 1, str(r))
            self.assertIn('Failed to modify QP to RTR', srv.finish().out)
        finally:
            srv.kill()

    def test_perftest_by_each_entry(self):
        for prog, index in (('ib_write_lat', '0'), ('ib_write_lat', '1'), ('ib_write_lat', '2'), ('ib_write_lat', '3'),
                            ('ib_send_lat', '3'), ('ib_read_lat', '3'), ('ib_atomic_lat', '3')):
            with self.subTest(prog, index=index):
                self.both(prog, '-F', '-n', '200', '-x', index)

    def test_perftest_bandwidth(self):
        for prog in ('ib_send_bw', 'ib_write_bw', 'ib_read_bw', 'ib_atomic_bw'):
            with self.subTest(prog):
                self.both(prog, '-F', '-n', '300', '-x', '3')

    def test_perftest_other_connections(self):
        for prog, kind in (('ib_send_lat', 'UC'), ('ib_write_lat', 'UC'), ('ib_send_bw', 'XRC')):
            with self.subTest(prog, kind=kind):
                self.both(prog, '-F', '-n', '300', '-x', '3', '-c', kind)

    def test_perftest_chooses_an_entry(self):
        self.both('ib_write_bw', '-F', '-n', '300')


if __name__ == '__main__':
    unittest.main(verbosity=2)
