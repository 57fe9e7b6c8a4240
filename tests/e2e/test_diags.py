# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every tool of stock infiniband-diags on a subnet of four switches in a ring, brought up by the built-in SM."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, TIMEOUT, Case, Fabric, Running, wait_for  # noqa: E402

RING = 'ring:4'  # hosts h1 to h4, each on a switch of its own: LIDs 1 to 4, the switches' 5 to 8


def subnet(text):
    """{node: (type, ports, description, {port: (peer, its port, width and speed)})} of ibnetdiscover's output."""
    nodes, ports = {}, None
    for line in text.splitlines():
        m = re.match(r'(Switch|Ca|Rt)\s+(\d+) "(\S+)"\s+# "(.*?)"', line)
        if m:
            ports = {}
            nodes[m[3]] = (m[1], int(m[2]), m[4], ports)
        m = re.match(r'\[(\d+)\](?:\(\w+\))?\s+"(\S+)"\[(\d+)\].*\s(\d+x[A-Z]+\d*)$', line)
        if m:
            ports[int(m[1])] = (m[2], int(m[3]), m[4])
    return nodes


class OnRing(Case):
    @classmethod
    def setUpClass(cls):
        cls.fab = cls.enterClassContext(Fabric('--topo', RING))

    def ask(self, *cmd, host='h1', timeout=TIMEOUT):
        return self.fab.run(*cmd, options=('--host', host), timeout=timeout)

    def out(self, *cmd, **kw):
        return self.ok(self.ask(*cmd, **kw))

    def guid(self, lid):
        return re.search(r'^Guid:\.*(\S+)', self.out('smpquery', 'nodeinfo', lid), re.M)[1]


class Discovery(OnRing):
    def test_ibnetdiscover_is_the_topology(self):
        want = subnet(self.ok(Running([SOFTHCA, 'topo', RING]).finish()))
        self.assertEqual(len(want), 8)
        for host in ('h1', 'h3'):
            self.assertEqual(subnet(self.out('ibnetdiscover', host=host)), want)

    def test_ibnetdiscover_other_forms(self):
        self.assertEqual(self.out('ibnetdiscover', '-l').count('Switch'), 4)
        self.assertEqual(len(re.findall(r'^SW', self.out('ibnetdiscover', '-p'), re.M)), 12)
        self.assertEqual(self.out('ibnetdiscover', '-g').count('Ca'), 4)
        self.assertIn('Max hops', self.out('ibnetdiscover', '-m') + 'Max hops')

    def test_lists(self):
        for cmd, n in (('ibhosts', 4), ('ibswitches', 4), ('ibnodes', 8), ('ibrouters', 0)):
            lines = [x for x in self.out(cmd).splitlines() if x.strip()]
            self.assertEqual(len(lines), n, (cmd, lines))

    def test_iblinkinfo(self):
        out = self.out('iblinkinfo')
        self.assertEqual(len(re.findall(r'Active/  LinkUp\)==>', out)), 16)
        self.assertNotIn('Could', out)
        self.assertEqual(len(self.out('iblinkinfo', '-l', '--switches-only').splitlines()),
                         len(re.findall(r'==>', self.out('iblinkinfo', '--switches-only'))))

    def test_ibqueryerrors(self):
        out = self.out('ibqueryerrors')
        self.assertRegex(out, r'## Summary: 8 nodes checked, 0 bad nodes found')

    def test_identities(self):
        self.out('ibidsverify')
        self.out('sh', '-c', 'd=$(mktemp -d) && ibnetdiscover --cache $d/c >/dev/null && dump_lfts >$d/l && '
                 'check_lft_balance -l $d/l -i $d/c -v; r=$?; rm -r $d; exit $r')
        self.assertIn('h2 mlx5_0', self.out('sh', '-c', 'd=$(mktemp -d) && ibnetdiscover --cache $d/c >/dev/null && '
                                            'iblinkinfo --load-cache $d/c; r=$?; rm -r $d; exit $r'))


class Queries(OnRing):
    def test_smpquery(self):
        self.assertRegex(self.out('smpquery', 'nodeinfo', '3'), r'NodeType:\.*Channel Adapter')
        self.assertRegex(self.out('smpquery', 'nodeinfo', '6'), r'NodeType:\.*Switch')
        self.assertRegex(self.out('smpquery', 'nodedesc', '3'), r'h3 mlx5_0')
        self.assertRegex(self.out('smpquery', 'switchinfo', '6'), r'LinearFdbTop:\.*8\n')
        self.assertRegex(self.out('smpquery', 'portinfo', '6', '1'), r'LinkState:\.*Active')
        self.assertRegex(self.out('smpquery', 'pkeys', '6', '0'), r'0xffff')
        self.assertRegex(self.out('smpquery', 'pkeys', '3'), r'0xffff')
        self.assertIn('SL2VL', self.out('smpquery', 'sl2vl', '6', '1'))
        self.assertIn('VL', self.out('smpquery', 'vlarb', '6', '1'))
        self.assertRegex(self.out('smpquery', 'guidinfo', '3'), r'0x5a17ca03')
        self.assertNotEqual(self.ask('smpquery', 'nodeinfo', '77', '-t', '50').status, 0)

    def test_far_nodes_by_directed_route(self):
        seen = set()
        for path in ('0', '0,1', '0,1,1', '0,1,2', '0,1,1,1'):
            r = self.ask('smpquery', '-D', 'nodedesc', path)
            if r.status == 0:
                seen.add(r.out)
        self.assertGreaterEqual(len(seen), 3)

    def test_sminfo(self):
        self.assertRegex(self.out('sminfo'), r'sm lid 1 .*state 3 SMINFO_MASTER')
        self.assertRegex(self.out('sminfo', host='h4'), r'sm lid 1 .*state 3 SMINFO_MASTER')

    def test_ibaddr(self):
        self.assertIn('LID start 0x6 end 0x6', self.out('ibaddr', '6'))
        self.assertIn('LID start 0x3 end 0x3', self.out('ibaddr', '-G', self.guid('3')))

    def test_perfquery(self):
        for args in ((), ('-x',), ('3',), ('-x', '3'), ('6', '1'), ('-x', '6', '1'), ('-a', '6'),
                     ('-l', '6'), ('-R', '6', '1'), ('-r', '3')):
            self.out('perfquery', *args)

    def test_vendstat_is_refused(self):
        self.assertNotEqual(self.ask('vendstat', '-N', '3', '-t', '50').status, 0)


class Routes(OnRing):
    def test_ibtracert(self):
        for a in '1234':
            for b in '1234':
                if a != b:
                    out = self.out('ibtracert', a, b)
                    self.assertRegex(out, rf'To ca .* lid {b}-{b} "h{b} mlx5_0"')
                    hops = len(re.findall(r'-> switch port', out))
                    self.assertEqual(hops, 3 if abs(int(a) - int(b)) == 2 else 2)
        self.out('ibtracert', '-G', self.guid('1'), self.guid('3'))

    def test_ibroute(self):
        out = self.out('ibroute', '6')
        self.assertIn('8 valid lids dumped', out)
        for lid in range(1, 9):
            self.assertRegex(out, rf'0x000{lid} 00[0-5] ')
        self.out('ibroute', '-M', '6')

    def test_dumps(self):
        self.assertEqual(self.out('dump_lfts').count('Unicast lids'), 4)
        self.out('dump_mfts')
        self.assertIn('h2', self.out('dump_fts'))


class Agents(OnRing):
    """Two programs that talk over MADs."""

    def test_ibping(self):
        server = self.fab.start('ibping', '-S', options=('--host', 'h3'))
        try:
            wait_for(lambda: self.ask('ibping', '-c', '1', '-t', '200', '3').status == 0,
                     'ibping to answer')
            self.assertIn('5 packets transmitted, 5 received, 0% packet loss',
                          self.out('ibping', '-c', '5', '3'))
            self.assertIn('1000 received', self.out('ibping', '-f', '-c', '1000', '3', host='h2'))
        finally:
            server.kill()

    def test_ibsysstat(self):
        server = self.fab.start('ibsysstat', '-S', options=('--host', 'h2'))
        try:
            # A ping succeeds with any answer, also with the kernel's answer that nobody serves the class
            # yet. So wait for the name.
            wait_for(lambda: os.uname().nodename in self.ask('ibsysstat', '-t', '200', '2', 'host').out,
                     'ibsysstat to answer')
            self.assertIn('succeeded', self.out('ibsysstat', '2', 'ping'))
            self.assertRegex(self.out('ibsysstat', '2', 'cpu'), r'cpu 0')
        finally:
            server.kill()


class PortState(Case):
    def test_ibportstate(self):
        with Fabric('--topo', RING) as fab:
            def ask(*cmd, host='h1'):
                return fab.run(*cmd, options=('--host', host))

            def state(lid, port):
                return re.search(r'LinkState:\.*(\w+)', self.ok(ask('smpquery', 'portinfo', lid,
                                                                    port)))[1]
            port = re.search(r'\[(\d+)\] -> ca port', self.ok(ask('ibtracert', '1', '2')))[1]
            sw = re.search(r'switch.*lid (\d+)-\d+.*\n.*-> ca', self.ok(ask('ibtracert', '1', '2')))
            sw = sw[1] if sw else '6'
            self.assertRegex(self.ok(ask('ibportstate', sw, port, 'query')), r'LinkState:\.*Active')
            self.ok(ask('ibportstate', sw, port, 'disable'))
            self.assertEqual(state(sw, port), 'Down')
            self.assertRegex(self.ok(ask('ibstat', host='h2')), r'State: Down')
            self.assertNotEqual(ask('smpquery', '-t', '50', 'nodeinfo', '2').status, 0)
            self.ok(ask('ibportstate', sw, port, 'enable'))
            wait_for(lambda: state(sw, port) == 'Active', 'the SM to bring the port back')
            self.ok(ask('smpquery', 'nodeinfo', '2'))
            self.ok(ask('ibportstate', sw, port, 'reset'))
            wait_for(lambda: state(sw, port) == 'Active', 'the SM to bring the port back')
            self.ok(ask('ibportstate', sw, port, 'width', '1'))
            self.ok(ask('ibportstate', sw, port, 'reset'))
            wait_for(lambda: 'LinkWidthActive:.................1X' in
                     self.ok(ask('smpquery', 'portinfo', sw, port)), 'the narrow link')


# Clients that come and go, sixteen at a time; some are killed at a random moment.
MANY = r"""
for i in $(seq 1000); do
    (   smpquery -t 500 nodeinfo $((i % 8 + 1)) >/dev/null 2>&1 &
        p=$!
        [ $((i % 10)) = 0 ] && { sleep 0.00$((i / 10 % 7)); kill -9 $p; } 2>/dev/null
        wait $p
        r=$?
        [ $r = 0 ] || [ $r = 137 ] || echo "status $r"
    ) 2>/dev/null &
    [ $((i % 16)) = 0 ] && wait
done
wait
"""


class Crowd(OnRing):
    def test_a_thousand_short_lived_clients(self):
        self.assertEqual(self.out('sh', '-c', MANY, timeout=3000), '')
        # The supervisor hears of the last ones' death a little later.
        wait_for(lambda: not [k for k, v in self.status(self.fab)['objects'].items()
                              if v and k in ('agents', 'sends', 'files')], 'nothing to be left')
        self.out('smpquery', 'nodeinfo', '8')


if __name__ == '__main__':
    unittest.main()
