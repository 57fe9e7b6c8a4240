# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ibsim's console scripts on a fabric, and what stock programs see of what they do."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, TIMEOUT, Case, Fabric, listening, wait_for  # noqa: E402
from test_topo import NET  # noqa: E402


# Opens devices until that fails, then tells what the files do that are open.
OPENS = """
import errno, fcntl, os, time
verbs = os.open('/dev/infiniband/uverbs0', os.O_RDWR)
mads = os.open('/dev/infiniband/umad0', os.O_RDWR | os.O_NONBLOCK)
print('open')

def tried(fn, *args):
    try:
        fn(*args)
    except OSError as e:
        return errno.errorcode[e.errno]

while not (gone := tried(lambda: os.close(os.open('/dev/infiniband/uverbs0', os.O_RDWR)))):
    time.sleep(0.01)
# ib_uverbs_cmd_hdr of GET_CONTEXT: 6 words
command = b'\\0\\0\\0\\0\\6\\0\\2\\0' + bytes(16)
print(gone, tried(os.write, verbs, command), tried(os.read, mads, 320))
time.sleep(1000)
"""


class Console(Case):
    def setUp(self):
        super().setUp()
        self.net = tempfile.NamedTemporaryFile('w', suffix='.net')
        self.addCleanup(self.net.close)
        self.net.write(NET)
        self.net.flush()
        self.fab = Fabric('--topo', self.net.name)
        self.fab.__enter__()
        self.addCleanup(self.fab.__exit__, None)

    def console(self, script, *args):
        """(exit status, standard output, standard error)"""
        r = subprocess.run([SOFTHCA, 'console', '--fabric', self.fab.name, *args], input=script,
                           env=self.fab.env, capture_output=True, errors='replace', timeout=TIMEOUT)
        return r.returncode, r.stdout, r.stderr

    def do(self, script):
        status, out, err = self.console(script)
        self.assertEqual((status, err), (0, ''), out)
        return out

    def refused(self, line, why):
        self.assertEqual(self.console(line + '\n'), (1, '', f'softhca: console: <stdin>:1: {why}\n'))

    def state(self, host='Hca1', port=1):
        out = self.ok(self.fab.run('ibstat', 'mlx5_0', str(port), options=['--host', host]))
        return re.search(r'State: (\w+)', out).group(1)

    def becomes(self, want, **kw):
        wait_for(lambda: self.state(**kw) == want, f'{kw} to become {want}')

    def cables(self):
        out = self.fab.softhca('topo', '--fabric', self.fab.name)
        return len(re.findall(r'^\[\d+\]', out, re.M)) // 2

    def test_cables(self):
        self.assertEqual(self.cables(), 4)
        self.do('Unlink "Hca1"[1]\n')
        self.assertEqual(self.state(), 'Down')
        self.assertEqual(self.cables(), 3)
        self.do('ReLink "Hca1"[1]\n')
        self.becomes('Active')
        self.do('Unlink "Switch1"\n')
        self.assertEqual(self.cables(), 1)
        self.assertEqual(self.state(), 'Down')
        self.assertEqual(self.state(host='Hca2', port=2), 'Active')
        self.do('relink "Switch1"\n')
        self.becomes('Active')
        self.assertEqual(self.cables(), 4)
        self.do('Clear "Hca1"[1]\nLink "Hca1"[2] "Switch2"[8]\n')
        self.becomes('Active', port=2)
        self.assertEqual(self.state(port=1), 'Down')

    def dump(self, name):
        """Without its first line, which has the time."""
        return self.do(f'Dump "{name}"\n').split('\n', 1)[1]

    def test_names_of_status(self):
        """A host, its device and its GUID name the adapter, as the name in the file does."""
        with Fabric('--topo', 'star:3') as fab:
            self.fab = fab
            guid = self.status(fab)['hosts'][1]['hcas'][0]['node_guid']
            want = self.dump('h2 mlx5_0')
            self.assertRegex(want, r'Ca 1 .*\n.*\[2\]\t lid 2 ')
            for name in 'h2', guid:
                self.assertEqual(self.dump(name), want)
                self.do(f'Unlink "{name}"[1]\nRelink "{name}"[1]\n')
            self.refused('Dump "h4"', 'there is no node "h4"')
        with Fabric('--hca', '2') as fab:
            self.fab = fab
            self.refused('Dump "h1"', 'host "h1" has 2 adapters: "h1 mlx5_N"')
            self.assertIn('dumped 1 nodes', self.do('Dump "h1 mlx5_1"\n'))

    def test_traffic_goes_another_way(self):
        """Of two cables between the switches one is enough, and none is not."""
        sides = (('--host', 'Hca1'), ('--host', 'Hca2'))
        one = ('ibv_rc_pingpong', '-d', 'mlx5_0', '-n', '100')
        two = ('ibv_rc_pingpong', '-d', 'mlx5_0', '-i', '2', '-n', '100')
        # The supervisor has looked at all that changed before it takes its next request.
        self.do('Unlink "Switch1"[3]\n')
        self.pair(self.fab, one, two, options=sides)
        self.do('Unlink "Switch1"[4]\nReLink "Switch1"[3]\nWait 0.01\n')
        self.pair(self.fab, one, two, options=sides)

    def test_programs_see_events(self):
        watch = self.fab.start('stdbuf', '-oL', 'ibv_asyncwatch', '-d', 'mlx5_0',
                               options=['--host', 'Hca1'])
        try:
            wait_for(lambda: 'ibv_asyncwatch' in self.do('Attached\n'), 'the watcher')
            self.assertRegex(self.do('Attached\n'),
                             r'^Client \d+: pid \d+ \(ibv_asyncwatch\) on host "Hca1"')
            wait_for(lambda: self.text(watch), 'the watcher to watch')
            self.do('Unlink "Hca1"[1]\nReLink "Hca1"[1]\n')
            wait_for(lambda: 'IBV_EVENT_PORT_ERR' in self.text(watch), 'PORT_ERR')
            wait_for(lambda: 'IBV_EVENT_PORT_ACTIVE' in self.text(watch), 'PORT_ACTIVE')
        finally:
            watch.kill()

    @staticmethod
    def text(running):
        return os.pread(running.file.fileno(), 65536, 0).decode()

    def test_lids_and_guids(self):
        self.do('Baselid "Hca1"[1] 77 1\nGuid "Hca1"[1] 0x1234567800000001\n')
        out = self.ok(self.fab.run('ibstat', 'mlx5_0', '1', options=['--host', 'Hca1']))
        self.assertIn('Base lid: 77', out)
        self.assertIn('LMC: 1', out)
        self.assertIn('Port GUID: 0x1234567800000001', out)
        self.do('Guid "Switch1" 0x42\n')
        self.assertRegex(self.do('Dump "Switch1"\n'), r'Switch 8 "Switch1"\tnodeguid 42\t')

    def test_counters(self):
        out = self.do('PerformanceSet "Hca1"[1] PortCounters.PortXmitPkts=4242\n'
                      'performanceset "Hca1"[1] portcounters.symbolerrorcounter = 0x1ffff\n'
                      'PerformanceSet "Hca1"[1] PortCountersExtended.PortRcvData=0x500000001\n')
        self.assertEqual(out.splitlines()[0],
                         'Hca1[1] PortCounters.PortXmitPkts has been set to 4242')
        out = self.ok(self.fab.run('perfquery', '-x', options=['--host', 'Hca1']))
        self.assertIn('PortRcvData:.....................21474836481', out)
        out = self.ok(self.fab.run('perfquery', options=['--host', 'Hca1']))
        self.assertRegex(out, r'PortXmitPkts:\.+42\d\d')
        self.assertRegex(out, r'SymbolErrorCounter:\.+65535')

    def test_errors_lose_mads(self):
        ask = ('smpquery', 'nodedesc', '-D', '0,1')
        self.ok(self.fab.run(*ask, options=['--host', 'Hca1']))
        self.do('Error "Switch1" 100\n')
        lost = ('smpquery', '-t', '20', *ask[1:])
        self.assertNotEqual(self.fab.run(*lost, options=['--host', 'Hca1']).status, 0)
        self.do('Error "Switch1" 100 21\n')  # PortInfo only
        self.ok(self.fab.run(*ask, options=['--host', 'Hca1']))
        self.assertIn('# err_rate 100\t# err_attr 21', self.do('Dump "Switch1"\n'))
        self.do('Error "Switch1" 0\n')
        self.assertNotIn('err_', self.do('Dump\n'))

    def test_dump(self):
        out = self.do('Dump\n')
        self.assertRegex(out, r'^# Net status - ')
        self.assertTrue(out.endswith('#  dumped 4 nodes\n'))
        self.assertIn('Switch 8 "Switch1"\tnodeguid 200000\tsysimgguid 200000\n', out)
        self.assertRegex(out, r'(?m)^200000\t\[0\]\t"Sma Port"\[0\]\t lid \d+ lmc 0 smlid \d+ ')
        self.assertRegex(out, r'(?m)^200000\t\[1\]\t"Hca1"\[1\]\t  4x 50G Active/LinkUp$')
        self.assertRegex(out, r'(?m)^100001\t\[1\]\t"Switch1"\[1\]\t lid 1 lmc 0 smlid 1 ')
        self.assertRegex(out, r'(?m)^#\tForwarding table 0-\d+: \[0\]FF \[1\]1 ')
        self.assertEqual(len(re.findall(r'(?m)^Ca ', self.do('d "Hca2"\n'))), 1)

    def test_as_ibsim(self):
        """ibsim itself reads the same nodes, GUIDs and cables, and does the same to them."""
        script = 'Unlink "Switch1"[3]\nReLink "Switch1"[3]\nUnlink "Hca2"[2]\n' \
                 'Link "Hca2"[1] "Switch2"[7]\nUnlink "Switch1"[4]\n'
        r = subprocess.run(['ibsim', '-s', self.net.name], input=script + 'Dump\nQuit\n',
                           env=dict(os.environ, IBSIM_SOCKNAME=f'softhca-{os.getpid()}'),
                           capture_output=True, errors='replace', timeout=TIMEOUT)
        theirs = re.split('# Net status', r.stdout)[-1]
        self.do(script)
        ours = self.do('Dump\n')
        for what in (r'(?m)^\w+ \d+ "\w+"\tnodeguid \w+\tsysimgguid \w+$',
                     r'(?m)^\w+\t\[[1-9]\]\t(?:"\w+"\[\d\])?'):
            self.assertEqual(re.findall(what, ours), re.findall(what, theirs))
            self.assertGreater(len(re.findall(what, ours)), 3)

    def test_route(self):
        out = self.do('Route 1 2\n')
        self.assertRegex(out, r'^From node "Hca1" port 1 lid 1\n\[1\] -> "Switch1"\[1\]\n'
                              r'\[[34]\] -> "Switch2"\[[34]\]\n\[1\] -> "Hca2"\[2\]\n'
                              r'To node "Hca2" port 2 lid 2\n$')
        self.refused('Route 1', 'two LIDs are needed')
        self.refused('Route 1 999', 'no port has LID 999')

    def test_scripts(self):
        with tempfile.TemporaryDirectory() as tmp:
            with open(os.path.join(tmp, 'inner'), 'w') as f:
                f.write('# inner\nUnlink "Hca1"[2]\nVerbose 3\n')
            with open(os.path.join(tmp, 'outer'), 'w') as f:
                f.write(f'# outer\nStart\n\n!{tmp}/inner\n  verbose\nFoo\nQuit\nVerbose 9\n')
            status, out, err = self.console('', '-s', os.path.join(tmp, 'outer'))
            self.assertEqual(status, 1)
            self.assertEqual(out, '# outer\n# inner\nverbose level is 3\nverbose level is 3\n')
            self.assertEqual(err, f'softhca: console: {tmp}/inner:2: port 2 of "Hca1" has no cable\n'
                                  f"softhca: console: {tmp}/outer:6: 'Foo' is not a command\n")
            with open(os.path.join(tmp, 'inner'), 'w') as f:
                f.write(f'!{tmp}/inner\n')
            status, out, err = self.console(f'!{tmp}/inner\n')
            self.assertEqual(status, 1)
            self.assertIn('files are nested too deeply', err)

    def test_refused(self):
        for line, why in (
                ('Link', 'a node name in quotes is missing'),
                ('Link "x"[1] "y"[1]', 'there is no node "x"'),
                ('Link "Hca1"[3] "y"[1]', '"Hca1" has no such port: it has 2'),
                ('Link "Hca1" "Hca2"[1]', '"Hca1": a port from 1 to 2 is missing'),
                ('Link "Hca1"[1] "Hca2"[1]', 'one of the ports has a cable already'),
                ('Link "Hca1"[2] "Hca1"[2]', 'these ports cannot be connected'),
                ('Link "Hca1"[1 "Hca2"[1]', "']' is missing after the port number"),
                ('Unlink "Switch1"[0]', 'port 0 has no cable'),
                ('ReLink "Hca1"[2]', 'port 2 of "Hca1" had no cable before'),
                ('Guid "Hca1"', 'the GUID is missing'),
                ('Error "Hca1"', 'the error rate is missing'),
                ('Error "Hca1" 101', 'the error rate must be from 0 to 100'),
                ('Error "Hca1" 5 65536', 'the number of an attribute must be from 0 to 65535'),
                ('Baselid "Hca1" 5', 'the port is missing'),
                ('Baselid "Hca1"[1] 49152', 'a LID from 1 to 49151 is missing'),
                ('Baselid "Hca1"[1] 5 8', 'the LMC must be from 0 to 7'),
                ('X 9999', 'there is no such client'),
                ('Wait', 'a number of seconds is missing'),
                ('!', "a file's name is missing"),
                ('!/nowhere', 'cannot read /nowhere: No such file or directory'),
                ('PerformanceSet "Hca1" PortCounters.PortXmitPkts=1', 'the port is missing'),
                ('PerformanceSet "Hca1"[1] PortCounters', 'ATTRIBUTE.FIELD=VALUE is missing'),
                ('PerformanceSet "Hca1"[1] Foo.Bar=1', "no attribute 'Foo' can be set"),
                ('PerformanceSet "Hca1"[1] PortCounters.Bar=1', "PortCounters has no field 'Bar'"),
                ('PerformanceSet "Hca1"[1] PortCounters.PortXmitPkts=x',
                 'the value is no number'),
                ('PerformanceSet "Switch1"[0] PortCounters.PortXmitPkts=1',
                 'a base port 0 has no counters'),
                ('Frobnicate', "'Frobnicate' is not a command")):
            self.refused(line, why)

    def test_no_fabric(self):
        r = subprocess.run([SOFTHCA, 'console', '--fabric', 'none'], input='', env=self.fab.env,
                           capture_output=True, errors='replace')
        self.assertEqual((r.returncode, r.stderr),
                         (2, "softhca: console: there is no fabric 'none'\n"))
        self.assertEqual(self.console('', '-s', '/nowhere'),
                         (2, '', 'softhca: console: cannot read /nowhere: No such file or '
                                 'directory\n'))

    def client(self, name):
        """The number of the client on Hca1 with this name, as soon as it has opened a device."""
        pattern = re.compile(rf'Client (\d+): pid \d+ \({name}\) on host "Hca1"')
        wait_for(lambda: pattern.search(self.do('Attached\n')), name)
        return pattern.search(self.do('Attached\n')).group(1)

    def test_a_client_is_thrown_off(self):
        p = self.fab.start('stdbuf', '-oL', 'ibv_asyncwatch', '-d', 'mlx5_0', options=['--host', 'Hca1'])
        try:
            n = self.client('ibv_asyncwatch')
            wait_for(lambda: self.text(p), 'the watcher to watch')
            self.assertRegex(self.fab.softhca('status', self.fab.name),
                             rf'process \d+  ibv_asyncwatch  on Hca1  client {n}  ')
            self.do(f'X {n}\n')
            self.assertEqual(self.do('Attached\n'), '')
            self.refused(f'X {n}', 'there is no such client')
            wait_for(lambda: 'IBV_EVENT_DEVICE_FATAL' in self.text(p), 'the event')
            wait_for(p.ended, 'the watcher, which can read no more events, to end')
        finally:
            p.kill()

    def test_a_client_that_is_thrown_off_opens_nothing(self):
        p = self.fab.start(sys.executable, '-uc', OPENS, options=['--host', 'Hca1'])
        try:
            p.wait_said('open')
            self.do(f'X {self.client("python3.*")}\n')
            p.wait_said('ENODEV EIO EIO')
        finally:
            p.kill()
        self.ok(self.fab.run('ibv_devinfo', '-d', 'mlx5_0', options=['--host', 'Hca1']))

    def test_peers_of_a_client_that_is_thrown_off_get_no_answer(self):
        port, Case.port = Case.port, Case.port + 1
        cmd = ('stdbuf', '-oL', 'ib_write_bw', '-F', '--run_infinitely', '-d', 'mlx5_0', '-p', str(port))
        server = self.fab.start(*cmd, options=['--host', 'Hca1'])
        try:
            wait_for(lambda: listening(port) or server.ended(), 'the server to listen')
            client = self.fab.start(*cmd, '-i', '2', 'localhost', options=['--host', 'Hca2'])
            try:
                client.wait_said('#bytes')  # connected, and the loop is next
                self.do(f'X {self.client("ib_write_bw")}\n')
                client.wait_said('Failed status 12')  # transport retry counter exceeded
            finally:
                client.kill()
        finally:
            server.kill()


if __name__ == '__main__':
    unittest.main()
