# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of other projects that connect by rdma_cm: perftest's refusals, fio, libfabric, UCX, MPI, QEMU."""
import itertools
import json
import os
import shutil
import socket
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, LONG, TwoHosts, listening, needs_ucx, wait_for  # noqa: E402

A = TwoHosts.ADDRESS

# The program does without mpi.h, which only a large package has, and uses Open MPI's own handles.
MPI_PROGRAM = '''
import ctypes, os
mpi = ctypes.CDLL('libmpi.so.40', mode=ctypes.RTLD_GLOBAL)
world, char, int_, add = (ctypes.byref(ctypes.c_char.in_dll(mpi, 'ompi_mpi_' + n))
                          for n in ('comm_world', 'char', 'int', 'op_sum'))
mpi.MPI_Init(None, None)
rank, total = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
me, other = rank.value, 1 - rank.value
for size in (1, 64, 4096, 65536, 1 << 20):
    data = ctypes.create_string_buffer(b'%c' % (65 + me) * size, size)
    for turn in (0, 1):
        if turn == me:
            mpi.MPI_Send(data, size, char, other, 7, world)
        else:
            got = ctypes.create_string_buffer(size)
            mpi.MPI_Recv(got, size, char, other, 7, world, None)
            assert got.raw == b'%c' % (65 + other) * size
one = ctypes.c_int(me + 1)
mpi.MPI_Allreduce(ctypes.byref(one), ctypes.byref(total), 1, int_, add, world)
os.write(1, b'sum %d\\n' % total.value)  # at once: both ranks write
mpi.MPI_Finalize()
'''


class Monitor:
    """QEMU's, at a socket: a command and its answer."""

    def __init__(self, path, qemu):
        self.socket = socket.socket(socket.AF_UNIX)
        wait_for(lambda: not self.socket.connect_ex(path) or qemu.ended(), f'{path} to listen')
        self.file = self.socket.makefile('rw')
        self.file.readline()
        self.tell('qmp_capabilities')

    def tell(self, command, **arguments):
        self.file.write(json.dumps({'execute': command, 'arguments': arguments}) + '\n')
        self.file.flush()
        while 'event' in (answer := json.loads(self.file.readline())):
            pass
        return answer['return']

    def close(self):
        self.file.close()
        self.socket.close()


class Programs(TwoHosts):
    ports = itertools.count(24000)

    @unittest.skipUnless(shutil.which('ib_send_bw'), 'perftest is not installed')
    def test_perftest_refuses(self):
        """Transports that perftest itself does not connect by rdma_cm: it says so, by name."""
        for c, text in (('XRC', 'XRC does not support RDMA_CM'), ('DC', 'DC does not support RDMA_CM'),
                        ('UC', 'UC is not supported in librdmacm')):
            with self.subTest(c):
                r = self.fab.run('ib_write_bw', '-R', '-F', '-c', c)
                self.assertEqual(r.status, 1, str(r))
                self.assertIn(text, r.out)

    @unittest.skipUnless(shutil.which('fio'), 'fio is not installed')
    def test_fio(self):
        for verb, same in itertools.product(('write', 'read'), (False, True)):
            with self.subTest(verb, same_host=same), tempfile.TemporaryDirectory() as d:
                ports = [next(self.ports), next(self.ports)]
                head = '[global]\nioengine=rdma\nbs=64k\nsize=1m\niodepth=4\n'
                jobs = ''.join(f'[job{p}]\nport={p}\n' for p in ports)
                with open(os.path.join(d, 'srv'), 'w') as f:
                    f.write(f'{head}rw=read\n{jobs}')
                with open(os.path.join(d, 'cli'), 'w') as f:
                    f.write(f'{head}rw=write\nhostname={A}\nverb={verb}\n{jobs}')
                _, c = self.talk(['fio', os.path.join(d, 'srv')], ['fio', os.path.join(d, 'cli')],
                                 lambda: self.listens(*ports), same)
                self.assertIn('io=2048KiB', c.out)

    def fio_sends(self, same_host):
        """Two jobs; False: a message came before the server had posted its receives."""
        ports = [next(self.ports), next(self.ports)]
        jobs = ''.join(f'[job{p}]\nport={p}\n' for p in ports)
        head = '[global]\nioengine=rdma\nbs=64k\nsize=1m\n'
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, 'srv'), 'w') as f:
                f.write(f'{head}rw=read\niodepth=16\n{jobs}')
            with open(os.path.join(d, 'cli'), 'w') as f:
                f.write(f'{head}rw=write\nhostname={A}\nverb=send\niodepth=1\n{jobs}')
            srv = self.fab.start('fio', os.path.join(d, 'srv'), options=('--host', self.names[0]))
            cli = None
            try:
                wait_for(lambda: self.listens(*ports) or srv.ended(), 'fio to listen')
                cli = self.fab.start('fio', os.path.join(d, 'cli'),
                                     options=('--host', self.names[0 if same_host else 1]))
                wait_for(lambda: cli.ended() or 'RNR retry counter' in cli.said(), 'fio to send')
                if 'RNR retry counter' in cli.said():
                    return False
                self.assertIn('io=2048KiB', self.ok(cli.finish()))
                self.ok(srv.finish())
            finally:
                for r in (srv, cli):
                    if r and not r.file.closed:
                        r.kill()
        return True

    @unittest.skipUnless(shutil.which('fio'), 'fio is not installed')
    def test_fio_send(self):
        """
        fio 3.33 asks for no RNR retries, and its client hopes that half a second is enough for the
        server to post its receives (fio_rdmaio_connect()). Where it is not, fio never ends: again.
        """
        for same in (False, True):
            with self.subTest(same_host=same):
                self.assertTrue(any(self.fio_sends(same) for _ in range(20)))

    def libfabric(self, kind):
        """Both ends spin: few messages. The address is given to the client, the TCP port to both."""
        for same in (False, True):
            with self.subTest(kind, same_host=same):
                Case.port += 1
                p = Case.port
                cmd = ['fi_pingpong', '-p', 'verbs', '-e', kind, '-I', '2']
                _, c = self.talk([*cmd, '-B', str(p)], [*cmd, '-P', str(p), A], lambda: listening(p), same)
                self.assertIn('\n1k ', c.out)

    @unittest.skipUnless(shutil.which('fi_pingpong'), "libfabric's programs are not installed")
    def test_libfabric_connections(self):
        self.libfabric('msg')

    @unittest.skipUnless(shutil.which('fi_pingpong'), "libfabric's programs are not installed")
    def test_libfabric_datagrams(self):
        self.libfabric('dgram')

    @needs_ucx
    @unittest.skipUnless(shutil.which('io_demo'), 'io_demo of UCX is not installed')
    def test_ucx(self):
        """UCX connects by rdma_cm when it may not use TCP. The server serves for ever."""
        for same, transport in ((False, 'rc'), (True, 'rc'), (False, 'ud'), (False, 'dc')):
            with self.subTest(transport, same_host=same):
                p = next(self.ports)
                env = {'UCX_TLS': f'{transport},self', 'UCX_SOCKADDR_TLS_PRIORITY': 'rdmacm'}
                cmd = ['io_demo', '-p', str(p), '-d', '64:65536']
                srv = self.fab.start(*cmd, options=('--host', self.names[0]), env=env)
                try:
                    wait_for(lambda: self.listens(p) or srv.ended(), 'io_demo to listen')
                    self.ok(self.fab.run(*cmd, '-i', '20', '-o', 'read,write', A, env=env,
                                         options=('--host', self.names[0 if same else 1])))
                finally:
                    srv.kill()

    @unittest.skipUnless(shutil.which('mpirun.openmpi'), 'Open MPI is not installed')
    def test_open_mpi(self):
        ofi = ['--mca', 'pml', 'cm', '--mca', 'mtl', 'ofi', '--mca', 'mtl_ofi_provider_include', 'verbs;ofi_rxm']
        # libfabric's ofi_rxm loses the last message if its end is preempted at one place.
        for how in (['--mca', 'pml', 'ucx', '-x', 'UCX_TLS=rc,ud,self'], *([ofi] if LONG else [])):
            with self.subTest(how):
                r = self.fab.run('mpirun.openmpi', '--oversubscribe', '-np', '2', *how, '/usr/bin/python3',
                                 '-c', MPI_PROGRAM, options=('--host', self.names[0]),
                                 env={'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'})
                self.assertEqual(self.ok(r).count('sum 3'), 2, str(r))

    def migrate(self, pin, same_host):
        """A guest without a disk, which idles in its firmware."""
        with tempfile.TemporaryDirectory() as d:
            p = next(self.ports)
            argv = {n: ['qemu-system-x86_64', '-M', 'pc', '-accel', 'tcg', '-m', '64', '-display', 'none', '-nodefaults',
                        '-qmp', f'unix:{d}/{n},server=on,wait=off'] for n in ('to', 'from')}
            running = [self.fab.start(*argv['to'], '-incoming', f'rdma:{A}:{p}', options=('--host', self.names[0]))]
            monitors = []
            try:
                wait_for(lambda: self.listens(p) or running[0].ended(), 'qemu to listen')
                running.append(self.fab.start(*argv['from'],
                                              options=('--host', self.names[0 if same_host else 1])))
                monitors = [Monitor(f'{d}/{n}', r) for n, r in zip(('to', 'from'), running)]
                for m in monitors:
                    m.tell('migrate-set-capabilities', capabilities=[{'capability': 'rdma-pin-all', 'state': pin}])
                monitors[1].tell('migrate', uri=f'rdma:{A}:{p}')
                status = wait_for(lambda: (s := monitors[1].tell('query-migrate').get('status')) in
                                  ('completed', 'failed') and s, 'the migration')
                self.assertEqual(status, 'completed', running[0].said() + running[1].said())
                wait_for(lambda: monitors[0].tell('query-status')['status'] == 'running', 'the guest to go on')
            finally:
                for m in monitors:
                    m.close()
                for r in running:
                    r.kill()

    @unittest.skipUnless(shutil.which('qemu-system-x86_64'), 'qemu-system-x86 is not installed')
    def test_qemu_migrates(self):
        for pin, same in ((False, False), (True, False), (False, True)):
            with self.subTest(pin_all=pin, same_host=same):
                self.migrate(pin, same)


class ProgramsOnEthernet(Programs):
    FABRIC = ('--hosts', '2', '--link', 'eth')
    ports = itertools.count(25000)


if __name__ == '__main__':
    unittest.main()
