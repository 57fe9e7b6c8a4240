# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a learner reads after a mistake: the cause with its values, in a trace of failures and in the summary."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import PERFTEST_CLOCK, SOFTHCA, TIMEOUT, TOP, fabric_dir, port_block, shell_pair, VERBS_ENUMS  # noqa: E402

PORT = port_block()

# Two queue pairs of one adapter, and what connects them; each mistake changes one thing.
FIRST = '''
import sys
sys.path.insert(0, '/usr/lib/python3/dist-packages')
from pyverbs.addr import AH, AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
''' + VERBS_ENUMS + '''
ctx = Context(name='mlx5_0')
lid, gid = ctx.query_port(1).lid, ctx.query_gid(1, 0)
pd, cq = PD(ctx), CQ(ctx, 64)
ALL = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
mr, far = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE), MR(pd, 4096, ALL)

def make(kind=e.IBV_QPT_RC, depth=8):
    return QP(pd, QPInitAttr(qp_type=kind, scq=cq, rcq=cq, sq_sig_all=0, cap=QPCap(max_send_wr=depth, max_recv_wr=8)))

def attrs(peer, dlid=None, dgid=None, access=ALL, pkey=0, rq_psn=0, sq_psn=0, rnr_retry=0):
    a = QPAttr(port_num=1)
    a.qp_access_flags, a.pkey_index = access, pkey
    a.dest_qp_num, a.path_mtu, a.rq_psn, a.sq_psn = peer, e.IBV_MTU_1024, rq_psn, sq_psn
    a.max_dest_rd_atomic = a.max_rd_atomic = 1
    a.min_rnr_timer, a.timeout, a.retry_cnt, a.rnr_retry = 1, 1, 1, rnr_retry
    gr = GlobalRoute(dgid=dgid, sgid_index=0) if dgid else None
    a.ah_attr = AHAttr(dlid=dlid or lid, port_num=1, is_global=1 if dgid else 0, gr=gr)
    return a

def pair(near={}, far={}, **both):
    a, b = make(), make()
    a.to_rts(attrs(b.qp_num, **near, **both))
    b.to_rts(attrs(a.qp_num, **far, **both))
    return a, b

def receive(qp, n=4096, key=None):
    qp.post_recv(RecvWR(num_sge=1, sg=[SGE(far.buf, n, key or far.lkey)]))

def send(qp, n=64, key=None, op=e.IBV_WR_SEND, rkey=None, raddr=None, flags=e.IBV_SEND_SIGNALED):
    wr = SendWR(opcode=op, num_sge=1, sg=[SGE(mr.buf, n, key or mr.lkey)], send_flags=flags)
    if op != e.IBV_WR_SEND:
        wr.set_wr_rdma(rkey or far.rkey, raddr or far.buf)
    qp.post_send(wr)

def sends(qp, n):
    wrs = [None]  # with one doorbell
    for i in range(n):
        wrs.append(SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(mr.buf, 64, mr.lkey)],
                          send_flags=e.IBV_SEND_SIGNALED, next_wr=wrs[-1]))
    qp.post_send(wrs[-1])

def done(n=1):
    got = []
    while len(got) < n:
        got += cq.poll(1)[1]
    return [x.status for x in got]

def datagrams(qkey=0x222):
    a, b = make(e.IBV_QPT_UD), make(e.IBV_QPT_UD)
    for qp in a, b:
        attr = QPAttr(port_num=1)
        attr.qkey = qkey
        qp.to_rts(attr)
    return a, b, AH(pd, attr=AHAttr(dlid=lid, port_num=1))

def datagram(qp, peer, ah, qkey, n=64):
    wr = SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(mr.buf, n, mr.lkey)], send_flags=e.IBV_SEND_SIGNALED)
    wr.set_wr_ud(ah, peer.qp_num, qkey)
    qp.post_send(wr)
    assert done() == [e.IBV_WC_SUCCESS]

def refused(f, *a):
    try:
        f(*a)
    except PyverbsError:
        return
    sys.exit('not refused')
'''

# As a subnet manager does: entry 3 of the port's table becomes 0x8123.
SET_PKEY = r'''
import fcntl, os, struct
fd = os.open('/dev/infiniband/umad0', os.O_RDWR)
agent = bytearray(40)
struct.pack_into('<IIBB', agent, 0, 0, 0, 0x81, 1)
fcntl.ioctl(fd, 0xC0281B04, agent)
def smp(method, data):
    p = bytearray(320)
    struct.pack_into('<III', p, 0, 0, 0, 1000)
    struct.pack_into('>H', p, 28, 0xffff)
    p[64:128] = struct.pack('>BBBBHBBQHHIQHH28x', 1, 0x81, 1, method, 0, 0, 0, 1, 0x16, 0, 0, 0, 0xffff, 0xffff)
    p[128:192] = data
    os.write(fd, p)
    return bytearray(os.read(fd, 400)[128:192])
table = smp(1, bytes(64))
table[6:8] = b'\x81\x23'
smp(2, table)
'''


class Cause(unittest.TestCase):
    def setUp(self):
        self.dir = fabric_dir()
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('SOFTHCA_TRACE')}
        self.env['SOFTHCA_RUNTIME_DIR'] = self.dir
        self.addCleanup(shutil.rmtree, self.dir)
        self.work = tempfile.mkdtemp(prefix='hcacause-')
        self.addCleanup(shutil.rmtree, self.work)
        Cause.port = getattr(Cause, 'port', PORT) + 1

    def command(self, *cmd, options=(), status=0):
        """The lines of a trace of failures, and those that the command's end says."""
        out = os.path.join(self.work, 'trace')
        r = subprocess.run([SOFTHCA, 'trace', '-Z', '-o', out, '--summary', *options, '--', *cmd], env=self.env,
                           stdin=subprocess.DEVNULL, capture_output=True, errors='replace', timeout=TIMEOUT)
        if status is not None:
            self.assertEqual(r.returncode, status, r.stderr)
        with open(out, encoding='utf-8') as f:
            lines = f.read().splitlines()
        return [re.sub(r'^softhca\[[\d/]+\] [\d.]+ | <[\d.]+>$', '', x) for x in lines], re.findall(
            r'^softhca: trace: (.*)$', r.stderr, re.M)

    def learn(self, code, *options):
        return self.command('/usr/bin/python3', '-c', FIRST + code, options=options)

    def reads(self, code, *words, told=None, options=()):
        """Both outputs have a line with all these words, in this order; `told`: those of the summary."""
        trace, summary = self.learn(code, *options)
        for what, lines, want in ('trace -Z', trace, words), ('--summary', summary, told or words):
            pattern = '.*'.join(want)
            self.assertTrue([x for x in lines if re.search(pattern, x)],
                            f'{what} does not say {pattern!r}:\n' + '\n'.join(lines))
        return trace, summary


class Learner(Cause):
    """The twelve mistakes."""

    def no_answer(self, code, *words, options=()):
        trace, _ = self.reads(code, 'TRANSPORT_RETRY_EXC', 'no answer: ', *words, 'retry_cnt 1, timeout 1',
                              options=options)
        self.assertRegex(trace[0], 'no answer')  # the cause comes first, and once
        self.assertEqual(len([x for x in trace if 'no answer' in x]), 1, trace)

    def test_01_wrong_qpn(self):
        self.no_answer('a, b = pair(near={}); c = make(); c.to_rts(attrs(0x777)); send(c); done()',
                       'QP 0x777 does not exist')

    def test_01b_the_peer_is_connected_to_another(self):
        self.no_answer('a, b = pair(); c = make(); c.to_rts(attrs(b.qp_num)); send(c); done()',
                       'QP 0x41 is connected to QP 0x40, not to QP 0x42')

    def test_02_wrong_lid(self):
        self.no_answer("a, b = pair(near={'dlid': 99}); send(a); done()", 'LID 99')

    def test_02b_wrong_gid(self):
        self.no_answer("a, b = pair(near={'dgid': GID('fe80:0000:0000:0000:0000:0000:0000:0077')}); send(a); done()",
                       'port h1/mlx5_0/1, LID 1, does not have GID fe80:0:0:0:0:0:0:77')

    def test_02c_another_roce_version(self):
        self.no_answer('''
kinds = [ctx.query_gid_ex(1, i).gid_type for i in range(2)]
assert kinds[0] != kinds[1]
a, b = make(), make()
for qp, peer, at in (a, b, 0), (b, a, 1):
    attr = attrs(peer.qp_num)
    attr.ah_attr = AHAttr(dlid=0, port_num=1, is_global=1, gr=GlobalRoute(dgid=ctx.query_gid(1, 0), sgid_index=at))
    qp.to_rts(attr)
send(a); done()
''', 'sent with GID index 0, which is RoCE v1 here: QP 0x41 has index 1, which is RoCE v2 over IPv6', options=('--link', 'eth'))

    def test_03_wrong_psn(self):
        self.no_answer("a, b = pair(near={'sq_psn': 0x500}); send(a); done()", 'PSN 0x500, QP 0x41 expects 0x0')

    def test_04_the_peer_is_in_init(self):
        self.no_answer('''
a, b = make(), make()
a.to_rts(attrs(b.qp_num)); b.to_init(attrs(a.qp_num)); send(a); done()
''', 'QP 0x41 is in state INIT')

    def test_05_another_partition(self):
        code = SET_PKEY + "a, b = pair(near={'pkey': 3}); send(a); done()"
        self.no_answer(code, 'sent with P_Key index 3, which is 0x8123 here: QP 0x41 has index 0, which is 0xffff')

    def test_06_the_qp_lacks_a_right(self):
        self.reads("a, b = pair(far={'access': e.IBV_ACCESS_LOCAL_WRITE}); send(a, op=e.IBV_WR_RDMA_WRITE); done()",
                   'REMOTE_INVAL_REQ', 'qp_access_flags of QP 0x41 lack REMOTE_WRITE')

    def test_07_wrong_rkey(self):
        self.reads('a, b = pair(); send(a, op=e.IBV_WR_RDMA_WRITE, rkey=0x123456); done()',
                   'REMOTE_ACCESS', 'rkey 0x123456, 64 bytes at 0x[0-9a-f]+: there is no such key')
        self.reads('a, b = pair(); send(a, op=e.IBV_WR_RDMA_WRITE, raddr=far.buf + 4090); done()',
                   'REMOTE_ACCESS', r'64 bytes at 0x[0-9a-f]+: the key\'s region is 0x[0-9a-f]+ to 0x[0-9a-f]+, '
                   '4096 bytes')
        self.reads('''
weak = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ)
a, b = pair(); send(a, op=e.IBV_WR_RDMA_WRITE, rkey=weak.rkey, raddr=weak.buf); done()
''', 'REMOTE_ACCESS', 'the key allows LOCAL_WRITE | REMOTE_READ, this needs REMOTE_WRITE'.replace('|', r'\|'))

    def test_07b_memory_that_is_gone(self):
        hole = '''
import ctypes, mmap
m = mmap.mmap(-1, 3 * 4096)
at = ctypes.addressof(ctypes.c_char.from_buffer(m))
key = MR(pd, 4096, ALL, at + 4096)
move = ctypes.CDLL(None).mremap  # munmap() leaves registered pages where they are
move.argtypes, move.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p], \\
    ctypes.c_void_p
assert move(at + 4096, 4096, 4096, 3, at + 2 * 4096) == at + 2 * 4096  # MREMAP_MAYMOVE | MREMAP_FIXED
a, b = pair(); receive(b)
'''
        self.reads(hole + 'send(a, op=e.IBV_WR_RDMA_WRITE, rkey=key.rkey, raddr=at + 4096); done()', 'REMOTE_ACCESS',
                   'remote memory is not mapped: rkey 0x[0-9a-f]+, 64 bytes at 0x[0-9a-f]+000')
        self.reads(hole + '''
wr = SendWR(opcode=e.IBV_WR_SEND, num_sge=1, sg=[SGE(at + 4096, 32, key.lkey)], send_flags=e.IBV_SEND_SIGNALED)
a.post_send(wr); done()''', 'LOCAL_PROT',
                   'registered memory is not mapped: lkey 0x[0-9a-f]+, 32 bytes at 0x[0-9a-f]+000')

    def test_08_too_small_a_receive(self):
        self.reads('a, b = pair(); receive(b, 16); send(a, 64); done(2)',
                   'REMOTE_INVAL_REQ', 'a message of 64 bytes, the receive has room for 16')

    def test_09_no_receive(self):
        self.reads('a, b = pair(); send(a); done()',
                   'RNR_RETRY_EXC', 'no receive posted: QP 0x41; rnr_retry 0, min_rnr_timer 1')

    def test_10_another_qkey(self):
        self.reads('a, b, ah = datagrams(); receive(b); datagram(a, b, ah, 0x111)',
                   'dropped', 'Q_Key 0x111, QP 0x41 has 0x222')

    def test_11_an_attribute_is_missing(self):
        code = '''
qp = make(); qp.to_init(attrs(0x41)); a = attrs(0x41); a.qp_state = e.IBV_QPS_RTR
refused(qp.modify, a, e.IBV_QP_STATE | e.IBV_QP_AV | e.IBV_QP_PATH_MTU | e.IBV_QP_DEST_QPN | e.IBV_QP_RQ_PSN
                      | e.IBV_QP_MAX_DEST_RD_ATOMIC%s)
'''
        self.reads(code % '', 'MODIFY_QP', 'EINVAL: INIT to RTR of type RC: attr_mask lacks MIN_RNR_TIMER')
        self.reads(code % '| e.IBV_QP_MIN_RNR_TIMER | e.IBV_QP_TIMEOUT', 'MODIFY_QP',
                   'INIT to RTR of type RC: attr_mask must not have TIMEOUT')
        self.reads('qp = make(); qp.to_init(attrs(0x41)); a = attrs(0x41); a.qp_state = e.IBV_QPS_RTS\n'
                   'refused(qp.modify, a, e.IBV_QP_STATE)', 'MODIFY_QP',
                   'INIT to RTS of type RC: there is no such transition; from there a QP changes to RESET, INIT, RTR, '
                   'ERR')

    def test_12_posted_before_rts(self):
        self.reads('qp = make(); qp.to_init(attrs(0x41)); a = attrs(0x41); a.qp_state = e.IBV_QPS_RTS\n'
                   'refused(qp.modify, a, e.IBV_QP_STATE); refused(send, qp)', 'undone',
                   r'0x40.*: ended in state INIT, after ibv_modify_qp\(\) was refused: .*'
                   r'before, ibv_post_send\(\) of libmlx5 answers ENOMEM',
                   told=('undone: QP 0x40 .*ended in state INIT',))

    def test_12d_a_refused_call_is_counted(self):
        _, summary = self.learn('qp = make(); refused(qp.to_rtr, attrs(0x41, pkey=5000)); refused(qp.to_rts, attrs(0x41, '
                                'pkey=5000))')
        self.assertEqual(summary[4], 'errors: refused call 2')
        self.assertRegex(summary[5], r'^refused: MODIFY_QP of mlx5_0: EINVAL: .*pkey_index.* \(2 times\)$')

    def test_12e_a_command_that_the_device_lacks(self):
        """What was asked for, and of which device."""
        code = FIRST.replace("name='mlx5_0'", 'name=d.get_device_list()[0].name.decode()').replace(
            'ctx =', 'import pyverbs.device as d\nfrom pyverbs.srq import SRQ, SrqInitAttr\nctx =', 1)
        lines, summary = self.command('/usr/bin/python3', '-c', code + 'refused(SRQ, pd, SrqInitAttr())',
                                      options=('--world', 'no-srq,name-pci'))
        self.assertRegex('\n'.join(lines), r'command=CREATE_SRQ\W.*EOPNOTSUPP.*the device does not support it')
        self.assertEqual(summary[5], 'refused: CREATE_SRQ of ibP23063p0s0: EOPNOTSUPP: the device does not support it')

    def test_13_the_receiver_expects_a_later_psn(self):
        ahead = 'PSN 0x0, QP 0x41 expects 0x%x: acknowledged as a duplicate and not executed: ' \
            'rq_psn of the receiver is ahead'
        # by one packet as well: the receiver has never executed a request
        for far, words in (1, ahead % 1), (0x500, ahead % 0x500):
            trace, summary = self.reads("a, b = pair(far={'rq_psn': %d}); receive(b); send(a)\n"
                                        "assert done() == [e.IBV_WC_SUCCESS]" % far, 'dropped', words)
            self.assertEqual((len(trace), summary[4]), (1, 'errors: dropped 1'))

    def test_13b_the_sender_alone_was_reset(self):
        _, summary = self.reads("""
a, b = pair()
for i in range(3):
    receive(b); send(a); done(2)
a.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE)
a.to_rts(attrs(b.qp_num)); send(a); send(a); done(2)
""", 'dropped', 'PSN 0x0, QP 0x41 expects 0x3: acknowledged as a duplicate', told=('dropped: .*',))
        self.assertRegex(summary[5], 'expects 0x3')

    def test_12c_the_send_queue_is_full(self):
        code = "a, b = pair(); [receive(b) for i in range(8)]; [send(a%s) for i in range(8)]; refused(send, a)"
        for flags, asking in ('', 8), (', flags=0', 0):
            self.reads(code % flags, 'undone', 'the send queue is full: 8 work requests are '
                       f'posted whose completions were not polled, {asking} of them ask for one, max_send_wr was 8')
        _, summary = self.learn("a, b = pair(); [(receive(b), send(a), done(2)) for i in range(20)]")
        self.assertEqual(summary[4:], ['errors: none'])

    def test_12f_the_send_queue_is_full_when_the_program_exits(self):
        """Without a call that destroys the QP."""
        for flags, asking in ('', 8), (', flags=0', 0):
            trace, summary = self.reads(
                f"a, b = pair(); [receive(b) for i in range(8)]; [send(a{flags}) for i in range(8)]; refused(send, a)\n"
                'import ctypes; ctypes.CDLL(None).exit(0)', 'undone',
                'the send queue is full: 8 work requests are posted whose completions were not polled, '
                f'{asking} of them ask for one, max_send_wr was 8')
            self.assertEqual((len(trace), summary[4]), (1, 'errors: undone 1'))
        _, summary = self.learn("a, b = pair(); [(receive(b), send(a), done(2)) for i in range(20)]\n"
                                'import ctypes; ctypes.CDLL(None).exit(0)')
        self.assertEqual(summary[4], 'errors: none')

    def test_12g_a_queue_pair_that_was_never_in_rts(self):
        enomem = r'; before RTS, ibv_post_send\(\) of libmlx5 answers ENOMEM'
        for state, code in ('RST', ''), ('INIT', 'a.to_init(attrs(b.qp_num));'):
            self.reads(f'a, b = make(), make(); b.to_rts(attrs(a.qp_num)); {code} refused(send, a); a.close()', 'undone',
                       f'was never in RTS: it ended in state {state}, and QP 0x41 is connected to it' + enomem)
        self.reads('a, b = make(), make(); a.to_rtr(attrs(b.qp_num)); refused(send, a); a.close()', 'undone',
                   'was never in RTS: it ended in state RTR' + enomem)

    def test_12h_queue_pairs_that_need_not_be_in_rts(self):
        """One that received, one that waits to receive, one that was reset, and those that nobody has connected."""
        for code in ('a, b = make(), make(); a.to_rts(attrs(b.qp_num)); b.to_rtr(attrs(a.qp_num)); '
                     'send(a, op=e.IBV_WR_RDMA_WRITE); done(); b.close(); a.close()',
                     'a = make(); a.to_rtr(attrs(9)); receive(a); a.close()',
                     'a, b = pair(); a.modify(QPAttr(qp_state=e.IBV_QPS_RESET), e.IBV_QP_STATE); a.close()',
                     'a = make(); a.close()', 'a = make(); a.to_init(attrs(9)); a.close()'):
            trace, summary = self.learn(code)
            self.assertEqual((trace, summary[4]), ([], 'errors: none'), code)

    def test_14_a_work_request_names_another_queue_pair(self):
        """By DEVX: the doorbell is that of the other QP, on a page that is not its own."""
        examples, exe = os.path.join(TOP, 'examples'), os.path.join(self.work, 'devx')
        with open(os.path.join(examples, 'devx_send.c'), encoding='utf-8') as f:
            code = f.read()
        wrong = code.replace('0, q->qpn, MLX5_WQE_CTRL_CQ_UPDATE', '0, q->qpn + 1, MLX5_WQE_CTRL_CQ_UPDATE').replace(
            'time(NULL) + 5', 'time(NULL)')
        self.assertNotEqual(wrong, code)
        subprocess.run(['gcc', '-x', 'c', '-', '-I', examples, '-o', exe, '-lmlx5', '-libverbs'], input=wrong, errors='replace',
                       check=True, timeout=TIMEOUT)
        trace, summary = self.command(exe, status=1)
        said = 'a doorbell for it rang on UAR page 2, its context has uar_page 3'
        self.assertIn('cqe: ignored(qpn=0x41): ' + said, trace)
        self.assertIn(f'ignored: QP 0x41 (RC, port h1/mlx5_0/1): {said}', summary)
        self.assertIn('ignored 1', summary[4])

    def test_12b_an_lkey_that_is_not_registered(self):
        self.reads('a, b = pair(); receive(b); send(a, key=0x999900); done()',
                   'LOCAL_PROT', 'lkey 0x999900, 64 bytes at 0x[0-9a-f]+: there is no such key')


class Healthy(Cause):
    def test_a_message_and_a_datagram(self):
        trace, summary = self.learn('''
a, b = pair(); receive(b); send(a); done(2)
a, b, ah = datagrams(); receive(b); datagram(a, b, ah, 0x222); done()
''')
        self.assertEqual((trace, summary[4:]), ([], ['errors: none']))

    def test_queue_pairs_that_are_made_and_not_used(self):
        for code in 'make()', 'qp = make(); qp.to_init(attrs(0x41))', 'a, b = pair(); c = make(); c.to_init(attrs(9))':
            for end in '', '; qp = a = b = c = None', '\nimport os; os._exit(0)':
                trace, summary = self.learn(code + end)
                self.assertEqual((trace, summary[4]), ([], 'errors: none'))
                self.assertEqual([x for x in summary[5:] if not x.startswith('left: ')], [])

    def test_ib_send_bw(self):
        self.env['LD_PRELOAD'] = PERFTEST_CLOCK
        script = shell_pair(f'ib_send_bw -p {self.port} -n 200 -F >/dev/null', self.port)
        trace, summary = self.command('sh', '-c', script)
        self.assertEqual((trace, summary[4]), ([], 'errors: none'))
        # perftest's client forgets a CQ
        self.assertRegex('\n'.join(summary[5:]), r'^left: ib_send_bw closed its device with 1 CQ \(0x\d\) not destroyed$')


class Folded(Cause):
    """A trace of failures has what failed, and only that."""

    def test_the_cause_comes_before_the_flushes_and_they_are_one_line(self):
        code = "a, b = pair(near={'sq_psn': 5}); receive(a); receive(a); sends(a, 5); done(7)"
        trace, _ = self.learn(code)
        self.assertRegex(trace[0], r'^cqe: send error\(.*syndrome=TRANSPORT_RETRY_EXC.*no answer: PSN 0x5')
        self.assertEqual(sorted(re.sub(r'cqn=.*times=', 'times=', x) for x in trace[1:]), [
            'cqe: receive error(times=2): and 2 flushed: flushed: receive queue in error',
            'cqe: send error(times=4): and 4 flushed: flushed: send queue in error'])

    def test_a_trace_of_all_has_each_of_them(self):
        out = os.path.join(self.work, 'all')
        code = FIRST + "a, b = pair(near={'sq_psn': 5}); [send(a) for i in range(5)]; done(5)"
        subprocess.run([SOFTHCA, 'trace', '-j', '-e', 'cqe', '-o', out, '--', '/usr/bin/python3', '-c', code],
                       env=self.env, check=True, timeout=TIMEOUT)
        with open(out, encoding='utf-8') as f:
            got = [json.loads(x) for x in f]
        self.assertEqual([x['cqe']['syndrome_name'] for x in got if x.get('what') == 'send error'],
                         ['TRANSPORT_RETRY_EXC'] + 4 * ['WR_FLUSH'])

    def test_waiting_is_one_line(self):
        out = os.path.join(self.work, 'all')
        code = FIRST + '''
a, b = pair(near={'rnr_retry': 7}); send(a)
import time; time.sleep(0.3)            # no event: it is parked again and again meanwhile
receive(b); done(2)'''
        subprocess.run([SOFTHCA, 'trace', '-e', 'cqe', '-o', out, '--', '/usr/bin/python3', '-c', code],
                       env=self.env, check=True, timeout=TIMEOUT)
        with open(out, encoding='utf-8') as f:
            lines = [x for x in f if 'parked' in x]
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r'QP 0x40: WQE 0 parked \(receiver not ready: QP 0x41; rnr_retry 7, min_rnr_timer 1')
        self.assertGreater(int(re.search(r'was parked (\d+) times \(receiver not ready\)', lines[1])[1]), 10)

    def test_a_cq_that_overruns(self):
        trace, summary = self.reads('''
small = CQ(ctx, 1)
qp = lambda: QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=small, rcq=cq, cap=QPCap(max_send_wr=16, max_recv_wr=16)))
a, b = qp(), make()
a.to_rts(attrs(b.qp_num)); b.to_rts(attrs(a.qp_num))
for i in range(8):
    receive(b)
for i in range(8):
    send(a)
''', 'overrun: a completion came, and the program has not polled the [0-9]+ that are in its [0-9]+ entries')
        self.assertTrue([x for x in trace if 'CQ_ERR' in x], trace)
        self.assertTrue([x for x in trace if 'QP_FATAL' in x], trace)
        self.assertRegex(summary[4], '^errors: .*CQ in error 1')

    def test_equal_drops_are_counted(self):
        trace, summary = self.learn('a, b, ah = datagrams(); [datagram(a, b, ah, 0x222) for i in range(100)]')
        self.assertEqual(len(trace), 7, trace)  # the first, the second, the fourth...
        self.assertRegex(trace[-1], r'dropped\(qpn=0x40, to=0x41, times=64\): QP 0x41 has no receive posted')
        self.assertEqual(summary[4], 'errors: dropped 100')
        self.assertRegex(summary[5], r'^dropped: QP 0x40 \(UD, port h1/mlx5_0/1\): .* \(100 times\)$')

    def test_a_message_of_uc_is_dropped(self):
        self.reads('''
a, b = make(e.IBV_QPT_UC), make(e.IBV_QPT_UC)
a.to_rts(attrs(b.qp_num)); b.to_rts(attrs(a.qp_num)); receive(b, 16); send(a, 64); done()
''', 'dropped', '64 bytes, the receive of QP 0x41 has room for 16')

    def test_work_that_waited_to_the_end(self):
        self.reads("a, b = pair(near={'rnr_retry': 7}); send(a); a.close()",
                   'undone', 'ended while work request 0 waited: receiver not ready: QP 0x41; rnr_retry 7')


class Control(Cause):
    def test_users_of_an_object_are_named(self):
        self.reads('''
import ctypes
verbs = ctypes.CDLL('libibverbs.so.1', use_errno=True)
for f in 'ibv_get_device_list', 'ibv_open_device', 'ibv_alloc_pd', 'ibv_create_cq':
    getattr(verbs, f).restype = ctypes.c_void_p
P = ctypes.c_void_p
own = P(verbs.ibv_open_device(P.from_address(verbs.ibv_get_device_list(None))))
pd2 = P(verbs.ibv_alloc_pd(own))
verbs.ibv_reg_mr_iova2.restype = P
buf = ctypes.create_string_buffer(64)
verbs.ibv_reg_mr_iova2(pd2, buf, ctypes.c_size_t(64), ctypes.c_uint64(ctypes.addressof(buf)), 1)
assert verbs.ibv_dealloc_pd(pd2)
''', 'EBUSY: used by MR')

    def test_what_is_left_is_listed(self):
        out = os.path.join(self.work, 'all')
        code = FIRST + 'import os; a, b = pair(); os._exit(0)'
        trace, summary = self.learn('import os; a, b = pair(); os._exit(0)')
        self.assertEqual((trace, summary[4]), ([], 'errors: none'))  # a program may end so
        subprocess.run([SOFTHCA, 'trace', '-e', 'fw', '-o', out, '--', '/usr/bin/python3', '-c', code], env=self.env,
                       check=True, timeout=TIMEOUT)
        with open(out, encoding='utf-8') as f:
            self.assertIn(summary[-1], [x[x.index('left: '):].rstrip() for x in f if 'left: ' in x])
        self.assertRegex(summary[-1], r'^left: \S+ closed its device with 2 QPs \(0x40, 0x41\), 1 CQ \(0x1\), '
                         r'2 MRs \(0x[0-9a-f]+, 0x[0-9a-f]+\), 1 PD \(0x1\) not destroyed$')


class Mads(Cause):
    """A management datagram that is lost names port, direction and rule."""

    def test_where_it_is_lost(self):
        for cmd, where in (
                (('ibaddr', '99'), 'at port softhca switch 1/1, inwards: no route to its LID from there, or a link on it is down'),
                (('perfquery', '99'), 'at port softhca switch 1/1, inwards: its switch has no route to this LID'),
                (('smpquery', '-D', 'nodeinfo', '0,1,7'), 'at port softhca switch 1/7, outwards: its link is down')):
            trace, _ = self.command(cmd[0], '-t', '50', *cmd[1:], options=('--hosts', '2', '-e', 'mad'), status=None)
            self.assertTrue([x for x in trace if x.startswith('mad: lost ') and x.endswith('): ' + where)], trace)


class Explain(Cause):
    """explain knows the words of the lines."""

    def explained(self, *words, status=0):
        r = subprocess.run([SOFTHCA, 'explain', '-j', *words], env=self.env, capture_output=True, errors='replace',
                           timeout=TIMEOUT)
        self.assertEqual(r.returncode, status, r)
        return json.loads(r.stdout)

    def test_causes(self):
        got = next(x for x in self.explained('Q_Key') if x['kind'] == 'cause')
        self.assertEqual((got['kind'], got['name'], got['says']), ('cause', 'QKEY', 'Q_Key N, QP N has N'))
        self.assertIn('remote_qkey', got['next'])
        self.assertIn('rq_psn of the receiver is ahead', self.explained('duplicate')[0]['says'])
        names = {x['name'] for x in self.explained('dropped')}
        self.assertLess({'dropped', 'QKEY', 'NO_RECEIVE', 'WRONG_QPN', 'SWITCH_PKEY'}, names)
        self.assertEqual(names - {'dropped'}, {x['name'] for x in self.explained('no answer')})

    def test_each_word_that_starts_a_line(self):
        for word in 'failed', 'dropped', 'ignored', 'refused', 'undone', 'left':
            self.assertEqual(self.explained(word)[0]['name'], word)

    def test_what_libmlx5_refuses_by_itself(self):
        got = next(x for x in self.explained('ENOMEM') if 'ibv_post_send' in x['at'])
        for word in 'full', 'max_send_sge', 'max_inline_data', 'RTS':
            self.assertIn(word, got['cause'])


class Top(Cause):
    def test_causes_in_top_and_status(self):
        subprocess.run([SOFTHCA, 'up', 'lab'], env=self.env, check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
        self.addCleanup(subprocess.run, [SOFTHCA, 'down', 'lab'], env=self.env, stdout=subprocess.DEVNULL)
        code = FIRST + "a, b, ah = datagrams(); [datagram(a, b, ah, 0x111) for i in range(3)]; c, d = pair(); " \
            "send(c, key=0x999900); done()"
        subprocess.run([SOFTHCA, 'run', '--fabric', 'lab', '--', '/usr/bin/python3', '-c', code], env=self.env,
                       check=True, timeout=TIMEOUT)

        def ask(*args):
            return subprocess.run([SOFTHCA, *args], env=self.env, check=True, capture_output=True, errors='replace',
                                  timeout=TIMEOUT).stdout
        page = ask('top', '-b', '-n', '1', '-d', '0.1', 'lab')
        self.assertRegex(page, r'(?m)^errors: LOCAL_PROT 1, dropped 3$')
        self.assertRegex(page, r'(?m)^  3 x dropped: QP 0x40 .*Q_Key 0x111, QP 0x41 has 0x222$')
        self.assertRegex(page, r'(?m)^  failed: QP 0x42 .*lkey 0x999900, 64 bytes at 0x[0-9a-f]+: there is no such key$')
        causes = json.loads(ask('top', '-j', '-n', '1', '-d', '0.1', 'lab'))['causes']
        use = json.loads(ask('status', '-j', 'lab'))['hosts'][0]['use']
        self.assertEqual(use['causes'], causes)
        self.assertEqual(sorted(causes.values()), [1, 3])
        self.assertEqual(use['lost'], {'dropped': 3})


if __name__ == '__main__':
    unittest.main()
