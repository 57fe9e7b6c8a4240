# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock OpenSM manages a subnet: all routing engines, take-over between two, its own osmtest."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, TIMEOUT, Case, Fabric, wait_for  # noqa: E402

H1, H2 = ('--host', 'h1'), ('--host', 'h2')
# For the generator's torus:5x5x5: the switch at the origin and its neighbours in +x, +y, +z.
TORUS = '''torus 5 5 5
xp_link 0x5a17ca0400000100 0x5a17ca0400000200
yp_link 0x5a17ca0400000100 0x5a17ca0400000600
zp_link 0x5a17ca0400000100 0x5a17ca0400001a00
'''
# topology, OpenSM's options, the engine that OpenSM says made the tables
ENGINES = [
    ('star:4', (), 'minhop'),
    ('ring:6', (), 'minhop'),
    ('ring:6', ('-R', 'updn'), 'minhop'),  # a ring has no roots: OpenSM falls back
    ('ring:6', ('-R', 'dor'), 'dor'),
    ('fat-tree:2:8', (), 'minhop'),
    ('fat-tree:2:8', ('-R', 'updn'), 'updn'),
    ('fat-tree:2:8', ('-R', 'ftree'), 'ftree'),
    ('fat-tree:2:8', ('-R', 'dor'), 'dor'),
    ('fat-tree:3:8', ('-R', 'ftree'), 'ftree'),
    ('torus:3x3x3', ('-R', 'dor'), 'dor'),
    ('torus:5x5x5', ('-R', 'torus-2QoS', '-Q'), 'torus-2QoS'),
    ('fat-tree:2:8', ('-Q',), 'minhop'),
    ('star:4', ('-l', '2'), 'minhop'),  # four LIDs for each port
]

# Records that this saquery can ask for and OpenSM serves. There are no services, subscriptions or
# routers.
RECORDS = ('CPI', 'NR', 'PIR', 'SL2VL', 'PKTR', 'VLAR', 'LFTR', 'MFTR', 'SMIR', 'SWIR', 'LR', 'PR', 'MCMR',
           'GIR')


class OpenSM(Case):
    def setUp(self):
        super().setUp()
        self.dir = tempfile.mkdtemp(prefix='softhca-opensm-')
        self.addCleanup(shutil.rmtree, self.dir)
        self.made = 0

    def file(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, 'w') as f:
            f.write(text)
        return path

    def opensm(self, fab, *args, host=H1, conf=''):
        """Starts OpenSM with a log and files of its own."""
        self.made += 1
        mine = os.path.join(self.dir, str(self.made))
        os.mkdir(mine)
        conf = self.file(f'conf{self.made}', 'force_log_flush TRUE\n' + conf)
        r = fab.start('opensm', '-F', conf, '-f', mine + '/log', *args, options=host,
                      env={'OSM_CACHE_DIR': mine, 'OSM_TMP_DIR': mine})
        self.addCleanup(r.kill)
        r.log_file = mine + '/log'
        return r

    def log(self, sm):
        try:
            with open(sm.log_file) as f:
                return f.read()
        except FileNotFoundError:
            return ''

    def wait_log(self, sm, pattern, count=1):
        wait_for(lambda: len(re.findall(pattern, self.log(sm))) >= count,
                 f'{count} x {pattern!r} in the log of OpenSM')

    def no_errors(self, sm):
        self.assertEqual(re.findall(r'.*\bERR\b.*', self.log(sm)), [])

    def sweep(self, fab, *args):
        """One sweep to SUBNET UP without an error."""
        sm = self.opensm(fab, '-o', *args)
        r = sm.finish()
        self.ok(r)
        self.assertIn('SUBNET UP', self.log(sm))
        self.no_errors(sm)
        return self.log(sm)

    def test_engines(self):
        conf = self.file('torus.conf', TORUS)
        for topo, args, engine in ENGINES:
            with self.subTest(topo=topo, args=args), Fabric('--topo', topo, '--sm', 'none') as fab:
                if 'torus-2QoS' in args:
                    args = (*args, '--torus_config', conf)
                log = self.sweep(fab, *args)
                self.assertIn(f'{engine} tables configured on all switches', log)
                self.everything_is_reached(fab)
                self.is_written_as_cables(fab)

    def is_written_as_cables(self, fab):
        """The list of cables that OpenSM has written is the topology that ibnetdiscover finds."""
        lst = os.path.join(self.dir, str(self.made), 'opensm-subnet.lst')
        found = self.file('found', self.ok(fab.run('ibnetdiscover', options=H1)))
        one, two = (subprocess.run([SOFTHCA, 'topo', path], capture_output=True, errors='replace', timeout=TIMEOUT)
                    for path in (lst, found))
        self.assertEqual((one.returncode, one.stderr), (0, ''))
        self.assertEqual(self.nodes(one.stdout), self.nodes(two.stdout))

    def nodes(self, text):
        """Nodes and cables, in any order, without what a list of cables does not have."""
        text = re.sub(r' (base|enhanced) port 0|\blmc \d+', '', text)
        return sorted('\n'.join(block.splitlines()) for block in text.split('\n\n'))

    def everything_is_reached(self, fab):
        """All links are Active, and all LIDs answer over them."""
        out = self.ok(fab.run('iblinkinfo', '--line', options=H1))
        states = re.findall(r'\(\s*[^)]*?(Active|Initialize|Armed)/', out)
        self.assertTrue(states)
        self.assertEqual(set(states), {'Active'}, out)
        lids = sorted({int(x) for x in re.findall(r'==>\s+0x\w+\s+(\d+)', out)})
        for lid in (lids[0], lids[len(lids) // 2], lids[-1]):
            self.ok(fab.run('perfquery', '-x', str(lid), options=H1))

    def test_as_many_requests_as_it_likes(self):
        """OpenSM keeps 1000 requests, and answers come at once: its writer has to wait for its reader."""
        with Fabric('--topo', 'fat-tree:3:36:1008', '--sm', 'none') as fab:
            self.sweep(fab, '--maxsmps', '0')

    def test_two_of_which_one_is_master(self):
        """The one with the higher priority is master. The other takes over when that one is killed."""
        conf = 'sminfo_polling_timeout 200\npolling_retry_number 3\n'
        with Fabric('--topo', 'ring:4', '--sm', 'none') as fab:
            low = self.opensm(fab, '-p', '3', host=H2, conf=conf)
            self.wait_log(low, 'SUBNET UP')
            self.no_errors(low)
            high = self.opensm(fab, '-p', '5', conf=conf)
            self.wait_log(high, 'SUBNET UP')
            self.wait_log(low, 'Entering STANDBY state')
            self.assertRegex(self.ok(fab.run('sminfo', options=H2)), 'priority 5 state 3')
            # The log of `high` has one error, as on an adapter: it sends a trap of its priority, and
            # the driver keeps the answer (mlx5_ib_process_mad()).
            high.kill()
            self.wait_log(low, 'Entering MASTER state', 2)
            self.wait_log(low, 'SUBNET UP', 2)
            self.assertRegex(self.ok(fab.run('sminfo', options=H1)), 'priority 3 state 3')

    def test_a_new_manager_forgets_groups(self):
        """
        A new manager asks ports to register again (ClientReregister), and rdma_cm tells the members of
        groups.
        """
        with Fabric('--topo', 'star:2', '--sm', 'none') as fab:
            sm = self.opensm(fab)
            self.wait_log(sm, 'SUBNET UP')
            member = fab.start('stdbuf', '-oL', 'mckey', '-m', '239.0.0.1', options=H2)
            try:
                member.wait_said('receiving data transfers')
                sm.kill()
                self.wait_log(self.opensm(fab), 'SUBNET UP')
                member.wait_said('event: RDMA_CM_EVENT_MULTICAST_ERROR, status: -102')
            finally:
                member.kill()

    def test_every_record_and_pings(self):
        """All records that saquery asks for; and pings to OpenSM's LID, which are not for OpenSM."""
        with Fabric('--topo', 'ring:4', '--sm', 'none') as fab:
            sm = self.opensm(fab)
            self.wait_log(sm, 'SUBNET UP')
            lid = re.search(r'sm lid (\d+)', self.ok(fab.run('sminfo', options=H2)))[1]
            for what in RECORDS:
                self.ok(fab.run('saquery', '--smkey', '1', what, options=H2))
            self.assertEqual(self.ok(fab.run('saquery', 'NR', options=H2)).count('NodeRecord dump'), 8)
            # At first nobody answers pings at that LID. Then a server does, beside OpenSM.
            r = fab.run('ibping', '-c', '5', '-t', '20', lid, options=H2)
            self.assertIn('0 received', r.out)
            server = fab.start('ibping', '-S', options=H1)
            self.addCleanup(server.kill)
            wait_for(lambda: fab.run('ibping', '-c', '1', '-t', '500', lid, options=H2).status == 0,
                     'ibping to answer')
            self.assertIn('500 received',
                          self.ok(fab.run('ibping', '-f', '-c', '500', lid, options=H2)))
            self.ok(fab.run('saquery', 'PR', options=H2))
            self.no_errors(sm)
            server.kill()
            sm.kill()

    def test_a_manager_notices_what_comes_and_goes(self):
        with Fabric('--topo', 'ring:4', '--sm', 'none') as fab:
            sm = self.opensm(fab)
            self.wait_log(sm, 'SUBNET UP')
            out = self.ok(fab.run('ibportstate', '-D', '0,1', '1', 'query', options=H1))
            self.assertIn('Active', out)
            self.ok(fab.run('ibportstate', '-D', '0,1', '1', 'disable', options=H1))
            self.wait_log(sm, 'num:128')
            self.wait_log(sm, 'SUBNET UP', 2)
            self.ok(fab.run('ibportstate', '-D', '0,1', '1', 'enable', options=H1))
            self.wait_log(sm, 'SUBNET UP', 3)
            wait_for(lambda: 'Active' in self.ok(fab.run('ibportstate', '-D', '0,1', '1', 'query',
                                                        options=H1)), 'the port to be Active')
            script = self.file('faults', 'PerformanceSet "s1"[1] PortCounters.LocalLinkIntegrityErrors=3\n'
                               'PerformanceSet "s2"[2] PortCounters.ExcessiveBufferOverrunErrors=1\n')
            fab.softhca('console', '--fabric', fab.name, '-s', script)
            self.wait_log(sm, 'num:129')
            self.wait_log(sm, 'num:130')
            self.no_errors(sm)

    def test_mkeys(self):
        """A subnet whose ports have M_Keys: those who do not know it get no answer."""
        conf = 'm_key 0x1234\nm_key_protection_level 2\nm_key_lease_period 0\n'
        with Fabric('--topo', 'star:4', '--sm', 'none') as fab:
            sm = self.opensm(fab, conf=conf)
            self.wait_log(sm, 'SUBNET UP')
            self.no_errors(sm)
            r = fab.run('smpquery', '-t', '50', 'nodeinfo', '2', options=H1)
            self.assertNotEqual(r.status, 0)
            out = self.ok(fab.run('smpquery', '--m_key', '0x1234', 'nodeinfo', '2', options=H1))
            self.assertIn('Channel Adapter', out)
            out = self.ok(fab.run('smpquery', '--m_key', '0x1234', 'portinfo', '2', options=H1))
            self.assertRegex(out, r'ProtectBits:\.*2\n')
            self.assertNotRegex(out, r'MkeyViolations:\.*0\n')

    def test_partitions(self):
        """P_Keys of hosts. Events and files report what a manager sets."""
        conf = self.file('partitions', 'Default=0x7fff: ALL=limited, SELF=full;\n'
                         'blue=0x0001: 0x5a17ca0300020000=full, 0x5a17ca0300030000=full;\n')
        with Fabric('--topo', 'star:4', '--sm', 'none') as fab:
            watch = fab.start('stdbuf', '-oL', 'ibv_asyncwatch', '-d', 'mlx5_0', options=H2)
            self.addCleanup(watch.kill)
            wait_for(lambda: 'async event' in self.said(watch), 'ibv_asyncwatch to watch')
            self.sweep(fab, '-P', conf)
            for event in ('LID_CHANGE', 'PKEY_CHANGE', 'CLIENT_REREGISTER', 'PORT_ACTIVE'):
                wait_for(lambda event=event: event in self.said(watch), event)
            out = self.ok(fab.run('sh', '-c', 'cd /sys/class/infiniband/mlx5_0/ports/1; '
                                  'cat pkeys/0 pkeys/1 lid sm_lid state', options=H2))
            self.assertEqual(out.split('\n')[:5], ['0x7fff', '0x8001', '0x2', '0x1', '4: ACTIVE'])
            out = self.ok(fab.run('smpquery', 'pkeys', '4', options=H1))
            self.assertRegex(out, r'0: 0x7fff 0x0000')
            # The switch's ports drop packets of partitions that they are not in.
            out = self.ok(fab.run('smpquery', 'portinfo', '5', '2', options=H1))
            self.assertRegex(out, r'PartEnforceInb:\.*1\n')

    def test_limited_members(self):
        """OpenSM's default partition file, with switches that enforce it: limited members talk to full ones."""
        conf = self.file('partitions', 'Default=0x7fff, ipoib: ALL=limited, SELF=full;\n')
        full, limited = '1', '2'  # LIDs
        h3 = ('--host', 'h3')
        with Fabric('--topo', 'star:4', '--sm', 'none') as fab:
            sm = self.opensm(fab, '-P', conf)
            self.wait_log(sm, 'SUBNET UP')
            out = self.ok(fab.run('smpquery', 'portinfo', '5', '2', options=H1))
            self.assertRegex(out, r'PartEnforceInb:\.*1\n')
            for lid, host in (full, H2), (limited, H1):
                self.assertIn('PortXmitData', self.ok(fab.run('perfquery', '-t', '10000', lid, options=host)))
                server = fab.start('ibping', '-S', options=H1 if host == H2 else H2)
                wait_for(lambda lid=lid, host=host: fab.run('ibping', '-c', '1', '-t', '500', lid,
                                                            options=host).status == 0, 'ibping to answer')
                server.kill()
            self.ok(fab.run('saquery', 'PR', options=H2))
            lat = ('ib_send_lat', '-F', '-n', '10')
            self.pair(fab, lat, options=(H1, H2))
            self.pair(fab, lat, options=(H2, H1))
            # Two limited members: dropped by the switch in front of the receiver.
            srv, cli = self.start_pair(fab, *lat, options=(H2, h3))
            self.assertNotEqual(cli.finish().status, 0)
            srv.kill()
            out = self.ok(fab.run('perfquery', '-t', '10000', '5', '2', options=H1))
            self.assertRegex(out, r'PortXmitConstraintErrors:\.*[1-9]')
            sm.kill()

    def said(self, running):
        with open(f'/proc/self/fd/{running.file.fileno()}') as f:
            return f.read()

    def test_osmtest(self):
        with Fabric('--topo', 'fat-tree:2:4', '--sm', 'none') as fab:
            sm = self.opensm(fab)
            self.wait_log(sm, 'SUBNET UP')
            inventory = os.path.join(self.dir, 'inventory')
            # osmtest's own time-out of 200 ms is short on a busy machine. The second flow gets little
            # more, because it asks for things that nobody answers, and waits for each.
            for flow, ms in ('c', '10000'), ('a', '400'):
                # osmtest reads a status in memory that its receiving thread may have freed by then
                # (__osmv_send_sa_req()); meson would have that memory filled with something else.
                r = fab.run('osmtest', '-f', flow, '-i', inventory, '-t', ms,
                            '-l', os.path.join(self.dir, 'osmtest.log'), options=H2, timeout=900,
                            env={'MALLOC_PERTURB_': '0'})
                with open(os.path.join(self.dir, 'osmtest.log')) as f:
                    errors = re.findall(r'.*ERR.*', f.read())[:20]
                self.assertIn('PASS', r.out, '\n'.join([str(r), *errors, self.log(sm)[-2000:]]))
                self.ok(r)


if __name__ == '__main__':
    unittest.main()
