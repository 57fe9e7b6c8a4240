# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is on the fabric, seen: MADs in the trace, packets in captures that tshark reads."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import PERFTEST_CLOCK, SOFTHCA, Case, Fabric, Running, shell_pair, wait_for  # noqa: E402

FIELDS = ('infiniband.bth.opcode', 'infiniband.bth.psn', 'infiniband.lrh.dlid', 'infiniband.bth.destqp',
          'infiniband.bth.a', 'infiniband.grh.dgid', 'frame.len', '_ws.malformed', 'erf.types.type')


class Trace(Case):
    def lines(self, *cmd, topics='mad', options=()):
        with tempfile.NamedTemporaryFile('r') as f:
            done = Running([SOFTHCA, 'trace', '-j', '-e', topics, '-o', f.name, *options, '--',
                            *cmd]).finish()
            return done, [json.loads(x) for x in f]

    def test_a_request_and_its_answer(self):
        done, lines = self.lines('smpquery', 'portinfo', '1')
        self.ok(done)
        self.assertEqual({x['topic'] for x in lines}, {'mad'})
        seen = [(x['what'], x['mad']) for x in lines]
        for pair in (('sent', 'SubnGet(PortInfo)'), ('answered', 'SubnGetResp(PortInfo)'),
                     ('received', 'SubnGetResp(PortInfo)')):
            self.assertIn(pair, seen)
        got = [x for x in lines if (x['what'], x['mad']) == ('received', 'SubnGetResp(PortInfo)')][0]['at']
        self.assertEqual((got['port'], got['slid'], got['dlid'], got['status_name']),
                         ('h1/mlx5_0/1', 1, 1, 'OK'))
        self.assertEqual((got['class_name'], got['method_name'], got['attr_id']),
                         ('SubnLID', 'GetResp', 0x15))
        self.assertEqual((got['PortInfo']['port_state_name'], got['PortInfo']['lid']), ('ACTIVE', 1))

    def test_the_text(self):
        done = Running([SOFTHCA, 'trace', '-e', 'mad', '--', 'smpquery', '-D', 'nodedesc', '0']).finish()
        out = self.ok(done)
        self.assertRegex(out, r'mad: sent SubnGet\(NodeDescription\) \(port=h1/mlx5_0/1, .*path=0')
        self.assertRegex(out, r'mad: received SubnGetResp\(NodeDescription\) .*status=OK\(0x0\), '
                              r'NodeDescription=\{NodeString=h1 mlx5_0\}\)')

    def test_what_is_lost_says_why(self):
        # libibmad gives up after the same time by its own clock: on a busy machine now and then before the device.
        for _ in range(50):
            done, lines = self.lines('smpquery', '-t', '100', 'nodeinfo', '99')
            self.assertNotEqual(done.status, 0)
            self.assertTrue([x for x in lines if x['what'] == 'lost' and x.get('reason')], lines)
            if [x for x in lines if x['what'] == 'timed out']:
                return
        self.fail(f'no time-out is seen: {lines}')

    def test_counters_by_name(self):
        done, lines = self.lines('perfquery', '-x')
        self.ok(done)
        self.assertIn('PerformanceGetResp(PortCountersExtended)', {x['mad'] for x in lines})

    def test_a_long_answer_of_the_sa(self):
        done, lines = self.lines('saquery', '-p')
        self.ok(done)
        got = [x for x in lines if x['what'] == 'received' and x['mad'] == 'SubnAdmGetTableResp(PathRecord)'][-1]
        self.assertRegex(got['reason'], r'^a message of \d+ bytes$')
        first = [x['at'] for x in lines if x['what'] == 'answered'][-2]
        self.assertEqual((first['rmpp']['first'], first['rmpp']['rmpp_type_name']), (1, 'DATA'))
        self.assertEqual(first['PathRecord']['mtu_name'], '4096')

    def test_states_of_ports(self):
        with tempfile.NamedTemporaryFile('r') as f:
            env = dict(os.environ, SOFTHCA_TRACE='link', SOFTHCA_TRACE_FILE=f.name)
            with Fabric('--hosts', '1', env=env) as fabric:
                self.ok(Running([SOFTHCA, 'link', '--fabric', fabric.name, 'mlx5_0', '1', 'down'],
                                env=fabric.env).finish())
            text = f.read()
        self.assertRegex(text, r'link: port \(port=h1/mlx5_0/1, lid=1, state=DOWN\(0x1\), '
                               r'changed=\[state\]\)')


# BTH opcodes (IBA 9.2.1)
OPCODES = {'0': 'RC Send First', '1': 'RC Send Middle', '2': 'RC Send Last', '4': 'RC Send Only',
           '6': 'RC RDMA Write First', '7': 'RC RDMA Write Middle', '8': 'RC RDMA Write Last',
           '12': 'RC RDMA Read Request', '13': 'RC RDMA Read Response First',
           '14': 'RC RDMA Read Response Middle', '15': 'RC RDMA Read Response Last',
           '17': 'RC Acknowledge', '18': 'RC Atomic Acknowledge', '20': 'RC Fetch Add',
           '32': 'UC Send First', '34': 'UC Send Last', '100': 'UD Send Only'}


@unittest.skipUnless(shutil.which('tshark'), 'tshark is not installed')
class Capture(Case):
    def setUp(self):
        super().setUp()
        self.dir = tempfile.mkdtemp(prefix='softhca-pcap.')
        self.addCleanup(shutil.rmtree, self.dir)
        self.file = os.path.join(self.dir, 'c.pcap')
        self.known = {}

    def shark(self, file=None):
        """FIELDS and the summary of each packet; tshark takes a third of a second of processor time to start."""
        file = file or self.file
        state = os.stat(file).st_mtime_ns, os.stat(file).st_size
        if self.known.get(file, (None,))[0] != state:
            out = subprocess.run(
                ['tshark', '-r', file, '-T', 'fields', *[a for f in (*FIELDS, '_ws.col.Info') for a in ('-e', f)]],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors='replace', check=True).stdout
            self.known[file] = state, [line.split('\t') for line in out.splitlines()]
        return self.known[file][1]

    def read(self, file=None):
        """A dict for each packet."""
        rows = [dict(zip((f.rsplit('.', 1)[-1] for f in FIELDS), x)) for x in self.shark(file)]
        for r in rows:
            self.assertFalse(r['malformed'], r)
            self.assertEqual(r['type'], '21')
        return rows

    def info(self):
        return [x[-1] for x in self.shark()]

    def pair(self, cmd, options=()):
        """A server and its client, captured: the packets by opcode, as tshark may take random payload for Ethernet."""
        port, Case.port = Case.port, Case.port + 1
        self.ok(Running([SOFTHCA, 'pcap', '-o', self.file, *options, '--', 'sh', '-c',
                         shell_pair(f'{cmd} -p {port}', port)],
                        env=dict(os.environ, LD_PRELOAD=PERFTEST_CLOCK)).finish())
        return [OPCODES[r['opcode']] for r in self.read()]

    def test_smps(self):
        self.ok(Running([SOFTHCA, 'pcap', '-o', self.file, '--', 'smpquery', 'nodeinfo', '1']).finish())
        self.assertEqual([x.split(' ', 4)[-1] for x in self.info()],
                         ['SubnGet(NodeInfo)', 'SubnGetResp(NodeInfo)'])
        rows = self.read()
        self.assertEqual({r['opcode'] for r in rows}, {'100'})

    def test_a_message_is_its_packets(self):
        got = self.pair('ib_send_bw -F -s 10000 -n 5')
        self.assertEqual(got[:4], ['RC Send First', 'RC Send Middle', 'RC Send Last', 'RC Acknowledge'])
        self.assertEqual(len(got), 20)
        rows = self.read()
        psn = [int(r['psn'], 0) for r in rows]
        self.assertEqual([psn[1], psn[2], psn[3]], [psn[0] + 1, psn[0] + 2, psn[0] + 2])
        self.assertEqual(psn[4], psn[0] + 3)
        self.assertEqual([r['a'] in ('1', 'True') for r in rows[:3]], [False, False, True])
        # LRH, BTH, payload, both CRCs
        self.assertEqual([int(r['len']) for r in rows[:3]], [8 + 12 + n + 6 for n in (4096, 4096, 1808)])

    def test_writes_and_reads(self):
        self.assertEqual(self.pair('ib_write_bw -F -s 9000 -n 5')[:4],
                         ['RC RDMA Write First', 'RC RDMA Write Middle', 'RC RDMA Write Last',
                          'RC Acknowledge'])
        self.read()
        self.assertEqual(self.pair('ib_read_bw -F -s 9000 -n 5')[:4],
                         ['RC RDMA Read Request', 'RC RDMA Read Response First',
                          'RC RDMA Read Response Middle', 'RC RDMA Read Response Last'])
        self.read()

    def test_atomics(self):
        self.assertEqual(self.pair('ib_atomic_bw -F -n 5')[:2], ['RC Fetch Add', 'RC Atomic Acknowledge'])
        self.read()

    def test_datagrams_and_unacknowledged(self):
        self.assertEqual(set(self.pair('ib_send_bw -F -c UD -s 1000 -n 5')), {'UD Send Only'})
        self.read()
        self.assertEqual(self.pair('ib_send_bw -F -c UC -s 5000 -n 5')[:2], ['UC Send First', 'UC Send Last'])
        self.read()

    def test_a_grh(self):
        self.pair('ibv_rc_pingpong -g 0 -n 5 -s 100')
        rows = self.read()
        self.assertEqual({r['dgid'] for r in rows}, {'fe80::5a17:ca03:1:0'})

    def shown(self, *args, env=None):
        """What the list of packets shows of a command under rules: "fired: RULE", or the summary, and "lost" behind it."""
        self.ok(Running([SOFTHCA, 'pcap', '-o', self.file, *args], env=env).finish())
        out = subprocess.run(['tshark', '-r', self.file, '-T', 'fields', '-e', '_ws.col.Info', '-e', 'frame.comment',
                              '-e', '_ws.malformed'], capture_output=True, errors='replace', check=True).stdout
        return [re.sub(r'LOCAL0.NOTICE: softhca: inject: | QP=0x\w+ |\tlost on purpose: a rule of --inject$|\s+$',
                       lambda m: ' lost' if 'on purpose' in m[0] else '', line.rstrip('\t')) for line in out.splitlines()]

    def test_rules_that_fire(self):
        work = os.path.join(os.path.dirname(SOFTHCA), 'tests', 'e2e', 'work')
        rules = ('SEND:lost:when=2', 'SEND:cut=2:when=3', 'SEND:unanswered:when=4', 'ibv_query_qp:error=EIO:when=9',
                 'port:pkey[5]=0x8005:after=SEND*5')
        good = ['RC Send First', 'RC Send Middle', 'RC Send Last', 'RC Acknowledge']
        want = [*good,
                'fired: SEND:lost:when=2', *(f'{p} lost' for p in good[:3]), *good,
                'fired: SEND:cut=2:when=3', *good[:2], 'RC Send Last lost', *good,
                'fired: SEND:unanswered:when=4', *good[:3], 'RC Acknowledge lost', *good]
        for name in 'c.pcap', 'c.pcapng':
            self.file = os.path.join(self.dir, name)
            got = self.shown(*(a for r in rules for a in ('--inject', r)), '--inject-unused', 'ok', '--', work, 'SEND', 'RC', '3000')
            self.assertEqual([x for x in got if 'port:' not in x], want + good)
            self.assertEqual(got.count(f'fired: {rules[4]}'), 1)
        got = self.shown('--inject', 'SEND:lost:when=2', '--', work, 'SEND', 'UD')
        self.assertEqual(got, ['UD Send Only', 'fired: SEND:lost:when=2', 'UD Send Only lost', *['UD Send Only'] * 3])
        got = self.shown('--inject', 'mad[attr=NodeInfo]:status=BUSY:when=1', '--', 'sh', '-c', 'smpquery nodeinfo 1 || true')
        self.assertEqual(got[1], 'fired: mad[attr=NodeInfo]:status=BUSY:when=1')

    def test_rules_that_come_later(self):
        """A capture without rules is of the old format, unless its name says otherwise."""
        with Fabric() as fabric:
            add = ['sh', '-c', f'{SOFTHCA} inject add ibv_alloc_pd:error=EIO >/dev/null; ! ibv_rc_pingpong']
            for name, magic, lines in (('c.pcap', b'\x4d\x3c\xb2\xa1', 0), ('c.pcapng', b'\n\r\r\n', 1)):
                self.file = os.path.join(self.dir, name)
                got = self.shown('--fabric', fabric.name, '--', *add, env=fabric.env)
                self.assertEqual(got, ['fired: ibv_alloc_pd:error=EIO'] * lines)
                with open(self.file, 'rb') as f:
                    self.assertEqual(f.read(4), magic)
                if not lines:
                    fabric.softhca('inject', 'remove', '1')

    def test_a_snap_length(self):
        self.pair('ib_send_bw -F -s 10000 -n 5', ['-s', '60'])
        size = subprocess.run(['tshark', '-r', self.file, '-T', 'fields', '-e', 'frame.len', '-e', 'frame.cap_len'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors='replace',
                              check=True).stdout.splitlines()
        self.assertEqual(size[0].split(), [str(8 + 12 + 4096 + 6), '60'])
        self.assertLess(os.path.getsize(self.file), 20 * (16 + 16 + 60) + 100)

    def test_live_through_a_pipe(self):
        with open(self.file, 'w', encoding='utf-8') as out:
            r = subprocess.run([SOFTHCA, 'pcap', '--live', '--', 'sh', '-c', 'echo text; smpquery nodeinfo 1'],
                               stdout=out, stderr=subprocess.PIPE, errors='replace', check=True)
        self.assertRegex(r.stderr, r'(?s)text\n.*NodeType.*softhca: pcap: 2 packets\n')
        self.assertEqual(len(self.read()), 2)

    def test_a_reader_that_leaves_changes_nothing(self):
        gone = os.path.join(self.dir, 'gone')
        r = subprocess.run(['sh', '-c', f'({SOFTHCA} pcap --live -- sh -c "until [ -e {gone} ]; do '
                            'sleep 0.02; done; smpquery nodeinfo 1; exit 7"; echo $?  >&2) | '
                            f'(head -c 10 >/dev/null; exec <&-; >{gone})'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors='replace')
        self.assertRegex(r.stderr, r'NodeType[^$]*\n7\n$')

    def test_a_fabric_that_is_up(self):
        with Fabric('--hosts', '1') as fabric:
            cap = Running([SOFTHCA, 'pcap', '--fabric', fabric.name, '--live', '-o', self.file],
                          env=fabric.env)
            # With --live the file's header is there as soon as the capture is on.
            wait_for(lambda: os.path.exists(self.file) and os.path.getsize(self.file), 'the capture')
            self.ok(Running([SOFTHCA, 'run', '--fabric', fabric.name, '--', 'smpquery', 'nodeinfo', '1'],
                            env=fabric.env).finish())
            other = Running([SOFTHCA, 'pcap', '--fabric', fabric.name, '-o', self.file + '2'],
                            env=fabric.env).finish()
            self.assertEqual(other.status, 2)
            self.assertIn('another capture', other.out)
            os.kill(cap.proc.pid, signal.SIGINT)
            self.assertIn('2 packets', self.ok(cap.finish()))
            self.assertEqual(len(self.read()), 2)
            done = Running([SOFTHCA, 'pcap', '--fabric', fabric.name, '-o', self.file, '--', 'sh', '-c',
                            'smpquery nodeinfo 1; exit 5'], env=fabric.env).finish()
            self.assertEqual(done.status, 5)
            self.assertEqual(len(self.read()), 2)

    def test_bad_usage(self):
        for args, text in ((['--', 'true'], 'no output given'), (['-o', '/nonexistent/x', '--', 'true'], 'cannot write'),
                           (['-s', '0', '-o', 'x', '--', 'true'], 'not a number')):
            r = Running([SOFTHCA, 'pcap', *args]).finish()
            self.assertEqual(r.status, 2)
            self.assertIn(text, r.out)
            self.assertEqual(r.out.count('\n'), 1)


if __name__ == '__main__':
    unittest.main()
