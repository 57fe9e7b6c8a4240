# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock programs on Ethernet ports: what they see, and connections by each entry of the GID table."""
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, Case, Fabric, Running, wait_for, listening, shell_pair, needs_ucx, ucx_perftest  # noqa: E402

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

    def test_no_link(self):
        out = self.embedded('sh', '-c', f'{SOFTHCA} link mlx5_0 1 down; ibstat; cat /sys/class/infiniband/mlx5_0/ports/1/rate')
        for want in ('State: Down', 'Rate: 40\n', '40 Gb/sec (4X QDR)'):
            self.assertIn(want, out)

    def test_counters(self):
        """The files of mlx5 on Linux 6.1, and what `rdma statistic` shows."""
        files, stat = self.embedded('sh', '-c', f'ls {PORT}hw_counters; echo =; rdma statistic show link').split('=')
        self.assertEqual(len(files.split()), 30)
        self.assertEqual(set(files.split()) - {'lifespan'}, set(stat.split()[2::2]))

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

    @needs_ucx
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
                _, c = self.both('ibv_rc_pingpong', '-c', '-n', '20', '-g', index)
                self.assertNotIn('invalid data', c.out)

    def test_uc_pingpong(self):
        for index in '0123':
            with self.subTest(index):
                self.both('ibv_uc_pingpong', '-n', '20', '-g', index)

    def test_srq_pingpong(self):
        self.both('ibv_srq_pingpong', '-n', '200', '-g', '3')

    def test_xrc_pingpong(self):
        self.both('ibv_xsrq_pingpong', '-n', '200', '-g', '3')

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
                self.both(prog, '-F', '-n', '20', '-x', index)

    def test_perftest_bandwidth(self):
        for prog in ('ib_send_bw', 'ib_write_bw', 'ib_read_bw', 'ib_atomic_bw'):
            with self.subTest(prog):
                self.both(prog, '-F', '-n', '300', '-x', '3')

    def test_perftest_other_connections(self):
        for prog, kind in (('ib_send_lat', 'UC'), ('ib_write_lat', 'UC'), ('ib_send_bw', 'XRC'),
                           ('ib_send_bw', 'DC'), ('ib_write_lat', 'DC')):
            with self.subTest(prog, kind=kind):
                self.both(prog, '-F', '-n', '20', '-x', '3', '-c', kind)

    @needs_ucx
    def test_ucx(self):
        for transport in ('rc', 'ud', 'dc'):
            with self.subTest(transport):
                self.both('env', f'UCX_TLS={transport},self', *ucx_perftest('-t', 'tag_lat', '-n', '20', '-w', '5'))

    def test_perftest_chooses_an_entry(self):
        self.both('ib_write_bw', '-F', '-n', '300')


MIXED = '''Switch 4 "S"
[1] "A"
[2] "B"
Ca 1 "A" # "h1 ib"
[1] "S"[1]
Ca 1 "B" # "h2 ib"
[1] "S"[2]
Ca 2 "C" # "h1 eth"
#link eth
#ip[1] 10.0.0.1
#ip[2] 10.1.0.1
Ca 1 "D" # "h2 eth"
#link eth
#ip[1] 10.0.0.2
'''


class Mixed(Case):
    """One fabric with adapters of both link layers, two on each host."""
    HOSTS = (('--host', 'h1'), ('--host', 'h2'))

    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(MIXED)
            f.flush()
            cls.fab = Fabric('--topo', f.name)
            cls.fab.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def shown(self, *cmd):
        return self.ok(self.fab.run(*cmd))

    def console(self, line):
        with tempfile.NamedTemporaryFile('w') as script:
            script.write(line + '\n')
            script.flush()
            return Running([SOFTHCA, 'console', '--fabric', self.fab.name, '-s', script.name],
                           env=self.fab.env).finish()

    def test_ports(self):
        out = self.shown('ibv_devinfo')
        self.assertEqual(re.findall(r'hca_id:\s+(\S+)|(?:port_lid|link_layer):\s+(\S+)', out),
                         [('mlx5_0', ''), ('', '1'), ('', 'InfiniBand'), ('mlx5_1', ''), ('', '0'),
                          ('', 'Ethernet'), ('', '0'), ('', 'Ethernet')])
        self.assertEqual(re.findall(r'^(ib\d|rce\d)\s+UP\s+([\d.]+)', self.shown('ip', '-br', 'addr'), re.M),
                         [('ib0', '127.1.0.1'), ('rce1', '10.0.0.1'), ('rce2', '10.1.0.1')])

    def test_status(self):
        ports = [p for h in self.status(self.fab)['hosts'] for a in h['hcas'] for p in a['ports']]
        self.assertEqual([p['link_layer'] for p in ports],
                         ['InfiniBand', 'Ethernet', 'Ethernet', 'InfiniBand', 'Ethernet'])
        self.assertEqual([p['state'] for p in ports], 5 * ['ACTIVE'])

    def test_traffic_on_each(self):
        for dev, *args in (('mlx5_0',), ('mlx5_1', '-g', '3')):
            with self.subTest(dev):
                self.pair(self.fab, ('ibv_rc_pingpong', '-c', '-n', '20', '-d', dev, *args), options=self.HOSTS)

    def test_rdma_cm_on_each(self):
        for address in '127.1.0.1', '10.0.0.1':
            with self.subTest(address):
                cmd = ('-a', address, '-p', str(self.port), '-C', '3', '-V')
                Case.port += 1
                srv = self.fab.start('rping', '-s', *cmd, options=self.HOSTS[0])
                try:
                    wait_for(lambda: srv.ended() or 'LISTEN' in
                             [i['state'] for i in self.status(self.fab)['cm_ids']], 'rping to listen')
                    self.ok(self.fab.run('rping', '-c', *cmd, options=self.HOSTS[1]))
                    self.ok(srv.finish())
                finally:
                    srv.kill()

    def test_the_subnet_manager_sees_infiniband_only(self):
        out = self.shown('ibhosts')
        self.assertEqual(sorted(re.findall('"(.*)"', out)), ['h1 ib', 'h2 ib'])

    def test_captured_together(self):
        script = ''
        for dev in '-d mlx5_0', '-d mlx5_1 -g 3':
            script += f"({shell_pair(f'ibv_rc_pingpong -p {Case.port} -n 2 {dev}', Case.port)}) && "
            Case.port += 1
        with tempfile.NamedTemporaryFile(suffix='.pcap') as f:
            self.ok(Running([SOFTHCA, 'pcap', '--fabric', self.fab.name, '-o', f.name, '--', 'sh', '-c', script + 'true'],
                            env=self.fab.env).finish())
            out = self.ok(Running(['tshark', '-r', f.name, '-T', 'fields', '-e', 'frame.protocols']).finish())
        kinds = re.findall('^(erf:infiniband|erf:eth:.*:infiniband)', out, re.M)
        self.assertTrue(any('eth' in k for k in kinds) and any('eth' not in k for k in kinds), out)
        self.assertNotIn('malformed', out)

    def test_console(self):
        out = self.ok(self.console('Dump "C"'))
        self.assertRegex(out, r'\[1\]\s+Ethernet\s+4x \S+ Active/LinkUp')
        for line, why in (('Link "S"[3] "C"[1]', '"C" has Ethernet ports: a cable joins InfiniBand ports'),
                          ('Baselid "C"[1] 9', 'an Ethernet port has no LID'),
                          ('Unlink "C"[1]', 'port 1 of "C" has no cable')):
            r = self.console(line)
            self.assertEqual((r.status, why in r.out), (1, True), r.out)

    def test_the_topology_is_written_back(self):
        out = self.fab.softhca('topo', '--fabric', self.fab.name)
        self.assertEqual(re.findall('^Ca.*"(.*)"\n(#link\teth\n)?', out, re.M),
                         [('h1 ib', ''), ('h2 ib', ''), ('h1 eth', '#link\teth\n'), ('h2 eth', '#link\teth\n')])
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(out)
            f.flush()
            self.assertEqual(self.fab.softhca('topo', f.name), out)


if __name__ == '__main__':
    unittest.main(verbosity=2)
