# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Faults on purpose (src/fault): each place and effect, seen in a program; the command line around them."""
import json
import os
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import softhca  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import who_sees  # noqa: E402

HERE = os.path.join(os.environ['SOFTHCA_BUILD'], 'tests', 'e2e')
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Of which call the rule is, where it is not the first: librdmacm tries what the kernel has before a program's first
# id, libmlx5 asks and allocates when it opens, and functions with and without _ex are the same for the kernel.
WHEN = {'rdma_create_id': 2, 'rdma_bind_addr': 2, 'rdma_destroy_id': 2, 'ibv_create_cq_ex': 2, 'ibv_create_srq_ex': 2,
        'ibv_create_qp_ex': 2, 'mlx5dv_devx_alloc_uar': 2, 'ibv_query_device': 2, 'ibv_query_port': 2,
        'mlx5dv_devx_general_cmd': 5}
# libmlx5 makes address handles itself on InfiniBand; an open that fails is tried again in other ways.
ETHERNET = {'ibv_create_ah', 'ibv_destroy_ah'}
ALWAYS = {'ibv_open_device', 'ibv_query_device_ex'}


def names(prefix):
    """The functions that rules may name."""
    with open(os.path.join(TOP, 'src', 'fault', 'rows.c'), encoding='ascii') as f:
        return re.findall(rf'^\t\{{"({prefix}_\w+)", ', f.read(), re.M)


def run(*args):
    return softhca.Running([softhca.SOFTHCA, *args]).finish()


def results(out):
    return dict(re.findall(r'^(\w+): (\S+)$', out, re.M))


class Calls(softhca.Case):
    """Each function that a rule can name fails with the rule's error, once, and the others do not."""

    def each(self, program, functions, *more):
        path = os.path.join(HERE, program)
        plain = run('run', *more, '--', path)
        self.assertEqual(plain.status, 0, plain)
        self.assertEqual(set(results(plain.out).values()), {'ok'}, plain)
        self.assertEqual(set(results(plain.out)), set(functions))
        for name in functions:
            rule = f'{name}:error=EDQUOT' + ('' if name in ALWAYS else f':when={WHEN.get(name, 1)}')
            with self.subTest(rule=rule):
                link = ('--link', 'eth') if name in ETHERNET else ()
                r = run('run', '--timeout', '60', *more, *link, '--inject', rule, '--', path)
                self.assertEqual(results(r.out)[name], 'EDQUOT', r)
                self.assertEqual([n for n, v in results(r.out).items() if v == 'EDQUOT'], [name], r)
                self.assertRegex(r.out, rf'softhca: inject: fired \d+ x: {re.escape(rule)}\n')

    def test_libibverbs_and_libmlx5(self):
        self.each('calls', [n for n in names('ibv') + names('mlx5dv') if n != 'mlx5dv_devx_obj_modify'])

    def test_librdmacm(self):
        self.each('cm_calls', names('rdma'))

    def test_devx_obj_modify(self):
        program = os.path.join(os.environ['SOFTHCA_BUILD'], 'examples', 'devx_send')
        r = run('run', '--inject', 'mlx5dv_devx_obj_modify:error=EDQUOT:when=2', '--', program)
        self.assertNotEqual(r.status, 0, r)
        self.assertIn('Disk quota exceeded', r.out)

    def test_without_ioctl(self):
        """The same functions where they are commands of write()."""
        r = run('run', '--world', 'write-only', '--inject', 'ibv_create_cq:error=EDQUOT', '--', 'ibv_rc_pingpong')
        self.assertIn("Couldn't create CQ", r.out)
        self.assertIn('softhca: inject: fired', r.out)


class Firmware(softhca.Case):
    def test_status_and_syndrome_reach_a_devx_program(self):
        program = os.path.join(os.environ['SOFTHCA_BUILD'], 'examples', 'devx_send')
        rule = 'fw[cmd=CREATE_QP]:status=NO_RESOURCES,syndrome=0x1234'
        r = run('trace', '-e', 'fw', '--inject', rule, '--', program)
        self.assertRegex(r.out, r'fw: CREATE_QP\(.*= NO_RESOURCES\(0xf\) syndrome 0x1234: .*a rule of --inject')
        self.assertIn('devx_send: CREATE_QP: Remote I/O error', r.out)
        self.assertNotEqual(r.status, 0)

    def test_the_drivers_errno_reaches_verbs(self):
        for status, errno in (('EXCEED_LIM', 'ENOMEM'), ('BAD_PARAM', 'EINVAL'), ('RES_BUSY', 'EBUSY')):
            r = run('run', '--inject', f'fw[cmd=CREATE_CQ]:status={status}:when=1', '--', os.path.join(HERE, 'calls'))
            self.assertEqual(results(r.out)['ibv_create_cq'], errno, r)
            self.assertEqual(results(r.out)['ibv_create_cq_ex'], 'ok', r)


class Acts(softhca.Case):
    """What rules do to processes and ports, at a time or after an event."""

    def inject(self, fab, *rules):
        return fab.softhca('inject', 'add', *rules)

    def fired(self, fab):
        return [f['fired'] for f in self.status(fab)['faults']]

    def test_kill_after_an_event(self):
        calls = os.path.join(HERE, 'calls')
        r = run('run', '--inject', 'process[comm=calls]:kill:after=ibv_query_qp', '--', 'sh', '-c', f'{calls}; echo status $?')
        self.assertIn('ibv_modify_qp: ok\n', r.out)
        self.assertNotIn('ibv_query_qp:', r.out)
        self.assertIn('status 137\n', r.out)
        self.assertEqual(r.status, 0, r)

    def test_kill_of_another_process(self):
        """The event is of one process, and the act is about another one."""
        with softhca.Fabric('--hosts', '2') as fab:
            watch = fab.start('ibv_asyncwatch', options=('--host', 'h2'))
            watch.wait_said('async event FD')
            self.inject(fab, 'process[comm=ibv_asyncwatch]:kill:after=ibv_alloc_pd[comm=calls]')
            r = fab.run(os.path.join(HERE, 'calls'), options=('--host', 'h1'))
            self.assertEqual(set(results(r.out).values()), {'ok'}, r)
            self.assertEqual(watch.finish().status, -9)
            self.assertEqual(self.fired(fab), [1])

    def test_kill_at_a_time(self):
        with softhca.Fabric() as fab:
            watch = fab.start('ibv_asyncwatch')
            watch.wait_said('async event FD')
            self.inject(fab, f'process[pid={watch.proc.pid}]:kill:at=0s', 'process[comm=nobody]:kill:at=0s')
            self.assertEqual(watch.finish().status, -9)
            softhca.wait_for(lambda: self.fired(fab) == [1, 0], 'the rules')

    def test_stop_and_go_on(self):
        with softhca.Fabric() as fab:
            self.inject(fab, 'process[comm=calls]:stop=500ms:after=ibv_alloc_mw')
            p = fab.start(os.path.join(HERE, 'calls'))
            softhca.wait_for(lambda: p.ended() or set(softhca.thread_states(p.proc.pid)) == {'T'}, 'the process to stop')
            self.assertFalse(p.ended())
            self.assertNotIn('ibv_alloc_mw:', p.said())
            self.assertEqual(set(results(p.finish().out).values()), {'ok'})

    def test_a_stopped_process_goes_on_when_the_fabric_ends(self):
        with softhca.Fabric() as fab:
            self.inject(fab, 'process[comm=calls]:stop=60m:after=ibv_alloc_mw')
            p = fab.start(os.path.join(HERE, 'calls'))
            softhca.wait_for(lambda: p.ended() or set(softhca.thread_states(p.proc.pid)) == {'T'}, 'the process to stop')
        p.finish()

    def events(self, rules, want, *options):
        """What ibv_asyncwatch sees of each rule, in order."""
        with softhca.Fabric(*options) as fab:
            watch = fab.start('ibv_asyncwatch')
            watch.wait_said('async event FD')
            for rule, event in zip(rules, want):
                self.inject(fab, rule)
                watch.wait_said(event)
            said = watch.said()
            watch.kill()
            self.assertEqual(self.fired(fab), [1] * len(rules))
            return fab.run('sh', '-c', 'cd /sys/class/infiniband/mlx5_0/ports/1; cat state lid pkeys/3').out, said

    def test_ports(self):
        now, _ = self.events(['port:down:at=0s', 'port[dev=mlx5_0,port=1]:up:at=0s', 'port:pkey[3]=0x8123:at=0s',
                              'port[host=h1]:lid=0x77:at=0s', 'port:reregister:at=0s'],
                             ['PORT_ERR', 'PORT_ACTIVE', 'PKEY_CHANGE', 'LID_CHANGE', 'CLIENT_REREGISTER'])
        self.assertEqual(now, '4: ACTIVE\n0x77\n0x8123\n')

    def test_flap(self):
        _, said = self.events(['port:flap=100ms:at=0s'], ['PORT_ACTIVE'])
        self.assertLess(said.index('PORT_ERR'), said.index('PORT_ACTIVE'))

    def test_ethernet_ports(self):
        _, said = self.events(['port:flap=100ms:at=0s'], ['PORT_ACTIVE'], '--link', 'eth')
        self.assertLess(said.index('PORT_ERR'), said.index('PORT_ACTIVE'))

    def gids(self, rule, *options, before=(0,)):
        """The GIDs of these entries, and those after a rule, which is told as an event."""
        read = ('sh', '-c', 'cd /sys/class/infiniband/mlx5_0/ports/1/gids; cat ' + ' '.join(map(str, before)))
        with softhca.Fabric(*options) as fab:
            was = fab.run(*read).out.split()
            watch = fab.start('ibv_asyncwatch')
            watch.wait_said('async event FD')
            self.inject(fab, rule)
            watch.wait_said('GID_CHANGE')
            watch.kill()
            self.assertEqual(self.fired(fab), [1])
            return was, fab.run(*read).out.split(), fab.run('ip', 'address').out

    def test_gid_of_infiniband(self):
        was, now, _ = self.gids('port:gid[0]=fec0::42:at=0s', before=(0, 1))
        self.assertNotEqual(was[0], now[0])
        self.assertEqual(now, ['fec0:0000:0000:0000:0000:0000:0000:0042', '0000:' * 7 + '0000'])
        was, now, _ = self.gids('port:gid[1]=fec0::7:at=0s', before=(0, 1))
        self.assertEqual(now, ['fec0:0000:0000:0000:' + was[0][20:], 'fec0:0000:0000:0000:0000:0000:0000:0007'])

    def test_gid_of_ethernet(self):
        """It is an address of the interface."""
        was, now, addresses = self.gids('port:gid[2]=::ffff:10.9.8.7:at=0s', '--link', 'eth', before=(0, 2, 3))
        self.assertEqual(now, [was[0]] + ['0000:0000:0000:0000:0000:ffff:0a09:0807'] * 2)
        self.assertIn('inet 10.9.8.7/16', addresses)
        self.assertNotIn('inet 127.1.', addresses)
        _, now, addresses = self.gids('port:gid[3]=:::at=0s', '--link', 'eth', before=(2, 3))
        self.assertEqual(now, ['0000:' * 7 + '0000'] * 2)
        self.assertNotIn('inet 127.1.', addresses)

    def test_who_uses_a_gid_that_goes(self):
        with softhca.Fabric('--hosts', '2', '--link', 'eth') as fab:
            self.inject(fab, 'port[host=h2]:gid[3]=::ffff:10.9.8.7:after=SEND*100')
            ends = self.start_pair(fab, 'ibv_rc_pingpong', '-g', '3', '-n', '100000000', '-d', 'mlx5_0',
                                   options=(('--host', 'h1'), ('--host', 'h2')))
            try:
                softhca.wait_for(lambda: any('transport retry counter exceeded' in e.said() for e in ends), 'a failure')
            finally:
                for e in ends:
                    e.kill()
            self.assertEqual(self.fired(fab), [1])

    def test_a_gid_that_no_port_can_have(self):
        for rule in ('port:gid[9]=fec0::1:at=0s', 'port:gid[0]=:::at=0s', 'port:gid[0]=fec0::1:at=0s'):
            link = ('--link', 'eth') if '[0]=fec0' in rule else ()
            r = run('run', *link, '--inject', rule, '--', 'ibv_devinfo')
            self.assertEqual(r.status, 4, r)

    def test_an_adapter_without_room(self):
        for word, call in (('qps', 'ibv_create_qp'), ('cqs', 'ibv_create_cq'), ('srqs', 'ibv_create_srq'),
                           ('mrs', 'ibv_reg_mr'), ('pds', 'ibv_alloc_pd')):
            with self.subTest(word=word), softhca.Fabric() as fab:
                self.inject(fab, f'device:{word}=0:at=0s')
                softhca.wait_for(lambda: self.fired(fab) == [1], 'the rule')
                self.assertIn(f'{call}: ENOMEM\n', fab.run(os.path.join(HERE, 'calls')).out)

    def test_an_object_that_goes_makes_room(self):
        """One adapter has room for one QP; the other one is not meant."""
        one = os.path.join(HERE, 'work')
        with softhca.Fabric('--hosts', '2') as fab:
            self.inject(fab, 'device[host=h1]:qps=2:at=0s')
            softhca.wait_for(lambda: self.fired(fab) == [1], 'the rule')
            for _ in range(2):
                self.assertIn('5: success', fab.run(one, 'SEND', 'RC', options=('--host', 'h1')).out)
            self.inject(fab, 'device[host=h1]:qps=1:at=0s')
            softhca.wait_for(lambda: self.fired(fab) == [1, 1], 'the rule')
            self.assertIn('Cannot allocate memory', fab.run(one, 'SEND', 'RC', options=('--host', 'h1')).out)
            self.assertIn('5: success', fab.run(one, 'SEND', 'RC', options=('--host', 'h2')).out)

    def test_no_more_descriptors(self):
        r = run('run', '--inject', 'process[comm=calls]:descriptors=0:after=ibv_alloc_pd', '--', os.path.join(HERE, 'calls'))
        self.assertEqual(results(r.out)['ibv_create_comp_channel'], 'EMFILE', r)
        self.assertEqual(results(r.out)['ibv_create_cq'], 'ok', r)

    def test_memory_that_a_process_can_lock(self):
        rule = 'process[comm=calls]:memory=0:after=ibv_alloc_pd'
        r = run('run', '--inject', rule, '--', os.path.join(HERE, 'calls'))
        self.assertEqual(results(r.out)['ibv_reg_mr'], 'ENOMEM', r)
        r = run('run', '--inject', rule.replace('=0:', '=100000000:'), '--', os.path.join(HERE, 'calls'))
        self.assertEqual(set(results(r.out).values()), {'ok'}, r)

    def test_a_port_flaps_after_an_event(self):
        r = run('run', '--inject', 'port:down:after=ibv_query_qp', '--', 'sh', '-c',
                f'{HERE}/calls >/dev/null; until grep -q DOWN /sys/class/infiniband/mlx5_0/ports/1/state; do sleep 0.01; done')
        self.assertEqual(r.status, 0, r)
        self.assertIn('softhca: inject: fired 1 x: port:down:after=ibv_query_qp\n', r.out)

    def test_no_such_port(self):
        r = run('run', '--inject', 'port[port=2]:down:at=0s', '--', 'ibv_devinfo')
        self.assertEqual(r.status, 4, r)
        self.assertIn('never fired: port[port=2]:down:at=0s', r.out)

# Sends one MAD of class 7, method Send, to LID 1; argument: its attribute.
SEND = '''
import ctypes, struct, sys
u = ctypes.CDLL('libibumad.so.3')
u.umad_init()
port = u.umad_open_port(b'mlx5_0', 1)
assert port >= 0
agent = u.umad_register(port, 7, 2, 0, None)
assert agent >= 0
u.umad_size.restype = ctypes.c_size_t
buf = ctypes.create_string_buffer(u.umad_size() + 256)
struct.pack_into('>BBBBHHQHHI', buf, u.umad_size(), 1, 7, 2, 3, 0, 0, 77, int(sys.argv[1]), 0, 0)
u.umad_set_addr(buf, 1, 1, 0, 0x80010000)
assert u.umad_send(port, agent, buf, 256, 0, 0) == 0
'''

# Every reason of a REJ with which a REQ can be refused, and its number.
REASONS = {'no_qp': 1, 'no_eec': 2, 'no_resources': 3, 'unsupported': 5, 'invalid_comm_id': 6,
           'invalid_comm_instance': 7, 'invalid_service_id': 8, 'invalid_transport_type': 9, 'stale_conn': 10,
           'rdc_not_exist': 11, 'invalid_gid': 12, 'invalid_lid': 13, 'invalid_sl': 14, 'invalid_traffic_class': 15,
           'invalid_hop_limit': 16, 'invalid_packet_rate': 17, 'invalid_alt_gid': 18, 'invalid_alt_lid': 19,
           'invalid_alt_sl': 20, 'invalid_alt_traffic_class': 21, 'invalid_alt_hop_limit': 22,
           'invalid_alt_packet_rate': 23, 'port_cm_redirect': 24, 'port_redirect': 25, 'invalid_mtu': 26,
           'insufficient_resp_resources': 27, 'consumer': 28, 'invalid_rnr_retry': 29, 'duplicate_local_comm_id': 30,
           'invalid_class_version': 31, 'invalid_flow_label': 32, 'invalid_alt_flow_label': 33,
           'vendor_option_not_supported': 35}


class Management(softhca.Case):
    """Messages of connection managers, and other MADs."""

    def setUp(self):
        super().setUp()
        self.fab = self.srv = None

    def up(self, *options):
        fab = softhca.Fabric('--hosts', '2', *options)
        self.fab = fab.__enter__()
        self.addCleanup(lambda: fab.__exit__(None, None, None))

    def add(self, *rules):
        """The rules that the fabric has from now on."""
        for f in self.status(self.fab)['faults']:
            self.fab.softhca('inject', 'remove', str(f['number']))
        self.fab.softhca('inject', 'add', *rules)

    def fired(self):
        return [f['fired'] for f in self.status(self.fab)['faults']]

    def ports(self):
        return {i['port'] for i in self.status(self.fab)['cm_ids'] if i['state'] == 'LISTEN'}

    def server(self, *cmd, port=7174):
        if self.srv:
            self.srv.kill()
        self.srv = srv = self.fab.start(*cmd, options=('--host', 'h1'))
        self.addCleanup(srv.kill)
        softhca.wait_for(lambda: srv.ended() or port in self.ports(), f'{cmd} to listen')
        return srv

    def on_h2(self, *cmd):
        return self.fab.run(*cmd, options=('--host', 'h2'))

    def rping(self, *rules):
        """Both ends of a connection of rping under these rules: the server (it may go on), the client, and the time."""
        self.add(*rules)
        srv = self.server('rping', '-s', '-p', '7174', '-C', '3', '-V')
        begin = time.monotonic()
        cli = self.on_h2('rping', '-c', '-a', '127.1.0.1', '-p', '7174', '-C', '3', '-V')
        return srv, cli, time.monotonic() - begin

    def good(self, *rules):
        srv, cli, took = self.rping(*rules)
        self.ok(cli)
        self.ok(srv.finish())
        return took

    def test_every_reason_of_a_reject(self):
        for link in ('ib', 'eth'):
            self.up('--link', link)
            for reason in REASONS if link == 'ib' else ('consumer', 'stale_conn'):
                self.add(f'cm[msg=REQ]:reject={reason}:when=1')
                cli = self.on_h2('rping', '-c', '-a', '127.1.0.1', '-p', '7174', '-C', '3')
                self.assertNotEqual(cli.status, 0)
                self.assertIn(f'RDMA_CM_EVENT_REJECTED, error {REASONS[reason]}\n', cli.out)
                self.assertEqual(self.fired(), [1])

    def test_the_next_request_is_accepted(self):
        """The server's program has not seen the one that was rejected."""
        self.up()
        srv, cli, _ = self.rping('cm[msg=REQ]:reject=consumer:when=1')
        self.assertIn('RDMA_CM_EVENT_REJECTED, error 28', cli.out)
        self.assertEqual(srv.said(), '')
        self.ok(self.on_h2('rping', '-c', '-a', '127.1.0.1', '-p', '7174', '-C', '3'))
        self.ok(srv.finish())
        self.assertEqual(self.fired(), [1])

    def test_a_reply_is_rejected(self):
        """The server gets the event; its client's manager, which has seen nothing, repeats the REQ."""
        self.up()
        for reason, number in (('no_resources', 3), ('timeout', 4)):
            srv, cli, took = self.rping(f'cm[msg=REP]:reject={reason}:when=1')
            r = srv.finish()
            self.assertNotEqual(r.status, 0)
            self.assertIn(f'RDMA_CM_EVENT_REJECTED, error {number}\n', r.out)
            self.assertIn('RDMA_CM_EVENT_REJECTED, error 8', cli.out)  # nobody listens any more
            self.assertGreater(took, 4)

    def test_lost_messages_are_repeated(self):
        self.up()
        for msg in ('REQ', 'REP', 'RTU'):
            took = self.good(f'cm[msg={msg}]:lost:when=1')
            self.assertEqual(self.fired(), [1])
            # After CMA_CM_RESPONSE_TIMEOUT and the path's time; RDMA of the client is as good as the RTU.
            if msg != 'RTU':
                self.assertGreater(took, 4, msg)

    def test_the_end_of_a_connection_is_lost(self):
        self.up()
        for msg in ('DREQ', 'DREP'):
            self.add(f'cm[msg={msg}]:lost:when=1')
            srv = self.server('ucmatose', '-c', '1', port=7471)
            begin = time.monotonic()
            self.ok(self.on_h2('ucmatose', '-s', '127.1.0.1', '-c', '1'))
            self.ok(srv.finish())
            self.assertGreater(time.monotonic() - begin, 4, msg)
            self.assertEqual(self.fired(), [1])

    def test_duplicated_messages(self):
        """A connection manager drops the second one."""
        self.up()
        self.good('cm:duplicated', 'cm[msg=REQ]:late=1ms', 'cm[msg=MRA]:lost')
        self.assertEqual(self.fired()[1:], [0, 0])  # the first rule was due, and has no MRA as a consequence
        self.assertGreaterEqual(self.fired()[0], 4)

    def test_late_messages(self):
        self.up()
        for rule in ('cm[msg=REQ]:late=700ms', 'cm[msg=REP,host=h1]:late=700ms'):
            self.assertGreater(self.good(rule), 0.7)
            self.assertEqual(self.fired(), [1])

    def test_services(self):
        """The same for those that UD asks."""
        self.up('--link', 'eth')
        for rule, least in (('cm[msg=SIDR_REQ]:duplicated', 0), ('cm[msg=SIDR_REP]:late=500ms', 0.5),
                            ('cm[msg=SIDR_REQ]:lost:when=1', 4)):
            self.add(rule)
            srv = self.server('udaddy', '-c', '1')
            begin = time.monotonic()
            self.ok(self.on_h2('udaddy', '-s', '127.1.0.1', '-c', '1'))
            self.assertGreater(time.monotonic() - begin, least, rule)
            self.ok(srv.finish())
            self.assertEqual(self.fired(), [1], rule)

    def test_all_repeats_are_lost(self):
        """Both ends, or who asks, learn that the other one is not reachable: after 16 messages, so that timers are faster."""
        self.up('--link', 'eth', '--time-scale', '500')
        srv, cli, _ = self.rping('cm[msg=REQ]:lost=16')
        self.assertIn('RDMA_CM_EVENT_UNREACHABLE, error -110\n', cli.out)
        self.assertEqual(srv.said(), '')
        # The client asks as long: its last request comes to nobody, or before the server has given up.
        srv, cli, _ = self.rping('cm[msg=REP]:lost=16')
        self.assertIn('RDMA_CM_EVENT_UNREACHABLE, error -110\n', srv.finish().out)
        self.assertRegex(cli.out, 'RDMA_CM_EVENT_(REJECTED|UNREACHABLE), error')
        self.add('cm[msg=SIDR_REQ]:lost=16')
        srv = self.server('udaddy', '-c', '1')
        cli = self.on_h2('udaddy', '-s', '127.1.0.1', '-c', '1')
        self.assertIn('event: RDMA_CM_EVENT_UNREACHABLE, error: -110', cli.out)
        self.assertNotEqual(cli.status, 0)

    def test_an_answer_of_a_service_is_lost(self):
        """The server has answered already: the repeated request is another one, and its program does not answer that."""
        self.up('--link', 'eth', '--time-scale', '50')
        self.add('cm[msg=SIDR_REP]:lost:when=1')
        srv = self.server('udaddy', '-c', '1')
        cli = self.on_h2('udaddy', '-s', '127.1.0.1', '-c', '1')
        self.assertIn('event: RDMA_CM_EVENT_UNREACHABLE, error: -110', cli.out)
        states = [i.get('cm_state') for i in self.status(self.fab)['cm_ids']]
        self.assertEqual((sorted(s for s in states if s), self.fired()), (['IDLE', 'SIDR_REQ_RCVD'], [1]))

    def test_messages_that_programs_send(self):
        """Alternate paths and their answers are sent by no librdmacm: a program's own MADs count as well."""
        self.up()
        for attr, msg in ((0x19, 'LAP'), (0x1a, 'APR'), (0x11, 'MRA'), (0x12, 'REJ')):
            self.add(f'cm[msg={msg},lid=1]:lost', f'mad[class=ComMgt,attr={attr}]:lost')
            self.ok(self.on_h2('python3', '-c', SEND, str(attr)))
            softhca.wait_for(lambda: self.fired() == [1, 0], msg)
            self.assertEqual([f['seen'] for f in self.status(self.fab)['faults']], [1, 0])

    # ---- other MADs

    def test_path_queries_of_the_kernel(self):
        self.up()
        took = self.good('mad[attr=PathRecord]:lost:when=1..2')  # the kernel repeats it after 200 ms
        self.assertEqual(self.fired(), [1])
        self.assertGreater(took, 0.2)
        for rule, error in (('mad[attr=PathRecord]:lost=11', -110), ('mad[attr=PathRecord]:status=NO_RECORDS', -22),
                            ('mad[attr=PathRecord,method=GetResp]:lost=11', -110)):
            _, cli, _ = self.rping(rule)
            self.assertIn(f'RDMA_CM_EVENT_ROUTE_ERROR, error {error}\n', cli.out)
            self.assertNotEqual(cli.status, 0)
            self.assertEqual(self.fired(), [1])

    def test_saquery(self):
        self.up()
        for rule, status, text in (('mad[attr=PathRecord]:lost', 110, 'Query SA failed: Connection timed out'),
                                   ('mad[class=SubnAdm]:status=REQ_DENIED', 5, 'SA(SA_ERR_REQ_DENIED)'),
                                   ('mad[attr=PathRecord,method=GetTable,host=h1]:late=300ms', 0, 'PathRecord dump')):
            self.add(rule)
            r = self.on_h2('saquery', '-p', '-t', '400')
            self.assertEqual(r.status, status, r)
            self.assertIn(text, r.out)
            self.assertEqual(self.fired(), [1], r)
        # The answer is a long message, whose first segment is sent again after 2 s.
        self.add('mad[attr=PathRecord,method=GetTableResp]:lost:when=1')
        self.assertIn('PathRecord dump', self.ok(self.on_h2('saquery', '-p', '-t', '9000')))
        self.assertEqual(self.fired(), [1])

    def test_segments_count_singly(self):
        """Of a long message any segment can be lost. Those that follow come again with it, and do not count."""
        self.up('--hosts', '6')
        def segments(rule, *more):
            self.add(rule)
            self.assertEqual(self.ok(self.on_h2('saquery', '-p', '-t', '20000')).count('PathRecord dump'), 49)
            return self.status(self.fab)['faults'][0]['seen']
        most = segments('mad[attr=PathRecord,method=GetTableResp]:lost:when=99')
        self.assertGreater(most, 10)
        for rule in ('lost:when=3', 'lost=2:when=5', f'lost:when={most}'):
            self.assertEqual(segments(f'mad[attr=PathRecord,method=GetTableResp]:{rule}'), most)
            self.assertEqual(self.fired(), [1])

    def test_smps(self):
        self.up()
        for rule, status, text in (
                ('mad[attr=NodeDescription]:late=300ms', 0, 'h1 mlx5_0'),
                ('mad[class=SubnLID,method=GetResp,lid=1]:late=300ms', 0, 'h1 mlx5_0'),
                ('mad[attr=NodeDescription,method=Get]:status=BUSY', 255, 'node desc query failed'),
                ('mad[class=SubnLID]:lost', 255, 'Connection timed out|_do_madrpc failed')):
            self.add(rule)
            begin = time.monotonic()
            r = self.on_h2('smpquery', '-t', '1000', 'nodedesc', '1')
            self.assertEqual(r.status, status, r)
            self.assertRegex(r.out, text)
            self.assertGreater(self.fired()[0], 0)
            if 'late' in rule:
                self.assertGreater(time.monotonic() - begin, 0.3)
        for method in ('Get', 'GetResp'):
            self.add(f'mad[class=SubnDR,method={method}]:late=200ms')
            self.assertIn('softhca switch 1', self.ok(self.on_h2('smpquery', 'nodedesc', '-D', '0,1')))
        self.add('mad[class=SubnDR]:status=BAD_ATTR')
        self.assertEqual(self.on_h2('smpquery', 'nodedesc', '-D', '0,1').status, 255)

    def test_performance_counters(self):
        self.up()
        self.add('mad[class=PerfMgt]:late=200ms')
        self.assertIn('PortXmitData', self.ok(self.on_h2('perfquery', '1')))
        self.add('mad[class=PerfMgt]:status=BAD_METHOD')
        self.assertNotEqual(self.on_h2('perfquery', '1').status, 0)

    def test_ibping(self):
        """A class that a program answers, too."""
        self.up()
        srv = self.fab.start('ibping', '-S', options=('--host', 'h1'))
        self.addCleanup(srv.kill)
        softhca.wait_for(lambda: self.on_h2('ibping', '-c', '1', '-t', '200', '1').status == 0, 'ibping to answer')
        self.add('mad[class=Vendor]:lost:when=2')
        r = self.on_h2('ibping', '-c', '3', '-t', '300', '1')
        self.assertEqual(self.fired(), [1])
        self.assertIn('3 packets transmitted, ', r.out)
        self.add('mad[class=0x32,method=0x81]:late=250ms:when=1')
        begin = time.monotonic()
        self.assertIn('1 packets transmitted, 1 received', self.ok(self.on_h2('ibping', '-c', '1', '1')))
        self.assertGreater(time.monotonic() - begin, 1.25)  # ibping itself ends after a second
        self.assertEqual(self.fired(), [1])

    def test_opensm(self):
        """It asks again for what was lost, and says what was refused; as SA it is refused for."""
        with softhca.Fabric('--hosts', '2', '--sm', 'none') as fab, tempfile.TemporaryDirectory() as d:
            self.fab = fab
            self.add('mad[class=SubnDR]:lost:when=3+7', 'mad[attr=NodeDescription]:status=BUSY:when=1')
            log = os.path.join(d, 'log')
            sm = fab.start('opensm', '-f', log, '-o', options=('--host', 'h1'), env={'OSM_CACHE_DIR': d, 'OSM_TMP_DIR': d})
            self.ok(sm.finish())
            with open(log, encoding='utf-8') as f:
                said = f.read()
            self.assertIn('SUBNET UP', said)
            self.assertRegex(said, r'error status = 0x1\s+SubnGetResp\(NodeDescription\)')
            lost, refused = self.fired()
            self.assertGreater(lost, 1)
            self.assertEqual(refused, 1)
            self.fab = None

    def test_trace_and_who_is_meant(self):
        r = run('trace', '-e', 'mad,inject', '--hosts', '2', '--inject', 'mad[attr=NodeDescription,dev=mlx5_0,port=1]:lost',
                '--', 'smpquery', '-t', '100', 'nodedesc', '2')
        self.assertRegex(r.out, r'lost SubnGet\(NodeDescription\).*: a rule of --inject')
        self.assertRegex(r.out, r'fired: mad\[attr=NodeDescription')
        r = run('run', '--hosts', '2', '--inject', 'mad[attr=NodeDescription,host=h3]:lost', '--', 'smpquery', 'nodedesc', '2')
        self.assertEqual(r.status, 4, r)

    def test_sm_change(self):
        self.up()
        watch = self.fab.start('ibv_asyncwatch', options=('--host', 'h2'))
        self.addCleanup(watch.kill)
        watch.wait_said('async event FD')
        self.add('port[host=h2]:sm_change:at=0s')
        watch.wait_said('SM_CHANGE')


class Work(softhca.Case):
    """Messages and completions: what both ends see. The third of five requests (tests/e2e/work.c) is meant."""
    ALL = ['1: ok', '2: ok', '3: ok', '4: ok', '5: ok']

    def work(self, rule, args, *more, fired=1):
        r = run('run', '--timeout', '60', *more, '--inject', rule, '--', os.path.join(HERE, 'work'), *args.split())
        self.assertIn(f'softhca: inject: fired {fired} x: {rule}\n' if fired else f'never fired: {rule}\n', r.out)
        return r.out

    def fine(self, out, n):
        """All requests but these came through as without a rule."""
        for i in range(1, 6):
            if i not in n:
                self.assertRegex(out, rf'(?m)^{i}: success 0x0; receive: (success|-); ')
        self.assertIn('requester: RTS\nresponder: RTS\n', out)
        self.assertNotIn('event: ', out)

    def test_lost(self):
        for op in ('SEND RC', 'WRITE RC', 'READ RC', 'CAS RC', 'FADD RC'):
            self.fine(self.work(f'{op.split()[0]}:lost:when=3', op), [])
        self.fine(self.work('WRITE:lost:when=3', 'WRITE UC'), [])
        for kind in ('UC', 'UD'):
            out = self.work('SEND:lost:when=3', f'SEND {kind}')
            self.fine(out, [3])
            self.assertIn('3: success 0x0; receive: none; 0 bytes\n', out)

    def test_lost_is_retried_after_the_timeout(self):
        out = self.work('SEND:lost:when=3', 'SEND RC', '--trace=cqe,inject')
        self.assertRegex(out, r'cqe: QP 0x[0-9a-f]+: WQE 2 parked \(no answer: lost on purpose: a rule of --inject\)')
        out = self.work('SEND:lost:when=3', 'SEND UD', '--summary')
        self.assertRegex(out, r'dropped: QP 0x[0-9a-f]+ \(UD, .*lost on purpose')

    def counters(self, rule, args, **want):
        """How far these counters of the adapter, on which both ends are, move. Files are written ten times a second."""
        values = ' '.join(str(n) for n in want.values())
        r = run('run', '--inject', rule, '--', 'sh', '-c',
                f'{HERE}/work {args}; cd /sys/class/infiniband/mlx5_0/ports/1/hw_counters; n=0; '
                f'until [ "$(echo $(cat {" ".join(want)}))" = "{values}" ] || [ $n = 100 ]; do n=$((n+1)); sleep 0.1; done; '
                f'echo counters: $(cat {" ".join(want)})')
        self.assertIn(f'counters: {values}\n', r.out)
        self.assertIn(f'softhca: inject: fired 1 x: {rule}\n', r.out)

    def test_counters_of_a_loss(self):
        self.counters('SEND:lost:when=3', 'SEND RC', local_ack_timeout_err=1, duplicate_request=0)
        self.counters('SEND:unanswered:when=3', 'SEND RC', local_ack_timeout_err=1, duplicate_request=1)

    def test_late(self):
        for op in ('SEND RC', 'WRITE UC', 'SEND UD', 'READ RC', 'BIND RC'):
            place = op.split()[0].replace('BIND', 'UMR')
            self.fine(self.work(f'{place}:late=30ms:when=3', op), [])

    def test_unanswered(self):
        for op in ('SEND RC', 'WRITE RC', 'READ RC', 'CAS RC', 'FADD RC'):
            rule = f'{op.split()[0]}:unanswered:when=3'
            self.fine(self.work(rule, op), [])
            self.counters(rule, op, local_ack_timeout_err=1, duplicate_request=1)
        self.work('SEND:unanswered', 'SEND UC', '--inject-unused=ok', fired=0)

    def test_cut(self):
        self.fine(self.work('SEND:cut=2:when=3', 'SEND RC 5000'), [])
        self.fine(self.work('WRITE:cut=4:when=3', 'WRITE RC 5000'), [])
        for op, got in (('SEND', 'none'), ('WRITE', '-')):
            out = self.work(f'{op}:cut=2:when=3', f'{op} UC 5000')
            self.fine(out, [3])
            self.assertIn(f'3: success 0x0; receive: {got}; 2048 bytes\n', out)
        self.work('SEND:cut=5', 'SEND RC 5000', '--inject-unused=ok', fired=0)  # it has 5 packets

    def test_duplicated(self):
        out = self.work('SEND:duplicated:when=3', 'SEND UD')
        self.fine(out, [])
        self.assertRegex(out, '3: .*\nanother receive\n4: ')
        for op in ('SEND RC', 'WRITE RC', 'READ RC', 'CAS RC', 'FADD RC'):
            rule = f'{op.split()[0]}:duplicated:when=3'
            out = self.work(rule, op)
            self.fine(out, [])
            self.assertNotIn('another receive', out)
            self.counters(rule, op, duplicate_request=1, local_ack_timeout_err=0)

    def test_an_atomic_is_executed_once(self):
        """Its duplicate is answered from memory: five times the word was 0."""
        for effect in ('lost', 'unanswered', 'duplicated', 'nak=sequence'):
            for op, word in (('CAS', 7), ('FADD', 1)):
                out = self.work(f'{op}:{effect}', f'{op} RC', fired=5)
                self.fine(out, [])
                self.assertEqual(re.findall('(?m)^word: .*$', out), [f'word: {word}, was 0'] * 5)

    def test_sequence_nak(self):
        for op in ('SEND RC', 'WRITE RC 5000', 'READ RC', 'CAS RC', 'FADD RC'):
            rule = f'{op.split()[0]}:nak=sequence:when=3'
            self.fine(self.work(rule, op), [])
            self.counters(rule, op, out_of_sequence=1, packet_seq_err=1, local_ack_timeout_err=0, duplicate_request=0)
        self.work('SEND:nak=sequence', 'SEND UC', '--inject-unused=ok', fired=0)

    def test_sequence_nak_uses_up_a_retry(self):
        self.fine(self.work('WRITE:nak=sequence', 'WRITE RC 64 1', fired=5), [])  # each answer gives it back
        out = self.work('WRITE:nak=sequence:when=3', 'WRITE RC 64 0')
        self.assertIn('3: transport retry counter exceeded 0x81; ', out)
        self.assertIn('requester: ERR\nresponder: RTS\n', out)

    def test_other_naks(self):
        for name, says, event in (
                ('remote_access', 'remote access error 0x88', 'local access violation work queue error of responder'),
                ('invalid_request', 'remote invalid request error 0x8a', 'invalid request local work queue error of responder'),
                ('remote_operation', 'remote operation error 0x89', 'local work queue catastrophic error of responder')):
            self.ends(f'READ:nak={name}:when=3', 'READ RC', says, '-', responder='ERR', event=event)
        self.ends('WRITE:nak=remote_access,vendor_err=0x97:when=3', 'WRITE RC', 'remote access error 0x97', '-',
                  responder='ERR', event='local access violation work queue error of responder')

    def test_vendor_err(self):
        for op in ('SEND', 'WRITE', 'READ', 'CAS', 'FADD'):
            got = 'Work Request Flushed Error' if op == 'SEND' else '-'
            self.ends(f'{op}:status=REM_ACCESS_ERR,vendor_err=0x97:when=3', f'{op} RC', 'remote access error 0x97', got,
                      responder='ERR', event='local access violation work queue error of responder')
            self.ends(f'{op}:status=LOC_QP_OP_ERR,vendor_err=0xd6:when=3', f'{op} RC', 'local QP operation error 0xd6',
                      'none' if op == 'SEND' else '-')
        self.ends('READ:status=RETRY_EXC_ERR,vendor_err=0:when=3', 'READ RC', 'transport retry counter exceeded 0x0', '-')
        self.ends('SEND:status=RNR_RETRY_EXC_ERR,vendor_err=255:when=3', 'SEND RC', 'RNR retry counter exceeded 0xff')
        self.ends('UMR:status=MW_BIND_ERR,vendor_err=0xd5:when=3', 'BIND RC', 'memory management operation error 0xd5', '-')
        self.ends('SEND:status=LOC_LEN_ERR,vendor_err=1:when=3', 'SEND UD', 'local length error 0x1', 'none', 'SQE')

    def test_vendor_err_of_a_receive(self):
        out = self.work('RECV:status=LOC_PROT_ERR,vendor_err=0x99:when=3', 'SEND RC')
        self.assertIn('3: remote operation error 0x89; receive: local protection error 0x99; ', out)
        out = self.work('RECV:status=LOC_PROT_ERR:when=3', 'SEND RC')
        self.assertIn('3: remote operation error 0x89; receive: local protection error 0x93; ', out)

    def test_not_ready(self):
        self.fine(self.work('SEND:rnr:when=3', 'SEND RC'), [])
        self.work('WRITE:rnr', 'WRITE RC', '--inject-unused=ok', fired=0)  # it takes no receive

    def ends(self, rule, args, status, receive='none', requester='ERR', responder='RTS', event=None):
        out = self.work(rule, args)
        self.assertRegex(out, rf'(?m)^3: {status}; receive: {receive}; ')
        self.assertIn(f'requester: {requester}\nresponder: {responder}\n', out)
        self.assertEqual(re.findall('(?m)^event: (.*)$', out), [event] if event else [])

    def test_local_statuses(self):
        for name, says in (('LOC_LEN_ERR', 'local length error 0x69'), ('LOC_QP_OP_ERR', 'local QP operation error 0x68'),
                           ('LOC_PROT_ERR', 'local protection error 0x52'), ('BAD_RESP_ERR', 'bad response error 0x8d'),
                           ('REM_ABORT_ERR', 'aborted error 0x8e'), ('MW_BIND_ERR', 'memory management operation error 0x71')):
            self.ends(f'SEND:status={name}:when=3', 'SEND RC', says)
        self.ends('WRITE:status=LOC_PROT_ERR:when=3', 'WRITE UC', 'local protection error 0x52', '-', 'SQE')
        self.ends('SEND:status=LOC_LEN_ERR:when=3', 'SEND UD', 'local length error 0x69', 'none', 'SQE')
        self.ends('UMR:status=MW_BIND_ERR:when=3', 'BIND RC', 'memory management operation error 0x71', '-')

    def test_remote_statuses(self):
        for op in ('SEND', 'WRITE', 'READ', 'CAS', 'FADD'):
            got = 'Work Request Flushed Error' if op == 'SEND' else '-'
            for name, says, event in (
                    ('REM_ACCESS_ERR', 'remote access error 0x88', 'local access violation work queue error of responder'),
                    ('REM_INV_REQ_ERR', 'remote invalid request error 0x8a', 'invalid request local work queue error of responder'),
                    ('REM_OP_ERR', 'remote operation error 0x89', 'local work queue catastrophic error of responder')):
                self.ends(f'{op}:status={name}:when=3', f'{op} RC', says, got, responder='ERR', event=event)
        self.work('WRITE:status=REM_ACCESS_ERR', 'WRITE UC', '--inject-unused=ok', fired=0)  # nobody answers there

    def test_retries_end(self):
        self.ends('READ:status=RETRY_EXC_ERR:when=3', 'READ RC', 'transport retry counter exceeded 0x81', '-')
        self.ends('SEND:status=RNR_RETRY_EXC_ERR:when=3', 'SEND RC', 'RNR retry counter exceeded 0x87')
        out = self.work('SEND:status=RETRY_EXC_ERR:when=3', 'SEND RC', '--summary')
        self.assertIn('TRANSPORT_RETRY_EXC: no answer: lost on purpose: a rule of --inject; retry_cnt 2', out)

    def test_receives(self):
        for name, says, sender in (('LOC_LEN_ERR', 'local length error 0x6a', 'remote invalid request error 0x8a'),
                                   ('LOC_PROT_ERR', 'local protection error 0x93', 'remote operation error 0x89'),
                                   ('LOC_ACCESS_ERR', 'local access error 0x6d', 'remote operation error 0x89')):
            self.ends(f'RECV:status={name}:when=3', 'SEND RC', sender, says, responder='ERR')

    def test_keys(self):
        self.work('SEND[size=65]:lost', 'SEND RC', '--inject-unused=ok', fired=0)
        self.work('SEND[type=UD]:lost', 'SEND RC', '--inject-unused=ok', fired=0)
        self.work('SEND[qp=0x7fff]:lost', 'SEND RC', '--inject-unused=ok', fired=0)
        self.work('SEND[size=64,type=RC,qp=0x40]:lost', 'SEND RC', fired=5)
        self.work('SEND:lost:per=qp:when=2', 'SEND RC')

    def test_kill_at_the_third_write(self):
        r = run('run', '--inject', 'process[comm=work]:kill:after=WRITE*3', '--', 'sh', '-c', f'{HERE}/work WRITE RC; echo $?')
        self.assertIn('2: success', r.out)
        self.assertNotIn('3: success', r.out)
        self.assertIn('137', r.out)

    def test_one_seed_one_story(self):
        def story(seed):
            r = run('trace', '-e', 'inject', '--seed', str(seed), '--inject', 'SEND:lost:p=0.4', '--', f'{HERE}/work', 'SEND', 'UD')
            return re.sub(r'softhca\[\d+\] [\d.]+ ', '', r.out)
        self.assertEqual(len({story(3) for _ in range(20)}), 1)
        self.assertGreater(len({story(n) for n in range(8)}), 3)


class Cables(softhca.Case):
    """Messages take time on the way to another port."""

    def both(self, rule, *cmd, link='ib'):
        with softhca.Fabric('--hosts', '2', '--link', link) as fab:
            fab.softhca('inject', 'add', rule)
            ends = self.pair(fab, cmd, options=(('--host', 'h1'), ('--host', 'h2')))
            return [end.out for end in ends], self.status(fab)['faults'][0]['fired']

    def per_iteration(self, out):
        """Seconds of an exchange of ibv_rc_pingpong, from the first message on."""
        return float(re.search(r'iters in ([\d.]+) seconds', out)[1]) / 20

    def test_latency(self):
        for rule, link in (('cable:latency=10ms', 'ib'), ('cable[host=h2,dev=mlx5_0,port=1]:latency=10ms', 'eth')):
            outs, fired = self.both(rule, 'ibv_rc_pingpong', '-n', '20', *(('-g', '3') if link == 'eth' else ()), link=link)
            self.assertEqual(fired, 40)
            for out in outs:
                self.assertGreater(self.per_iteration(out), 0.018)

    def test_messages_are_on_the_way_together(self):
        begin = time.monotonic()
        _, fired = self.both('cable:latency=300ms', 'ib_write_bw', '-F', '-n', '100', '-s', '64')
        self.assertLess(time.monotonic() - begin, 25)  # one after the other they take 30 s
        self.assertGreaterEqual(fired, 100)

    def test_an_answer_with_data_comes_over_it_too(self):
        (_, out), _ = self.both('cable:latency=20ms', 'ib_read_lat', '-F', '-n', '5', '-s', '8')
        self.assertGreater(float(re.search(r'(?m)^ *8 +5 +([\d.]+)', out)[1]), 39000)

    def test_rate(self):
        """5 messages of a million bytes take half a second."""
        (_, out), _ = self.both('cable:rate=80Mbps', 'ib_send_bw', '-F', '-n', '5', '-s', '1000000')
        self.assertLess(float(re.search(r'(?m)^ *1000000 +5 +[\d.]+ +([\d.]+)', out)[1]), 12)

    def test_what_was_late_is_repeated_as_often(self):
        """retry_cnt is 7: the tries of a message do not begin while it is late."""
        at = '/sys/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err'
        with softhca.Fabric('--hosts', '2') as fab:
            fab.softhca('inject', 'add', 'cable:latency=1ms', 'SEND:status=RETRY_EXC_ERR:when=1')
            ends = self.start_pair(fab, 'ibv_rc_pingpong', options=(('--host', 'h1'), ('--host', 'h2')))
            try:
                softhca.wait_for(lambda: any('transport retry counter exceeded' in e.said() for e in ends), 'the end')
            finally:
                for e in ends:
                    e.kill()
            softhca.wait_for(lambda: sum(int(fab.run('cat', at, options=('--host', h)).out) for h in ('h1', 'h2')) == 8,
                             'eight time-outs')

    def test_within_an_adapter_is_no_cable(self):
        r = run('run', '--inject', 'cable:latency=10m', '--', os.path.join(HERE, 'work'), 'SEND', 'RC')
        self.assertIn('5: success', r.out)
        self.assertEqual(r.status, 4, r)


class Objects(softhca.Case):
    """Objects that fail without a cause in the fabric: at both ends, in a program of ours."""

    def broken(self, what, *rules):
        args = [a for rule in rules for a in ('--inject', rule)]
        r = run('run', '--timeout', '60', *args, '--', os.path.join(HERE, 'broken'), what)
        self.assertEqual(r.status, 0, r)
        self.assertNotIn('never fired', r.out)
        return r.out[:r.out.index('softhca: inject:')].splitlines()

    def test_qp(self):
        flushed = ['cq 2: Work Request Flushed Error'] * 4
        for event, text in (('QP_FATAL', 'local work queue catastrophic error'),
                            ('QP_REQ_ERR', 'invalid request local work queue error'),
                            ('QP_ACCESS_ERR', 'local access violation work queue error')):
            with self.subTest(event=event):
                self.assertEqual(self.broken('qp', f'qp[type=RC,nth=2]:event={event}:after=ibv_query_qp'),
                                 [f'event: {text} 2', *flushed, 'cq 1: transport retry counter exceeded'])

    def test_qp_event_alone(self):
        self.assertEqual(self.broken('qp', 'qp[comm=broken,nth=2]:event=PATH_MIG_ERR:after=ibv_query_qp'),
                         ['event: path migration request error 2', 'cq 2: success', 'cq 1: success'])

    def test_cq(self):
        """The third completion of the sender, or of the receiver, finds its CQ full."""
        self.assertEqual(self.broken('cq', 'cq[nth=1]:overrun:when=3')[2:], ['state 6', 'cq 1: 2 good', 'cq 2: 3 good'])
        out = self.broken('cq', 'cq[comm=broken,nth=1]:overrun:when=3')
        self.assertEqual(sorted(out[:2]), ['event: CQ error 1', 'event: local work queue catastrophic error 1'])

    def test_srq(self):
        self.assertEqual(self.broken('srq', 'srq[nth=1]:event=SRQ_ERR:after=ibv_query_qp'),
                         ['event: SRQ catastrophic error 0', 'cq 1: remote operation error',
                          'event: local work queue catastrophic error 2', 'state 6'])

    def test_wq(self):
        self.assertEqual(self.broken('wq', 'wq:event=WQ_FATAL:after=ibv_query_qp'), ['event: WQ fatal 3'])

    def test_of_no_object(self):
        r = run('run', '--inject', 'qp[qp=0x3fff]:event=QP_FATAL:at=0s', '--', 'ibv_devinfo')
        self.assertEqual(r.status, 4, r)


class Adapters(softhca.Case):
    """An adapter that fails, or is unplugged and comes back."""

    def inject(self, fab, *rules):
        return fab.softhca('inject', 'add', *rules)

    def broken(self, rule, how='device'):
        r = run('run', '--timeout', '60', '--inject', rule, '--', os.path.join(HERE, 'broken'), how)
        self.assertEqual(r.status, 0, r)
        return r.out[:r.out.index('softhca: inject:')].splitlines()

    def test_fatal(self):
        self.assertEqual(self.broken('device:fatal:after=ibv_query_qp'),
                         ['event: local catastrophic error 0', 'alloc_pd: EIO', 'query_port: ok'])

    def test_no_context_of_a_failed_adapter(self):
        with softhca.Fabric() as fab:
            self.inject(fab, 'device:fatal:at=0s')
            r = fab.run('ibv_devinfo')
            self.assertIn('Failed to open device', r.out)

    def test_unplug(self):
        self.assertEqual(self.broken('device[dev=mlx5_0]:unplug:after=ibv_query_qp', 'unplug'),
                         ['event: local catastrophic error 0', 'alloc_pd: EIO', 'query_port: EIO'])

    def test_others_stay(self):
        """The host's other adapter, and its sysfs; the first one's are gone, and come back."""
        look = ('sh', '-c', 'ls /sys/class/infiniband /sys/class/infiniband_verbs /dev/infiniband; ibv_devices | tail -n +3')
        with softhca.Fabric('--hca', '2') as fab:
            before = fab.run(*look).out
            watch = fab.start('ibv_asyncwatch', '-d', 'mlx5_1')
            watch.wait_said('async event FD')
            self.inject(fab, 'device[dev=mlx5_0]:unplug:at=0s')
            softhca.wait_for(lambda: 'mlx5_0' not in fab.run(*look).out, 'the adapter to go')
            out = fab.run(*look).out
            for gone in ('uverbs0', 'umad0', 'issm0'):
                self.assertNotIn(gone, out)
            for there in ('mlx5_1', 'uverbs1', 'umad1', 'rdma_cm'):
                self.assertIn(there, out)
            self.assertFalse(watch.ended())
            self.assertNotIn('FATAL', watch.said())
            self.inject(fab, 'device[dev=mlx5_1]:unplug=100ms:at=0s')
            watch.wait_said('FATAL')
            watch.kill()
            softhca.wait_for(lambda: 'mlx5_1' in fab.run(*look).out, 'the second one to come back')
            self.assertNotEqual(fab.run(*look).out, before)

    def test_unplug_under_traffic(self):
        """The receiver's adapter goes and comes back: the sender ends, new programs work, and nothing is left."""
        h1, h2 = ('--host', 'h1'), ('--host', 'h2')
        with softhca.Fabric('--hosts', '2') as fab:
            for i in range(100 if softhca.LONG else 4):
                server, client = self.endless(fab, 'ib_send_bw', options=(h2, h1))
                number = self.inject(fab, 'device[host=h2]:unplug=50ms:after=SEND[host=h1]*100').strip()
                client = client.finish()
                server.kill()
                self.assertNotEqual(client.status, 0, client)
                self.assertIn('status 12', client.out)
                fab.softhca('inject', 'remove', number)
                softhca.wait_for(lambda: 'PORT_ACTIVE' in fab.run('ibv_devinfo', options=h2).out, 'the adapter')
                softhca.wait_for(lambda: not self.left(fab), 'the objects to be freed')
            self.pair(fab, ('ib_send_bw', '-n', '100'), options=(h2, h1))

    def left(self, fab):
        return {k: n for k, n in self.status(fab)['objects'].items() if n}

    def test_rdma_cm(self):
        """The server's adapter goes: DEVICE_REMOVAL there. A listener on all addresses serves again when it is back."""
        h1, h2 = ('--host', 'h1'), ('--host', 'h2')
        with softhca.Fabric('--hosts', '2') as fab:
            for _ in range(100 if softhca.LONG else 3):
                # librdmacm opens an adapter when it is first used, and keeps it
                listener = fab.start('rping', '-s', '-p', '7175', options=h2)
                server = fab.start('stdbuf', '-oL', 'rping', '-s', '-v', options=h2)
                softhca.wait_for(lambda: len(self.status(fab)['cm_ids']) >= 2 or server.ended(), 'the servers to listen')
                client = fab.start('stdbuf', '-oL', 'rping', '-c', '-v', '-a', '127.1.0.2', options=h1)
                client.wait_said('ping data')
                number = self.inject(fab, 'device[host=h2]:unplug=50ms:at=0s').strip()
                server.wait_said('device removal')
                server.kill()
                client.kill()  # hears nothing, and ends only if it has something to send
                fab.softhca('inject', 'remove', number)
                softhca.wait_for(lambda: 'PORT_ACTIVE' in fab.run('ibv_devinfo', options=h2).out, 'the adapter')
                self.ok(fab.run('rping', '-c', '-C', '3', '-p', '7175', '-a', '127.1.0.2', options=h1))
                self.ok(listener.finish())
                softhca.wait_for(lambda: not self.left(fab), 'the objects to be freed')

    def unplug(self, fab, host, time='50ms'):
        """The host's adapter goes now, and comes back; returns when it has gone."""
        number = self.inject(fab, f'device[host={host}]:unplug={time}:at=0s').strip()
        softhca.wait_for(lambda: next(f['fired'] for f in self.status(fab)['faults'] if f['number'] == int(number)), 'the rule')
        fab.softhca('inject', 'remove', number)

    def is_back(self, fab, host):
        softhca.wait_for(lambda: 'PORT_ACTIVE' in fab.run('ibv_devinfo', options=('--host', host)).out, f'the adapter of {host}')

    @softhca.needs_ucx
    def test_ucx(self):
        """The end whose adapter goes has the event, the other one no answers; UCX gives up at both."""
        # Without credits and warming up: a client that waits for a credit, or between the two runs for a word by TCP, has
        # sent nothing that could fail, and would wait for ever.
        env = {'UCX_TLS': 'rc_v,tcp', 'UCX_RC_FC_ENABLE': 'n'}
        with softhca.Fabric('--hosts', '2') as fab:
            for turn in range(100 if softhca.LONG else 3):
                cmd = softhca.ucx_perftest('-p', str(softhca.Case.port))
                port, softhca.Case.port = softhca.Case.port, softhca.Case.port + 1
                server = fab.start(*cmd, options=('--host', 'h2'), env=env)
                softhca.wait_for(lambda: softhca.listening(port) or server.ended(), 'ucx_perftest to listen')
                client = fab.start(*cmd, '-t', 'tag_bw', '-s', '4096', '-w', '1', '-n', '1000000000', 'localhost',
                                   options=('--host', 'h1'), env=env)
                self.moves(fab, 1000)
                self.unplug(fab, ('h2', 'h1')[turn % 2])
                gone, other = (server, client) if turn % 2 == 0 else (client, server)
                gone.wait_said('local catastrophic error')
                for end in gone, other:
                    end.kill() if end is server and end is other else end.finish()
                self.is_back(fab, 'h1')
                self.is_back(fab, 'h2')
                softhca.wait_for(lambda: not self.left(fab), 'the objects to be freed')

    def test_opensm(self):
        """Its subnet loses an adapter, and gets it back; then it loses its own, and reads errors, as the kernel's umad does it."""
        with softhca.Fabric('--hosts', '2', '--sm', 'none') as fab, tempfile.TemporaryDirectory() as d:
            for _ in range(100 if softhca.LONG else 3):
                log = os.path.join(d, 'log')
                open(log, 'w', encoding='ascii').close()
                sm = fab.start('opensm', '-f', log, options=('--host', 'h1'), env={'OSM_CACHE_DIR': d, 'OSM_TMP_DIR': d})
                self.is_back(fab, 'h2')
                self.unplug(fab, 'h2')
                self.is_back(fab, 'h2')
                self.assertFalse(sm.ended())
                self.unplug(fab, 'h1')
                softhca.wait_for(lambda: b'recv error on MAD sized umad (Input/output error)' in self.head(log), 'EIO')
                sm.kill()
                softhca.wait_for(lambda: not self.left(fab), 'the objects to be freed')

    def test_a_running_librdmacm_keeps_the_adapter(self):
        """
        Its device stays the one that it has opened, as the one that is back has the same index (librdmacm's cma.c,
        ucma_get_cma_device()): a server that runs on refuses, and a new one serves.
        """
        h1, h2 = ('--host', 'h1'), ('--host', 'h2')
        client = ('rping', '-c', '-C', '2', '-p', '7176', '-a', '127.1.0.2')
        with softhca.Fabric('--hosts', '2') as fab:
            def serve():
                server = fab.start('rping', '-s', '-P', '-p', '7176', options=h2)
                softhca.wait_for(lambda: self.status(fab)['cm_ids'] or server.ended(), 'the server to listen')
                self.ok(fab.run(*client, options=h1))
                return server
            server = serve()
            self.unplug(fab, 'h2')
            self.is_back(fab, 'h2')
            r = fab.run(*client, options=h1)
            self.assertIn('RDMA_CM_EVENT_REJECTED, error 28', r.out)
            self.assertFalse(server.ended())
            server.kill()
            softhca.wait_for(lambda: not self.status(fab)['cm_ids'], 'the server to be gone')
            serve().kill()

    @staticmethod
    def head(path):
        """OpenSM writes that error for ever."""
        with open(path, 'rb') as f:
            return f.read(1 << 20)


class Story(softhca.Case):
    """
    One seed, one story: each of two programs with a thread has the same trace, but for times and PSNs, which it draws;
    another seed has another one. Both run at the same time, so that nobody knows how their lines are mixed.
    """

    def story(self, seed, *rules):
        port, softhca.Case.port = str(softhca.Case.port), softhca.Case.port + 1
        cmd = f'ibv_rc_pingpong -p {port} -n 100'
        r = run('run', '--hosts', '2', '--time-scale', '1000', '--seed', str(seed), '--trace=inject,cqe',
                *(a for rule in rules for a in ('--inject', rule)), '--inject-unused', 'ok', '--pair', cmd, '--', *cmd.split(), 'localhost')
        self.assertEqual(r.status, 0, r)
        lines = {}
        for pid, line in re.findall(r'^softhca\[(\d+)(?:/\d+)?\] [\d.]+ ((?:inject|cqe): .*)', r.out, re.M):
            lines.setdefault(pid, []).append(re.sub(r'(PSN|behind) 0x[0-9a-f]+', r'\1', line))
        return '\n'.join(sorted('\n'.join(one) for one in lines.values()))

    def test_a_pair(self):
        rules = ('SEND[host=h1]:lost:p=0.05', 'SEND:rnr:p=0.05', 'SEND:unanswered:p=0.03:count=4')
        first = self.story(7, *rules)
        self.assertIn('inject: fired: SEND:rnr', first)
        for _ in range(99 if softhca.LONG else 9):
            self.assertEqual(self.story(7, *rules), first)
        self.assertEqual(len({self.story(seed, *rules) for seed in range(5)}), 5)


class Page(softhca.Case):
    def test_who_sees_faults_of_messages(self):
        """The page has what both ends really show (who_sees.py)."""
        with open(os.path.join(TOP, 'doc', 'man', 'softhca-inject.1'), encoding='utf-8') as f:
            page = f.read()
        self.maxDiff = None
        mark = 'tests/e2e/who_sees.py\n'
        shown = page[page.index(mark) + len(mark):page.index('.Ss Who sees faults of adapters')]
        self.assertEqual(shown, who_sees.page(), 'SOFTHCA_BUILD=... tests/e2e/who_sees.py')


class Words(softhca.Case):
    """Who is meant, the seed, what is said, and the exit status."""

    def test_never_fired(self):
        rule = 'ibv_create_qp[host=h2]:error=ENOMEM'
        line = f'softhca: inject: never fired: {rule}\n'
        for more, status in (((), 4), (('--inject-unused', 'ok'), 0), (('--inject-unused=fail',), 4)):
            r = run('run', *more, '--inject', rule, '--', 'ibv_devinfo')
            self.assertEqual(r.status, status, r)
            self.assertIn(line, r.out)
        r = run('run', '--inject', rule, '--', 'false')
        self.assertEqual(r.status, 1, r)

    def test_of_one_process(self):
        rule = 'ibv_alloc_pd[comm=ibv_devinfo]:error=ENOMEM'
        r = run('run', '--inject', rule, '--', os.path.join(HERE, 'calls'))
        self.assertEqual((r.status, results(r.out)['ibv_alloc_pd']), (4, 'ok'), r)
        r = run('run', '--inject', rule.replace('ibv_devinfo', 'calls'), '--', os.path.join(HERE, 'calls'))
        self.assertEqual((r.status, results(r.out)['ibv_alloc_pd']), (0, 'ENOMEM'), r)

    def test_all_processes_count_together(self):
        r = run('run', '--inject', 'ibv_query_port:error=EDQUOT:when=2..2', '--', 'sh', '-c', f'{HERE}/calls; {HERE}/calls')
        self.assertEqual(re.findall(r'^ibv_query_port: (\w+)$', r.out, re.M).count('EDQUOT'), 1, r)
        r = run('run', '--inject', 'ibv_query_srq:error=EDQUOT:per=process:when=1', '--', 'sh', '-c', f'{HERE}/calls; {HERE}/calls')
        self.assertEqual(re.findall(r'^ibv_query_srq: (\w+)$', r.out, re.M), ['EDQUOT', 'EDQUOT'], r)

    def test_seed(self):
        def stories(*seed):
            r = run('run', *seed, '--inject', 'fw:status=BAD_PARAM:p=0.03', '--', os.path.join(HERE, 'calls'))
            return results(r.out), re.search(r'^softhca: inject: --seed (\d+)$', r.out, re.M)[1]
        first, seed = stories('--seed', '5')
        self.assertEqual(seed, '5')
        self.assertEqual(stories('--seed', '5'), (first, '5'))
        others = [stories() for _ in range(5)]
        self.assertGreater(len({json.dumps(o) for o, _ in others} | {json.dumps(first)}), 1)
        self.assertEqual(stories('--seed', others[0][1])[0], others[0][0])

    def test_mistakes_have_a_place(self):
        r = run('run', '--inject', 'ibv_reg_mr:error=ENOMEN', '--', 'echo', 'started')
        self.assertEqual(r.status, 2)
        self.assertEqual(r.out.splitlines()[:3],
                         ["softhca: run: --inject: there is no errno (ENOMEM, EAGAIN...) 'ENOMEN'; did you mean 'ENOMEM'?",
                          '  ibv_reg_mr:error=ENOMEN', '                   ^'])
        self.assertNotIn('started', r.out)

    def test_file_of_rules(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, 'rules')
            with open(path, 'w', encoding='ascii') as f:
                f.write('# twice\n\n  ibv_reg_mr:error=EDQUOT:when=1 \nibv_alloc_mw:error=EAGAIN\n')
            r = run('run', '--inject-file', path, '--', os.path.join(HERE, 'calls'))
            got = results(r.out)
            self.assertEqual((got['ibv_reg_mr'], got['ibv_alloc_mw']), ('EDQUOT', 'EAGAIN'), r)
            with open(path, 'a', encoding='ascii') as f:
                f.write('ibv_alloc_mw:nothing\n')
            r = run('run', '--inject-file', path, '--', 'true')
            self.assertEqual(r.status, 2)
            self.assertIn(f'{path}:5: there is no effect', r.out)

    def test_trace_shows_each_firing(self):
        r = run('trace', '-e', 'inject', '--inject', 'ibv_reg_mr:error=EDQUOT', '--', os.path.join(HERE, 'calls'))
        self.assertRegex(r.out, r'(?m)^softhca\[\d+\] [\d.]+ inject: fired: ibv_reg_mr:error=EDQUOT$')


class Living(softhca.Case):
    """softhca inject on a fabric that is up."""

    def test_add_list_remove(self):
        with softhca.Fabric() as fab:
            def inject(*args):
                return softhca.Running([softhca.SOFTHCA, 'inject', *args], env=fab.env).finish()
            self.assertEqual(inject('list').out, '')
            r = inject('add', 'ibv_alloc_pd:error=EDQUOT:when=2', 'ibv_alloc_mw:error=EIO')
            self.assertEqual((r.status, r.out), (0, '1\n2\n'), r)
            calls = os.path.join(HERE, 'calls')
            self.assertEqual(results(fab.run(calls).out)['ibv_alloc_pd'], 'ok')
            self.assertEqual(results(fab.run(calls).out)['ibv_alloc_pd'], 'EDQUOT')
            self.assertRegex(inject('list').out, r'(?m)^  1  fired 1 of \d+  ibv_alloc_pd:error=EDQUOT:when=2$')
            faults = json.loads(inject('list', '-j').out)
            self.assertEqual([(f['number'], f['rule'], f['fired']) for f in faults],
                             [(1, 'ibv_alloc_pd:error=EDQUOT:when=2', 1), (2, 'ibv_alloc_mw:error=EIO', 1)])
            self.assertEqual(self.status(fab)['faults'], faults)
            self.assertEqual(inject('remove', '2').status, 0)
            self.assertEqual(results(fab.run(calls).out)['ibv_alloc_mw'], 'ok')
            for args, text in ((('remove', '2'), 'there is no rule 2'), (('remove', 'x'), "'x' is not a rule's number"),
                               (('add', 'fw'), 'the effect is missing'), (('add',), 'add wants a rule'), (('nothing',), 'add, list or remove')):
                r = inject(*args)
                self.assertEqual(r.status, 2)
                self.assertIn(text, r.out)

    def test_64_rules(self):
        with softhca.Fabric() as fab:
            rules = [f'ibv_alloc_pd[pid={n}]:error=EIO' for n in range(1, 66)]
            r = softhca.Running([softhca.SOFTHCA, 'inject', fab.name, 'add', *rules], env=fab.env).finish()
            self.assertIn('the fabric has 64 rules already', r.out)
            self.assertEqual(len(self.status(fab)['faults']), 64)
            fab.softhca('inject', 'remove', '7')
            self.assertEqual(fab.softhca('inject', '--fabric', fab.name, 'add', rules[0]), '7\n')


if __name__ == '__main__':
    unittest.main()
