# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The built-in subnet manager and SA, asked by stock saquery, sminfo and perftest; OpenSM takes over and gives back."""
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, wait_for  # noqa: E402

H1, H3 = ('--host', 'h1'), ('--host', 'h3')
KEY = ('--smkey', '1')  # the SA's key: for records that are not for everybody


class Records(Case):
    """On ring:4: hosts have LIDs 1 to 4, their switches 5 to 8."""
    @classmethod
    def setUpClass(cls):
        cls.fab = cls.enterClassContext(Fabric('--topo', 'ring:4'))

    def ask(self, *args, host='h2'):
        return self.fab.run('saquery', *args, options=('--host', host))

    def records(self, *args):
        """[{field: text}], one for each record."""
        found = []
        for line in self.ok(self.ask(*args)).splitlines():
            if 'dump:' in line and not line.startswith('\t'):
                found.append({})
            m = re.match(r'\s+([^.]+?)\.{2,}(.*)', line)
            if m and found:
                found[-1].setdefault(m[1].strip(' \t:'), m[2].strip())
        return found

    def lids(self, *args, field='lid'):
        return sorted(int(r[field]) for r in self.records(*args))

    def test_nodes(self):
        self.assertEqual(self.lids(), list(range(1, 9)))
        self.assertEqual(self.lids('NR', '3'), [3])
        self.assertEqual(self.ok(self.ask('-O', '2')).strip(), 'h2 mlx5_0')
        self.assertEqual(self.ok(self.ask('-L', 'h3 mlx5_0')).strip(), '3')
        self.assertEqual(self.ok(self.ask('--list')).count('mlx5_0'), 4)

    def test_ports(self):
        r = self.records('PIR', '1')
        self.assertEqual([x['Lid'] for x in r], ['1'])
        ports = self.lids('PIR', field='EndPortLid')
        self.assertEqual(sorted(set(ports)), list(range(1, 9)))
        self.assertEqual(ports.count(1), 1)
        self.assertGreater(ports.count(5), 3)  # port 0, a host, two neighbours, and what is free

    def test_who_is_manager(self):
        out = self.ok(self.ask('-s'))
        self.assertRegex(out, r'IsSM ports\n.*\n\s+EndPortLid\.+1\n')
        self.assertEqual([r['SMState'] for r in self.records('SMIR')], ['3'])

    def test_links(self):
        links = [(int(r['FromLID']), int(r['ToLID'])) for r in self.records('LR')]
        self.assertEqual(len(links), 16)
        self.assertEqual(sorted(links), sorted((b, a) for a, b in links))

    def test_switches(self):
        self.assertEqual(self.lids('SWIR', field='LID'), [5, 6, 7, 8])
        self.assertEqual(self.lids('LFTR', field='LID'), [5, 6, 7, 8])

    def test_tables(self):
        self.assertEqual(self.lids('GIR', field='LID'), list(range(1, 9)))
        self.assertEqual(self.lids('SL2VL', '1', field='LID'), [1])
        self.assertIn(1, self.lids('VLAR', field='LID'))
        self.assertIn(1, self.lids(*KEY, 'PKTR', field='LID'))
        r = self.ask('PKTR')
        self.assertNotEqual(r.status, 0)
        self.assertIn('SA_ERR_REQ_INVALID', r.out)

    def test_class_port_info(self):
        self.assertRegex(self.ok(self.ask('-c')), r'Class version\.+2\n')

    def test_paths(self):
        self.assertEqual(len(self.records('-p')), 8 * 8)
        one, = self.records('--src-to-dst', '1:3')
        self.assertEqual((one['slid'], one['dlid'], one['pkey']), ('1', '3', '0xFFFF'))

    def test_nothing_kept(self):
        for what in ('-I', 'SR', '-g', '-m', 'MFTR'):
            self.assertEqual(self.ok(self.ask(what)).strip(), '', what)

    def test_sminfo(self):
        for host in ('h1', 'h4'):
            out = self.ok(self.fab.run('sminfo', options=('--host', host)))
            self.assertRegex(out, r'sm lid 1 .*priority 0 state 3 SMINFO_MASTER')

    def test_group(self):
        """Two members join through the SA, and datagrams go the way that the tables then have."""
        cmd = ('ib_send_bw', '-c', 'UD', '-g', '-n', '100', '-s', '512')
        self.pair(self.fab, cmd, options=(H1, H3))


class Many(Case):
    def test_all_paths_of_128_hosts(self):
        with Fabric('--topo', 'star:128') as fab:
            out = self.ok(fab.run('saquery', '-p', options=H1, timeout=900))
            self.assertEqual(out.count('PathRecord dump'), 129 * 129)


class Changes(Case):
    def test_ways_avoid_a_link_that_is_down(self):
        """The supervisor sweeps by itself: around the ring while the short way is closed, then back."""
        def hops():
            r = fab.run('ibtracert', '1', '2', options=H1)
            return r.out.count('->') if not r.status else 0

        with Fabric('--topo', 'ring:4') as fab:
            out = self.ok(fab.run('saquery', 'LR', options=H1))
            links = re.findall(r'FromLID\.+(\d+)\n\s+FromPort\.+(\d+)\n\s+ToPort\.+\d+\n\s+ToLID\.+(\d+)', out)
            port = next(p for a, p, b in links if (a, b) == ('5', '6'))
            self.assertEqual(hops(), 3)
            self.ok(fab.run('ibportstate', '5', port, 'disable', options=H1))
            wait_for(lambda: hops() == 5, 'the way around the ring')
            self.ok(fab.run('ibportstate', '5', port, 'enable', options=H1))
            wait_for(lambda: hops() == 3, 'the short way')
            self.assertIn('Active', self.ok(fab.run('ibportstate', '5', port, 'query', options=H1)))


class TakeOver(Case):
    def setUp(self):
        super().setUp()
        self.dir = tempfile.mkdtemp(prefix='softhca-sa-')
        self.addCleanup(shutil.rmtree, self.dir)

    def sminfo(self, fab):
        return fab.run('sminfo', options=H3).out

    def lids(self, fab):
        return sorted(re.findall(r'base lid:\s+(\S+)', self.ok(fab.run('ibstat', options=H3)), re.I))

    def test_opensm_has_the_subnet_while_it_runs(self):
        log = os.path.join(self.dir, 'log')

        def said():
            try:
                with open(log) as f:
                    return f.read()
            except FileNotFoundError:
                return ''

        conf = os.path.join(self.dir, 'conf')
        with open(conf, 'w') as f:
            f.write('force_log_flush TRUE\n')
        with Fabric('--topo', 'ring:4') as fab:
            before = self.lids(fab)
            self.assertRegex(self.sminfo(fab), 'sm lid 1 .*priority 0 state 3')
            sm = fab.start('opensm', '-F', conf, '-f', log, '-p', '7', options=('--host', 'h2'),
                           env={'OSM_CACHE_DIR': self.dir, 'OSM_TMP_DIR': self.dir})
            try:
                wait_for(lambda: 'SUBNET UP' in said(), 'OpenSM to bring the subnet up')
                self.assertEqual(re.findall(r'.*\bERR\b.*', said()), [])
                self.assertNotIn('STANDBY', said())
                self.assertRegex(self.sminfo(fab), 'sm lid 2 .*priority 7 state 3')
                self.assertEqual(self.lids(fab), before)
                out = self.ok(fab.run('saquery', options=H3))
                self.assertEqual(out.count('NodeRecord dump'), 8)
            finally:
                sm.kill()
            # its issm is closed: the built-in one is back, nobody's LID has moved
            wait_for(lambda: re.search('sm lid 1 .*priority 0 state 3', self.sminfo(fab)),
                     'the built-in manager to come back')
            self.assertEqual(self.lids(fab), before)
            out = self.ok(fab.run('saquery', options=H3))
            self.assertEqual(out.count('NodeRecord dump'), 8)


if __name__ == '__main__':
    unittest.main()
