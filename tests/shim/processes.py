#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Open files over fork, vfork, exec and SCM_RIGHTS: whose they are and how long their objects live."""
import os
import subprocess
import sys
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
import softhca  # noqa: E402

FAILEXEC = os.path.join(softhca.BUILD, 'tests/shim/libfailexec.so')



def script(text):
    return 'from shimlib import *\n' + textwrap.dedent(text)


class Processes(softhca.Case):
    @classmethod
    def setUpClass(cls):
        cls.fab = softhca.Fabric(env={'PYTHONPATH': HERE})
        cls.fab.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.fab.__exit__(None, None, None)

    def py(self, text, *args, **kw):
        return self.ok(self.fab.run('/usr/bin/python3', '-c', script(text), *args, **kw))

    def objects(self):
        import json
        return json.loads(self.fab.softhca('status', '-j', self.fab.name))['objects']

    def nothing_left(self):
        softhca.wait_for(lambda: not any(self.objects().values()), 'objects to vanish')

    def tearDown(self):
        self.nothing_left()

    def test_vfork_child_leaves_the_parents_table_alone(self):
        self.py('''
            keep = make_objects()
            fds = command_fds()
            check('one command file', len(fds) == 1)
            for close_fds in (True, False):
                r = subprocess.run(['true'], close_fds=close_fds, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                check('child ran', r.returncode == 0)
            check('vfork was used', getattr(subprocess, '_USE_VFORK', True))
            check('still a node', command_fds() == fds)
            check('still answers', command(fds[0]) == 22)
            from pyverbs.cq import CQ
            CQ(keep[0], 16)
            ''')

    def test_failed_spawn_leaves_the_parents_table_alone(self):
        self.py('''
            keep = make_objects()
            try:
                subprocess.run(['/nonexistent/program'])
                check('no such program', False)
            except FileNotFoundError:
                pass
            check('still answers', command(command_fds()[0]) == 22)
            from pyverbs.cq import CQ
            CQ(keep[0], 16)
            ''')

    def test_children_of_every_kind_see_the_device(self):
        out = self.py('''
            fd = os.open(NODE, os.O_RDWR)
            for how in ('system', 'popen', 'spawn', 'fork'):
                if how == 'system':
                    check(how, os.system('test -c /dev/infiniband/uverbs0') == 0)
                elif how == 'popen':
                    check(how, os.popen('cat /sys/class/infiniband/mlx5_0/node_type').read() == '1: CA\\n')
                elif how == 'spawn':
                    pid = os.posix_spawn('/usr/bin/test', ['test', '-c', NODE], os.environ)
                    check(how, os.waitpid(pid, 0)[1] == 0)
                else:
                    pid = os.fork()
                    if not pid:
                        os.execv('/usr/bin/test', ['test', '-c', NODE])
                    check(how, os.waitpid(pid, 0)[1] == 0)
            check('parent unharmed', command(fd) == 22)
            print('all')
            ''')
        self.assertEqual(out, 'all\n')

    def test_fork_child_has_the_file_and_its_own_contexts(self):
        self.py('''
            keep = make_objects()
            fd = command_fds()[0]
            pid = os.fork()
            if not pid:
                ok = is_node(fd) and command(fd) == 22
                from pyverbs.device import Context
                c = Context(name='mlx5_0')
                q = c.query_device()
                c.close()
                os._exit(0 if ok and q.max_qp > 0 else 1)
            check('child', os.waitpid(pid, 0)[1] == 0)
            check('parent answers', command(fd) == 22)
            from pyverbs.cq import CQ
            CQ(keep[0], 16)
            ''')

    def test_close_in_a_fork_child_keeps_the_parents_objects(self):
        self.py('''
            keep = make_objects()
            fd = command_fds()[0]
            pid = os.fork()
            if not pid:
                os.close(fd)
                os._exit(0)
            check('child', os.waitpid(pid, 0)[1] == 0)
            from pyverbs.cq import CQ
            CQ(keep[0], 16)
            keep[4].query(0xffff)
            ''')

    def test_objects_live_while_a_fork_child_has_the_file(self):
        path = self.fab.dir + '/go'
        child = self.fab.start('/usr/bin/python3', '-c', script('''
            keep = make_objects()
            if os.fork():
                os._exit(0)         # no close: the kernel's, at the end
            while not os.path.exists(sys.argv[1]): time.sleep(0.01)
            os._exit(0)
            '''), path)
        try:
            self.ok(child.finish())
            self.assertGreater(self.objects()['qp'], 0)
        finally:
            open(path, 'w').close()
            try:
                self.nothing_left()
            finally:
                os.unlink(path)

    def test_what_was_pinned_is_given_back(self):
        """The supervisor may notice the end of a file before the process that closed it last asks for that."""
        path = self.fab.dir + '/go'
        p = self.fab.start('/usr/bin/python3', '-c', script('''
            import random
            keep = []
            for i in range(60):
                keep.append(make_objects())
                fd, = command_fds()
                unmap_doorbells()
                pid = os.fork()
                if not pid:
                    os.close(fd)    # asks first: from then on it is looked after
                    os._exit(0)
                os.waitpid(pid, 0)
                end = time.perf_counter() + random.random() * 0.004   # at any moment of that
                while time.perf_counter() < end:
                    pass
                os.close(fd)
            print('closed', flush=True)
            while not os.path.exists(sys.argv[1]): time.sleep(0.01)
            os._exit(0)
            '''), path)
        try:
            p.wait_said('closed')
            mine = [x for x in self.status(self.fab)['processes'] if x['pid'] == p.proc.pid]
            self.assertEqual([x['pinned'] for x in mine], [0])
        finally:
            open(path, 'w').close()
            p.finish()
            os.unlink(path)

    def test_dup_keeps_the_objects_until_the_last_is_closed(self):
        p = self.fab.start('/usr/bin/python3', '-c', script('''
            keep = make_objects()
            fd = command_fds()[0]
            d = os.dup(fd)
            os.close(fd)
            check('dup answers', command(d) == 22)
            from pyverbs.cq import CQ
            print('dup', flush=True)
            while not os.path.exists(sys.argv[1] + '/go1'): time.sleep(0.01)
            os.close(d)
            print('closed', flush=True)
            while not os.path.exists(sys.argv[1] + '/go2'): time.sleep(0.01)
            unmap_doorbells()
            print('unmapped', flush=True)
            while not os.path.exists(sys.argv[1] + '/go3'): time.sleep(0.01)
            os._exit(0)
            '''), self.fab.dir)
        try:
            softhca.wait_for(lambda: os.pread(p.file.fileno(), 100, 0) == b'dup\n', 'the dup')
            self.assertEqual(self.objects()['qp'], 1)
            open(self.fab.dir + '/go1', 'w').close()
            softhca.wait_for(lambda: b'closed' in os.pread(p.file.fileno(), 100, 0), 'the close')
            self.assertEqual(self.objects()['qp'], 1)
            open(self.fab.dir + '/go2', 'w').close()
            softhca.wait_for(lambda: b'unmapped' in os.pread(p.file.fileno(), 100, 0), 'the end')
            self.assertEqual(self.objects()['qp'], 0)   # it is synchronous
            open(self.fab.dir + '/go3', 'w').close()
            self.ok(p.finish())
        finally:
            p.kill()
            for f in ('/go1', '/go2', '/go3'):
                if os.path.exists(self.fab.dir + f):
                    os.unlink(self.fab.dir + f)

    def test_a_passed_file_keeps_its_objects_alive(self):
        path = self.fab.dir + '/passing'
        holder = self.fab.start('/usr/bin/python3', '-c', script('''
            s = socket.socket(socket.AF_UNIX)
            s.bind(sys.argv[1])
            s.listen()
            c = s.accept()[0]
            fd = recv_fd(c)
            check('a character device', is_node(fd))
            check('refused clearly', command(fd) in (5, 95))
            check('no mapping', libc.mmap(None, 4096, 1, 1, fd, 0) in (-1, 2**64 - 1, 0xffffffff))
            c.send(b'x')
            c.recv(1)               # the sender is dead
            print('alone', flush=True)
            while os.path.exists(sys.argv[1]): time.sleep(0.01)
            os.close(fd)
            print('closed', flush=True)
            sys.stdin.read()
            while not os.path.exists(sys.argv[1]): time.sleep(0.01)
            '''), path)
        try:
            softhca.wait_for(lambda: os.path.exists(path) or holder.proc.poll() is not None, 'a listener')
            maker = self.fab.start('/usr/bin/python3', '-c', script('''
                keep = make_objects()
                s = socket.socket(socket.AF_UNIX)
                s.connect(sys.argv[1])
                send_fd(s, command_fds()[0])
                s.recv(1)           # the holder has looked at it
                os.kill(os.getpid(), 9)
                '''), path)
            maker.finish()
            softhca.wait_for(lambda: b'alone' in os.pread(holder.file.fileno(), 1000, 0) or
                             holder.proc.poll() is not None, 'the holder to be alone')
            self.assertIn(b'alone', os.pread(holder.file.fileno(), 1000, 0))
            self.assertEqual(self.objects()['qp'], 1)
            os.unlink(path)
            softhca.wait_for(lambda: b'closed' in os.pread(holder.file.fileno(), 1000, 0), 'the close')
            self.assertEqual(self.objects()['qp'], 0)   # at close, not at exit
            open(path, 'w').close()
            self.ok(holder.finish())
        finally:
            holder.kill()
            if os.path.exists(path):
                os.unlink(path)

    def test_exec_keeps_an_inherited_file_and_its_objects(self):
        """The new program shows it as a device, cannot use the old context, and ends it at close."""
        self.py('''
            keep = make_objects()
            fd = command_fds()[0]
            os.set_inheritable(fd, True)
            os.execv('/usr/bin/python3', ['python3', '-c', 'fd = %d\\n' % fd + sys.argv[1]])
            ''', script('''
            check('a character device', is_node(fd))
            check('an old context', command(fd) in (5, 95))
            os.close(fd)
            check('closed', not command_fds())
            '''))

    def test_failed_exec_revives_the_process(self):
        """Peers may write to its memory again: pingpong, both ends with a failed exec behind them."""
        cmd = 'LD_PRELOAD=$LD_PRELOAD:%s exec ibv_rc_pingpong "$@"' % FAILEXEC
        self.pair(self.fab, ['sh', '-c', cmd, 'sh', '-c', '-n', '200'])

    def test_exec_ends_the_objects(self):
        path = self.fab.dir + '/go'
        p = self.fab.start('/usr/bin/python3', '-c', script('''
            keep = make_objects()
            while not os.path.exists(sys.argv[1]): time.sleep(0.01)
            os.execvp('tail', ['tail', '-f', '/dev/null'])
            '''), path)
        try:
            softhca.wait_for(lambda: self.objects()['qp'] == 1, 'the objects')
            open(path, 'w').close()
            softhca.wait_for(lambda: self.objects()['qp'] == 0, 'their end')
            self.assertIsNone(p.proc.poll())
        finally:
            p.kill()
            if os.path.exists(path):
                os.unlink(path)

    def test_without_the_environment_the_library_does_nothing(self):
        lib = os.path.join(softhca.BUILD, 'src/shim/libsofthca.so')
        r = subprocess.run(['/usr/bin/python3', '-c', script('''
            check('no device', not os.path.exists('/sys/class/infiniband/mlx5_0'))
            check('no node', not os.path.exists(NODE))
            ''')], env={'LD_PRELOAD': lib, 'PYTHONPATH': HERE, 'PATH': os.environ['PATH']}, capture_output=True, errors='replace')
        self.assertEqual((r.returncode, r.stdout + r.stderr), (0, ''))

    def test_a_fabric_that_is_gone_is_no_device(self):
        lib = os.path.join(softhca.BUILD, 'src/shim/libsofthca.so')
        r = subprocess.run(['/usr/bin/python3', '-c', script('''
            check('no node', not os.path.exists(NODE))
            try:
                os.open(NODE, os.O_RDWR)
            except FileNotFoundError:
                print('none')
            ''')], env={'LD_PRELOAD': lib, 'PYTHONPATH': HERE, 'PATH': os.environ['PATH'], 'SOFTHCA_DIR': '/nonexistent/fabric',
                        'SOFTHCA_HOST': 'h1'}, capture_output=True, errors='replace')
        self.assertEqual((r.returncode, r.stdout), (0, 'none\n'), r.stderr)


if __name__ == '__main__':
    unittest.main()
