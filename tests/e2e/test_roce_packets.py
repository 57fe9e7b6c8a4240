# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Captures of Ethernet fabrics: frames of RoCE v1 and v2, checked by a model of them, and by tshark."""
import collections
import ipaddress
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, Case, Fabric, Running, wait_for  # noqa: E402

ROCE, IP4, IP6 = 0x8915, 0x0800, 0x86dd
# The entries of a port's GID table, in their order.
TYPES = (ROCE, IP6, ROCE, IP4)
OPCODES = {0: 'SEND_FIRST', 1: 'SEND_MIDDLE', 2: 'SEND_LAST', 4: 'SEND_ONLY', 5: 'SEND_ONLY_IMM', 6: 'WRITE_FIRST',
           7: 'WRITE_MIDDLE', 8: 'WRITE_LAST', 10: 'WRITE_ONLY', 12: 'READ', 13: 'READ_FIRST', 14: 'READ_MIDDLE',
           15: 'READ_LAST', 16: 'READ_ONLY', 17: 'ACK', 18: 'ATOMIC_ACK', 20: 'FETCH_ADD'}
Frame = collections.namedtuple('Frame', 'dmac smac type src dst tos hops sport opcode transport op psn ack_req len')
# tshark notes the single hop that ibv_ud_pingpong asks for.
EXPERT_WARNING = 0x600000
# The kernel's range of source ports (IB_ROCE_UDP_ENCAP_VALID_PORT_MIN).
SPORTS = range(0xc000, 0x10000)


def ones(b, *at):
    b = bytearray(b)
    for i in at:
        b[i] = 0xff
    return bytes(b)


def network(kind, b):
    """Octets of the network header, addresses, TOS and hops; the header with its variant fields as ones."""
    if kind == IP4:
        assert b[0] == 0x45 and b[9] == 17 and struct.unpack_from('!H', b, 6)[0] == 0x4000, b[:20]
        total = sum(struct.unpack('!10H', b[:20]))
        assert (total & 0xffff) + (total >> 16) == 0xffff, 'checksum'
        assert struct.unpack_from('!H', b, 2)[0] == len(b)
        return 20, b[12:16], b[16:20], b[1], b[8], ones(b[:20], 1, 8, 10, 11)
    flow, length, following, hops = struct.unpack_from('!IHBB', b)
    assert flow >> 28 == 6 and length == len(b) - 40
    assert following == (17 if kind == IP6 else 0x1b)
    return 40, b[8:24], b[24:40], flow >> 20 & 0xff, hops, ones(b[:40], 1, 2, 3, 7).replace(b[:1], b'\x6f', 1)


def frame(b):
    """Takes a frame apart; fails on a wrong length, checksum or invariant CRC."""
    kind = struct.unpack_from('!H', b, 12)[0]
    b, macs = b[14:], (b[:6], b[6:12])
    n, src, dst, tos, hops, masked = network(kind, b)
    b, sport = b[n:], None
    if kind != ROCE:
        sport, port, length, checksum = struct.unpack_from('!4H', b)
        assert (port, length, checksum) == (4791, len(b), 0), (port, length, checksum)
        masked += ones(b[:8], 6, 7)
        b = b[8:]
    crc = zlib.crc32(b'\xff' * 8 + masked + ones(b[:12], 4) + b[12:-4])
    assert b[-4:] == struct.pack('<I', crc), 'invariant CRC'
    opcode, flags, _, _, psn = struct.unpack_from('!BBHII', b)
    assert (len(b) - 16 - (flags >> 4 & 3)) >= 0 and len(b) % 4 == 0
    return Frame(*macs, kind, ipaddress.ip_address(src), ipaddress.ip_address(dst), tos, hops, sport, opcode,
                 ('RC', 'UC', '', 'UD')[opcode >> 5], OPCODES[opcode & 31], psn & 0xffffff, psn >> 31, len(b))


def frames(name):
    with open(name, 'rb') as f:
        data = f.read()
    magic, _, _, _, _, _, link = struct.unpack_from('=IHHiIII', data)
    assert (magic, link) == (0xa1b23c4d, 1), 'nanoseconds, Ethernet'
    at, out = 24, []
    while at < len(data):
        _, _, cap, length = struct.unpack_from('=4I', data, at)
        assert cap == length
        out.append(frame(data[at + 16:at + 16 + cap]))
        at += 16 + cap
    return out


def mac_of(ip):
    """The MAC address in a link-local address."""
    b = ip.packed[8:]
    return bytes([b[0] ^ 2]) + b[1:3] + b[5:]


@unittest.skipUnless(shutil.which('tshark'), 'tshark is not installed')
class Packets(Case):
    @classmethod
    def setUpClass(cls):
        cls.fab = Fabric('--hosts', '2', '--link', 'eth')
        cls.fab.__enter__()
        hosts = json.loads(cls.fab.softhca('status', '-j', cls.fab.name))['hosts']
        cls.hosts = [('--host', h['name']) for h in hosts]

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def setUp(self):
        super().setUp()
        self.dir = tempfile.mkdtemp(prefix='softhca-roce.')
        self.addCleanup(shutil.rmtree, self.dir)
        self.file = os.path.join(self.dir, 'c.pcap')

    def captured(self, cmds, *options):
        """
        Captures what servers on the first host and their clients on the second send each other. A
        command may be a function that runs both.
        """
        cap = Running([SOFTHCA, 'pcap', '--fabric', self.fab.name, '--live', '-o', self.file, *options],
                      env=self.fab.env)
        try:
            # With --live the file's header is there as soon as the capture is on.
            wait_for(lambda: os.path.exists(self.file) and os.path.getsize(self.file) or cap.ended(), 'the capture')
            for cmd in cmds:
                if callable(cmd):
                    cmd()
                else:
                    self.pair(self.fab, cmd.split(), options=self.hosts)
            os.kill(cap.proc.pid, signal.SIGINT)
            self.ok(cap.finish())
        finally:
            if not cap.file.closed:
                cap.kill()

    def tshark(self, *args):
        # RFC 6936 lets a tunnel leave UDP's checksum zero over IPv6; tshark does not, unless it is told.
        return subprocess.run(['tshark', '-r', self.file, '-o', 'udp.ignore_ipv6_zero_checksum:TRUE',
                               '-o', 'ip.check_checksum:TRUE', *args],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors='replace', check=True).stdout

    def seen(self, cmd, entries=range(4)):
        """The frames by entry of the GID table, which -g or -x of the command names; tshark finds nothing wrong."""
        self.captured([f'{cmd} {i}' for i in entries])
        got = frames(self.file)
        rows = self.tshark('-T', 'fields', '-e', 'infiniband.bth.opcode', '-e', '_ws.malformed',
                           '-e', '_ws.expert.severity').splitlines()
        self.assertEqual([r.split('\t')[:2] for r in rows], [[str(f.opcode), ''] for f in got])
        worst = {int(x) for r in rows for x in r.split('\t')[2].split(',') if x}
        self.assertLess(max(worst, default=0), EXPERT_WARNING, worst)
        by = {i: [f for f in got if self.entry(f) == i] for i in entries}
        self.assertEqual(sum(len(x) for x in by.values()), len(got))
        for i in entries:
            self.between_the_hosts(by[i], i)
        return by

    @staticmethod
    def entry(f):
        return TYPES.index(f.type, 2 if f.src.version == 6 and f.src.ipv4_mapped else 0)

    def between_the_hosts(self, got, index):
        ends = {(f.smac, f.dmac) for f in got}
        self.assertEqual(len({m for e in ends for m in e}), 2)
        self.assertEqual({m[:3] for e in ends for m in e}, {b'\x5a\x17\xca'})
        for f in got:
            if index < 2:
                self.assertEqual((mac_of(f.src), mac_of(f.dst)), (f.smac, f.dmac))
            else:
                v4 = [a if a.version == 4 else a.ipv4_mapped for a in (f.src, f.dst)]
                self.assertEqual({str(a) for a in v4}, {'127.1.0.1', '127.1.0.2'})
            self.assertEqual(f.sport in SPORTS, f.type != ROCE, f)

    def test_rc(self):
        for got in self.seen('ibv_rc_pingpong -n 2 -s 2100 -g').values():
            self.assertEqual({f.transport for f in got}, {'RC'})
            for sender in {f.smac for f in got}:
                # An answer may be captured before the acknowledgement of the message that it answers.
                sent = [f for f in got if f.smac == sender and f.op != 'ACK']
                acks = [f for f in got if f.dmac == sender and f.op == 'ACK']
                self.assertEqual([f.op for f in sent], ['SEND_FIRST', 'SEND_MIDDLE', 'SEND_LAST'] * 2)
                self.assertEqual([f.len for f in sent], [12 + n + 4 for n in (1024, 1024, 52)] * 2)
                self.assertEqual([(f.psn - sent[0].psn) & 0xffffff for f in sent], list(range(6)))
                self.assertEqual([f.psn for f in acks], [f.psn for f in sent[2::3]])
                self.assertEqual({f.len for f in acks}, {12 + 4 + 4})
                self.assertEqual({(f.src, f.dst) for f in acks}, {(f.dst, f.src) for f in sent})
                # The UDP port is the connection's, in each direction.
                self.assertEqual(len({f.sport for f in got if f.smac == sender}), 1)

    def test_uc(self):
        for got in self.seen('ibv_uc_pingpong -n 2 -s 1100 -g').values():
            self.assertEqual([(f.transport, f.op, f.ack_req) for f in got[:2]],
                             [('UC', 'SEND_FIRST', 0), ('UC', 'SEND_LAST', 0)])

    def test_ud(self):
        for got in self.seen('ibv_ud_pingpong -n 2 -s 1001 -g').values():
            self.assertEqual({(f.transport, f.op, f.len) for f in got}, {('UD', 'SEND_ONLY', 12 + 8 + 1004 + 4)})

    @unittest.skipUnless(shutil.which('ib_write_bw'), 'perftest is not installed')
    def test_writes_reads_and_atomics(self):
        for cmd, ops in (('ib_write_bw -s 3000', ['WRITE_FIRST', 'WRITE_MIDDLE', 'WRITE_LAST', 'ACK']),
                         ('ib_read_bw -s 3000', ['READ', 'READ_FIRST', 'READ_MIDDLE', 'READ_LAST']),
                         ('ib_atomic_bw', ['FETCH_ADD', 'ATOMIC_ACK'])):
            with self.subTest(cmd):
                for got in self.seen(f'{cmd} -F -n 5 -x', (0, 3)).values():
                    self.assertEqual([f.op for f in got[:len(ops)]], ops)

    @unittest.skipUnless(shutil.which('ib_write_bw'), 'perftest is not installed')
    def test_the_traffic_class(self):
        for got in self.seen('ib_write_bw -F -n 5 -s 8 --tclass 104 -x').values():
            self.assertEqual({f.tos for f in got}, {104})

    def rping(self):
        rping = 'rping', '-a', '127.1.0.1', '-C', '1', '-p', '20700'
        srv = self.fab.start(*rping, '-s', options=self.hosts[0])
        try:
            wait_for(lambda: any(i['state'] == 'LISTEN' for i in self.status(self.fab)['cm_ids']) or srv.ended(),
                     'rping to listen')
            self.ok(self.fab.run(*rping, '-c', options=self.hosts[1]))
            self.ok(srv.finish())
        finally:
            if not srv.file.closed:
                srv.kill()

    def test_the_connection_manager(self):
        """The CM's datagrams use RoCE v2 and the addresses of the connection."""
        self.captured([self.rping])
        got = [f for f in frames(self.file) if f.transport == 'UD']
        self.between_the_hosts(got, 3)
        self.assertEqual({(f.type, f.hops, f.len) for f in got}, {(IP4, 64, 12 + 8 + 256 + 4)})
        rows = self.tshark('-Y', 'infiniband.mad', '-T', 'fields', '-e', 'infiniband.mad.attributeid',
                           '-e', '_ws.malformed').splitlines()
        self.assertEqual(len(rows), len(got))
        # REQ, REP, RTU, DREQ, DREP; on a slow machine some twice, or with an MRA.
        self.assertEqual([r for r in dict.fromkeys(rows) if r != '0x0011\t'],
                         [f'0x00{n:02x}\t' for n in (0x10, 0x13, 0x14, 0x15, 0x16)])

    @unittest.skipUnless(shutil.which('ib_send_bw'), 'perftest is not installed')
    def test_multicast(self):
        """
        Packets go to the group's MAC address, with each entry of the GID table. perftest's own group is
        no IPv4 address.
        """
        own, mapped, v4 = map(ipaddress.ip_address, ('ff01:0:2:c985::', '::ffff:ef81:203', '239.129.2.3'))
        mgid = ' -M ' + ':'.join(str(b) for b in mapped.packed)
        self.captured([f'ib_send_bw -F -c UD -g -n 5 -s 100 -x {i}{mgid if i > 1 else ""}' for i in range(4)])
        got = frames(self.file)
        self.assertEqual(len(got), 4 * 5)
        self.assertEqual([(f.type, f.dst, f.dmac.hex()) for f in got[::5]],
                         [(ROCE, own, '333300000000'), (IP6, own, '333300000000'), (ROCE, mapped, '01005e010203'),
                          (IP4, v4, '01005e010203')])
        self.assertEqual({(f.transport, f.op) for f in got}, {('UD', 'SEND_ONLY')})

    def test_a_snap_length(self):
        self.captured(['ibv_rc_pingpong -g 3 -n 2 -s 100'], '-s', '60')
        sizes = {tuple(x.split()) for x in
                 self.tshark('-T', 'fields', '-e', 'frame.len', '-e', 'frame.cap_len').splitlines()}
        self.assertEqual(sizes, {(str(14 + 20 + 8 + 12 + 100 + 4), '60'), (str(14 + 20 + 8 + 12 + 4 + 4), '60')})


if __name__ == '__main__':
    unittest.main()
