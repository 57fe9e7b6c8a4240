# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is used every day: several hosts in one run, its summary, its time limit, and the fabrics that are up."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, TIMEOUT, alive, fabric_dir, port_block, wait_for, VERBS_ENUMS  # noqa: E402

PORT = port_block()

# Server on the host $1, client on $2 of the fabric around; $3 is the port, $4 the number of messages.
PAIR = f'''
{SOFTHCA} run --host $1 -- ibv_rc_pingpong -p $3 -n $4 >/dev/null &
until grep -qs ":$(printf %04X $3) 0*:0000 0A" /proc/net/tcp*; do kill -0 $! || exit 9; sleep 0.02; done
{SOFTHCA} run --host $2 -- ibv_rc_pingpong -p $3 -n $4 localhost >/dev/null && wait $!
'''

# A QP whose peer does not exist: the first send fails, two are flushed; and a refused command.
ERRORS = '''
import struct
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR
from pyverbs.providers.mlx5.mlx5dv import Mlx5Context, Mlx5DVContextAttr
''' + VERBS_ENUMS + '''
ctx = Mlx5Context(Mlx5DVContextAttr(flags=e.MLX5DV_CONTEXT_FLAGS_DEVX), name='mlx5_0')
pd, cq = PD(ctx), CQ(ctx, 10)
mr = MR(pd, 64, e.IBV_ACCESS_LOCAL_WRITE)
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=8)))
attr = QPAttr(port_num=1)
attr.dest_qp_num, attr.timeout, attr.retry_cnt = 0xfffff, 1, 0
attr.path_mtu = e.IBV_MTU_1024
attr.ah_attr = AHAttr(dlid=ctx.query_port(1).lid, port_num=1)
qp.to_rts(attr)
for i in range(3):
    qp.post_send(SendWR(wr_id=i, opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(mr.buf, 8, mr.lkey)],
                        send_flags=e.IBV_SEND_SIGNALED))
done = 0
while done < 3:
    done += cq.poll()[0]
try:
    ctx.devx_general_cmd(struct.pack('>HHHH8x', 0x100, 0, 0, 0x7ffe), 4112)  # QUERY_HCA_CAP of no such kind
except Exception:
    pass
'''


class Everyday(unittest.TestCase):
    def setUp(self):
        self.dir = fabric_dir()
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.dir)
        self.addCleanup(shutil.rmtree, self.dir)
        Everyday.port = getattr(Everyday, 'port', PORT) + 1

    def softhca(self, *args, status=0, **kw):
        r = subprocess.run([SOFTHCA, *args], env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                           errors='replace', timeout=TIMEOUT, **kw)
        self.assertEqual(r.returncode, status, r)
        for line in re.findall('^softhca.*', r.stderr, re.M):
            self.assertRegex(line, r'^softhca: \w+: ', r)
        return r

    def up(self, *args):
        name = self.softhca('up', *args).stdout.strip()
        self.addCleanup(self.softhca, 'down', '--all')
        return name

    def status(self, *args):
        return json.loads(self.softhca('status', '-j', *args).stdout)

    def summary(self, r, verb='run'):
        return dict(re.findall(rf'^softhca: {verb}: ([\w ]+): (.*)$', r.stderr, re.M))


class Summary(Everyday):
    def test_all_counts_of_two_hosts(self):
        r = self.softhca('run', '--hosts', '2', '--summary', '--', 'sh', '-c', PAIR, 'sh', 'h1', 'h2',
                         str(self.port), '100')
        got = self.summary(r)
        # 100 messages each way, of 4096 octets in packets of 1024
        self.assertEqual(got['packets'], '800 sent, 800 received')
        self.assertEqual(got['doorbells'], '200')
        self.assertEqual(got['QPs made'], '2')
        self.assertEqual(got['errors'], 'none')
        self.assertGreater(int(got['commands']), 10)

    def test_polled_doorbells_are_counted_too(self):
        r = self.softhca('run', '--doorbell', 'poll', '--summary', '--', 'sh', '-c', PAIR, 'sh', 'h1', 'h1',
                         str(self.port), '20')
        self.assertGreater(int(self.summary(r)['doorbells']), 2)

    def test_errors_by_kind(self):
        got = self.summary(self.softhca('run', '--summary', '--', '/usr/bin/python3', '-c', ERRORS))
        self.assertEqual(got['errors'], 'WR_FLUSH 2, TRANSPORT_RETRY_EXC 1, refused command BAD_PARAM 1')
        self.assertEqual(got['QPs made'], '1')

    def test_a_joined_run_counts_its_own(self):
        """
        The summary counts what this run adds on its host: not what was before, nor what is on the other
        host.
        """
        name = self.up('--hosts', '2')
        for _ in range(2):
            r = self.softhca('run', '--fabric', name, '--host', 'h1', '--summary', '--', 'sh', '-c', PAIR,
                             'sh', 'h2', 'h1', str(self.port), '10')
            got = self.summary(r)
            self.assertEqual((got['QPs made'], got['doorbells']), ('1', '10'))
            self.port += 1
        self.assertEqual([h['use']['made']['qp'] for h in self.status(name)['hosts']], [2, 2])

    def test_a_trace_and_a_capture_have_one_too(self):
        r = self.softhca('trace', '-o', '/dev/null', '--summary', '--', 'ibv_devinfo')
        self.assertEqual(self.summary(r, 'trace')['QPs made'], '0')
        r = self.softhca('pcap', '-o', '/dev/null', '--summary', '--', 'ibv_devinfo')
        self.assertEqual(self.summary(r, 'pcap')['QPs made'], '0')

    def test_nothing_is_said_without_it(self):
        self.assertEqual(self.softhca('run', '--', 'ibv_devinfo').stderr, '')


class RequireTraffic(Everyday):
    def cases(self):
        yield []
        yield ['--fabric', self.up()]

    def test_a_run_without_packets_fails(self):
        for where in self.cases():
            for cmd, why in (('true', 'no device was opened'), ('ibv_devinfo', 'no QP made')):
                r = self.softhca('run', *where, '--require-traffic', '--', cmd, status=3)
                self.assertIn('no packet went through an adapter', r.stderr)
                self.assertIn(why, r.stderr)

    def test_a_run_with_packets_succeeds(self):
        for where in self.cases():
            r = self.softhca('run', *where, '--require-traffic', '--', 'sh', '-c', PAIR, 'sh', 'h1', 'h1',
                             str(self.port), '10')
            self.assertEqual(r.stderr, '')
            self.port += 1

    def test_packets_of_before_do_not_count(self):
        name = self.up()
        self.softhca('run', '--fabric', name, '--', 'sh', '-c', PAIR, 'sh', 'h1', 'h1', str(self.port), '10')
        self.softhca('run', '--fabric', name, '--require-traffic', '--', 'true', status=3)

    def test_the_commands_own_failure_is_told_first(self):
        for where in self.cases():
            self.assertEqual(self.softhca('run', *where, '--require-traffic', '--', 'sh', '-c', 'exit 7',
                                          status=7).stderr, '')
            self.softhca('run', *where, '--require-traffic', '--', 'sh', '-c', 'kill -KILL $$',
                         status=-signal.SIGKILL)


class TimeLimit(Everyday):
    # Prints the pids of processes of every sort: one with a session of its own, an orphan that ignores
    # SIGTERM, one that is stopped, and the shell itself.
    TREE = '''
setsid sh -c 'echo $$; exec sleep 1000' &
(setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 0.1; done' &)
sh -c 'echo $$; kill -STOP $$' &
echo $$
exec sleep 1000'''

    def test_all_processes_end_and_the_fabric_is_gone(self):
        for where in ([], ['--fabric', self.up('lab') or 'lab']):
            for limit in ('1', '4', '16', '64'):  # on a slow machine fewer of them start within a second
                r = self.softhca('run', *where, '--timeout', limit, '--', 'sh', '-c', self.TREE, status=124)
                pids = [int(p) for p in r.stdout.split()]
                self.assertEqual([p for p in pids if alive(p)], [])
                self.assertIn(f'did not finish within {limit} s', r.stderr)
                if len(pids) == 4:
                    break
            self.assertEqual(len(pids), 4, r)
            self.assertEqual([f for f in os.listdir(self.dir) if f.startswith('run-')], [])

    def test_a_command_that_ends_in_time_is_itself(self):
        for where in ([], ['--fabric', self.up('lab') or 'lab']):
            r = self.softhca('run', *where, '--timeout', '1000', '--', 'sh', '-c', 'exit 5', status=5)
            self.assertEqual(r.stderr, '')
            self.softhca('run', *where, '--timeout', '1000', '--', 'sh', '-c', 'kill -9 $$', status=-9)

    def test_a_command_that_ends_well_at_SIGTERM_was_late_all_the_same(self):
        r = self.softhca('run', '--timeout', '1', '--', 'sh', '-c',
                         'trap "echo bye; exit 0" TERM; while :; do sleep 0.1; done', status=124)
        self.assertIn(r.stdout, ('bye\n', ''))  # nothing if a second is too short for the shell to set its trap

    def test_the_summary_comes_at_the_end(self):
        r = self.softhca('run', '--timeout', '1', '--summary', '--require-traffic', '--', 'sleep', '1000',
                         status=124)
        self.assertEqual(self.summary(r)['doorbells'], '0')

    def test_no_number(self):
        for n in ('0', '-1', '1s', ''):
            r = self.softhca('run', '--timeout', n, '--', 'true', status=2)
            self.assertIn('--timeout', r.stderr)


class Hosts(Everyday):
    SAY = 'echo $SOFTHCA_HOST $SOFTHCA_DIR; ls /sys/class/infiniband | wc -l'

    def test_a_run_inside_of_a_run_is_on_another_host_of_it(self):
        r = self.softhca('run', '--hosts', '3', '--hca', '2', '--', 'sh', '-c',
                         f'{self.SAY}; {SOFTHCA} run --host h3 -- sh -c "$1"', 'sh', self.SAY)
        (a, n), (b, m) = [x.rsplit(None, 1) for x in re.findall(r'(\S+ \S+\n\d+)', r.stdout)]
        self.assertEqual((a.split()[0], b.split()[0], n, m), ('h1', 'h3', '2', '2'))
        self.assertEqual(a.split()[1], b.split()[1])

    def test_trace_pcap_and_a_fabric_that_is_up(self):
        name = self.up('--hosts', '2')
        for verb in (['run'], ['trace', '-o', '/dev/null'], ['run', '--timeout', '1000']):
            r = self.softhca('run', '--fabric', name, '--', SOFTHCA, *verb, '--host', 'h2', '--', 'sh', '-c',
                             self.SAY)
            self.assertEqual(r.stdout, f'h2 {self.dir}/{name}\n1\n')

    def test_a_capture_of_the_fabric_around(self):
        out = os.path.join(self.dir, 'x.pcap')
        self.env['XOUT'] = out
        r = self.softhca('run', '--hosts', '2', '--', 'sh', '-c',
                         f'{SOFTHCA} pcap -o "$XOUT" --host h2 -- sh -c "$0" sh "$@"; rm "$XOUT"', PAIR, 'h1',
                         'h2', str(self.port), '10')
        self.assertRegex(r.stderr, r'softhca: pcap: [1-9]\d* packets\n')

    def test_without_a_host_or_with_a_shape_it_is_a_fabric_of_its_own(self):
        for o in ([], ['--hca', '2'], ['--host', 'h1', '--hosts', '2']):
            r = self.softhca('run', '--hosts', '2', '--', 'sh', '-c',
                             f'echo $SOFTHCA_DIR; {SOFTHCA} run {" ".join(o)} -- printenv SOFTHCA_DIR')
            outer, inner = r.stdout.split()
            self.assertNotEqual(outer, inner)

    def test_hosts_that_are_not_there(self):
        for inner, text in ((['--host', 'h3'], "there is no host 'h3' on fabric 'run-"),
                            (['--host', ''], "there is no host ''"),
                            (['--host', 'x' * 40], 'there is no host')):
            r = self.softhca('run', '--hosts', '2', '--', SOFTHCA, 'run', *inner, '--', 'true', status=2)
            self.assertIn(text, r.stderr)
        r = self.softhca('run', '--hosts', '2', '--host', 'h3', '--', 'true', status=2)
        self.assertIn('the private fabric has h1 to h2', r.stderr)
        self.env['SOFTHCA_DIR'] = self.dir + '/gone'
        r = self.softhca('run', '--host', 'h2', '--', 'true', status=2)
        self.assertIn('gone does not answer', r.stderr)

    def test_a_host_can_be_chosen(self):
        r = self.softhca('run', '--hosts', '2', '--host', 'h2', '--', 'printenv', 'SOFTHCA_HOST')
        self.assertEqual(r.stdout, 'h2\n')


class Fabrics(Everyday):
    def names(self):
        return self.softhca('list', '-q').stdout.split()

    def test_up_gives_names(self):
        self.assertEqual([self.up(), self.up(), self.up('f4'), self.up(), self.up()],
                         ['f1', 'f2', '', 'f3', 'f5'])
        self.assertEqual(self.names(), ['f1', 'f2', 'f3', 'f4', 'f5'])
        self.softhca('down', 'f2')
        self.assertEqual(self.up(), 'f2')

    def test_names_given_at_the_same_time_differ(self):
        self.addCleanup(self.softhca, 'down', '--all')
        ps = [subprocess.Popen([SOFTHCA, 'up'], env=self.env, stdout=subprocess.PIPE, errors='replace')
              for _ in range(5)]
        got = sorted(p.communicate(timeout=TIMEOUT)[0].strip() for p in ps)
        self.assertEqual(got, self.names())
        self.assertEqual(len(set(got)), 5)

    def test_list(self):
        self.assertEqual(self.softhca('list').stdout, 'no fabric is up\n')
        self.assertEqual(self.names(), [])
        self.assertEqual(json.loads(self.softhca('list', '-j').stdout), {'fabrics': []})
        self.up('a.name-of_32.characters-at-most-')
        self.up('lab', '--hosts', '3')
        got = self.softhca('run', '--', SOFTHCA, 'list').stdout.splitlines()
        self.assertEqual([x.split()[0] for x in got[:3]],
                         ['NAME', 'a.name-of_32.characters-at-most-', 'lab'])
        self.assertEqual(got[2].split()[1:4], ['3', '1', '0'])
        self.assertRegex(got[3], r'^run-\d+ .* with its command$')
        lab = [f for f in json.loads(self.softhca('list', '-j').stdout)['fabrics'] if f['fabric'] == 'lab'][0]
        self.assertEqual((lab['hosts'], lab['hosts_used'], lab['processes'], lab['private']),
                         (3, 1, 0, False))

    def test_down_all_leaves_running_commands_alone(self):
        self.up('a')
        self.up('b')
        r = self.softhca('run', '--', 'sh', '-c', f'{SOFTHCA} down --all && {SOFTHCA} list -q')
        self.assertRegex(r.stdout, r'\Arun-\d+\n\Z')
        self.assertEqual((self.names(), os.listdir(self.dir)), ([], []))
        self.softhca('down', '--all')
        self.assertIn('missing', self.softhca('down', status=2).stderr)
        self.assertIn('exclude', self.softhca('down', '--all', 'a', status=2).stderr)

    def test_files_of_a_killed_supervisor_are_swept(self):
        for sweep in (['list'], ['up', 'other'], ['down', '--all'], ['status']):
            with self.subTest(sweep):
                self.up('lab')
                pid = self.status('lab')['supervisor']
                os.kill(pid, signal.SIGKILL)
                wait_for(lambda: not alive(pid), 'it to die')
                self.assertIn('lab', os.listdir(self.dir))
                self.softhca(*sweep)
                self.assertFalse({'lab', 'lab.lock'} & set(os.listdir(self.dir)))
                self.softhca('down', '--all')

    def test_a_supervisor_that_does_not_answer_hides_no_other(self):
        self.up('a')
        self.up('c')
        os.mkdir(os.path.join(self.dir, 'b'))
        with open(os.path.join(self.dir, 'b.lock'), 'w') as lock:  # a fabric whose socket is a directory
            import fcntl
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.mkdir(os.path.join(self.dir, 'b', 'sock'))
            r = self.softhca('list', '-q')
            self.assertEqual(r.stdout, 'a\nc\n')

    def test_a_stopped_supervisor_is_named_and_not_waited_for(self):
        self.up('a')
        self.up('b')
        pid = self.status('b')['supervisor']
        os.kill(pid, signal.SIGSTOP)
        try:
            r = self.softhca('list', '-q', status=2)
            self.assertEqual(r.stdout, 'a\n')
            self.assertIn(f"process {pid}, the fabric's supervisor, is stopped", r.stderr)
            self.assertIn(f'process {pid}', self.softhca('status', 'b', status=2).stderr)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.assertEqual(self.names(), ['a', 'b'])

    def test_status_shows_used_hosts(self):
        self.up('lab', '--topo', 'fat-tree:2:8')
        hosts = [h['name'] for h in self.status('lab')['hosts']]
        self.assertEqual(len(hosts), 32)

        def shown(*args):
            return re.findall(r'^  host (\S+)$', self.softhca('status', *args).stdout, re.M)

        self.assertEqual(shown(), hosts[:1])
        self.softhca('run', '--fabric', 'lab', '--host', hosts[7], '--', 'true')
        self.assertEqual(shown('lab'), [hosts[0], hosts[7]])
        self.assertEqual(shown('--all', 'lab'), hosts)
        self.assertEqual(shown('--host', hosts[9]), [hosts[9]])
        first = self.softhca('status').stdout.splitlines()[0]
        self.assertTrue(first.startswith('fabric lab  32 hosts, 2 used  supervisor pid '), first)
        self.assertEqual([h['name'] for h in self.status('--host', hosts[3], 'lab')['hosts']], [hosts[3]])
        self.assertIn("no host 'h99' on fabric 'lab'", self.softhca('status', '--host', 'h99', 'lab',
                                                                    status=2).stderr)
        self.assertIn("no host 'h99' on any", self.softhca('status', '--host', 'h99', status=2).stderr)
        self.assertIn('no host', self.softhca('status', '--host', 'h' * 40, status=2).stderr)

    def test_status_of_a_host_leaves_others_processes_out(self):
        self.up('lab', '--hosts', '2')
        p = subprocess.Popen([SOFTHCA, 'run', '--fabric', 'lab', '--host', 'h2', '--', 'ibv_asyncwatch', '-d',
                              'mlx5_0'], env=self.env, stdout=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        wait_for(lambda: len(self.status('lab')['files']) == 2, 'the device to be opened')
        self.assertIn(f'process {p.pid} ', self.softhca('status', '--host', 'h2', 'lab').stdout)
        self.assertNotIn('process', self.softhca('status', '--host', 'h1', 'lab').stdout)


if __name__ == '__main__':
    unittest.main(verbosity=2)
