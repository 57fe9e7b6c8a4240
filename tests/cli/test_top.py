# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""softhca top: its pages and JSON, and the program on a terminal."""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, TIMEOUT, alive, fabric_dir, port_block, wait_for, VERBS_ENUMS  # noqa: E402

PORT = port_block()
TRAFFIC = '''
ibv_rc_pingpong -p $0 -n 1000000000 >/dev/null &
until grep -qs ":$(printf %04X $0) 0*:0000 0A" /proc/net/tcp*; do kill -0 $! || exit 9; sleep 0.02; done
exec ibv_rc_pingpong -p $0 -n 1000000000 localhost >/dev/null
'''
# A QP whose send queue waits for a receiver, and one in ERR with a flushed receive.
STATES = '''
import sys, time
sys.path.insert(0, '/usr/lib/python3/dist-packages')
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
''' + VERBS_ENUMS + '''
ctx = Context(name='mlx5_0'); pd = PD(ctx); cq = CQ(ctx, 10); mr = MR(pd, 64, e.IBV_ACCESS_LOCAL_WRITE)
def qp():
    return QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=8, max_recv_wr=8)))
def attr(peer):
    a = QPAttr(port_num=1)
    a.dest_qp_num, a.timeout, a.retry_cnt, a.rnr_retry, a.min_rnr_timer = peer.qp_num, 14, 7, 7, 12
    a.path_mtu = e.IBV_MTU_1024
    a.ah_attr = AHAttr(dlid=ctx.query_port(1).lid, port_num=1)
    return a
a, b, c = qp(), qp(), qp()
a.to_rts(attr(b)); b.to_rts(attr(a))
a.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(mr.buf, 8, mr.lkey)], send_flags=e.IBV_SEND_SIGNALED))
c.to_init(QPAttr(port_num=1)); c.post_recv(RecvWR(num_sge=1, sg=[SGE(mr.buf, 8, mr.lkey)]))
err = QPAttr(); err.qp_state = e.IBV_QPS_ERR
c.modify(err, e.IBV_QP_STATE)
print(a.qp_num, c.qp_num, flush=True)
sys.stdin.read()
'''


class Top(unittest.TestCase):
    def setUp(self):
        self.dir = fabric_dir()
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.dir, TERM='xterm')
        self.addCleanup(shutil.rmtree, self.dir)
        Top.port = getattr(Top, 'port', PORT) + 1

    def softhca(self, *args, status=0):
        r = subprocess.run([SOFTHCA, *args], env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                           errors='replace', timeout=TIMEOUT)
        self.assertEqual(r.returncode, status, r)
        return r

    def up(self, *args):
        self.softhca('up', 'lab', *args)
        self.addCleanup(self.softhca, 'down', '--all')

    def traffic(self):
        p = subprocess.Popen([SOFTHCA, 'run', '--fabric', 'lab', '--', 'sh', '-c', TRAFFIC, str(self.port)],
                             env=self.env, start_new_session=True, stdout=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(os.killpg, p.pid, signal.SIGKILL)
        return p

    def states(self, code=STATES):
        """Starts a program that makes QPs and idles. Its pid, the QPNs of one that waits and of one in ERR."""
        p = subprocess.Popen([SOFTHCA, 'run', '--fabric', 'lab', '--', '/usr/bin/python3', '-c', code],
                             env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, errors='replace')
        self.addCleanup(p.wait)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stdin.close)
        return p.pid, *map(int, p.stdout.readline().split())

    def page(self, *args):
        return json.loads(self.softhca('top', '-j', '-n', '1', '-d', '0.01', *args).stdout)


class Batch(Top):
    def test_an_idle_fabric(self):
        self.up('--hosts', '2')
        lines = self.softhca('top', '-b', '-n', '1', '-d', '0.01').stdout.splitlines()
        self.assertRegex(lines[0], r'^softhca top - lab  \d\d:\d\d:\d\d  every 0\.01 s  sorted by rate$')
        self.assertEqual(lines[1], '0 processes, 0 QPs (0 in error), 0 CQs')
        self.assertEqual(lines[3], 'errors: none')
        self.assertEqual([x.split()[0] for x in lines[5:] if x], ['PORT', 'QPN'])
        lines = self.softhca('top', '-ab', '-n', '1', '-d', '0.01').stdout.splitlines()
        self.assertEqual([x.split()[0] for x in lines[5:] if x], ['PORT', 'h1/mlx5_0/1', 'h2/mlx5_0/1', 'QPN'])

    def test_counts_are_those_of_status(self):
        self.up('--hosts', '2')
        script = TRAFFIC.replace('1000000000', '50').replace('exec ', '')
        self.softhca('run', '--fabric', 'lab', '--', 'sh', '-c', script + '\nwait', str(self.port))
        got = self.page()
        host = json.loads(self.softhca('status', '-j', 'lab').stdout)['hosts'][0]
        port = host['hcas'][0]['ports'][0]
        self.assertEqual([(x['port'], x['xmit_packets'], x['rcv_packets'], x['xmit_bytes']) for x in got['ports']],
                         [('h1/mlx5_0/1', port['xmit_packets'], port['rcv_packets'], 4 * port['xmit_data'])])
        self.assertEqual(got['commands'], host['use']['commands'])
        self.assertEqual((got['xmit_packets_rate'], got['qps'], got['processes']), (0, [], 0))

    def test_rates_of_ports_queue_pairs_and_owners(self):
        self.up()
        self.traffic()
        wait_for(lambda: self.page()['xmit_packets_rate'] > 0, 'packets')

        seconds = [0.01]

        def page():
            # Ends that share a processor with others take turns: longer and longer, until both have sent in between.
            got = self.page('-d', str(seconds[0]))
            seconds[0] = min(2 * seconds[0], 60)
            return len(got['qps']) == 2 and all(q['xmit_packets_rate'] > 0 for q in got['qps']) and got

        got = wait_for(page, 'both to send')
        self.assertEqual({q['comm'] for q in got['qps']}, {'ibv_rc_pingpong'})
        pids = {x['pid'] for x in json.loads(self.softhca('status', '-j', 'lab').stdout)['processes']}
        self.assertEqual({q['pid'] for q in got['qps']}, pids)
        self.assertEqual({(q['type'], q['state'], q['adapter']) for q in got['qps']}, {('RC', 'RTS', 'h1/mlx5_0')})
        port = got['ports'][0]
        # Messages of 4096 octets in packets of 1024, and headers.
        self.assertGreater(port['xmit_bytes'], 1000 * port['xmit_packets'])
        self.assertGreater(port['xmit_bytes_rate'], 0)

    def test_states_of_queues_and_errors(self):
        self.up()
        pid, waits, err = self.states()
        got = {q['qpn']: q for q in self.page()['qps']}
        self.assertEqual((got[waits]['state'], got[waits]['waits'], got[waits]['queued']), ('RTS', 'receiver', 1))
        self.assertEqual((got[err]['state'], got[err]['pid']), ('ERR', pid))
        self.assertEqual(self.page()['errors'], {'WR_FLUSH': 1})
        text = self.softhca('top', '-b', '-n1', '-d', '0.01', '-o', 'errors').stdout
        self.assertIn('3 QPs (1 in error), 1 CQs', text)
        self.assertIn('errors: WR_FLUSH 1\n', text)
        self.assertEqual([int(x, 16) for x in re.findall(r'^(0x\w+) ', text, re.M)][:2], [err, waits])

    def test_what_is_left_is_no_error(self):
        """Not indented below the errors, of which there are none."""
        self.up()
        code = STATES[:STATES.index('def qp')] + 'import os; os._exit(0)'
        self.softhca('run', '--fabric', 'lab', '--', '/usr/bin/python3', '-c', code)
        lines = self.softhca('top', '-b', '-n1', '-d', '0.01').stdout.splitlines()
        at = lines.index('errors: none')
        self.assertRegex(lines[at + 1], r'^left: \S+ closed its device with .*1 PD')

    def test_a_name_that_no_terminal_could_show(self):
        self.up()
        self.states("open('/proc/self/comm', 'wb').write(b'a\\33[1m\\xff')\n" + STATES)
        self.assertEqual({q['comm'] for q in self.page()['qps']}, {'a?[1m?'})
        for args in ('top', '-b', '-n1', '-d', '0.01'), ('status', 'lab'):
            out = self.softhca(*args).stdout
            self.assertIn('a?[1m?', out)
            self.assertNotIn('\33', out)

    def test_order_and_filter(self):
        self.up()
        _, waits, err = self.states()

        def qpns(*args):
            return [q['qpn'] for q in self.page(*args)['qps']]

        self.assertEqual(qpns('-o', 'name'), sorted(qpns()))
        self.assertEqual(qpns('-o', 'name', '-r'), sorted(qpns(), reverse=True))
        self.assertEqual(qpns('-o', 'depth')[0], waits)
        self.assertEqual(qpns('-f', 'err'), [err])
        self.assertEqual(qpns('--filter', 'RECEIVER'), [waits])
        self.assertEqual(qpns('-f', 'python3'), qpns())

    def test_several_pages_and_their_end(self):
        self.up()
        self.assertEqual(self.softhca('top', '-n', '3', '-d', '0.01', 'lab').stdout.count('softhca top - lab'), 3)
        self.assertEqual(len(self.softhca('top', '-j', '-n', '3', '-d', '0.01').stdout.splitlines()), 3)
        for end in (lambda p: p.send_signal(signal.SIGINT), lambda p: p.send_signal(signal.SIGTERM),
                    lambda p: self.softhca('down', 'lab')):
            p = subprocess.Popen([SOFTHCA, 'top', 'lab', '-d', '0.01'], env=self.env, stdout=subprocess.PIPE)
            self.addCleanup(p.stdout.close)
            p.stdout.readline()
            end(p)
            while p.stdout.read(65536):
                pass
            self.assertEqual(p.wait(TIMEOUT), 0)

    def test_a_reader_that_leaves(self):
        self.up()
        p = subprocess.Popen([SOFTHCA, 'top', '-d', '0.01'], env=self.env, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.addCleanup(p.stderr.close)
        p.stdout.readline()
        p.stdout.close()
        self.assertEqual((p.wait(TIMEOUT), p.stderr.read()), (-signal.SIGPIPE, b''))

    def test_what_is_refused(self):
        self.assertIn('no fabric is up', self.softhca('top', '-n1', status=2).stderr)
        self.assertIn("no fabric 'x'", self.softhca('top', 'x', status=2).stderr)
        for delay in ('0', '-1', 'x', '', '1s', 'nan'):
            self.assertIn('is not a number of seconds', self.softhca('top', '-d', delay, status=2).stderr)
        self.assertIn('not one of rate', self.softhca('top', '-o', 'size', status=2).stderr)

    def test_a_large_fabric(self):
        self.up('--topo', 'fat-tree:3:16:1008')
        self.assertEqual(len(self.page('-a')['ports']), 1008)


class Terminal:
    """A program on a terminal, and what its screen shows: as much of an xterm as curses uses."""

    def __init__(self, argv, env, rows=24, cols=100):
        self.master, slave = pty.openpty()
        self.rows, self.cols = rows, cols
        self.set_size(rows, cols)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.raw = b''
        self.at = [0, 0]
        self.cells = {}
        self.reverse, self.marked = False, set()  # cells that were written in reverse
        self.region = (0, rows - 1)
        self.proc = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True,
                                     preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def set_size(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.region = (0, rows - 1)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))

    def csi(self, args, final):
        n = [int(x) if x.isdigit() else 0 for x in args.split(';')] if args else []
        one = n[0] if n and n[0] else 1
        row, col = self.at
        if final == 'H':
            self.at = [one - 1, (n[1] if len(n) > 1 and n[1] else 1) - 1]
        elif final == 'd':
            self.at[0] = one - 1
        elif final == 'G':
            self.at[1] = one - 1
        elif final == 'Z':
            self.at[1] = max(0, ((col + 7) // 8 - one) * 8)
        elif final in 'ABCD':
            self.at = [row + {'A': -one, 'B': one}.get(final, 0), col + {'C': one, 'D': -one}.get(final, 0)]
        elif final == 'K' and (n or [0])[0] in (0, 1):
            gone = range(col, self.cols) if (n or [0])[0] == 0 else range(col + 1)
            for c in gone:
                self.cells.pop((row, c), None)
        elif final == 'J':
            whole = (n or [0])[0] == 2
            self.cells = {} if whole else {k: v for k, v in self.cells.items() if k < (row, col)}
        elif final == 'X':
            for c in range(col, col + one):
                self.cells.pop((row, c), None)
        elif final == 'b':  # repeat
            for _ in range(one):
                self.put(self.last)
        elif final in 'P@':
            line = {c: v for (r, c), v in self.cells.items() if r == row}
            for c in line:
                del self.cells[row, c]
            for c, v in line.items():
                if c < col:
                    self.cells[row, c] = v
                elif final == '@':
                    self.cells[row, c + one] = v
                elif c >= col + one:
                    self.cells[row, c - one] = v
        elif final == 'r':
            self.region = (one - 1, (n[1] if len(n) > 1 else self.rows) - 1)
            self.at = [0, 0]
        elif final in 'ST':
            self.scroll(one if final == 'S' else -one)
        elif final == 'm':
            for k in n or [0]:
                self.reverse = k == 7 or self.reverse and k not in (0, 27)
        elif final not in 'hltnc':
            raise AssertionError(f'CSI {args} {final}')

    def scroll(self, n):
        top, bottom = self.region
        inside = {k: v for k, v in self.cells.items() if top <= k[0] <= bottom}
        for k in inside:
            del self.cells[k]
        self.cells.update({(r - n, c): v for (r, c), v in inside.items() if top <= r - n <= bottom})

    def put(self, c):
        self.last = c
        self.cells[tuple(self.at)] = c
        (self.marked.add if self.reverse else self.marked.discard)(tuple(self.at))
        self.at[1] += 1

    def feed(self, data):
        text = data.decode('ascii', 'replace')
        while text:
            m = re.match(r'\x1b\[([?>0-9;]*)([@-~])|\x1b[()][A-Z0-9]|\x1b[=>78M]|([\r\n\b\t\x0f\x0e\a])|([^\x1b])', text)
            if not m:
                break  # a sequence that has not come as a whole
            text = text[m.end():]
            if m[2]:
                self.csi(m[1], m[2])
            elif m[3] == '\r':
                self.at[1] = 0
            elif m[3] == '\n' and self.at[0] == self.region[1]:
                self.scroll(1)
            elif m[3] == '\n':
                self.at[0] += 1
            elif m[0] == '\x1bM' and self.at[0] == self.region[0]:
                self.scroll(-1)
            elif m[0] == '\x1bM':
                self.at[0] -= 1
            elif m[3] == '\b':
                self.at[1] -= 1
            elif m[3] == '\t':
                self.at[1] += 8 - self.at[1] % 8
            elif m[4]:
                self.put(m[4])
        return text.encode()

    def read(self):
        """Takes what has been written. False: nothing comes any more."""
        while select.select([self.master], [], [], 0)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            self.all = getattr(self, 'all', b'') + data
            self.raw = self.feed(self.raw + data)
        return True

    def screen(self):
        self.read()
        return [''.join(self.cells.get((r, c), ' ') for c in range(self.cols)).rstrip() for r in range(self.rows)]

    def wait(self, cond, what):
        shown = []

        def holds():
            shown[:] = self.screen()
            return cond(shown)
        try:
            wait_for(holds, what)
        except AssertionError as e:
            raise AssertionError(f'{e}\n' + '\n'.join(shown))
        return shown

    def wait_text(self, pattern):
        return self.wait(lambda s: any(re.search(pattern, x) for x in s), pattern)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def ended(self):
        """The exit status, and whether the terminal is as it was."""
        def over():
            self.read()
            return self.proc.poll() is not None
        wait_for(over, 'it to end')
        self.read()
        return self.proc.returncode, termios.tcgetattr(self.slave) == self.before and b'\x1b[?1049l' in self.all

    def close(self):
        self.proc.kill()
        self.proc.wait()
        os.close(self.slave)
        os.close(self.master)


class Screen(Top):
    def start(self, *args, **kw):
        t = Terminal([SOFTHCA, 'top', '-d', '0.05', *args], self.env, **kw)
        self.addCleanup(t.close)
        return t

    def test_keys(self):
        self.up()
        pid, waits, err = self.states()
        t = self.start()
        t.wait_text('3 QPs')
        shown = t.wait_text('q quit')  # the last line that is drawn
        self.assertRegex(shown[0], '^softhca top - lab .* sorted by rate')
        self.assertRegex(shown[-1], '^q quit')
        self.assertTrue(any(x.startswith(f'0x{waits:06x} h1/mlx5_0 ') and f' {pid} python3' in x for x in shown))
        for key, text in (('s', 'sorted by errors'), ('r', 'sorted by errors, reversed'), ('r', 'sorted by errors$'),
                          ('p', 'PAUSED'), ('p', 'every 0.05 s  sorted')):
            t.type(key)
            t.wait_text(text)
        t.type('/ERR\r')
        t.wait(lambda s: [x[:8] for x in s if x.startswith('0x')] == [f'0x{err:06x}'], 'the filter')
        t.wait_text("only 'ERR'")
        t.type('/\x1b')
        t.wait(lambda s: len([x for x in s if x.startswith('0x')]) == 3, 'all rows again')
        t.type('q')
        self.assertEqual(t.ended(), (0, True))

    def test_scrolling_and_size(self):
        self.up('--hosts', '40')
        t = self.start('-a', '-o', 'name', rows=20)

        def first(shown):
            return shown[5].split()[0] if shown[5] else ''

        t.wait(lambda s: first(s) == 'PORT', 'the first page')
        for key, want in (('j', 'h1/mlx5_0/1'), ('j', 'h2/mlx5_0/1'), ('\x1bOB', 'h3/mlx5_0/1'),
                          ('k', 'h2/mlx5_0/1'), ('\x1bOA', 'h1/mlx5_0/1'), ('g', 'PORT'),
                          ('\x1b[6~', 'h10/mlx5_0/1'), ('\x1b[5~', 'PORT')):
            t.type(key)
            t.wait(lambda s: first(s) == want, f'{want} after {key!r}')
        t.type('G')
        t.wait(lambda s: s[18].startswith('QPN'), 'the end')
        t.set_size(50, 60)
        t.wait(lambda s: s[49].startswith('q quit') and first(s) == 'PORT' and s[45] == s[45][:60], 'the new size')
        t.set_size(3, 20)
        t.wait(lambda s: s[0].startswith('softhca top') and s[2].startswith('q quit'), 'a tiny one')
        t.type('q')
        self.assertEqual(t.ended(), (0, True))

    def test_a_screen_of_80_columns(self):
        """All numbers of ports have room, and only the heads are in reverse."""
        self.up('--hosts', '2')
        t = self.start('-a', '-o', 'name', rows=20, cols=80)
        t.wait_text(r'^h2/mlx5_0/1 +ACTIVE')
        shown = t.wait_text('^QPN ')
        self.assertEqual([x[-6:] for x in shown if x.startswith('PORT')], ['ERRORS'])
        heads = {r for r, text in enumerate(shown) if re.match('softhca top|PORT|QPN', text)}
        self.assertEqual({r for r, c in t.marked if (r, c) in t.cells}, heads)
        t.type('q')
        self.assertEqual(t.ended(), (0, True))

    def test_live_rates(self):
        self.up()
        t = self.start('lab')
        t.wait_text('0 QPs')
        self.traffic()
        t.wait(lambda s: len([x for x in s if re.match(r'0x\w+ h1/mlx5_0 +RC   RTS +[1-9]\S* +[1-9]', x)]) == 2, 'rates')
        t.type('q')
        self.assertEqual(t.ended(), (0, True))

    def test_signals_restore_the_terminal(self):
        self.up()
        for sig, status in ((signal.SIGINT, 0), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP),
                            (signal.SIGQUIT, -signal.SIGQUIT)):
            with self.subTest(sig):
                t = self.start()
                t.wait_text('every')
                t.proc.send_signal(sig)
                self.assertEqual(t.ended(), (status, True))
        t = self.start()
        t.wait_text('every')
        t.type('\x03')
        self.assertEqual(t.ended(), (0, True))

    def test_a_terminal_that_is_closed(self):
        self.up()
        t = self.start()
        t.wait_text('every')
        os.close(t.slave)
        os.close(t.master)
        self.assertEqual(t.proc.wait(TIMEOUT), -signal.SIGHUP)
        t.master, t.slave = pty.openpty()  # for close()

    def test_the_end_of_the_fabric(self):
        self.up()
        t = self.start()
        t.wait_text('every')
        self.softhca('down', 'lab')
        self.assertEqual(t.ended(), (0, True))
        self.assertIn(b"softhca: top: fabric 'lab' has ended", t.all)
        self.up()
        t = self.start()
        t.wait_text('every')
        pid = json.loads(self.softhca('status', '-j', 'lab').stdout)['supervisor']
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not alive(pid), 'it to die')
        self.assertEqual(t.ended(), (0, True))

    def test_a_number_of_pages_and_no_terminal(self):
        self.up()
        self.assertEqual(self.start('-n', '3').ended(), (0, True))
        self.env['TERM'] = 'no-such-terminal'
        t = self.start()
        self.assertEqual(t.ended()[0], 2)
        self.assertIn(b'TERM=no-such-terminal', t.all)
        t = self.start('-b', '-n', '2')
        self.assertEqual((t.ended()[0], t.all.count(b'softhca top - lab')), (0, 2))


if __name__ == '__main__':
    unittest.main(verbosity=2)
