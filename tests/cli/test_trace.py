# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The options of softhca trace that strace users know, traces of a whole fabric, trace and capture together."""
import collections
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
from softhca import BUILD, SOFTHCA, TIMEOUT, alive, fabric_dir, port_block, stop, wait_for, VERBS_ENUMS  # noqa: E402

DEVX_SEND = os.path.join(BUILD, 'examples', 'devx_send')
PINGPONG = f'''
ibv_rc_pingpong -p $0 -n 50 >/dev/null &
until grep -qs ":$(printf %04X $0) 0*:0000 0A" /proc/net/tcp*; do kill -0 $! || exit 9; sleep 0.02; done
ibv_rc_pingpong -p $0 -n 50 localhost >/dev/null && wait $!
'''
PORT = port_block()
PROBED = 'ENOSPC'  # libibverbs asks for the device with less room than the answer has, and expects this

# Makes and frees a PD for each line that it reads, and answers with "made".
ON_DEMAND = '''
import sys
sys.path.insert(0, '/usr/lib/python3/dist-packages')
from pyverbs.device import Context
from pyverbs.pd import PD
ctx = Context(name='mlx5_0')
print('ready', flush=True)
for line in sys.stdin:
    PD(ctx).close()
    print('made', flush=True)
'''


class Trace(unittest.TestCase):
    def setUp(self):
        self.dir = fabric_dir()
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.dir)
        for name in [n for n in self.env if n.startswith('SOFTHCA_TRACE')]:
            del self.env[name]
        self.addCleanup(shutil.rmtree, self.dir)
        self.work = tempfile.mkdtemp(prefix='hcatrace-')
        self.addCleanup(shutil.rmtree, self.work)
        Trace.port = getattr(Trace, 'port', PORT) + 1

    def path(self, name):
        return os.path.join(self.work, name)

    def softhca(self, *args, status=0, **kw):
        r = subprocess.run([SOFTHCA, *args], env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                           errors='replace', timeout=TIMEOUT, **kw)
        self.assertEqual(r.returncode, status, r)
        return r

    def traced(self, *options, cmd=(DEVX_SEND,), status=0):
        """The lines of a command's trace."""
        self.softhca('trace', '-o', self.path('out'), *options, '--', *cmd, status=status)
        with open(self.path('out'), encoding='utf-8') as f:
            return f.read().splitlines()

    def records(self, *options, **kw):
        return [json.loads(x) for x in self.traced('-j', *options, **kw)]

    def up(self, *args):
        self.softhca('up', 'lab', *args)
        self.addCleanup(self.softhca, 'down', '--all')

    def packets(self, path):
        """The number of packets in a capture."""
        with open(path, 'rb') as f:
            data = f.read()
        at, n = 24, 0
        while at < len(data):
            at += 16 + int.from_bytes(data[at + 8:at + 12], 'little')
            n += 1
        self.assertEqual(at, len(data))
        return n


class Filters(Trace):
    def test_commands_and_methods_by_name(self):
        lines = self.records('-e', 'cmd=CREATE_QP,UAR.UAR_OBJ_ALLOC')
        self.assertEqual(collections.Counter((x['topic'], x['what']) for x in lines),
                         {('fw', 'CREATE_QP'): 3, ('uverbs', 'DEVX_OBJ.DEVX_OBJ_CREATE'): 3,
                          ('uverbs', 'UAR.UAR_OBJ_ALLOC'): 2})
        self.assertEqual({x['topic'] for x in self.records('-e', 'fw', '-e', 'cmd=CREATE_QP')}, {'fw'})

    def test_other_topics_are_not_filtered_by_names(self):
        got = {x['topic'] for x in self.records('-e', 'cmd=CREATE_QP', '-e', 'doorbell,fw')}
        self.assertEqual(got, {'doorbell', 'fw'})

    def test_all_but_some(self):
        every = self.records('-e', 'fw')
        self.assertEqual([x['what'] for x in self.records('-e', 'fw', '-e', 'cmd=!CREATE_QP,QUERY_QP')],
                         [x['what'] for x in every if x['what'] not in ('CREATE_QP', 'QUERY_QP')])
        topics = {x['topic'] for x in self.records('-e', '!uverbs,fw')}
        self.assertLessEqual({'doorbell', 'shim', 'link'}, topics)
        self.assertFalse(topics & {'uverbs', 'fw'})
        self.assertEqual({x['topic'] for x in self.records('-e', 'uverbs,fw', '-e', '!uverbs')}, {'fw'})

    def test_write_commands_have_names(self):
        got = self.records('-e', 'cmd=EX_QUERY_DEVICE')
        self.assertEqual({(x['what'], x['in']['command']) for x in got},
                         {('DEVICE.INVOKE_WRITE', 'EX_QUERY_DEVICE')})

    def test_failures_and_the_rest(self):
        everything = self.records('-e', 'uverbs,fw')
        failed = [x['what'] for x in everything if x['result'] not in ('OK', '0', PROBED)]
        self.assertEqual(len(failed), 2)
        self.assertEqual([x['what'] for x in self.records('-Z', '-e', 'uverbs,fw')], failed)
        good = self.records('-z', '-e', 'uverbs,fw')
        self.assertEqual(len(good) + len(failed), len(everything))
        self.assertEqual({x['result'] for x in good}, {'OK', '0', PROBED})

    def test_completions_with_error_are_failures(self):
        code = '''
import sys
sys.path.insert(0, '/usr/lib/python3/dist-packages')
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.qp import QP, QPCap, QPInitAttr, QPAttr
from pyverbs.wr import SGE, RecvWR
''' + VERBS_ENUMS + '''
ctx = Context(name='mlx5_0'); pd = PD(ctx); cq = CQ(ctx, 10); mr = MR(pd, 64, e.IBV_ACCESS_LOCAL_WRITE)
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_recv_wr=4)))
qp.to_init(QPAttr(port_num=1))
qp.post_recv(RecvWR(num_sge=1, sg=[SGE(mr.buf, 8, mr.lkey)]))
attr = QPAttr(); attr.qp_state = e.IBV_QPS_ERR
qp.modify(attr, e.IBV_QP_STATE)
while not cq.poll()[0]:
    pass
'''
        cmd = ('/usr/bin/python3', '-c', code)
        self.assertEqual([x['what'] for x in self.records('-Z', '-e', 'cqe', cmd=cmd)], ['receive error'])
        self.assertEqual(self.records('-z', '-e', 'cqe', cmd=cmd), [])

    def test_names_that_are_unknown(self):
        for options, text in ((['-e', 'cmd=CREAT_QP'], "did you mean 'CREATE_QP'?"),
                              (['-e', 'cmd=create_qp'], "did you mean 'CREATE_QP'?"),
                              (['-e', 'cmd=CREATE_QP,'], "'' is not the name of a command"),
                              (['-e', 'cmd='], "'' is not the name"),
                              (['-e', 'cmd=QP.CREAT'], "did you mean 'QP.CREATE'?"),
                              (['-e', 'cmd=CREATE_QP', '-e', 'cmd=!CREATE_CQ'], 'exclude each other'),
                              (['-e', '!dorbell'], "did you mean 'doorbell'?"),
                              (['-e', '!'], "'' is not one of"), (['-Z', '-z'], '-z and -Z exclude'),
                              (['-S', 'size'], "'size' is not one of")):
            r = self.softhca('trace', *options, '--', 'true', status=2)
            self.assertIn(text, r.stderr)
            self.assertEqual(r.stderr.count('\n'), 1)

    def test_too_many_names(self):
        names = ','.join(['QUERY_HCA_VPORT_CONTEXT'] * 100)
        self.assertIn('too many', self.softhca('trace', '-e', f'cmd={names}', '--', 'true', status=2).stderr)


class Counts(Trace):
    def counted(self, *options, **kw):
        return {(x['topic'], x['name']): (x['calls'], x['errors'])
                for x in self.records('-c', *options, **kw)[-1]['counts']}

    def of_lines(self, lines):
        """The counts that -c would print for these lines."""
        got = collections.defaultdict(lambda: (0, 0))
        for x in lines:
            detail = x.get('in', {}).get('command') or next(
                (v['opcode_name'] for k, v in x.get('in', {}).items() if isinstance(v, dict) and
                 'opcode_name' in v and x['topic'] == 'uverbs'), None)
            name = x['what'] + (f' {detail}' if detail else '')
            n, failed = got[x['topic'], name]
            got[x['topic'], name] = (n + 1, failed + (x.get('result', 'OK') not in ('OK', '0', PROBED)))
        return got

    def test_counts_are_those_of_the_lines(self):
        lines = self.records()
        self.assertEqual(self.counted(), dict(self.of_lines(lines)))
        twice = self.counted(cmd=('sh', '-c', f'{DEVX_SEND} & {DEVX_SEND}; wait'))
        self.assertEqual(twice, {k: (2 * n, 2 * e) for k, (n, e) in self.of_lines(lines).items()})

    def test_the_table(self):
        lines = self.traced('-c', '-e', 'fw')
        self.assertRegex(lines[0], r'^% time +seconds +usecs/call +calls +errors +topic +name$')
        self.assertRegex(lines[-1], r'^100\.00 +\d+\.\d{6} +\d+\.\d{3} +(\d+) +1  total$')
        rows = [x.split() for x in lines[2:-2]]
        self.assertIn(['1', 'fw', 'CREATE_QP'], [x[-3:] for x in rows])  # one was refused
        seconds = [float(x[1]) for x in rows]
        self.assertEqual(seconds, sorted(seconds, reverse=True))
        self.assertAlmostEqual(sum(seconds), float(lines[-1].split()[1]), delta=0.00005)
        self.assertEqual(sum(int(x[3]) for x in rows), int(lines[-1].split()[3]))

    def test_orders(self):
        def names(by):
            return [x.split()[-1] for x in self.traced('-c', '-S', by, '-e', 'fw')[2:-2]]
        self.assertEqual(names('name'), sorted(names('name')))
        self.assertEqual(names('errors')[0], 'CREATE_QP')
        self.assertEqual(set(names('calls')[:2]), {'CREATE_UMEM', 'DESTROY_UMEM'})
        means = [float(x.split()[2]) for x in self.traced('-c', '-S', 'mean', '-e', 'fw')[2:-2]]
        self.assertEqual(means, sorted(means, reverse=True))

    def test_lines_and_table(self):
        lines = self.traced('-C', '-e', 'fw')
        head = next(i for i, x in enumerate(lines) if x.startswith('% time'))
        self.assertEqual([re.sub(r'^softhca\[\d+\] [\d.]+ | <[\d.]+>$|0x[0-9a-f]{9,}', '', x) for x in lines[:head]],
                         [re.sub(r'^softhca\[\d+\] [\d.]+ | <[\d.]+>$|0x[0-9a-f]{9,}', '', x)
                          for x in self.traced('-e', 'fw')])
        self.assertEqual(int(lines[-1].split()[3]), head)
        got = self.records('-C', '-e', 'fw')
        self.assertEqual(sum(x['calls'] for x in got[-1]['counts']), len(got) - 1)
        self.assertNotIn('\x1f', '\n'.join(lines))

    def test_long_lines_are_counted_and_whole(self):
        """A line of the largest size, and the counts behind it."""
        lines = self.traced('-C', '-e', 'fw,uverbs', cmd=('ibv_devinfo', '-v'))
        self.assertTrue(all(len(x) <= 4000 for x in lines))
        for x in self.records('-C', '-e', 'uverbs,fw', cmd=('ibv_devinfo', '-v')):
            self.assertNotIn('cut', x)

    def test_a_failing_command_and_a_filter(self):
        self.assertEqual(self.counted('-Z', '-e', 'fw'), {('fw', 'CREATE_QP'): (1, 1)})
        self.assertEqual(self.counted(cmd=('sh', '-c', 'exit 7'), status=7), {})
        r = subprocess.run([SOFTHCA, 'trace', '-c', '--', 'sh', '-c', 'kill -TERM $$'], env=self.env,
                           capture_output=True, errors='replace', timeout=TIMEOUT)
        self.assertEqual(r.returncode, -signal.SIGTERM)
        self.assertIn('total', r.stderr)

    def test_on_a_fabric_that_is_up(self):
        self.up()
        self.assertEqual(self.counted('-e', 'fw', '--fabric', 'lab')['fw', 'CREATE_QP'], (3, 1))
        self.traced('-c', '--fabric', 'lab', cmd=('sh', '-c', 'exit 7'), status=7)

    def test_an_output_that_takes_nothing(self):
        r = self.softhca('trace', '-c', '-o', '/dev/full', '--', DEVX_SEND, status=2)
        self.assertEqual(r.stderr, 'softhca: trace: cannot write to /dev/full: No space left on device: '
                         'lines are missing\n')
        self.assertIn('cannot write', self.softhca('trace', '-c', '-o', self.dir, '--', 'true', status=2).stderr)


class Objects(Trace):
    def test_handles_have_names(self):
        text = '\n'.join(self.traced('-y', cmd=('sh', '-c', PINGPONG, str(self.port))))
        self.assertRegex(text, r'uverbs: QP\.CREATE\(file=/dev/infiniband/uverbs0, '
                         r'CREATE_QP_PD_HANDLE=\d+<PD 0x1 of mlx5_0>, '
                         r'CREATE_QP_SEND_CQ_HANDLE=\d+<CQ 0x1 of mlx5_0>')
        self.assertIn('ASYNC_EVENT_ALLOC_FD_HANDLE=4<ASYNC_EVENT of mlx5_0>', text)
        self.assertRegex(text, r'command=MODIFY_QP,.* qp_handle=\d+<QP 0x40 of mlx5_0>')
        self.assertRegex(text, r'fw: CREATE_QP\(device=mlx5_0, ')
        self.assertRegex(text, r'doorbell: ring\(.*qpn=0x40<RC QP of mlx5_0>')

    def test_the_second_adapter_and_devx(self):
        got = self.records('-y', '--hca', '2', cmd=('ibv_devinfo', '-d', 'mlx5_1'))
        self.assertIn('/dev/infiniband/uverbs1', {x['in'].get('file') for x in got if x['topic'] == 'uverbs'})
        got = [x for x in self.records('-y', '-e', 'uverbs') if x['what'] == 'DEVX_OBJ.DEVX_OBJ_MODIFY']
        self.assertEqual({x['in']['DEVX_OBJ_MODIFY_HANDLE_object'] for x in got},
                         {'QP 0x40 of mlx5_0', 'QP 0x41 of mlx5_0'})

    def test_without_it_there_are_none(self):
        self.assertNotRegex('\n'.join(self.traced()), r'of mlx5_0|uverbs0')


class Together(Trace):
    def test_trace_and_capture_of_one_run(self):
        for where in ([], ['--fabric', 'lab']):
            if where:
                self.up()
            pcap = self.path('x.pcap')
            got = self.records('--pcap', pcap, *where, cmd=('sh', '-c', PINGPONG, str(self.port)))
            self.port += 1
            self.assertEqual(len([x for x in got if x['what'] == 'ring']), 100)
            self.assertGreaterEqual(self.packets(pcap), 400)  # 100 messages of 4 packets, and answers
            os.unlink(pcap)

    def test_a_capture_of_run(self):
        pcap = self.path('x.pcap')
        r = self.softhca('run', '--pcap', pcap, '--', 'sh', '-c', f'{PINGPONG}\nexit 3', str(self.port), status=3)
        self.assertRegex(r.stderr, r'^softhca: pcap: \d+ packets\n$')
        self.assertGreaterEqual(self.packets(pcap), 400)


class Program:
    """A program on a fabric that calls its device when it is told to."""

    def __init__(self, test, *options):
        self.proc = subprocess.Popen([SOFTHCA, 'run', *options, '--', '/usr/bin/python3', '-c', ON_DEMAND],
                                     env=test.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, errors='replace')
        test.addCleanup(self.close)
        self.pid = self.proc.pid  # on a fabric that is up, softhca becomes the command
        assert self.proc.stdout.readline() == 'ready\n'

    def call(self):
        self.proc.stdin.write('\n')
        self.proc.stdin.flush()
        assert self.proc.stdout.readline() == 'made\n'

    def close(self):
        self.proc.stdin.close()
        self.proc.stdout.close()
        self.proc.wait()


class Live(Trace):
    """Without a command: all that happens on a fabric."""

    def watch(self, *options, fabric='lab', out='live'):
        p = subprocess.Popen([SOFTHCA, 'trace', '--fabric', fabric, '-o', self.path(out), *options], env=self.env,
                             stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, errors='replace')
        self.addCleanup(p.stderr.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.said = p.stderr.readline()
        return p

    def lines(self, out='live'):
        with open(self.path(out), encoding='utf-8') as f:
            return [json.loads(x) for x in f.read().split('\n')[:-1]]

    def shows(self, pid, what, out='live'):
        wait_for(lambda: any(x['pid'] == pid and x.get('what') == what for x in self.lines(out)),
                 f'{what} of {pid}')

    def end(self, p, sig=signal.SIGINT, status=0):
        p.send_signal(sig)
        self.assertEqual(p.wait(TIMEOUT), status, p.stderr.read())

    def test_programs_that_run_already_and_later_ones(self):
        self.up('--hosts', '2')
        early = Program(self, '--fabric', 'lab')
        t = self.watch('-j')
        self.assertEqual(self.said, "softhca: trace: watching fabric 'lab' until ^C\n")
        late = Program(self, '--fabric', 'lab', '--host', 'h2')
        for p in (early, late):
            p.call()
            self.shows(p.pid, 'ALLOC_PD')
        self.assertNotIn('GET_CONTEXT', [x.get('what') for x in self.lines() if x['pid'] == early.pid])
        self.end(t)
        n = len(self.lines())
        early.call()
        late.call()
        self.assertEqual(len(self.lines()), n)

    def test_a_program_that_only_rings_doorbells(self):
        self.up()
        script = PINGPONG.replace('-n 50', '-n 1000000000')
        p = subprocess.Popen([SOFTHCA, 'run', '--fabric', 'lab', '--', 'sh', '-c', script, str(self.port)],
                             env=self.env, start_new_session=True, stdout=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(os.killpg, p.pid, signal.SIGKILL)

        def pids():
            st = json.loads(self.softhca('status', '-j', 'lab').stdout)
            sent = sum(x['xmit_packets'] for h in st['hosts'] for c in h['hcas'] for x in c['ports'])
            return sent > 1000 and [x['pid'] for x in st['processes']]

        both = wait_for(pids, 'traffic')
        t = self.watch('-j', '-e', 'doorbell')
        for pid in both:
            self.shows(pid, 'ring')
        self.end(t)

    def test_the_supervisor_too(self):
        self.up()
        pid = json.loads(self.softhca('status', '-j', 'lab').stdout)['supervisor']
        t = self.watch('-j', '-e', 'link')
        self.softhca('link', '--fabric', 'lab', 'mlx5_0', '1', 'down')
        self.shows(pid, 'port')
        self.end(t)

    def test_one_at_a_time_and_the_next_after_a_kill(self):
        self.up()
        p = Program(self, '--fabric', 'lab')
        t = self.watch('-j')
        r = self.softhca('trace', '--fabric', 'lab', status=2)
        self.assertEqual(r.stderr, 'softhca: trace: another trace of this fabric is running\n')
        self.end(t, signal.SIGKILL, -signal.SIGKILL)
        p.call()
        p.call()
        t = self.watch('-j', '-e', 'cmd=DEALLOC_PD', out='second')
        p.call()
        self.shows(p.pid, 'DEALLOC_PD', 'second')
        self.end(t, signal.SIGTERM)
        self.assertNotIn('ALLOC_PD', [x['what'] for x in self.lines('second')])

    def test_a_stopped_reader_does_not_stop_programs(self):
        self.up()
        p = Program(self, '--fabric', 'lab')
        t = self.watch('-j', '-e', 'fw')
        stop(t.pid)
        self.addCleanup(t.send_signal, signal.SIGCONT)
        for _ in range(5000):  # twice what the FIFO has room for
            p.call()
        t.send_signal(signal.SIGCONT)
        self.shows(p.pid, 'ALLOC_PD')
        self.end(t)

    def test_the_end_of_the_fabric(self):
        self.up()
        t = self.watch('-c')
        self.softhca('down', 'lab')
        self.assertEqual(t.wait(TIMEOUT), 0)
        with open(self.path('live'), encoding='utf-8') as f:
            self.assertIn('total', f.read())
        self.up()
        t = self.watch()
        pid = json.loads(self.softhca('status', '-j', 'lab').stdout)['supervisor']
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not alive(pid), 'it to die')
        self.assertEqual(t.wait(TIMEOUT), 0)

    def test_counts_names_and_packets_of_a_fabric(self):
        self.up()
        p = Program(self, '--fabric', 'lab')
        t = self.watch('-c', '-j', '-e', 'fw', '--pcap', self.path('x.pcap'))
        for _ in range(5):
            p.call()
        self.softhca('run', '--fabric', 'lab', '--', 'sh', '-c', PINGPONG, str(self.port))
        self.end(t)
        got = {x['name']: x['calls'] for x in self.lines()[0]['counts']}
        self.assertEqual((got['ALLOC_PD'], got['CREATE_QP']), (7, 2))
        self.assertGreaterEqual(self.packets(self.path('x.pcap')), 400)

    def test_a_traced_program_keeps_its_own_trace(self):
        self.up()
        t = self.watch('-j', '-e', 'fw')
        self.assertIn('CREATE_QP', [x['what'] for x in self.records('--fabric', 'lab', '-e', 'fw')])
        self.softhca('run', '--fabric', 'lab', '--', DEVX_SEND)
        wait_for(lambda: [x.get('what') for x in self.lines()].count('CREATE_QP') == 3, 'those of the other')
        self.end(t)

    def test_what_it_needs(self):
        self.assertIn('--fabric NAME', self.softhca('trace', status=2).stderr)
        self.assertIn("no fabric 'lab'", self.softhca('trace', '--fabric', 'lab', status=2).stderr)
        self.up()
        self.assertIn('cannot write', self.softhca('trace', '--fabric', 'lab', '-o', self.dir, status=2).stderr)


if __name__ == '__main__':
    unittest.main(verbosity=2)
