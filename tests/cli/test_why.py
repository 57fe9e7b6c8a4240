# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""softhca trace, explain and decode."""
import errno
import json
import os
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, SOFTHCA, TIMEOUT, TOP, fabric_dir, port_block, shell_pair, VERBS_ENUMS  # noqa: E402

DEVX_SEND = os.path.join(BUILD, 'examples', 'devx_send')
PYTHON = '/usr/bin/python3'

# Raw calls: no library between the program and what is traced.
RAW = r'''
import ctypes, errno, fcntl, os, struct, sys
RDMA_VERBS_IOCTL = 0xc0181b01
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open('/dev/infiniband/uverbs0', os.O_RDWR | os.O_CLOEXEC)
keep = []
def attr(id, data=b'', flags=1, len=None, value=None):
    n = len if len is not None else __builtins__.len(data)
    if value is None and __builtins__.len(data) <= 8 and n <= 8:
        value = int.from_bytes(data.ljust(8, b'\0'), 'little')
    elif value is None:
        b = ctypes.create_string_buffer(data, max(n, 1))
        keep.append(b)
        value = ctypes.addressof(b)
    return struct.pack('<HHHHQ', id, n, flags, 0, value)
def room(id, n):
    b = ctypes.create_string_buffer(max(n, 1))
    keep.append(b)
    return attr(id, len=n, value=ctypes.addressof(b))
def call(obj, method, *attrs):
    frame = ctypes.create_string_buffer(struct.pack('<HHHHQII', 24 + 16 * len(attrs), obj, method,
                                                    len(attrs), 0, 1, 0) + b''.join(attrs))
    r = libc.ioctl(fd, ctypes.c_ulong(RDMA_VERBS_IOCTL), frame)
    return 0 if r == 0 else ctypes.get_errno()
UHW_IN, UHW_OUT, NS = 0x1000, 0x1001, 0x1000
# GET_CONTEXT with mlx5's flags: 1 is DEVX
def context(flags=1):
    return call(0, 3, room(0, 4), room(1, 8),
                attr(UHW_IN, struct.pack('<IIIIBBHIQ', 16, 4, flags, 0, 1, 0, 0, 0, 3)), room(UHW_OUT, 72))
'''


class Why(unittest.TestCase):
    def setUp(self):
        self.dir = fabric_dir()
        self.env = dict(os.environ, SOFTHCA_RUNTIME_DIR=self.dir, HOME=self.dir)
        for name in list(self.env):
            if name.startswith('SOFTHCA_TRACE'):
                del self.env[name]

        self.addCleanup(subprocess.run, ['rm', '-rf', self.dir])

    def run_(self, *args, stdin=None, **kw):
        return subprocess.run([SOFTHCA, *args], env=self.env, input=stdin, capture_output=True,
                              errors='replace', timeout=TIMEOUT, **kw)

    def ok(self, *args, **kw):
        r = self.run_(*args, **kw)
        self.assertEqual((r.returncode, r.stderr), (0, ''), r)
        return r.stdout

    def traced(self, *cmd, options=(), status=0):
        """The lines of a command's trace."""
        path = os.path.join(self.dir, 'trace')
        r = self.run_('trace', '-o', path, *options, '--', *cmd)
        self.assertEqual(r.returncode, status, r)
        with open(path, encoding='utf-8') as f:
            text = f.read()
        self.assertTrue(not text or text.endswith('\n'))
        return text.splitlines()

    def raw(self, program, *options, status=0):
        return self.traced(PYTHON, '-c', RAW + program, options=options, status=status)


def normal(line):
    """The line without what changes from run to run."""
    line = re.sub(r'^softhca\[[\d/]+\] \d+\.\d{6} ', '', line)
    line = re.sub(r' <\d+\.\d{6}>$', '', line)
    return re.sub(r'0x[0-9a-f]{9,}', 'ADDR', line)


class Trace(Why):
    def test_lines_of_raw_calls(self):
        lines = [normal(x) for x in self.raw('''
print(context())
pd = struct.pack('>HHHHII', 0x800, 0, 0, 0, 0, 0)
call(0x1001, 0x1000, attr(0x1000, value=0, len=0), attr(0x1001, pd), room(0x1002, 16))
call(0x1001, 0x1001, attr(0x1000, value=0, len=0))
''', '-e', 'uverbs,fw')]
        self.assertEqual(lines, [
            'uverbs: DEVICE.GET_CONTEXT(GET_CONTEXT_NUM_COMP_VECTORS=&4, '
            'GET_CONTEXT_CORE_SUPPORT=&8, UHW_IN={total_num_bfregs=0x10, '
            'num_low_latency_bfregs=4, flags=1, max_cqe_version=1, lib_caps=3}, UHW_OUT=&72) '
            + lines[0][lines[0].index('-> '):],
            'fw: ALLOC_PD(uid=1) -> pd=1 = OK',
            'uverbs: DEVX_OBJ.DEVX_OBJ_CREATE(DEVX_OBJ_CREATE_CMD_IN={opcode=ALLOC_PD(0x800), '
            'len=16}, DEVX_OBJ_CREATE_CMD_OUT=&16) -> DEVX_OBJ_CREATE_CMD_OUT={status=OK(0x0), '
            'syndrome=0, len=16}, DEVX_OBJ_CREATE_HANDLE=0 = 0',
            'fw: DEALLOC_PD(uid=1, pd=1) = OK',
            'uverbs: DEVX_OBJ.DEVX_OBJ_DESTROY(DEVX_OBJ_DESTROY_HANDLE=0) = 0',
        ])
        self.assertIn('UHW_OUT={qp_tab_size=0x100000', lines[0])
        self.assertTrue(lines[0].endswith('} = 0'))

    def test_lines_of_write_commands(self):
        lines = [normal(x) for x in self.raw('''
context()
out = ctypes.create_string_buffer(8)
def write(*a):
    try:
        os.write(fd, struct.pack(*a))
    except OSError as e:
        print(e)
write('<IHHQ', 3, 4, 2, ctypes.addressof(out))      # ALLOC_PD
write('<IHHI', 4, 3, 0, 55)                         # DEALLOC_PD of another number
write('<IHHI', 4, 3, 0, 0)
write('<IHHI', 4, 9, 0, 0)
''', '-e', 'uverbs')][1:]
        self.assertEqual(lines, [
            'uverbs: write(command=ALLOC_PD, request={response=ADDR}) -> UHW_OUT={pdn=1}, '
            'response={} = 0',
            'uverbs: write(command=DEALLOC_PD, request={pd_handle=0x37}) = ENOENT: no such handle',
            'uverbs: write(command=DEALLOC_PD, request={}) = 0',
            'uverbs: write(command=DEALLOC_PD) = EINVAL: in_words is not the length of the write'])

    def test_the_rule_of_a_refused_verb(self):
        code = '''
import sys
sys.path.insert(0, '/usr/lib/python3/dist-packages')
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.qp import QP, QPCap, QPInitAttr, QPAttr
from pyverbs.pyverbs_error import PyverbsError
''' + VERBS_ENUMS + '''
ctx = Context(name='mlx5_0'); pd = PD(ctx); cq = CQ(ctx, 10)
def no(f, *a):
    try:
        f(*a)
    except PyverbsError:
        pass
no(MR, pd, 64, e.IBV_ACCESS_REMOTE_WRITE)
no(CQ, ctx, 10, None, None, 99)
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=4, max_recv_wr=4)))
attr = QPAttr(port_num=1); attr.qp_state = e.IBV_QPS_RTS
no(qp.modify, attr, e.IBV_QP_STATE)
attr.qp_state = e.IBV_QPS_INIT; attr.port_num = 7
no(qp.modify, attr, e.IBV_QP_STATE | e.IBV_QP_PORT | e.IBV_QP_PKEY_INDEX | e.IBV_QP_ACCESS_FLAGS)
'''
        text = '\n'.join(self.traced(PYTHON, '-c', code, options=['-e', 'uverbs']))
        for rule in (' = EINVAL: remote write and atomic access need local write access',
                     ' = EINVAL: comp_vector: less than num_comp_vectors',
                     ' = EINVAL: RESET to RTS of type RC: there is no such transition',
                     ' = EINVAL: port_num is no port of the device'):
            self.assertIn(rule, text)
        self.assertIn('node_guid=0x5a17ca0300010000', text)
        self.assertRegex(text, r'INVOKE_WRITE\(command=MODIFY_QP, WRITE_CMD=0x1a, CORE_IN=\{.*attr_mask=1, '
                         r'qp_state=3.*\}, note=qpn 0x40 RESET to RTS, attr_mask STATE\) = EINVAL')

    def test_on_a_fabric_that_is_up(self):
        self.ok('up', 'lab')
        self.addCleanup(self.run_, 'down', 'lab')
        lines = self.traced(DEVX_SEND, options=['--fabric', 'lab', '-e', 'fw'])
        self.assertTrue([x for x in lines if 'CREATE_QP' in x])

    def test_the_rule_of_a_refused_attribute(self):
        lines = [normal(x) for x in self.raw('''
call(0x1001, 0x1000, attr(0x1000, value=0, len=0), attr(0x1001, bytes(16)), room(0x1002, 16))
context()
port = bytes([1]) + bytes(7)
call(3, 0)                                              # nothing given
call(1, 0, attr(0, value=77, len=0))                    # no such handle
call(0, 2, attr(0, port, len=3), room(1, 48))           # too short
call(0, 2, attr(0, port), room(1, 200))
call(0, 2, attr(0, port), attr(0, port), room(1, 48))   # twice
call(0, 2, attr(0, bytes([0, 1]) + bytes(6)), room(1, 48))
call(0, 2, attr(0, port), room(1, 48), attr(30, b''))   # unknown, and insists
call(0, 2, attr(0, port), room(1, 48), attr(30, b'', flags=0))
call(0x1000, 0x1000, attr(0x1000, bytes(8), len=8), room(0x1001, 16))
call(0x1000, 0x1000, attr(0x1000, struct.pack('>8H', 0x500, 0, 0, 0, 0, 0, 0, 0)), room(0x1001, 16))
call(0x1000, 0x1000, attr(0x1000, struct.pack('>8H', 0x102, 0, 0, 0, 0, 0, 0, 0)), room(0x1001, 16))
call(0x1002, 0x1000, attr(0x1000, value=0, len=0), attr(0x1001, port), attr(0x1002, port),
     attr(0x1003, bytes([0, 1, 0, 0])), room(0x1004, 4))
call(55, 66)
''', '-e', 'uverbs')]
        del lines[1]
        ends = (
            ' = EINVAL: the file has no context yet',
            '() = EINVAL: CREATE_CQ_HANDLE: mandatory, and missing',
            '(DESTROY_PD_HANDLE=77) = ENOENT: DESTROY_PD_HANDLE: no such handle',
            ' = EINVAL: QUERY_PORT_PORT_NUM: too short = 3; allowed: 8',
            ' = 0',
            ' = EINVAL: QUERY_PORT_PORT_NUM: given twice',
            ' = EINVAL: QUERY_PORT_PORT_NUM: value = 256; allowed: 0 to 255',
            ' = EPROTONOSUPPORT: attribute 0x1e is unknown, and the program insists on it',
            ' = 0',
            ' = EINVAL: DEVX_OTHER_CMD_IN: too short = 8; allowed: 16 to 65535',
            ' = EINVAL: the driver takes this command by another DEVX method',
            ' = EINVAL: the driver passes no such command on',
            ' = EINVAL: DEVX_UMEM_REG_ACCESS: unknown bits = 0x100; allowed: bits 0x100007',
            'ioctl(length=24, object=0x37, method=0x42, num_attrs=0) = EPROTONOSUPPORT: '
            'there is no such method')
        self.assertEqual(len(lines), len(ends))
        for line, end in zip(lines, ends):
            self.assertTrue(line.endswith(end), f'{line}\n{end}')
        self.assertIn('attr_0x1e=unknown', lines[8])

    def test_the_rule_of_a_refused_frame(self):
        lines = [normal(x) for x in self.raw('''
import mmap
def frame(*h):
    libc.ioctl(fd, ctypes.c_ulong(RDMA_VERBS_IOCTL), struct.pack('<HHHHQII', *h))
def fails(f, *a):
    try:
        f(*a)
    except OSError:
        return
    print('not refused')
frame(25, 0, 3, 0, 0, 1, 0)
frame(24, 0, 3, 0, 1, 1, 0)
frame(24, 0, 3, 0, 0, 2, 0)
fails(os.write, fd, b'1234')
fails(mmap.mmap, fd, 4096)
''', '-e', 'uverbs')]
        self.assertEqual(lines, [
            'uverbs: ioctl(length=25, object=0, method=3, num_attrs=0) = EINVAL: length: that of '
            'num_attrs, at most a page',
            'uverbs: ioctl(length=24, object=0, method=3, num_attrs=0) = EPROTONOSUPPORT: '
            'reserved1 and reserved2 are 0',
            'uverbs: ioctl(length=24, object=0, method=3, num_attrs=0) = EINVAL: driver_id is not '
            "the device's",
            'uverbs: write(length=4) = EINVAL: shorter than the header',
            'uverbs: mmap(length=0x1000, prot=3, flags=1, offset=0) = EINVAL: the file has no '
            'context yet'])

    def test_each_refused_raw_call_has_its_rule(self):
        lines = self.traced(os.path.join(BUILD, 'tests', 'abi', 'abi'),
                            options=('-j', '-e', 'uverbs'))
        refused = [x for x in map(json.loads, lines) if x.get('result', '0') != '0']
        self.assertGreater(len(refused), 1000)
        self.assertEqual([x for x in refused if 'refused' not in x], [])

    def test_a_refused_devx_command_names_field_bit_value_and_what_is_allowed(self):
        lines = [normal(x) for x in self.traced(DEVX_SEND, options=['-e', 'fw'])]
        refused = [x for x in lines if ' syndrome ' in x]
        self.assertEqual(len(refused), 1)
        self.assertRegex(refused[0], r'^fw: CREATE_QP\(uid=1, qpc=\{pm_state=MIGRATED\(0x3\), pd=0xabcdef.*\) = BAD_RES\(0x5\) '
                         r'syndrome 0x50002: qpc\.pd \(bit 0xe8, width 24\) = 0xabcdef: no such PD; '
                         r'allowed: .+$')

    def test_reserved_bits_and_capabilities_of_a_refusal(self):
        lines = [normal(x) for x in self.raw('''
context()
def create(cmd):
    call(0x1001, 0x1000, attr(0x1000, value=0, len=0), attr(0x1001, bytes(cmd)), room(0x1002, 16))
pd = bytearray(16); pd[0:2] = b'\\x08\\0'; pd[9] = 0x80
create(pd)
cq = bytearray(272); cq[0:2] = b'\\x04\\0'; cq[0x1c] = 31; cq[0x27] = 1
create(cq)
create(cq[:64])
create(b'\\x0a\\0' + bytes(5) + b'\\x3a' + bytes(16))
''', '-e', 'fw')]
        self.assertTrue(lines[0].endswith('syndrome 0xf00004: cmd_in reserved bit 0x48 (dword 0x8 = '
                                          '0x00800000); allowed: reserved bits must be zero'), lines[0])
        self.assertRegex(lines[1], r'cqc\.log_cq_size \(bit 0xe3, width 5\) = 0x1f; '
                         r'allowed: at most log_max_cq_sz \(log_max_cq_sz=22\)$')
        self.assertRegex(lines[2], r'BAD_INPUT_LEN\(0x50\) .*cmd_in \(64 of 272 bytes in, 16 of 16 out\): .*; allowed: the whole')
        self.assertTrue(lines[3].endswith('create_general_object_in (24 bytes in, 80 needed: create_general_object_in has 16, '
                                          'av_qp_mapping 64): the input ends before the object does; allowed: all of the '
                                          'object'), lines[3])

    def test_a_command_leads_to_its_fields(self):
        def explain(word):
            r = subprocess.run([SOFTHCA, 'explain', word], capture_output=True, errors='replace', timeout=TIMEOUT)
            self.assertEqual((r.returncode, r.stderr), (0, ''))
            return r.stdout
        layouts = re.findall(r'softhca explain (\w+)', explain('CREATE_MKEY'))
        self.assertEqual(layouts, ['create_mkey_in', 'mkc', 'create_mkey_out'])
        fields = explain(layouts[0])
        self.assertRegex(fields, r'0x0080 +memory_key_mkey_entry: softhca explain mkc\n')
        self.assertRegex(explain('mkc'), r'0x01db \+5 +log_page_size\n')

    def test_every_line_of_json_is_an_object(self):
        for topics in ('all', 'uverbs,fw'):
            for line in self.traced(DEVX_SEND, options=['-j', '-e', topics]):
                o = json.loads(line)
                self.assertLessEqual({'time', 'pid', 'tid', 'topic'}, set(o))
                self.assertNotIn('cut', o)

    def test_json_of_a_refusal(self):
        lines = [json.loads(x) for x in self.traced(DEVX_SEND, options=['--json', '-e', 'fw'])]
        o = [x for x in lines if x['result'] == 'refused'][0]
        self.assertEqual((o['what'], o['in']['qpc']['pd']), ('CREATE_QP', 0xabcdef))
        r = o['refused']
        self.assertEqual((r['status'], r['status_name'], r['syndrome']), (5, 'BAD_RES', 0x50002))
        self.assertEqual((r['field'], r['bit'], r['width'], r['value']), ('qpc.pd', 0xe8, 24, 0xabcdef))
        self.assertTrue(r['allowed'])
        self.assertGreater(o['duration'], 0)
        made = [x for x in lines if x['what'] == 'CREATE_QP' and x['result'] == 'OK'][0]
        self.assertEqual((made['object'], made['id']), ('qpn', made['out']['qpn']))

    def test_topics_choose_lines(self):
        def topics(*options):
            return {json.loads(x)['topic'] for x in self.traced(DEVX_SEND, options=['-j', *options])}
        self.assertEqual(topics('-e', 'fw'), {'fw'})
        self.assertEqual(topics('-e', 'doorbell'), {'doorbell'})
        self.assertEqual(topics(), {'uverbs', 'fw', 'doorbell'})
        self.assertLess({'link', 'shim', 'uverbs'}, topics('-e', 'all'))

    def test_errors_and_events(self):
        """A receive without a buffer, a completion channel."""
        port = port_block()
        lines = [normal(x) for x in self.traced(
            'sh', '-c', shell_pair(f'ibv_rc_pingpong -p {port} -e -n 4', port),
            options=['-e', 'doorbell,event'])]
        self.assertTrue([x for x in lines if re.match(
            r'doorbell: ring\(uar=\d+, offset=0x800, qpn=0x4[01], wqe_index=0, opcode=SEND\(0xa\), '
            r'producer_index=1, consumer_index=0\)$', x)], lines)
        self.assertTrue([x for x in lines if re.match(r'doorbell: arm\(uar=\d+, offset=0x20, cqn=', x)])
        self.assertTrue([x for x in lines if re.match(r'event: completion\(cqn=', x)])
        self.assertTrue([x for x in lines if re.match(r'event: read\(fd=\d+, file=COMP_CHANNEL', x)])

    def test_a_completion_with_error(self):
        """The client is gone while the server still sends: no answer."""
        code = '''
import sys
sys.path.insert(0, '/usr/lib/python3/dist-packages')
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.qp import QP, QPCap, QPInitAttr, QPAttr
from pyverbs.addr import AHAttr
from pyverbs.wr import SGE, SendWR, RecvWR
''' + VERBS_ENUMS + '''
ctx = Context(name='mlx5_0'); pd = PD(ctx); cq = CQ(ctx, 10)
mr = MR(pd, 64, e.IBV_ACCESS_LOCAL_WRITE)
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=4, max_recv_wr=4)))
attr = QPAttr(port_num=1); attr.qp_access_flags = 0
attr.dest_qp_num = qp.qp_num; attr.path_mtu = 1; attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
attr.timeout = 1; attr.retry_cnt = attr.rnr_retry = 1; attr.min_rnr_timer = 1
attr.ah_attr = AHAttr(dlid=ctx.query_port(1).lid, port_num=1)
qp.to_rts(attr)
qp.post_send(SendWR(sg=[SGE(mr.buf, 64, mr.lkey + 1)], num_sge=1))
while not cq.poll()[0]: pass
'''
        lines = [normal(x) for x in self.traced(PYTHON, '-c', code, options=['-e', 'cqe'])]
        self.assertRegex(lines[-1], r'^cqe: send error\(cqn=1, qpn=0x40, wqe_counter=0, '
                         r'send_opcode=SEND\(0xa\), syndrome=LOCAL_PROT\(0x4\), vendor_err=0x52\): '
                         r'lkey is unknown, or of another PD or QP: lkey 0x1001, 64 bytes at (ADDR|0x[0-9a-f]+): '
                         r'there is no such key \(key 0x1000 has this index, but another last byte\)$')

    def test_many_processes_write_whole_lines(self):
        cmd = ' & '.join([DEVX_SEND + ' >/dev/null'] * 4) + ' & wait'
        lines = [json.loads(x) for x in self.traced('sh', '-c', cmd, options=['-j', '-e', 'all'])]
        per_pid = {}
        for o in lines:
            if o.get('what') == 'CREATE_QP':
                per_pid[o['pid']] = per_pid.get(o['pid'], 0) + 1
        self.assertEqual(sorted(per_pid.values()), [3, 3, 3, 3])

    def test_long_lines_through_a_pipe_are_whole(self):
        """JSON lines may be longer than what a pipe takes in one piece."""
        cmd = ' & '.join([DEVX_SEND + ' >/dev/null'] * 4) + ' & wait'
        with subprocess.Popen([SOFTHCA, 'trace', '-j', '-e', 'uverbs', '--', 'sh', '-c', cmd],
                              env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
            text = b''
            while True:  # so slowly that each writer waits longer than it would wait for a stopped writer
                part = os.read(p.stderr.fileno(), 10000)
                text += part
                time.sleep(0.03)  # slow on purpose
                if not part:
                    break
        self.assertEqual(p.returncode, 0)
        lines = text.decode().splitlines()
        self.assertGreater(max(len(x) for x in lines), 4096)
        for line in lines:
            json.loads(line)

    def test_a_command_that_closes_its_descriptors_is_still_traced(self):
        for cmd in (['sh', '-c', f'exec 2>&-; {DEVX_SEND} >/dev/null'],
                    ['sh', '-c', f'exec {DEVX_SEND} >/dev/null 2>&-'],
                    [PYTHON, '-c', 'import subprocess, sys; sys.exit(subprocess.call([sys.argv[1]], '
                     'close_fds=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))', DEVX_SEND],
                    [PYTHON, '-c', 'import os, sys; os.closerange(3, 2000); os.dup2(1, 2); '
                     'os.execv(sys.argv[1], sys.argv[1:])', DEVX_SEND]):
            r = self.run_('trace', '-e', 'fw', '--', *cmd)
            self.assertEqual(r.returncode, 0, r)
            self.assertIn('CREATE_QP', r.stderr, cmd)
            self.assertNotIn('CREATE_QP(', r.stdout, cmd)

    def test_a_full_disk_is_said_and_changes_nothing(self):
        quiet = self.run_('run', '--', DEVX_SEND)
        r = self.run_('trace', '-o', '/dev/full', '--', DEVX_SEND)
        self.assertEqual((r.returncode, r.stdout), (0, quiet.stdout))
        self.assertEqual(r.stderr, 'softhca: trace: cannot write to /dev/full: '
                         'No space left on device: lines are missing\n')

    def test_a_file_size_limit_does_not_end_the_command(self):
        path = os.path.join(self.dir, 'small')
        r = self.run_('trace', '-o', path, '--', 'sh', '-c', f'ulimit -f 1; exec {DEVX_SEND}')
        self.assertEqual(r.returncode, 0, r)
        self.assertIn('File too large', r.stderr)

    def test_the_status_is_the_commands(self):
        self.assertEqual(self.traced('sh', '-c', 'exit 7', status=7), [])
        self.assertEqual(self.run_('trace', '--', 'sh', '-c', 'kill -TERM $$').returncode, -15)

    def test_bad_usage_is_one_line_and_status_2(self):
        for args in (['trace'], ['trace', '-e', 'fw'], ['trace', '-e', 'nonsense', '--', 'true'],
                     ['trace', '-e', '', '--', 'true'], ['trace', '-e', 'fw,', '--', 'true'],
                     ['trace', '-o', '/nonexistent/file', '--', 'true'], ['trace', '-o', '/', '--', 'true'],
                     ['run', '--trace=nonsense', '--', 'true'], ['run', '-o', 'x', '--', 'true'],
                     ['explain'], ['explain', '--nonsense', '5'],
                     ['decode', '--in', '--cqe'], ['decode', '--out=NOTHING'], ['decode', '/nonexistent/a', 'b'],
                     ['decode', '/nonexistent/file']):
            r = self.run_(*args, stdin='')
            self.assertEqual((r.returncode, r.stdout), (2, ''), r)
            self.assertRegex(r.stderr, r'\Asofthca: [^\n]+\n\Z')

    def test_run_with_trace(self):
        r = self.run_('run', '--trace', '--', DEVX_SEND)
        self.assertEqual(r.returncode, 0)
        self.assertIn(' uverbs: ', r.stderr)
        r = self.run_('run', '--trace=fw', '--', DEVX_SEND)
        self.assertIn(' fw: CREATE_QP(', r.stderr)
        self.assertNotIn(' uverbs: ', r.stderr)

    def test_the_file_is_begun_anew_and_relative_paths_are_the_callers(self):
        path = os.path.join(self.dir, 'old')
        with open(path, 'w', encoding='utf-8') as f:
            f.write('x' * 100000)
        r = self.run_('trace', '-o', 'old', '-e', 'fw', '--', 'sh', '-c', f'cd /; {DEVX_SEND}', cwd=self.dir)
        self.assertEqual(r.returncode, 0, r)
        with open(path, encoding='utf-8') as f:
            text = f.read()
        self.assertTrue(text.startswith('softhca['))
        self.assertIn('CREATE_QP', text)


def c_source(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


class Explain(Why):
    def meanings(self, *words):
        return json.loads(self.ok('explain', '-j', *words))

    def refusals(self):
        rows = re.findall(r'X\((\w+), (0x[0-9a-f]+), (\w+),[ \\\n\t]*"([^"]+)",[ \\\n\t]*'
                          r'(\w+)\([ \\\n\t]*"([^"]+)"(?:,[ \\\n\t]*"([^"]+)")?[^"]*?\)\)',
                          c_source('src/fw/commands.h'))
        self.assertGreater(len(rows), 90)
        self.assertEqual(len(rows), len(re.findall(r'\bX\(\w+, 0x', c_source('src/fw/commands.h'))))
        return rows

    def test_every_refusal_is_explained(self):
        rows = self.refusals()
        found = self.meanings(*[row[1] for row in rows])
        found = {m['value']: m for m in found if m['kind'] == 'syndrome of softhca'}
        says = {'ALLOWED': lambda what: (None, what), 'BECAUSE': lambda why, what: (why, what),
                'NO_SUCH': lambda it: ('no such ' + it, 'the number of one that exists, made under this uid'),
                'UNKNOWN': lambda it: ('no such ' + it, 'one that this device has'),
                'IN_USE': lambda why: (why, 'one that nothing refers to any more'),
                'MUST_BE_0': lambda why: (why, '0')}
        for name, syndrome, status, field, kind, *texts in rows:
            m = found[int(syndrome, 16)]
            self.assertEqual((m['name'], m['field']), (name, field))
            self.assertEqual((m.get('reason'), m['allowed']), says[kind](*filter(None, texts)))
            self.assertTrue(m['status'].startswith(status + ' ('), m)
            self.assertFalse(m['allowed'].startswith(('no such', 'cap ', 'caps ')) or not m['allowed'], m)
            if '.' in field and int(syndrome, 16) < 0xf00000 and m['command'] != 'any':
                self.assertTrue('bit' in m or name == 'CQ_RESIZE_SELECT', m)

    def test_every_status_is_explained(self):
        rows = re.findall(r'V\(PRM_STATUS, (\w+), (0x[0-9a-f]+)\)', c_source('src/wire/prm/cmd_hdr.h'))
        self.assertEqual(len(rows), 16)
        for name, number in rows:
            for word in (number, str(int(number, 16)), name, name.lower(), 'FW_' + name):
                got = [m for m in self.meanings(word) if m['kind'] == 'command status']
                self.assertEqual([(m['name'], m['value']) for m in got], [(name, int(number, 16))], word)
                self.assertTrue(got[0]['means'] and got[0]['cause'] and got[0]['errno'])

    def test_errnos_are_libmlx5s(self):
        for status, errno in (('BAD_PARAM', 'EINVAL'), ('MLX5_CMD_STAT_LIM_ERR', 'ENOMEM'),
                              ('RES_BUSY', 'EBUSY'), ('NO_RESOURCES', 'EAGAIN'), ('INT_ERR', 'EIO'),
                              ('MLX5_CMD_STAT_IX_ERR', 'EINVAL'), ('BAD_INPUT_LEN', 'EIO')):
            self.assertEqual(self.meanings(status)[0]['errno'], errno)

    def test_every_cqe_syndrome_is_explained(self):
        rows = re.findall(r'X\((0x[0-9a-f]+), (\w+)\)', re.search(
            r'#define CQE_SYNDROMES.*?\n\n?#define', c_source('src/wire/wqe/cqe.h'), re.S).group(0))
        self.assertEqual(len(rows), 13)
        for number, name in rows:
            for word in (number, name, f'MLX5_CQE_SYNDROME_{name}_ERR'):
                got = [m for m in self.meanings(word) if m['kind'] == 'CQE syndrome']
                self.assertEqual([m['name'] for m in got], [name], word)
                self.assertIn('IBV_WC_', got[0]['wc_status'])
                self.assertTrue(got[0]['means'] and got[0]['cause'])

    def test_every_vendor_err_of_ours_is_explained(self):
        rows = re.findall(r'\{CQE_SYND_(\w+), (0x[0-9a-f]+),\s*"([^"]*)"\}', c_source('src/engine/base/fail.c'))
        self.assertGreater(len(rows), 15)
        for syndrome, vendor, text in rows:
            got = [m for m in self.meanings(vendor) if m['kind'] == 'vendor_err']
            self.assertIn((syndrome, text), [(m['name'], m['means']) for m in got])

    def test_every_wc_status_is_explained(self):
        with open('/usr/include/infiniband/verbs.h', encoding='utf-8') as f:
            enum = re.search(r'enum ibv_wc_status \{(.*?)\}', f.read(), re.S).group(1)
        for number, name in enumerate(re.findall(r'IBV_WC_\w+', enum)):
            for word in (name, str(number)):
                got = [m for m in self.meanings(word) if m['kind'] == 'wc status']
                self.assertEqual([(m['name'], m['value']) for m in got], [(name, number)])

    def test_errnos(self):
        for word in ('EREMOTEIO', 'eremoteio', '121'):
            m = self.meanings(word)[0]
            self.assertEqual((m['name'], m['value']), ('EREMOTEIO', 121))
            self.assertIn('DEVX', m['at'])
        for word in ('EBUSY', 'EPROTONOSUPPORT', 'EOPNOTSUPP', 'EINVAL', 'ENOSPC', 'ENOMEM', 'EOVERFLOW'):
            self.assertTrue(all(m['means'] and m['cause'] for m in self.meanings(word)))

    def test_an_ambiguous_number_has_all_its_meanings(self):
        kinds = [m['kind'] for m in self.meanings('5')]
        self.assertEqual(set(kinds), {'command status', 'CQE syndrome', 'wc status', 'errno'})
        self.assertIn('WR_FLUSH', self.ok('explain', '5'))

    def test_statuses_of_mads(self):
        for word, name in (('NO_RECORDS', 'NO_RECORDS'), ('IB_SA_MAD_STATUS_REQ_DENIED', 'REQ_DENIED'),
                           ('0x0c', 'BAD_ATTR'), ('768', 'NO_RECORDS'), ('mad_status_busy', 'BUSY')):
            m = [x for x in self.meanings(word) if x['kind'] == 'MAD status'][0]
            self.assertEqual(m['name'], name)
            self.assertTrue(m['means'])

    def test_a_field_has_all_its_refusals(self):
        self.assertEqual({m['name'] for m in self.meanings('qpc.pd')}, {'QPC_PD'})

    def test_what_is_known_is_explained_beside_what_is_not(self):
        for options in ([], ['-j']):
            r = self.run_('explain', *options, 'nonsense', 'BAD_RES')
            self.assertEqual(r.returncode, 1)
            self.assertIn("'nonsense'", r.stderr)
            self.assertIn('BAD_RES', r.stdout)

    def test_the_unknown_is_one_line_and_status_1(self):
        for word in ('0x88f348', 'nonsense', '0x1ffffffff', '-1', '', '0x', '4294967296'):
            r = self.run_('explain', '--', word)
            self.assertEqual((r.returncode, r.stdout), (1, ''), r)
            self.assertRegex(r.stderr, r'\Asofthca: explain: [^\n]+\n\Z')
        for word in ('0x88f348', '0x99999'):
            self.assertIn('is not a softhca syndrome and is not known from public logs',
                          self.run_('explain', word).stderr)

    def names(self, word, kind):
        return [m['name'] for m in self.meanings(word) if m['kind'] == kind]

    def test_words_that_programs_print(self):
        for word, kind, name in (
                ('RETRY_EXC', 'wc status', 'IBV_WC_RETRY_EXC_ERR'), ('LOC_PROT', 'wc status', 'IBV_WC_LOC_PROT_ERR'),
                ('WC_RETRY_EXC_ERR', 'wc status', 'IBV_WC_RETRY_EXC_ERR'),
                ('Transport Retry Counter Exceeded', 'wc status', 'IBV_WC_RETRY_EXC_ERR'),
                ('WR flushed', 'wc status', 'IBV_WC_WR_FLUSH_ERR'),
                ('Remote I/O error', 'errno', 'EREMOTEIO'), ('bad parameter', 'command status', 'BAD_PARAM'),
                ('limits exceeded', 'command status', 'EXCEED_LIM'),
                ('IBV_EVENT_QP_FATAL', 'event', 'QP_FATAL'), ('IB_EVENT_PORT_ERR', 'event', 'PORT_ERR'),
                ('local work queue catastrophic error', 'event', 'QP_FATAL'),
                ('QP access error', 'event', 'QP_ACCESS_ERR'),
                ('GID table change', 'event', 'GID_CHANGE'), ('Async event: port error', 'event', 'PORT_ERR'),
                ('IB Async event on mlx5_0: GID table change on port 1', 'event', 'GID_CHANGE'),
                ('port error(10)', 'event', 'PORT_ERR'), ('DCT access error', 'event', 'QP_ACCESS_ERR'),
                ('SRQ-attached QP 0xa9 was flushed', 'event', 'QP_LAST_WQE_REACHED'),
                ('RDMA_CM_EVENT_REJECTED', 'rdma_cm event', 'REJECTED'), ('ADDR_ERROR', 'rdma_cm event', 'ADDR_ERROR'),
                ('5426', 'OpenSM error', '5426'), ('2E10', 'OpenSM error', '2E10'),
                ('ERR 3118', 'OpenSM error', '3118'), ('0x93', 'QP error', 'LOCAL_PROT'), ('0x95', 'QP error', 'not told'),
                ('0xd6', 'vendor_err', 'LOCAL_QP_OP'), ('0x29e0df', 'card syndrome', 'INIT2RTR_QP'),
                ('0x45d3a4', 'card syndrome', 'CREATE_MKEY'), ('0x823f8d', 'card syndrome', 'INIT2RTR_QP'),
                ('High temperature', 'health syndrome', 'High temperature'),
                ('0xd61c0b', 'card syndrome', 'CREATE_SQ')):
            self.assertEqual(self.names(word, kind), [name], word)

    def test_attributes_of_a_qp(self):
        with open('/usr/include/infiniband/verbs.h', encoding='utf-8') as f:
            names = set(re.findall(r'^\s+IBV_QP_(\w+)\s*= 1 <<', f.read(), re.M))
        known = {'STATE', 'MIN_RNR_TIMER', 'RATE_LIMIT'}
        self.assertEqual(names & known, known)
        for name in names - {x for x in names if x.startswith(('CREATE_', 'EX_', 'INIT_', 'OPEN_'))}:
            for word in name, 'IBV_QP_' + name:
                self.assertEqual(self.names(word, 'QP attribute'), ['IBV_QP_' + name], word)
        self.assertEqual(self.names('vendor_err', 'term'), ['vendor_err'])

    def test_a_call_without_an_errno_has_no_number(self):
        text = 'non-zero status: 22 ibv_modify_qp failed'
        self.assertRegex(self.ok('explain', text), r'^failed call ibv_modify_qp \(22\)\n')
        for text in ('Failed to modify QP 59 to RTR', 'Call to ibv_reg_mr failed'):
            self.assertRegex(self.ok('explain', text), r'(?s)^failed call ibv_\w+\n.*the line does not tell the errno')

    def test_a_whole_message(self):
        for text, kind, name in (
                ('Call to ibv_modify_qp failed with error Connection timed out', 'failed call', 'ibv_modify_qp'),
                ('mlx5_0/1: QP 77 error: local protection error (0x3a 0x0 0x93)', 'QP error', 'LOCAL_PROT'),
                ('CREATE_DCT(0x710) timeout. Will cause a leak of a command resource', 'command timeout', 'CREATE_DCT'),
                ('umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed out', 'MAD error',
                 'ETIMEDOUT'),
                ('osm_vendor_bind: ERR 5426: Unable to register class 129 version 1', 'OpenSM error', '5426')):
            self.assertEqual(self.names(text, kind), [name], text)

    def test_calls_have_their_errnos(self):
        for word in ('ibv_create_ah', 'create_ah', 'IBV_CREATE_AH'):
            found = [m for m in self.meanings(word) if m['kind'] == 'failed call']
            self.assertEqual({m['name'] for m in found}, {'ibv_create_ah'}, word)
            self.assertLessEqual({errno.ETIMEDOUT, errno.ENETUNREACH, errno.EINVAL}, {m['value'] for m in found})
            self.assertTrue(all(' Next: ' in x for m in found for x in m['likely']))
        self.assertEqual({m['name'] for m in self.meanings('ibv_reg_mr_iova2')}, {'ibv_reg_mr'})

    def test_every_word_of_what_fails_is_explained(self):
        kinds = {'failed call', 'rdma_cm event', 'OpenSM error'}
        words = [x.rsplit(maxsplit=1) for x in self.ok('explain', '--list').splitlines()]
        words = [(kind, word) for kind, word in words if kind in kinds]
        self.assertEqual({kind for kind, _ in words}, kinds)
        for kind, word in words:
            self.assertIn(kind, {m['kind'] for m in self.meanings(word)}, word)

    def test_texts_of_libibverbs(self):
        """The text that libibverbs has for each status and event finds that status or event."""
        import ctypes
        verbs = ctypes.CDLL('libibverbs.so.1')
        for function, kind, count in (('ibv_wc_status_str', 'wc status', 24), ('ibv_event_type_str', 'event', 20)):
            text_of = getattr(verbs, function)
            text_of.restype = ctypes.c_char_p
            for number in range(count):
                text = text_of(number).decode()
                self.assertEqual([m['value'] for m in self.meanings(text) if m['kind'] == kind], [number], text)

    def test_causes_are_in_order_with_a_next_step(self):
        m, = [m for m in self.meanings('RETRY_EXC_ERR') if m['kind'] == 'wc status']
        self.assertEqual([x.split('.')[0] for x in m['likely']], [str(n + 1) for n in range(len(m['likely']))])
        self.assertTrue(all('Next: ' in x for x in m['likely']))
        self.assertTrue([x for x in m['likely'] if 'NCCL_IB_GID_INDEX' in x])
        self.assertTrue([x for x in self.meanings('IBV_WC_LOC_PROT_ERR')[0]['likely'] if 'ACS' in x])

    def test_vendor_err_of_cards_has_its_source(self):
        found = [m for m in self.meanings('0x51') if m['kind'] == 'vendor_err']
        self.assertEqual([(m['name'], m['on']) for m in found], [('LOCAL_PROT', 'ConnectX cards, as logs show')])
        self.assertTrue(found[0]['source'])
        self.assertEqual([m['on'] for m in self.meanings('0x77') if m['kind'] == 'vendor_err'], ['softhca'])

    def test_card_syndromes_do_not_meet_ours(self):
        """If a card's syndrome had the number of one of ours, one of the two explanations would be wrong."""
        words = [x.split()[-1] for x in self.ok('explain', '--list').splitlines() if x.startswith('card syndrome ')]
        self.assertGreater(len(words), 30)
        for word in words:
            kinds = {m['kind'] for m in self.meanings(word)}
            self.assertEqual(kinds, {'card syndrome'}, word)

    def test_fields_and_layouts(self):
        self.assertIn('qpc.log_sq_size', self.names('log_sq_size', 'field'))
        m, = [m for m in self.meanings('pd') if m['name'] == 'qpc.pd']
        self.assertTrue(m['refusals'][0].startswith('QPC_PD '))
        m, = self.meanings('qpc')
        self.assertEqual((m['kind'], m['name']), ('layout', 'qpc'))
        self.assertTrue([x for x in m['fields'] if x.endswith(' log_sq_size')])
        self.assertTrue([x for x in m['refusals'] if x.startswith('QPC_PD ')])

    def test_a_list_of_all_words(self):
        lines = self.ok('explain', '--list').splitlines()
        self.assertGreater(len(lines), 400)
        for word in ('RETRY_EXC_ERR', 'QP_FATAL', 'EREMOTEIO', 'NO_RECORDS', 'CREATE_QP', 'qpc', '0x35e6ec'):
            self.assertTrue([x for x in lines if x.endswith(' ' + word)], word)
        for line in lines[::7]:
            self.meanings(line[20:].strip())

    def test_what_is_like_an_unknown_word(self):
        for word, like in (('RETRY_EX', 'RETRY_EXC_ERR'), ('CREAT_QP', 'CREATE_QP'), ('EREMOTIO', 'EREMOTEIO'),
                           ('flush', 'WR_FLUSH')):
            r = self.run_('explain', word)
            self.assertEqual((r.returncode, r.stdout), (1, ''))
            self.assertRegex(r.stderr, rf"\Asofthca: explain: '{word}' is unknown; like it: [^\n]*{like}[^\n]*\n\Z")


LIBMLX5 = '''\
[1496344648.548334] [vegas06:14879:0]      uct_iface.c:330  UCX  ERROR Error Endpoint timeout
mlx5: vegas06: got completion with error:
00000000 00000000 00000000 00000000
00000000 00000000 00000000 00000000
00000000 00000000 00000000 00000000
00000000 00008813 08006214 0000f6d2[1496344648.549828] [vegas06:14872:0]  dc_verbs.c:614  UCX  ERROR
'''
DPDK = '''\
app> MLX5 Error CQE: at [0x7f6a7d20c000], len=64
00000000: 00 73 65 65 6E 00 00 00 00 00 00 00 00 00 00 00 | .seen...........
00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 | ................
00000020: 00 00 00 13 00 00 00 00 00 00 00 00 00 00 00 00 | ................
00000030: 00 00 00 00 9D 00 53 04 0A 00 15 42 00 19 B0 D2 | ......S....B....
MLX5 Error CQE: at [0x7f5b64e01080], len=64
00000000: 00 73 65 65 6E 00 00 00 00 00 00 00 00 00 00 00 | .seen...........
00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 | ................
00000020: 00 00 00 0C 00 00 00 00 00 00 00 00 00 00 00 00 | ................
00000030: 00 00 00 00 9D 00 53 04 0A 00 15 34 00 5A 98 D2 | ......S....4.Z..
'''
KERNEL = '''\
[15601.662158] infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe
[15601.662159] 00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[15601.662160] 00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[15601.662161] 00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
Nov 21 03:00:00 host kernel: [15601.66] 00000030: 00 00 00 00 00 00 81 15 0a 00 00 40 00 00 5d d3
'''
KERNEL_CMD = '''\
[  1.0] mlx5_core 0000:08:00.0: dump_command:880:(pid 900): cmd[0]: start dump
[  1.0] mlx5_core 0000:08:00.0: cmd[0]: dump command data CREATE_CQ(0x400) INPUT
[  1.0] cmd[0]: 000: 04000001 00000000 00000000 00000000
[  1.0] cmd[0]: 010: 00000000 00000000 00000000 06000002

[  1.0] mlx5_core 0000:08:00.0: cmd[0]: dump command data CREATE_CQ(0x400) OUTPUT
[  1.0] cmd[0]: 000: 03000000 00040003 00000000 00000000
'''


class Decode(Why):
    def parts(self, text, *options):
        return json.loads(self.ok('decode', '-j', *options, stdin=text))['parts']

    def fields(self, part):
        return {f['name']: f.get('value', f.get('data')) for f in part['fields']}

    def golden(self):
        """{layout: (fields, bytes)} that rdma-core's own description gives."""
        text = c_source('src/wire/golden_prm.h')
        out = {}
        for name, body in re.findall(r'struct golden_field golden_(\w+)\[\] = \{(.*?)\n\};', text, re.S):
            raw = re.search(r'uint8_t golden_%s_bytes\[\] = \{(.*?)\};' % name, text, re.S).group(1)
            out[name] = ({f: int(v, 16) for f, v in re.findall(r'\{"(\w+)", (0x[0-9a-f]+)\}', body)},
                         bytearray(int(b, 16) for b in re.findall(r'0x([0-9a-f]{2})\b', raw)))
        self.assertGreater(len(out), 15)
        return out

    def opcodes(self):
        return {n.lower(): int(v, 16) for v, n in
                re.findall(r'X\((0x[0-9a-f]+), (\w+)\)', c_source('src/wire/prm/opcodes.h'))}

    def test_golden_vectors(self):
        opcodes, done = self.opcodes(), 0
        for name, (want, raw) in self.golden().items():
            command, _, side = name.rpartition('_')
            if command not in opcodes or side not in ('in', 'out'):
                continue  # a context: part of a command
            raw = raw + bytes(16 - len(raw) if len(raw) < 16 else 0)
            if side == 'in':
                raw[0:2] = opcodes[command].to_bytes(2, 'big')
                want['opcode'] = opcodes[command]
            part, = self.parts(raw.hex(), '--in' if side == 'in' else f'--out={command}')
            self.assertEqual(part['name'].lower(), command)
            got = self.fields(part)
            self.assertEqual({n: v for n, v in got.items() if n in want},
                             {n: v for n, v in want.items() if v}, name)
            self.assertNotIn('reserved', part, name)
            done += 1
        self.assertGreater(done, 9)

    def test_contexts_inside_commands(self):
        want, raw = self.golden()['qpc']
        cmd = bytearray(272)
        cmd[0:2] = b'\x05\x00'
        cmd[0x18:0x18 + len(raw)] = raw
        part, = self.parts(cmd.hex())
        self.assertEqual((part['kind'], part['name']), ('input', 'CREATE_QP'))
        got = self.fields(part)
        for field, value in want.items():
            self.assertEqual(got.get('qpc.' + field, 0), value, field)
        bits = {f['name']: (f['bit'], f['width']) for f in part['fields']}
        self.assertEqual(bits['qpc.pd'], (0x18 * 8 + 0x28, 24))

    def test_bits_without_a_name_are_shown(self):
        part, = self.parts('08000000' '00000000' '00800000' '00000000')
        self.assertEqual(part['reserved'], [{'bit': 0x40, 'value': 0x800000}])
        self.assertIn('(no name) 0x00800000', self.ok('decode', stdin='08000000 00000000 00800000 00000000'))

    def test_a_command_without_a_layout_here(self):
        part, = self.parts('09300001 00000000 deadbeef 00000000 00000001')
        self.assertEqual(part['name'], 'CREATE_FLOW_TABLE')
        self.assertIn('layout of this command is unknown', part['note'])
        self.assertEqual(self.fields(part)['uid'], 1)
        self.assertEqual(part['reserved'], [{'bit': 0x40, 'value': 0xdeadbeef}])
        self.assertEqual(self.fields(part)['rest'], '00000001')

    def test_a_failed_output_is_explained(self):
        part, = self.parts('05000000 00050002 00000000 00000000')
        self.assertEqual(part['kind'], 'output')
        self.assertEqual([m['name'] for m in part['meanings']], ['BAD_RES', 'QPC_PD'])
        part, = self.parts('03000000 002c4155 00000000 00000000')  # a card's
        self.assertEqual([m['name'] for m in part['meanings']], ['BAD_PARAM'])
        part, = self.parts('03000000 002c4154 00000000 00000000')  # a card's syndrome that public logs contain
        self.assertEqual([(m['kind'], m['name']) for m in part['meanings']],
                         [('command status', 'BAD_PARAM'), ('card syndrome', 'CREATE_QP')])

    def test_error_cqes_as_they_are_printed(self):
        for text, qpn, syndrome, vendor, wc in (
                (LIBMLX5, 0x6214, 'REMOTE_ACCESS', 0x88, 'IBV_WC_REM_ACCESS_ERR'),
                (DPDK, 0x1542, 'LOCAL_PROT', 0x53, 'IBV_WC_LOC_PROT_ERR'),
                (KERNEL, 0x40, 'TRANSPORT_RETRY_EXC', 0x81, 'IBV_WC_RETRY_EXC_ERR')):
            parts = self.parts(text)
            self.assertEqual(len(parts), 2 if text is DPDK else 1)
            got = self.fields(parts[0])
            self.assertEqual((parts[0]['kind'], parts[0]['name']), ('cqe', 'REQ_ERR'))
            self.assertEqual((got['qpn'], got['vendor_err']), (qpn, vendor))
            self.assertEqual(parts[0]['meanings'][0]['name'], syndrome)
            self.assertIn(wc, parts[0]['meanings'][0]['wc_status'])

    def test_payloads_in_completions(self):
        cqe = bytearray(64)
        cqe[:8], cqe[47], cqe[59], cqe[63] = b'payload!', 8, 0x40, 0x24
        part, = self.parts(cqe.hex(' ', 4), '--cqe')
        self.assertEqual(part['note'], 'the first 32 bytes are the payload (scatter to CQE)')
        self.assertEqual(self.fields(part)['byte_cnt'], 8)
        self.assertFalse(self.fields(part).get('wqe_id'))
        cqe[:8], cqe[63] = bytes(8), 0x28
        part, = self.parts((b'payload!' + bytes(56) + cqe).hex(' ', 4), '--cqe')
        self.assertEqual(part['note'], 'the payload is in the 64 bytes in front (scatter to CQE)')
        self.assertEqual(self.fields(part)['byte_cnt'], 8)

    def test_on_one_line_with_its_message(self):
        line = 'mlx5: host: got completion with error: ' + ' '.join(['00000000'] * 13) + \
            ' 00008716 0a000041 0003c1d3\n'
        part, = self.parts(line)
        self.assertEqual(part['meanings'][0]['name'], 'RNR_RETRY_EXC')

    def test_the_kernels_command_dump(self):
        command, answer = self.parts(KERNEL_CMD)
        self.assertEqual(self.fields(command)['cq_context.log_cq_size'], 6)
        self.assertEqual((answer['kind'], answer['name']), ('output', 'CREATE_CQ'))
        self.assertEqual(self.fields(answer)['syndrome'], 0x40003)

    def test_the_kernels_full_command_dump(self):
        cmd = bytearray(272)
        cmd[0:4], cmd[0x1c], cmd[0x27] = b'\x04\x00\x00\x01', 6, 9
        entry = bytes([7, 0, 0, 0]) + (272).to_bytes(4, 'big') + bytes(8) + cmd[:16] + bytes(16) + \
            bytes(8) + (16).to_bytes(4, 'big') + bytes(4)

        def dump(data):
            return ''.join(f'[ 1.0] cmd[0]: {i:03x}: ' + ' '.join(data[j:j + 4].hex()
                           for j in range(i, i + 16, 4)) + '\n' for i in range(0, len(data), 16)) + '\n'
        text = '[ 1.0] mlx5_core 0000:08:00.0: cmd[0]: start dump\n' \
            '[ 1.0] mlx5_core 0000:08:00.0: cmd[0]: dump command CREATE_CQ(0x400) INPUT\n' + \
            dump(entry) + '[ 1.0] cmd[0]: command block:\n' + dump(bytes(cmd[16:]) + bytes(256 + 64))
        part, = self.parts(text)
        self.assertEqual(part['bytes'], 272)
        got = self.fields(part)
        self.assertEqual((got['uid'], got['cq_context.log_cq_size'], got['cq_context.c_eqn']), (1, 6, 9))

    def test_forms_of_hex(self):
        raw = bytes.fromhex('08010001 00000000 00000007 00000000')
        path = os.path.join(self.dir, 'raw')
        with open(path, 'wb') as f:
            f.write(raw)
        forms = [raw.hex(), raw.hex().upper(), raw.hex(' '), raw.hex(' ', 4), raw.hex(':'),
                 ', '.join(f'0x{b:02x}' for b in raw), '{' + ','.join(f'0x{b:02X}' for b in raw) + '};',
                 '\n'.join(raw[i:i + 4].hex() for i in range(0, 16, 4)),
                 '0x08010001 0x00000000 0x00000007 0x00000000', '0000: ' + raw.hex(' ')]
        for cmd in (['od', '-A', 'x', '-t', 'x1'], ['od', '-t', 'x1'], ['od', '-t', 'x1z'],
                    ['od', '-An', '-t', 'x1'], ['od', '-t', 'x4', '--endian=big'], ['hexdump', '-C'],
                    ['xxd'], ['xxd', '-g1'], ['xxd', '-g4'], ['xxd', '-p'], ['xxd', '-i']):
            try:
                forms.append(subprocess.run([*cmd, path], stdout=subprocess.PIPE, errors='replace',
                                            check=True).stdout)
            except FileNotFoundError:
                pass  # not every machine has all these programs
        for text in forms:
            part, = self.parts(text)
            self.assertEqual((part['name'], part['bytes'], self.fields(part)['pd']),
                             ('DEALLOC_PD', 16, 7), text)

    def test_the_longest_command_on_one_line(self):
        """as the JSON of a trace has it"""
        out = bytes([0] * 19 + [7]) + bytes(65535 - 20)
        part, = self.parts(out.hex(), '--out=QUERY_HCA_CAP')
        self.assertEqual(part['bytes'], 65535)

    def test_a_file_and_standard_input(self):
        path = os.path.join(self.dir, 'dump')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(KERNEL)
        self.assertEqual(self.ok('decode', path), self.ok('decode', '-', stdin=KERNEL))

    def smp(self):
        mad = bytearray(256)
        mad[:24] = bytes.fromhex('01810181 80000000 00000001 00000002 00110000 00000000')
        mad[64:68] = bytes.fromhex('01010125')
        mad[84:92] = bytes.fromhex('0002c90300000001')
        return mad

    def test_a_mad(self):
        part, = self.parts(self.smp().hex())
        self.assertEqual((part['kind'], part['name'], part['bytes']), ('mad', 'SubnGetResp(NodeInfo)', 256))
        got = self.fields(part)
        self.assertEqual((got['tid'], got['d'], got['NodeInfo.num_ports'], got['NodeInfo.port_guid']),
                         (0x100000002, 1, 0x25, 0x0002c90300000001))
        self.assertEqual([f['value_name'] for f in part['fields'] if f['name'] == 'NodeInfo.node_type'], ['CA'])
        self.assertNotIn('meanings', part)
        self.assertEqual([f['bit'] for f in part['fields'] if f['name'] == 'NodeInfo.num_ports'], [64 * 8 + 24])

    def test_a_mad_behind_umads_header(self):
        part, = self.parts((bytes(64) + self.smp()).hex())
        self.assertEqual(part['name'], 'SubnGetResp(NodeInfo)')

    def test_a_mad_that_says_no(self):
        mad = bytearray(256)
        mad[:24] = bytes.fromhex('01030292 03000000 00000001 00000002 00350000 00000000')
        mad[48:56] = (1 << 4).to_bytes(8, 'big')
        part, = self.parts(mad.hex(), '--mad')
        self.assertEqual(part['name'], 'SubnAdmGetTableResp(PathRecord)')
        self.assertEqual([m['name'] for m in part['meanings']], ['NO_RECORDS'])
        self.assertEqual(self.fields(part)['comp_mask'], 16)
        self.assertIn('NO_RECORDS', self.ok('decode', '--mad', stdin=mad.hex()))

    def test_texts_in_mads(self):
        mad = self.smp()
        mad[17] = 0x10
        mad[64:128] = b'a "node"\n'.ljust(64, b'\0')
        self.assertIn('NodeString = "a "node"?"\n', self.ok('decode', stdin=mad.hex()))
        self.assertEqual([f['text'] for f in self.parts(mad.hex())[0]['fields'] if f['name'] == 'NodeString'],
                         ['a "node"\n'])

    def test_a_cut_mad(self):
        part, = self.parts(self.smp()[:70].hex(), '--mad')
        self.assertEqual(part['bytes'], 70)
        self.assertEqual(self.run_('decode', '--mad', stdin='01810101').returncode, 1)

    def test_work_requests(self):
        send = bytes.fromhex('0000050a 00004002 00000008 00000000' '00000028 00000142 00007f00 00001000')
        part, = self.parts(send.hex(' ', 4))
        got = self.fields(part)
        self.assertEqual((part['kind'], part['name']), ('wqe', 'SEND'))
        self.assertEqual((got['ctrl.qpn'], got['ctrl.ds'], got['data.lkey']), (0x40, 2, 0x142))
        write = bytes.fromhex('00000608 00004103 00000008 00000000' '00007f00 00002000 00000abc 00000000'
                              '80000004 61626364 00000000 00000000')
        both = self.parts((send + bytes(32) + write).hex())
        self.assertEqual([p['name'] for p in both], ['SEND', 'RDMA_WRITE'])
        got = self.fields(both[1])
        self.assertEqual((got['raddr.rkey'], got['inline_data']), (0xabc, '61626364'))
        # a 4-byte compare and swap; a window bound to 128 bytes (set_bind_wr() in libmlx5)
        cas, = self.parts('08000714 00004204 00000008 00000000' '00007f00 00002000 00000abc 00000000'
                          '11111111 22222222 ffffffff 0000ffff' '00000004 00000142 00007f00 00001000', '--wqe')
        got = self.fields(cas)
        self.assertEqual((cas['name'], got['atomic32.compare'], got['atomic32.compare_mask'], got['data.byte_count']),
                         ('ATOMIC_MASKED_CS', 0x22222222, 0xffff, 4))
        umr, = self.parts('00000825 0000420c 00000008 00001400' 'b0000000 00040000 00000000 203c6041'
                          + '00000000' * 8 + '00003000 00004277 00000000 00000000' '00007f00 00001000 00000000 00000080'
                          + '00000000' * 8 + '00000080 00000142 00007f00 00001000' + '00000000' * 12)
        got = self.fields(umr)
        self.assertEqual((umr['name'], got['umr.fail_if_not_free'], got['mkc.rw'], got['mkc.qpn'], got['mkc.len']),
                         ('UMR', 1, 1, 0x42, 128))
        copy, = self.parts('0100002f 00004204 00000008 00000000' '00000000 00000111 00007f00 00003000'
                           '00000040 00000142 00007f00 00001000' '00000040 00000143 00007f00 00002000', '--wqe')
        got = self.fields(copy)
        self.assertEqual((copy['name'], got['mmo.lkey'], got['data.byte_count']), ('MMO', 0x111, 64))
        # a UMR with a list of one entry and a BSF: T10-DIF in memory, CRC-32C on the wire
        umr, = self.parts('00000a25 0000420d 00000008 00001400' '80000000 00010004 00000000 20003201'
                          + '00000000' * 8 + '00000000 ffffff00 00000000 40000000' + '00000000' * 12
                          + '00000400 00000142 00007f00 00001000' '80ff0103 ffffffff 42000009 00000008'
                          + '00000000' * 8 + 'c000abcd 00000007 01800000 0040ffff', '--wqe')
        got = self.fields(umr)
        self.assertEqual((got['mkc.bsf_en'], got['klm.byte_count'], got['bsf.mem_bs'], got['bsf.w_psv'],
                          got['bsf_memory.apptag'], got['bsf_memory.inc_reftag']), (1, 1024, 3, 9, 0xabcd, 1))
        # the same with crypto behind the signatures: units of 520 bytes, DEK 7
        umr, = self.parts('00000a25 00004211 00000008 00001400' '80000000 00010008 00000000 20003201'
                          + '00000000' * 8 + '00000000 ffffff00 00000000 40000000' + '00000000' * 12
                          + '00000400 00000142 00007f00 00001000' 'c0ff0103 ffffffff 42000009 00000008'
                          + '00000000' * 8 + 'c000abcd 00000007 01800000 0040ffff'
                          + 'c1010000 ffffffff 02000000 00000000' '01000000 00000000 00000000 00000000'
                          + '00000007 00000000 00000000 00000055' + '00000000' * 4, '--wqe')
        got = self.fields(umr)
        self.assertEqual((got['klm.byte_count'], got['bsf.mem_bs'], got['bsf_crypto.enc_order'], got['bsf_crypto.bs_pointer'],
                          got['bsf_crypto.dek_pointer']), (1024, 3, 1, 2, 7))
        psv, = self.parts('00000b20 00004202 00000008 00000000' '00000009 00000000 ffffffff 00000000', '--wqe')
        self.assertEqual((psv['name'], self.fields(psv)['psv.psv_index']), ('SET_PSV', 9))
        receive, = self.parts('00000040 00000142 00007f00 00001000 00000000 00000100 00000000 00000000',
                              '--wqe')
        self.assertEqual(receive['name'], 'receive')

    def test_wrong_signatures(self):
        part, = self.parts('00000000' * 4 + '1234abcd 1235abcd 00000007 00000007' '20000001 00001400'
                           + '00000000 00000208' + '00000000' * 2 + '00000042 000000c0', '--cqe')
        self.assertEqual(part['name'], 'SIG_ERR')
        got = self.fields(part)
        self.assertEqual([got[f] for f in ('syndrome', 'domain', 'mkey', 'sig_err_offset', 'qpn')],
                         [0x2000, 1, 0x1400, 520, 0x42])

    def test_tag_matching(self):
        append, = self.parts('00000528 00004204 00000008 00000000' '10c00003 00000009 00000000 00000000'
                             '00000000 00000007 00000000 0000ffff' '00000040 00000142 00007f00 00001000', '--wqe')
        got = self.fields(append)
        self.assertEqual([got['tm.' + f] for f in ('opcode', 'cqe_req', 'index', 'sw_cnt', 'tag', 'mask')],
                         [1, 1, 3, 9, 7, 0xffff])
        self.assertEqual(got['data.byte_count'], 64)
        answer, = self.parts('8000000000030000' + '00000000' * 6 + '00000777 00000000 01060002 00000000'
                             + '00000000' * 2 + '00000042 00000060', '--cqe')
        got = self.fields(answer)
        self.assertEqual([got[f] for f in ('success', 'hw_phase_cnt', 'app_op', 'app_info')], [1, 3, 6, 2])
        matched, = self.parts('03000000000012340000000000000007' + '00000000' * 4
                              + '00000777 00000000 010a0002 00000050' + '00000000' * 2 + '00000042 00000020', '--cqe')
        got = self.fields(matched)
        self.assertEqual([got[f] for f in ('tmh_opcode', 'tmh_app_ctx', 'tmh_tag', 'byte_cnt')], [3, 0x1234, 7, 0x50])

    def test_events(self):
        eqe = bytearray(64)
        eqe[1], eqe[0x23], eqe[0x2b] = 4, 7, 1
        part, = self.parts(eqe.hex(), '--eqe')
        self.assertEqual(part['name'], 'CQ_ERROR')
        self.assertEqual(self.fields(part)['eqe_cq_err.cqn'], 7)

    def test_what_a_log_says_in_words(self):
        out = json.loads(self.ok('decode', '-j', stdin='''\
mlx5_core 0000:08:00.0: CREATE_QP(0x500) op_mod(0x0) failed, status bad resource(0x5), syndrome (0x50002), err(-22)
infiniband mlx5_0: mlx5_poll_one:530:(pid 0): syndrome 0x5, vendor syndrome 0xf9
infiniband mlx5_0: mlx5_poll_one:530:(pid 0): syndrome 0x5, vendor syndrome 0xf9
[jazz13:26543] ib_mlx5_log.c:181  Local protection error on mlx5_0:1/IB (synd 0x4 vend 0x32 hw_synd 0/146)
'''))
        self.assertEqual([m['name'] for m in out['meanings']], ['BAD_RES', 'QPC_PD', 'WR_FLUSH', 'LOCAL_PROT'])

    def test_a_log_is_explained_while_it_grows(self):
        """as by tail -f: each line at once, a dump with its last row"""
        p = subprocess.Popen([SOFTHCA, 'decode'], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             errors='replace', bufsize=1)
        with p:
            def say(text, end):
                p.stdin.write(text)
                p.stdin.flush()
                lines = []
                while not lines or not lines[-1].startswith(end):
                    lines.append(p.stdout.readline())
                return lines
            lines = say('[ 1.0] x: syndrome 0x5, vendor syndrome 0xf9\n', '  said by')
            self.assertEqual(lines[:2], ['line 1:\n', 'CQE syndrome WR_FLUSH (0x5)\n'])
            lines = say('mlx5: h: got completion with error:\n' + '00000000 00000000 00000000 00000000\n' * 3 +
                        '00000000 00008813 08006214 0000f6d2\n', '    likely')
            self.assertIn('  0x01c8 +24  qpn = 0x6214\n', lines)
            p.stdin.close()
            p.stdout.read()
        self.assertEqual(p.returncode, 0)

    def test_causes_are_those_of_the_operation(self):
        """A completion's operation and syndrome together say what can have happened."""
        operations = {0x0a: 'SEND', 0x08: 'RDMA_WRITE', 0x10: 'RDMA_READ', 0x12: 'ATOMIC_FA', None: 'RECV'}
        told = {  # by the syndrome: a word of a cause, and the operations that it is for
            (0x12, 0x8a): {'too short': {'SEND'}, 'REMOTE_READ': {'RDMA_READ', 'ATOMIC_FA'},
                           'aligned': {'ATOMIC_FA'}, 'does not allow WRITEs': {'RDMA_WRITE'}},
            (0x13, 0x88): {'lacks REMOTE_WRITE': {'RDMA_WRITE'}, 'lacks REMOTE_READ': {'RDMA_READ'},
                           'lacks REMOTE_ATOMIC': {'ATOMIC_FA'},
                           'rkey, address': {'RDMA_WRITE', 'RDMA_READ', 'ATOMIC_FA'}},
            (0x16, 0x87): {'posts its receives': {'SEND'}, 'paging': {'RDMA_WRITE', 'RDMA_READ', 'ATOMIC_FA'}},
            (0x04, 0x33): {'LOCAL_WRITE': {'RDMA_READ', 'ATOMIC_FA', 'RECV'}},
            (0x01, 0x6a): {'the receive that it met': {'RECV'}}}
        for (syndrome, vendor), causes in told.items():
            for opcode, name in operations.items():
                if opcode is None and syndrome > 0x11:
                    continue  # a responder does not report them
                kind = 'd2' if opcode else 'e2'
                row = f'00000000 0000{vendor:02x}{syndrome:02x} {opcode or 0:02x}000123 0000f6{kind}'
                m = self.parts(f'got completion with error:\n{row}\n')[0]['meanings'][0]
                self.assertEqual(m['operation'], name)
                self.assertNotIn('cause', m)
                for text, of in causes.items():
                    self.assertEqual(text in ' '.join(m['likely'] + m.get('vendor_err', [])), name in of,
                                     (row, name, text, m))

    def test_two_lines_of_one_completion(self):
        """UCX writes the operation in a second line; without it, the first is explained as it is."""
        first = '[h:1:0:1] ib_mlx5_log.c:139  Remote access on mlx5_0:1/IB (synd 0x13 vend 0x88 hw_synd 0/0)\n'
        second = '[h:1:0:1] ib_mlx5_log.c:139  RC QP 0x2802 wqe[0]: RDMA_READ s-- [rva 0x1 rkey 0x2]\n'
        refused = 'x: DEALLOC_PD(0x801) op_mod(0x0) failed, status bad resource state(0x9), syndrome (0x31b635)\n'
        dump = 'got completion with error:\n' + '00000000 00000000 00000000 00000000\n' * 3
        dump += '00000000 00008114 0a006214 0000f6d2\n'
        for text, names in ((first + second, ['RDMA_READ']), (first, [None]), (first + 'nothing\n' + second, [None]),
                            (first + first + second, [None, 'RDMA_READ']), (first + refused, [None]),
                            (first + dump + second, [None])):
            found = [m for m in json.loads(self.ok('decode', '-j', stdin=text))['meanings']
                     if m['name'] == 'REMOTE_ACCESS']
            self.assertEqual([m.get('operation') for m in found], names, text)
            self.assertEqual(found[0]['line'], 2 if names == ['RDMA_READ'] else 1, text)
        self.assertIn('DEALLOC_PD', self.ok('decode', stdin=first + refused))

    def test_the_kernel_tells_receives_from_sends(self):
        """mlx5_poll_one() writes "Requestor" or "Responder" in the line before the syndrome."""
        for end, operation in (('Requestor', None), ('Responder', 'RECV')):
            text = (f'infiniband mlx5_0: mlx5_poll_one:527:(pid 0): {end} error cqe on cqn 0x406:\n'
                    'infiniband mlx5_0: mlx5_poll_one:530:(pid 0): syndrome 0x1, vendor syndrome 0x6a\n')
            m, = json.loads(self.ok('decode', '-j', stdin=text))['meanings']
            self.assertEqual((m['name'], m.get('operation'), m['cqn']), ('LOCAL_LENGTH', operation, 0x406))

    def test_the_drivers_text_of_a_qp_error_may_be_of_another(self):
        """mlx5_ib_qp_err_syndrome() prints the text of a wc status for the CQE's syndrome of this number."""
        for text, name in (('local protection error', 'LOCAL_PROT'), ('invalid EE context number', 'LOCAL_ACCESS'),
                           ('fatal error', 'REMOTE_ACCESS'), ('unrecognized status', 'not told')):
            m, = json.loads(self.ok('decode', '-j', stdin=f'mlx5_0/1: QP 77 error: {text} (0x1 0x2 0x3)\n'))['meanings']
            self.assertEqual((m['kind'], m['name'], m['qpn']), ('QP error', name, 77))
            self.assertIn('0x1 0x2 0x3', m['numbers'])
            self.assertEqual('text' in m, name != 'LOCAL_PROT')

    def test_events_in_the_words_of_programs(self):
        for text, name in (
                ('IB Async event on mlx5_0: GID table change on port 1', 'GID_CHANGE'),
                ('IB Async event on mlx5_0: SRQ-attached QP 0xa9 was flushed', 'QP_LAST_WQE_REACHED'),
                ('rdma.c:2249:x: *NOTICE*: Async event: port error', 'PORT_ERR'),
                ('NET/IB : mlx5_0:1 Got non-fatal async event: port active(9)', 'PORT_ACTIVE'),
                ('NET/IB : mlx5_0:1 unknown event type (18)', 'GID_CHANGE'),
                ('nvmet_rdma: received IB QP event: last WQE reached (16)', 'QP_LAST_WQE_REACHED'),
                ('iser: qp event QP access error (3)', 'QP_ACCESS_ERR'),
                ('LNetError: 10.0.0.1@o2ib: Async QP event type 1', 'QP_FATAL'),
                ('  event_type local catastrophic error (8), port 1', 'DEVICE_FATAL'),
                ('Worker: Received context async event port error for context mlx5_10', 'PORT_ERR'),
                ('Error number: 10 (IBV_EVENT_PORT_ERR)', 'PORT_ERR')):
            m, = json.loads(self.ok('decode', '-j', stdin=text + '\n'))['meanings']
            self.assertEqual((m['kind'], m['name']), ('event', name), text)

    def test_an_errno_or_its_text_is_the_same(self):
        for text in ('ibv_create_ah failed: Connection timed out', 'ibv_create_ah() failed, errno=110',
                     'ibv_create_ah failed with ETIMEDOUT',
                     'Call to ibv_create_ah failed with error Connection timed out',
                     'non-zero status: 110 ibv_create_ah failed', 'ibv_create_ah: Connection timed out(110)',
                     'ibv_create_ah(dlid=1) for UD failed: Connection timed out', 'ibv_create_ah failed, error=-110',
                     'Failed to ibv_create_ah: Connection timed out [110]',
                     '2026-11-22T10:11:12Z ibv_create_ah failed: Connection timed out'):
            m, = json.loads(self.ok('decode', '-j', stdin=text + '\n'))['meanings']
            self.assertEqual((m['kind'], m['name'], m['value']), ('failed call', 'ibv_create_ah', 110), text)

    def test_success_and_other_calls_are_no_failed_calls(self):
        for text in ('ibv_create_ah failed: nothing of the kind', 'ibv_create_ah succeeded, ret=0',
                     'open failed: No such file', 'ibv_poll_cq returned 0', 'RDMA_CM_EVENT_ESTABLISHED, status 0',
                     'x: ERR 9999: other',
                     'an event: none', 'preventing port error', 'mlx5e_cq_error_event: port active'):
            r = self.run_('decode', stdin=text + '\n')
            self.assertEqual((r.returncode, r.stdout), (1, ''), text)

    def test_files_lines_and_counts(self):
        paths = [os.path.join(self.dir, n) for n in ('a', 'b')]
        for path, n in zip(paths, (2, 1)):
            with open(path, 'w', encoding='utf-8') as f:
                f.write('nothing\n' + 'x: CQ error on CQN 0x40a, syndrome 0x1\n' * n)
        out = self.ok('decode', *paths)
        self.assertTrue(out.startswith(f'{paths[0]}:2:\nCQ error syndrome OVERRUN (0x1)\n'), out)
        self.assertTrue(out.endswith(f'3 times: CQ error syndrome OVERRUN, first at {paths[0]} line 2\n'), out)
        m, = json.loads(self.ok('decode', '-j', *paths))['meanings']
        self.assertEqual((m['file'], m['line'], m['count'], m['cqn']), (paths[0], 2, 3, 0x40a))
        r = self.run_('decode', paths[0], '/nonexistent/file')
        self.assertEqual(r.returncode, 2)

    def test_what_cannot_be_decoded_is_one_line_and_status_1(self):
        for text, *options in (('',), ('no bytes here\n',), ('12345678 9abcdef0 11',), ('00',),
                               ('08000000', '--in'), ('00 00', '--cqe'), ('zz' * 64, '--cqe')):
            r = self.run_('decode', *options, stdin=text)
            self.assertEqual((r.returncode, r.stdout), (1, ''), r)
            self.assertRegex(r.stderr, r'\Asofthca: decode: [^\n]+\n\Z')

    def test_other_numbers_of_a_log_are_passed_over(self):
        noise = '[    0.000000] reserve setup_data: deadbeef01\n[    0.1] e820: 12345678 9abcdef0\n'
        parts = self.parts(noise + KERNEL + noise)
        self.assertEqual([p['kind'] for p in parts], ['cqe'])

    def test_any_bytes_are_survived(self):
        import random
        rand = random.Random(7)
        for _ in range(60):
            n = rand.choice((0, 1, 4, 7, 8, 15, 16, 17, 63, 64, 65, 128, 256, 272, 320, 5000))
            text = rand.randbytes(n).hex(rand.choice((' ', ':')), rand.choice((1, 4)))
            if rand.random() < 0.3:
                text = rand.randbytes(n).decode('latin-1').replace('\0', '\n')
            kind = rand.choice(([], ['--in'], ['--out'], ['--out=QUERY_QP'], ['--wqe'], ['--cqe'], ['--eqe'],
                                ['--mad']))
            r = self.run_('decode', '-j', *kind, stdin=text)
            self.assertIn(r.returncode, (0, 1), (kind, text))
            if r.stdout:
                json.loads(r.stdout)


if __name__ == '__main__':
    unittest.main()
