# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Topologies: files and generators become fabrics, and fabrics are written again."""
import html.parser
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, TIMEOUT, Case, Fabric, Running  # noqa: E402

# As ibnetdiscover prints it: an enhanced port 0, a router, two hosts, of which one has two HCAs.
DUMP = '''#
# Topology file: generated on Tue Mar  3 12:00:00 2020
#
# Initiated from node 0002c90300a1b2c0 port 0002c90300a1b2c1

vendid=0x2c9
devid=0xc738
sysimgguid=0xf45214030011220
switchguid=0xf45214030011220(f45214030011220)
Switch	36 "S-0f45214030011220"		# "MF0;sw1:SX6036/U1" enhanced port 0 lid 13 lmc 0
[1]	"H-0002c90300a1b2c0"[1](2c90300a1b2c1) 		# "node1 HCA-1" lid 4 4xFDR
[2]	"H-0002c90300a1b2d0"[1](2c90300a1b2d1) 		# "node1 HCA-2" lid 5 4xFDR
[3]	"H-0002c90300a1b2e0"[2](2c90300a1b2e2) 		# "node2 HCA-1" lid 6 4xQDR
[36]	"R-0002c90300000100"[7](2c90300000107) 		# "edge router" lid 9 12xEDR

vendid=0x2c9
devid=0x1003
sysimgguid=0x2c90300a1b2c3
caguid=0x2c90300a1b2c0
Ca	2 "H-0002c90300a1b2c0"		# "node1 HCA-1"
[1](2c90300a1b2c1) 	"S-0f45214030011220"[1]		# lid 4 lmc 0 "MF0;sw1:SX6036/U1" lid 13 4xFDR

vendid=0x2c9
devid=0x1003
sysimgguid=0x2c90300a1b2d3
caguid=0x2c90300a1b2d0
Ca	1 "H-0002c90300a1b2d0"		# "node1 HCA-2"
[1](2c90300a1b2d1) 	"S-0f45214030011220"[2]		# lid 5 lmc 0 "MF0;sw1:SX6036/U1" lid 13 4xFDR

vendid=0x2c9
devid=0x1003
sysimgguid=0x2c90300a1b2e3
caguid=0x2c90300a1b2e0
Ca	2 "H-0002c90300a1b2e0"		# "node2 HCA-1"
[2](2c90300a1b2e2) 	"S-0f45214030011220"[3]		# lid 6 lmc 0 "MF0;sw1:SX6036/U1" lid 13 4xQDR

vendid=0x2c9
devid=0x200
sysimgguid=0x2c90300000100
rtguid=0x2c90300000100
Rt	8 "R-0002c90300000100"		# "edge router"
[7](2c90300000107) 	"S-0f45214030011220"[36]		# lid 9 lmc 0 "MF0;sw1:SX6036/U1" lid 13 12xEDR
'''

# As ibsim's examples are written.
NET = '''# two switches
Switch	8 "Switch1"
[1]	"Hca1"[1]
[3]	"Switch2"[3] w=3
[4]	"Switch2"[4]

Switch 8 "Switch2"
[1]	"Hca2"[2]
[3]	"Switch1"[3]
[4]	"Switch1"[4]

Hca	2 "Hca1"
[1]	"Switch1"[1]

Hca	2 "Hca2"
[2]	"Switch2"[1]
'''


def nodes(text):
    """{what a node's lines are}: the order of nodes, comments and dates left out."""
    out = set()
    for block in re.sub(r'^#.*\n', '', text, flags=re.M).strip().split('\n\n'):
        lines = [re.sub(r'\s+', ' ', line).strip() for line in block.splitlines()]
        out.add('\n'.join(lines))
    return out

# Opens and closes in a child of its own each time, until it is interrupted. Prints the number and the two
# longest times.
OPENER = '''
import os, time
n = 0
worst = [0, 0]
try:
    while True:
        t = time.monotonic()
        pid = os.fork()
        if not pid:
            os.close(os.open('/dev/infiniband/uverbs0', os.O_RDWR))
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        worst = sorted([*worst, time.monotonic() - t])[1:]
        n += 1
        if n == 1:
            print('opens', flush=True)
except KeyboardInterrupt:
    print(n, *worst)
'''


class Written(Case):
    def topo(self, *args, stdin=''):
        r = subprocess.run([SOFTHCA, 'topo', *args], input=stdin, capture_output=True, errors='replace',
                           timeout=TIMEOUT)
        return r

    def write(self, *args, **kw):
        r = self.topo(*args, **kw)
        self.assertEqual((r.returncode, r.stderr), (0, ''))
        return r.stdout

    def test_a_dump_is_written_as_it_was(self):
        self.assertEqual(nodes(self.write('-', stdin=DUMP)), nodes(DUMP))

    def test_what_is_written_is_read_again(self):
        for spec in ('ring:5', 'star:7', 'torus:3x3', 'torus:2x3x4', 'fat-tree:3:4', 'random:40:1'):
            one = self.write(spec)
            self.assertEqual(self.write('-', stdin=one), one, spec)
        one = self.write('-', stdin=NET)
        self.assertEqual(self.write('-', stdin=one), one)

    def test_the_same_always(self):
        self.assertEqual(self.write('random:100:5'), self.write('random:100:5'))

    def test_bad_lines_are_placed(self):
        for text, why in (('Switch 4 "A"\n[1] "B"[1]\n', "<stdin>:2:5: there is no node \"B\""),
                          ('\n\nfoo\n', "<stdin>:3:1: 'foo' does not start a line of a topology"),
                          ('', '<stdin>: there are no nodes')):
            r = self.topo('-', stdin=text)
            self.assertEqual((r.returncode, r.stdout), (2, ''))
            self.assertEqual(r.stderr, f'softhca: topo: {why}\n')
        # All that is wrong, in one run, as also `up` says it.
        text = 'Switch 4 "A"\n[1] "B"[1]\n[9] "C"\nfoo\n'
        for verb in 'topo', 'up':
            r = subprocess.run([SOFTHCA, verb, *(('lab', '--topo') if verb == 'up' else ()), '-'], input=text,
                               capture_output=True, errors='replace', timeout=TIMEOUT)
            self.assertEqual(r.returncode, 2)
            self.assertEqual(r.stderr, ''.join(f'softhca: {verb}: <stdin>:{e}\n' for e in (
                '2:5: there is no node "B"', "3:2: the port's number is 9: it must be from 1 to 4",
                "4:1: 'foo' does not start a line of a topology")))

    def test_refused(self):
        for args, why in ((['ring:x'], 'ring:N[:HCAS]'), (['/nowhere'], 'No such file'),
                          (['fattree:3:16'], 'No such file or directory; did you mean fat-tree:3:16?'),
                          (['ring'], 'No such file or directory; the form is ring:N[:HCAS]'),
                          (['./fattree:3:16'], 'No such file or directory\n'),
                          (['-o', 'jpeg', 'ring:3'], "'jpeg' is not one of ibnetdiscover, dot, svg"),
                          (['-o', 'x.jpeg', 'ring:3'], "nor a file whose name ends in .topo"),
                          (['-o', '.svg', 'ring:3'], 'is not one of'),
                          (['--hosts', 'few', '-o', 'dot', 'ring:3'], "not 'all', 'count' or a number"),
                          (['--hosts', 'all', 'ring:3'], '--hosts is for pictures'),
                          (['--counters', '-o', 'html', 'ring:3'], '--counters is for pictures'),
                          (['--counters', '-o', 'dot', 'ring:3'], "'ring:3' has no counters"),
                          (['--fabric', 'x', 'ring:3'], 'either'),
                          (['a', 'b'], 'too many')):
            r = self.topo(*args)
            self.assertEqual((r.returncode, r.stdout), (2, ''), args)
            self.assertIn(why, r.stderr)
            self.assertEqual(r.stderr.count('\n'), 1)

    def test_twenty_thousand_hcas_are_read_quickly(self):
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(self.write('fat-tree:3:48:20000'))
            f.flush()
            def used():  # processor time: others may have the processor, too
                u = resource.getrusage(resource.RUSAGE_CHILDREN)
                return u.ru_utime + u.ru_stime
            before = used()
            out = self.write('-o', 'dot', '--hosts', 'all', f.name)
            self.assertLess(used() - before, 5)
            self.assertEqual(out.count('shape=ellipse'), 20000)


def graph(dot):
    """What Graphviz reads: nodes by name, and edges."""
    if not shutil.which('dot'):
        raise unittest.SkipTest('not installed: dot of Graphviz')
    r = subprocess.run(['dot', '-Tjson'], input=dot, capture_output=True, errors='replace', timeout=TIMEOUT)
    assert (r.returncode, r.stderr) == (0, ''), r
    g = json.loads(r.stdout)
    drawn = [o for o in g['objects'] if 'shape' in o]  # the others are ranks
    return g, {html.unescape(o['label']): o for o in drawn}, g.get('edges', [])


class Embedded(html.parser.HTMLParser):
    """The data of a page, and all that it would load from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.data, self.foreign, self.open, self.inside = '', [], [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.inside = attrs.get('id') == 'fabric'
        self.foreign += [v for k, v in attrs.items() if k in ('src', 'href') or '//' in (v or '')]
        if tag not in ('meta', 'input'):
            self.open.append(tag)

    def handle_endtag(self, tag):
        self.inside = False
        assert self.open.pop() == tag, f'</{tag}>'

    def handle_data(self, data):
        self.data += data if self.inside else ''
        if re.search(r'@import|url\(|https?:', data):
            self.foreign.append(data)


def page_data(test, text):
    p = Embedded(text)
    test.assertEqual((p.foreign, p.open), ([], []))
    d = json.loads(p.data)
    for n in d['nodes']:
        n['ports'] = [dict(zip(d['port_columns'], row)) for row in n['ports']]
    return d


def processor_time():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def net(cables, names=None, options=None):
    """A topology file. A cable is (node, port, node, port); nodes in capitals are switches."""
    ends = {}
    for k, (a, p, b, q) in enumerate(cables):
        more = (options or {}).get(k, '')
        ends.setdefault(a, []).append(f'[{p}] "{b}"[{q}] {more}')
        ends.setdefault(b, []).append(f'[{q}] "{a}"[{p}] {more}')
    return '\n'.join(f'{"Switch 8" if n.isupper() else "Hca 1"} "{n}" # "{(names or {}).get(n, n)}"\n' +
                     '\n'.join(lines) + '\n' for n, lines in ends.items())


# Two leaves and two spines, two cables between each pair, a server at a spine.
CLOS = [('L1', 1, 'a', 1), ('L1', 2, 'b', 1), ('L2', 1, 'c', 1), ('L2', 2, 'd', 1), ('S1', 8, 'server', 1)] + [
    (f'L{leaf}', 3 + 2 * spine + n, f'S{spine}', 4 * leaf - 3 + n) for leaf in (1, 2) for spine in (1, 2)
    for n in (0, 1)]


class Pictures(Case):
    def write(self, *args, stdin='', status=0, env=None):
        r = subprocess.run([SOFTHCA, 'topo', *args], input=stdin.encode(), capture_output=True, timeout=TIMEOUT,
                           env=env)
        self.assertEqual(r.returncode, status, r)
        return r.stderr.decode() if status else r.stdout.decode()

    def test_a_rank_for_each_level(self):
        """Also where a server is at a spine; the ranks have the same height."""
        for text, rows in ((self.write('fat-tree:2:8'), (32, 8, 4)), (net(CLOS), (5, 2, 2))):
            _, nodes, _ = graph(self.write('-o', 'dot', '-', stdin=text))
            y = [float(n['pos'].split(',')[1]) for n in nodes.values()]
            self.assertEqual([y.count(h) for h in sorted(set(y))], list(rows))

    def test_no_hierarchy(self):
        for spec in ('torus:3x3', 'ring:5', 'random:20:1'):
            out = self.write('-o', 'dot', spec)
            self.assertIn('layout=neato', out)
            self.assertNotIn('rank=same', out)

    def test_parallel_cables_are_one_line(self):
        _, nodes, edges = graph(self.write('-o', 'dot', '-', stdin=net(CLOS)))
        number = {o['_gvid']: name for name, o in nodes.items()}
        between = {(number[e['tail']], number[e['head']]): e for e in edges}
        self.assertEqual(len(edges), 5 + 4)
        e = between['S1', 'L2']  # the switch of the higher level is the tail
        self.assertEqual((e['label'], e['taillabel'], e['headlabel']), ('2 cables', '5-6', '5-6'))
        self.assertEqual(between['S1', 'server'].get('label', ''), '')

    def test_rates_that_differ_are_said(self):
        text = net(CLOS, options={0: 'w=1 s=4'})
        g, nodes, edges = graph(self.write('-o', 'dot', '-', stdin=text))
        odd = [e for e in edges if e.get('label') == '1xQDR']
        self.assertEqual([e['head'] for e in odd], [nodes['a']['_gvid']])
        self.assertIn('13 cables (4xHDR where nothing else is said)', g['label'])

    def test_numbers_of_hosts(self):
        for spec, hosts, leaves in (('fat-tree:2:16:100', 100, 13), ('fat-tree:2:36:648', 648, 36), ('star:3', 3, 1)):
            out = self.write('-o', 'dot', '--hosts', 'count', spec)
            got = [int(n) for n in re.findall(r'label="(\d+) hosts\\n', out)]
            alone = len(re.findall(r'label="h\d+ mlx5_0"', out))
            self.assertEqual((sum(got) + alone, len(got) + alone), (hosts, leaves), spec)
        # Hosts are shown one by one if there are no more than this number of them, or with `all`.
        for limit, n in (('2', 1), ('3', 3), ('all', 3), (None, 3)):
            out = self.write('-o', 'dot', *(['--hosts', limit] if limit else []), 'star:3')
            self.assertEqual(out.count('shape=ellipse'), n, limit)
        self.assertEqual(self.write('-o', 'dot', 'star:65').count('shape=ellipse'), 1)

    def test_adapters_of_one_host(self):
        text = net([('S', 1, 'a', 1), ('S', 2, 'b', 1), ('S', 3, 'c', 1)],
                   {'a': 'n1 HCA-1', 'b': 'n1 HCA-2', 'c': 'n2 HCA-1'})
        self.assertIn('"2 hosts, 3 adapters\\nn1 ... n2"', self.write('-o', 'dot', '--hosts', '1', '-', stdin=text))

    def test_names_are_quoted(self):
        text = net([('S', 1, 'a', 1)], {'S': 'a\\ <b> & </script> @DATA@'})
        _, nodes, _ = graph(self.write('-o', 'dot', '-', stdin=text))
        self.assertIn('a\\\\ <b> & </script> @DATA@', nodes)
        data = page_data(self, self.write('-o', 'html', '-', stdin=text))
        self.assertEqual(data['nodes'][0]['name'], 'a\\ <b> & </script> @DATA@')

    @unittest.skipUnless(shutil.which('dot'), 'not installed: dot of Graphviz')
    def test_images(self):
        svg = self.write('-o', 'svg', 'fat-tree:2:8')
        root = xml.etree.ElementTree.fromstring(svg)
        classes = [g.get('class') for g in root.iter('{http://www.w3.org/2000/svg}g')]
        self.assertEqual((classes.count('node'), classes.count('edge')), (44, 64))
        with tempfile.TemporaryDirectory() as place:
            for end, first in (('svg', b'<?xml'), ('png', b'\x89PNG'), ('pdf', b'%PDF'), ('gv', b'graph'),
                               ('dot', b'graph'), ('html', b'<!DOCTYPE'), ('topo', b'#')):
                name = os.path.join(place, f'lab.{end}')
                self.assertEqual(self.write('-o', name, 'ring:3'), '')
                with open(name, 'rb') as f:
                    self.assertTrue(f.read().startswith(first), end)

    def test_images_without_graphviz(self):
        with tempfile.TemporaryDirectory() as place:
            name = os.path.join(place, 'x.svg')
            why = self.write('-o', name, 'ring:3', status=2, env={'PATH': place})
            self.assertEqual(why, 'softhca: topo: -o svg needs dot(1) of Graphviz, which is not installed '
                             '(apt-get install graphviz); -o html needs nothing\n')
            with open(os.path.join(place, 'dot'), 'w', encoding='ascii') as f:
                f.write('#!/bin/sh\nexit 3\n')
            os.chmod(f.name, 0o755)
            why = self.write('-o', name, 'ring:3', status=2, env={'PATH': place})
            self.assertEqual(why, 'softhca: topo: dot could not draw the picture (exit status 3)\n')
            self.assertEqual(os.listdir(place), ['dot'])
            self.assertIn('No such file', self.write('-o', place + '/no/x.gv', 'ring:3', status=2))

    def test_a_bitmap_that_is_too_large(self):
        """The user hears what to do; what else dot says is passed on."""
        png = b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0%b\0\0\1\0'
        for words, width, why in (
                ('dot: graph is too large for cairo-renderer bitmaps. Scaling by 0.213446 to fit', 32767,
                 'softhca: topo: the picture is too large for a bitmap: it was made smaller, to 21 % (32767 x 256 '
                 'pixels), and may not be readable; -o FILE.svg has no limit, -o FILE.html zooms, --hosts count '
                 'draws less\n'),
                ('dot: a word', 20000,
                 'dot: a word\nsofthca: topo: the picture has 20000 x 256 pixels, more than many programs show; -o '
                 'FILE.svg and -o FILE.html zoom, --hosts count draws less\n'),
                ('', 16384, '')):
            with tempfile.TemporaryDirectory() as place:
                with open(place + '/dot', 'w') as f:
                    f.write(f'#!/bin/sh\nPATH={os.environ["PATH"]}\nprintf %s "{words}" >&2\n[ -z "{words}" ] || echo >&2\n'
                            f'cat {place}/x.png\n')
                os.chmod(place + '/dot', 0o755)
                with open(place + '/x.png', 'wb') as f:
                    f.write(png % width.to_bytes(2, 'big'))
                r = subprocess.run([SOFTHCA, 'topo', '-o', place + '/y.png', 'ring:3'], capture_output=True,
                                   errors='replace', timeout=TIMEOUT, env={**os.environ, 'PATH': place})
                self.assertEqual((r.returncode, r.stderr), (0, why))

    def test_states(self):
        with Fabric('--topo', 'fat-tree:2:4') as fab:
            def ask(*args):
                return fab.softhca('topo', '--fabric', fab.name, *args)
            fab.softhca('link', '--fabric', fab.name, '--host', 'h3', 'mlx5_0', '1', 'down')
            lid = re.search(r'"l1-1" base port 0 lid (\d+)', ask()).group(1)
            self.ok(fab.run('ibportstate', lid, '4', 'disable'))
            for kind, args, hosts in (('all', (), 8), ('count', ('--hosts', 'count'), 5)):
                g, nodes, edges = graph(ask('-o', 'dot', *args))
                bad = sorted((e['label'], e['style'], e['color']) for e in edges if 'style' in e)
                self.assertEqual(bad, [('disabled', 'dashed', '#d62728'), ('pulled', 'dotted', '#d62728')], kind)
                self.assertEqual([n for n, o in nodes.items() if 'dashed' in o['style']], ['h3 mlx5_0'])
                self.assertEqual(sum(o['shape'] == 'ellipse' for o in nodes.values()), hosts)
                self.assertIn(', 2 not up', g['label'])
            data = page_data(self, ask('-o', 'html'))
            self.assertEqual(sorted(p['cable'] for n in data['nodes'] for p in n['ports'] if p['cable']),
                             ['disabled'] * 2 + ['pulled'] * 2)
            # A port whose cable was pulled takes another one: the old one is no longer there.
            self.ok(fab.run('sh', '-c', f'echo \'ReLink "h3 mlx5_0"[1]\' | {SOFTHCA} console'))
            self.assertNotIn('pulled', ask('-o', 'dot'))
        with Fabric('--topo', 'star:2', '--sm', 'none') as fab:
            self.assertEqual(fab.softhca('topo', '--fabric', fab.name, '-o', 'dot').count('"not active"'), 2)

    def test_one_of_two_parallel_cables(self):
        with tempfile.NamedTemporaryFile('w', suffix='.topo') as f:
            f.write(net(CLOS))
            f.flush()
            with Fabric('--topo', f.name) as fab:
                self.ok(fab.run('sh', '-c', f'echo \'Unlink "S1"[1]\' | {SOFTHCA} console'))
                _, nodes, edges = graph(fab.softhca('topo', '--fabric', fab.name, '-o', 'dot'))
        both = nodes['S1']['_gvid'], nodes['L1']['_gvid']
        self.assertEqual(sorted((e['taillabel'], e.get('label', '')) for e in edges
                                if (e['tail'], e['head']) == both), [('1', 'pulled'), ('2', '')])

    def test_counters_and_the_page_are_those_of_status(self):
        with Fabric('--topo', 'star:3') as fab:
            self.pair(fab, ('ibv_rc_pingpong', '-n', '321'), options=(('--host', 'h1'), ('--host', 'h2')))
            status = self.status(fab)
            out = fab.softhca('topo', '--fabric', fab.name, '-o', 'dot', '--counters')
            data = page_data(self, fab.softhca('topo', '--fabric', fab.name, '-o', 'html'))
            self.assertEqual(self.status(fab)['hosts'], status['hosts'])  # nothing has changed meanwhile
        _, nodes, edges = graph(out)
        want = {h['name']: h['hcas'][0]['ports'][0] for h in status['hosts']}
        self.assertGreater(want['h1']['xmit_packets'], 1000)
        for e in edges:
            host = next(n for n, o in nodes.items() if o['_gvid'] == e['head']).split()[0]
            sent, back = want[host]['xmit_packets'], want[host]['rcv_packets']
            self.assertEqual(e['headlabel'], f'1\\n{sent}' if sent else '1')
            self.assertEqual(e['taillabel'], f'{host[1:]}\\n{back}' if back else host[1:])
        self.assertEqual(data['fabric'], fab.name)
        got = {}
        for n in data['nodes']:
            if n['type'] == 'ca':
                got[n['host'], n['device']] = (n['guid'], n['ports'])
        for h in status['hosts']:
            for hca in h['hcas']:
                guid, ports = got.pop((h['name'], hca['name']))
                self.assertEqual((guid, len(ports)), (hca['node_guid'], len(hca['ports'])))
                for mine, theirs in zip(ports, hca['ports']):
                    both = mine.keys() & theirs.keys()
                    self.assertGreaterEqual(len(both), 9)
                    self.assertEqual({k: mine[k] for k in both}, {k: theirs[k] for k in both})
        self.assertEqual(got, {})
        # The two ends of a cable name each other.
        for i, n in enumerate(data['nodes']):
            for p in n['ports']:
                far = next(q for q in data['nodes'][p['peer']]['ports'] if q['port'] == p['peer_port'])
                self.assertEqual((far['peer'], far['peer_port']), (i, p['port']))

    @unittest.skipUnless(shutil.which('node'), 'node is not installed')
    def test_the_page_shows_errors(self):
        """As counters, as colours of cables, as a list of the worst; the script is executed."""
        with Fabric('--topo', 'star:3') as fab, tempfile.TemporaryDirectory() as place:
            def page(colours, word):
                name = os.path.join(place, 'x.html')
                fab.softhca('topo', '--fabric', fab.name, '-o', name)
                r = subprocess.run(['node', os.path.join(os.path.dirname(__file__), 'page.js'), name, colours, word],
                                   capture_output=True, errors='replace', timeout=TIMEOUT)
                self.assertEqual((r.returncode, r.stderr), (0, ''))
                return name, json.loads(r.stdout)
            name, seen = page('errors', 'h2')
            self.assertIn('All cables are up', seen['panel'])
            self.assertNotIn('error', seen['panel'] + seen['node'].replace('received errors', ''))
            none = seen['styles']
            for what in ('"h2"[1] PortCounters.SymbolErrorCounter=7', '"h3"[1] PortCounters.LinkDownedCounter=200',
                         '"h3"[1] PortCounters.VL15Dropped=900'):
                self.ok(fab.run('sh', '-c', f"echo 'PerformanceSet {what}' | {SOFTHCA} console"))
            name, seen = page('errors', 'h2')
            with open(name, encoding='utf-8') as f:
                errors = {n['host']: p['errors'] for n in page_data(self, f.read())['nodes'] if n['type'] == 'ca'
                          for p in n['ports']}
            self.assertEqual(errors, {'h1': None, 'h2': {'symbol_error': 7},
                                      'h3': {'link_downed': 200, 'VL15_dropped': 900}})
            # few and many errors have colours of their own
            self.assertEqual(len(set(seen['styles']) - set(none)), 2)
            self.assertRegex(seen['panel'], r'2 cables have errors .*h3.* 1100 .*h2.* 7 ')
            self.assertRegex(seen['node'], r'Errors +port 1 symbol_error 7')
            self.assertEqual(page('state', 'h2')[1]['styles'], none)

    def test_roce_has_no_cables(self):
        with Fabric('--hosts', '2', '--link', 'eth') as fab:
            data = page_data(self, fab.softhca('topo', '--fabric', fab.name, '-o', 'html'))
            self.assertEqual([(n['host'], [(p['state'], p['peer']) for p in n['ports']]) for n in data['nodes']],
                             [('h1', [('ACTIVE', None)]), ('h2', [('ACTIVE', None)])])
            graph(fab.softhca('topo', '--fabric', fab.name, '-o', 'dot'))

    def test_five_thousand_hosts(self):
        before = processor_time()
        text = self.write('-o', 'html', 'fat-tree:3:36:5184')
        out = self.write('-o', 'dot', 'fat-tree:3:36:5184')
        self.assertLess(processor_time() - before, 5)
        self.assertLess(len(text), 4 << 20)
        self.assertEqual(out.count('label="18 hosts'), 288)
        data = page_data(self, text)
        self.assertEqual((len(data['nodes']), data['levels']), (5184 + 738, 4))


class Up(Case):
    def fabric(self, text, *options):
        self.file = tempfile.NamedTemporaryFile('w', suffix='.topo')
        self.addCleanup(self.file.close)
        self.file.write(text)
        self.file.flush()
        return Fabric('--topo', self.file.name, *options)

    def test_a_dump_becomes_a_fabric(self):
        with self.fabric(DUMP) as fab:
            s = self.status(fab)
            self.assertEqual([h['name'] for h in s['hosts']], ['node1', 'node2'])
            self.assertEqual((s['subnet']['adapters'], s['subnet']['switches'],
                              s['subnet']['routers']), (3, 1, 1))
            out = self.ok(fab.run('ibstat'))
            self.assertEqual(re.findall(r"CA '(\w+)'", out), ['mlx5_0', 'mlx5_1'])
            self.assertIn('Node GUID: 0x0002c90300a1b2c0', out)
            self.assertIn('Port GUID: 0x0002c90300a1b2c1', out)
            self.assertRegex(out, r'Port 1:\n\s+State: Active\n\s+Physical state: LinkUp\n\s+Rate: 56')
            self.assertRegex(out, r'Port 2:\n\s+State: Down')
            # The file's LIDs are kept.
            self.assertEqual(re.findall(r'Base lid: (\d+)', out)[0], '4')
            out = self.ok(fab.run('ibstat', options=['--host', 'node2']))
            self.assertRegex(out, r'Port 2:\n\s+State: Active\n\s+Physical state: LinkUp\n\s+Rate: 40')
            self.assertEqual(nodes(fab.softhca('topo', '--fabric', fab.name)), nodes(DUMP))

    def test_ibnetdiscover_prints_what_was_loaded(self):
        with self.fabric(DUMP) as fab:
            for host in 'node1', 'node2':
                card = ['-C', 'mlx5_0', '-P', '1' if host == 'node1' else '2']
                out = self.ok(fab.run('ibnetdiscover', *card, options=['--host', host]))
                self.assertEqual(nodes(out), nodes(DUMP))
        for spec in 'star:3', 'torus:3x3', 'fat-tree:2:8', 'random:40:1':
            with Fabric('--topo', spec) as fab:
                out = self.ok(fab.run('ibnetdiscover'))
                self.assertEqual(nodes(out), nodes(fab.softhca('topo', '--fabric', fab.name)))

    def test_all_rates(self):
        """As ibnetdiscover prints them; it knows no XDR."""
        rates = [w + s for w in ('1x', '2x', '4x', '8x', '12x')
                 for s in ('SDR', 'DDR', 'QDR', 'FDR10', 'FDR', 'EDR', 'HDR', 'NDR')]
        text = ('vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x1\nswitchguid=0x1(1)\n'
                'Switch\t40 "S-0000000000000001"\t\t# "sw" base port 0 lid 41 lmc 0\n')
        for n, rate in enumerate(rates, 1):
            text += f'[{n}]\t"H-{n << 8:016x}"[1]({n << 8:x})\t# "n{n} x" lid {n} {rate}\n'
        for n, rate in enumerate(rates, 1):
            text += (f'\nvendid=0x2c9\ndevid=0x101b\nsysimgguid={n << 8:#x}\n'
                     f'caguid={n << 8:#x}\nCa\t1 "H-{n << 8:016x}"\t# "n{n} x"\n'
                     f'[1]({n << 8:x}) \t"S-0000000000000001"[{n}]\t# lid {n} lmc 0 "sw" lid 41 '
                     f'{rate}\n')
        with self.fabric(text) as fab:
            out = self.ok(fab.run('ibnetdiscover'))
            self.assertEqual(nodes(out), nodes(text))

    def test_what_ibnetdiscover_prints_can_be_loaded(self):
        with Fabric('--topo', 'torus:3x2') as fab:
            out = self.ok(fab.run('ibnetdiscover', options=['--host', 'h3']))
        with self.fabric(out) as fab:
            self.assertEqual(nodes(self.ok(fab.run('ibnetdiscover'))), nodes(out))

    def test_an_ibsim_net_becomes_a_fabric(self):
        with self.fabric(NET) as fab:
            self.assertEqual([h['name'] for h in self.status(fab)['hosts']], ['Hca1', 'Hca2'])
            out = self.ok(fab.run('ibstat', options=['--host', 'Hca2']))
            self.assertIn('Node GUID: 0x0000000000100003', out)
            self.assertRegex(out, r'Port 2:\n\s+State: Active')
            self.pair(fab, ('ibv_rc_pingpong', '-d', 'mlx5_0', '-n', '100'),
                      ('ibv_rc_pingpong', '-d', 'mlx5_0', '-i', '2', '-n', '100'),
                      options=(('--host', 'Hca1'), ('--host', 'Hca2')))

    def test_across_switches(self):
        with Fabric('--topo', 'ring:8') as fab:
            self.pair(fab, ('ibv_rc_pingpong', '-n', '100'),
                      options=(('--host', 'h1'), ('--host', 'h5')))

    def test_nobody_manages_it(self):
        with Fabric('--topo', 'ring:3', '--sm', 'none') as fab:
            out = self.ok(fab.run('ibstat'))
            self.assertIn('State: Initializing', out)
            self.assertIn('Base lid: 65535', out)

    def test_private(self):
        out = self.ok(Running([SOFTHCA, 'run', '--topo', 'star:3', '--host', 'h2', '--',
                               'ibstat']).finish())
        self.assertIn('0x5a17ca0300020000', out)
        for args, why in ((['--topo', 'star:3', '--host', 'h4'], "no host 'h4' on star:3"),
                          (['--topo', 'star:3', '--hca', '2'], '--topo determines'),
                          (['--topo', 'star:0'], 'N must be a number'),
                          (['--sm', 'opensm'], 'not one of builtin|none'),
                          (['--fabric', 'x', '--topo', 'ring:3'], '--topo would describe a new fabric')):
            r = Running([SOFTHCA, 'run', *args, '--', 'true']).finish()
            self.assertEqual(r.status, 2, str(r))
            self.assertIn(why, r.out)

    def test_what_iblinkinfo_prints_can_be_loaded(self):
        """In each of its forms; the same nodes and cables come back."""
        def seen(text):  # without the addresses and the order of the nodes
            return sorted(re.sub(r'0x[0-9a-f]{16} ', '', line) for line in text.splitlines()
                          if 'Down' not in line)
        with Fabric('--topo', 'fat-tree:2:4') as fab:
            forms = {form: self.ok(fab.run('iblinkinfo', *form, options=('--host', 'h1')))
                     for form in ((), ('-l',), ('--switches-only',), ('--cas-only',))}
            forms['-p'] = self.ok(fab.run('iblinkinfo', '-p', options=('--host', 'h1')))
        for form, text in forms.items():
            with tempfile.NamedTemporaryFile('w', suffix='.txt') as f:
                f.write(text)
                f.flush()
                if form == ('--cas-only',):  # no adapter is at a spine
                    out = self.ok(Running([SOFTHCA, 'topo', f.name]).finish())
                    self.assertEqual(len(re.findall(r'^Switch', out, re.M)), 4)
                    continue
                with Fabric('--topo', f.name) as fab:
                    again = self.ok(fab.run('iblinkinfo', options=('--host', 'h1')))
            self.assertEqual(seen(again), seen(forms[()]), form)

    def test_no_host_at_all(self):
        with self.fabric('Switch 2 "a"\n[1] "b"\nSwitch 2 "b"\n[1] "a"\n') as fab:
            r = fab.run('true')
            self.assertEqual((r.status, r.out),
                             (2, f"softhca: run: there is no host on fabric '{fab.name}'\n"))

    def test_no_such_host(self):
        with Fabric('--topo', 'ring:3') as fab:
            for host in ('h4', '', '../h1', 'x' * 40):
                r = fab.run('true', options=['--host', host])
                self.assertEqual(r.status, 2, str(r))
                self.assertIn('there is no host', r.out)

    def test_hosts_are_made_when_they_are_used(self):
        with Fabric('--topo', 'fat-tree:3:36:5184') as fab:
            self.assertEqual(sorted(os.listdir(os.path.join(fab.dir, fab.name, 'host'))), ['h1'])
            self.assertIn('Base lid: 5000', self.ok(fab.run('ibstat', options=['--host', 'h5000'])))
            s = self.status(fab)['subnet']
            self.assertEqual((s['adapters'], s['switches'], s['hosts_used']), (5184, 738, 2))
            self.assertLess(s['memory_per_node'], 16384)
            self.pair(fab, ('ibv_rc_pingpong', '-n', '10'),
                      options=(('--host', 'h1'), ('--host', 'h5184')))

    def test_twenty_thousand_hcas_come_up(self):
        with Fabric('--topo', 'fat-tree:3:48:20000') as fab:
            out = self.ok(fab.run('ibstat', options=['--host', 'h20000']))
            self.assertIn('State: Active', out)

    def test_a_file_that_cannot_be(self):
        with tempfile.NamedTemporaryFile('w') as f:
            f.write('Switch 4 "A"\n[1] "A"[1]\n')
            f.flush()
            r = Running([SOFTHCA, 'up', 'lab', '--topo', f.name]).finish()
            self.assertEqual(r.status, 2)
            self.assertEqual(r.out, f'softhca: up: {f.name}:2:5: port 1 of "A" is connected to '
                                    'itself\n')


class Sweep(Case):
    # Alone: it measures time.
    def test_a_sweep_keeps_nobody_waiting(self):
        """Processes join, open and close while the built-in manager sweeps a large subnet."""
        with Fabric('--topo', 'fat-tree:3:42') as fab:
            opener = fab.start('python3', '-c', OPENER)
            try:
                opener.wait_said('opens')
                longest = 0
                for state in ('down', 'up'):
                    t = time.monotonic()
                    fab.softhca('link', '--fabric', fab.name, 'mlx5_0', '1', state)
                    longest = max(longest, time.monotonic() - t)
                opener.proc.send_signal(signal.SIGINT)
                _, n, second, worst = self.ok(opener.finish()).split()
            finally:
                opener.kill()
            print(f'{n} opens, the worst took {float(worst):.3f} and {float(second):.3f} s; '
                  f'a sweep {longest:.3f} s')
            self.assertGreater(int(n), 1)
            # Opens that wait for sweeps wait for both. One long wait may be the machine's.
            self.assertLess(float(second), longest / 3)


if __name__ == '__main__':
    unittest.main()
