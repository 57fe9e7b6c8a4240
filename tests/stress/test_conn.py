# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Connections by rdma_cm whose ends are killed or stopped, at random moments (conn.c has the programs)
and at each system call (conn_steps.c): nothing of them is left, and others go on.
"""
import os
import random
import signal
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'lib'))
from softhca import BUILD, LONG, TwoHosts, stop, wait_for  # noqa: E402

PROGRAM = os.path.join(BUILD, 'tests', 'stress', 'stress_conn')
STEPS = os.path.join(BUILD, 'tests', 'stress', 'stress_conn_steps')
# 1 000 connections of 16 processes, of which 200 are killed; else as many as take some seconds.
PROCESSES, WINDOW, KILLS = (16, 64, 200) if LONG else (4, 8, 10)
SERVER_KILLS = 20 if LONG else 2
STOPS = 40 if LONG else 2
STRIDE = {'client': 1, 'server': 3} if LONG else {'client': 61, 'server': 97}
PORT = 20000  # of the fabric's hosts: nothing else is there


class Conn(TwoHosts):
    def start_server(self):
        srv = self.fab.start(PROGRAM, 'server', str(PORT), options=('--host', self.names[0]))
        wait_for(lambda: self.listens(PORT) or srv.ended(), 'the server to listen')
        return srv

    def start_client(self, host, *window):
        return self.fab.start(PROGRAM, 'client', self.ADDRESS, str(PORT), *map(str, window),
                              options=('--host', self.names[host]))

    def counts(self):
        return self.status(self.fab)['rdma_cm']

    def settles(self, want, what):
        """Files, ids, connections, ports, events and requests are as before."""
        last = {}

        def same():
            last.update(self.counts())
            return last == want
        try:
            wait_for(same, what)
        except AssertionError as e:
            raise AssertionError(f'{e}: {last}, not {want}: {self.status(self.fab)["cm_ids"][:5]}') from e

    def ends_clean(self):
        self.settles(dict.fromkeys(self.counts(), 0), 'rdma_cm to have nothing left')
        wait_for(lambda: not any(self.status(self.fab)['objects'].values()), 'objects to vanish')
        self.assertEqual(self.status(self.fab)['cm_ids'], [])

    def connects(self):
        """From both hosts, and from the port that others have used before."""
        for host in (1, 0):
            self.assertIn('20 connections', self.ok(self.start_client(host, 5, 20).finish()))

    def test_clients_are_killed(self):
        rnd = random.Random(1)
        srv = self.start_server()
        clients = []
        try:
            idle = self.counts()
            # Each has two ends. A client ends one of its own whenever all of them are there.
            full = 2 * PROCESSES * (WINDOW - 1)
            for n in range(PROCESSES):
                clients.append(self.start_client(n % 2, WINDOW))
            wait_for(lambda: self.counts()['connections'] >= full or srv.ended(), 'all to connect')
            for n in range(KILLS):
                time.sleep(rnd.random() / 20)  # at any point of what they do, and of their start
                clients.pop(rnd.randrange(PROCESSES)).kill()
                clients.append(self.start_client(n % 2, WINDOW))
                self.assertFalse(srv.ended(), srv.ended() and str(srv.finish()))
            for c in clients:
                self.assertFalse(c.ended(), c.ended() and str(c.finish()))
            while clients:
                clients.pop().kill()
            self.settles(idle, 'the ids of killed clients to end')
            self.connects()
            self.settles(idle, 'ids to end')
            self.assertFalse(srv.ended(), srv.ended() and str(srv.finish()))
        finally:
            srv.kill()
            for c in clients:
                c.kill()
        self.ends_clean()

    def test_the_server_is_killed(self):
        """Each of its clients learns of that, and leaves nothing behind either."""
        rnd = random.Random(2)
        for _ in range(SERVER_KILLS):
            srv = self.start_server()
            clients = [self.start_client(n % 2, WINDOW) for n in range(PROCESSES)]
            try:
                some = 2 * rnd.randrange(PROCESSES * (WINDOW - 1))
                wait_for(lambda: self.counts()['connections'] > some, 'some to connect')
                srv.kill()
                # 4 is GONE. A client that came too late is refused, and ends with the same status.
                for c in clients:
                    r = c.finish()
                    self.assertEqual(r.status, 4, str(r))
            finally:
                srv.kill()
                for c in clients:
                    c.kill()
            self.ends_clean()


    def test_ends_are_stopped(self):
        """Nobody waits for a stopped client, and no connection is lost by a stop."""
        rnd = random.Random(3)
        srv = self.start_server()
        clients = [self.start_client(n % 2, WINDOW) for n in range(PROCESSES)]
        try:
            for n in range(STOPS):
                time.sleep(rnd.random() / 20)  # at any point of what they do
                victim = rnd.choice(clients).proc.pid
                stop(victim)
                try:
                    self.connects()
                finally:
                    os.kill(victim, signal.SIGCONT)
                time.sleep(rnd.random() / 20)  # at any point of what they do
                stop(srv.proc.pid)
                late = self.start_client(n % 2, 5, 20)
                time.sleep(rnd.random() / 5)  # how long it is stopped: any time must do
                os.kill(srv.proc.pid, signal.SIGCONT)
                self.ok(late.finish())
            for c in clients:
                self.assertFalse(c.ended(), c.ended() and str(c.finish()))
        finally:
            srv.kill()
            for c in clients:
                c.kill()
        self.ends_clean()

    def steps(self, end, *client):
        host = 0 if end == 'server' else 1
        r = self.fab.run(STEPS, end, self.ADDRESS, str(PORT), str(STRIDE[end]), '1', *client,
                         options=('--host', self.names[host]), timeout=900)
        self.assertRegex(self.ok(r), r'[0-9]{1,} kills')

    def test_a_client_is_killed_at_each_system_call(self):
        srv = self.start_server()
        try:
            idle = self.counts()
            self.steps('client')
            self.settles(idle, 'the ids of killed clients to end')
            self.connects()
            self.assertFalse(srv.ended(), srv.ended() and str(srv.finish()))
        finally:
            srv.kill()
        self.ends_clean()

    def test_a_client_has_too_few_descriptors(self):
        srv = self.start_server()
        try:
            idle = self.counts()
            r = self.fab.run(STEPS, 'descriptors', self.ADDRESS, str(PORT),
                             options=('--host', self.names[1]))
            self.assertRegex(self.ok(r), '[0-9]{1,} failures')
            self.settles(idle, 'the ids of clients that have failed to end')
        finally:
            srv.kill()
        self.ends_clean()

    def test_a_server_is_killed_at_each_system_call(self):
        self.steps('server', PROGRAM)
        self.ends_clean()


class Supervisor(TwoHosts):
    def test_the_supervisor_is_killed(self):
        """Programs that wait for an event of a connection, in poll() or in the call, stop waiting."""
        to = self.ADDRESS, str(PORT)
        first, second = ('--host', self.names[0]), ('--host', self.names[1])
        for server, client in ((('rping', '-s', '-p', to[1]), ('rping', '-c', '-a', to[0], '-p', to[1])),
                               ((PROGRAM, 'server', to[1]), (PROGRAM, 'client', *to, '5'))):
            ends = [self.fab.start(*server, options=first)]
            try:
                wait_for(lambda: self.listens(PORT) or ends[0].ended(), 'the server to listen')
                ends.append(self.fab.start(*client, options=second))
                wait_for(lambda: sum(i.get('cm_state') == 'ESTABLISHED'
                                     for i in self.status(self.fab)['cm_ids']) > 1 or
                         any(e.ended() for e in ends), 'the ends to connect')
                os.kill(self.status(self.fab)['supervisor'], signal.SIGKILL)
                for e in ends:
                    e.finish()  # it ends because of the kill, or because the other end has ended
            finally:
                for e in ends:
                    e.kill()
                self.fab.softhca('up', self.fab.name, *self.FABRIC)  # sweeps up after the killed one


    def test_the_supervisor_of_a_lone_listener_is_killed(self):
        """
        The listener has opened no adapter: it has no doorbell page, with which a device thread would
        have come.
        """
        srv = self.fab.start(PROGRAM, 'server', str(PORT), options=('--host', self.names[0]))
        try:
            wait_for(lambda: self.listens(PORT) or srv.ended(), 'the server to listen')
            os.kill(self.status(self.fab)['supervisor'], signal.SIGKILL)
            self.assertEqual(srv.finish().status, 1)
        finally:
            srv.kill()
            self.fab.softhca('up', self.fab.name, *self.FABRIC)


class ConnEthernet(Conn):
    FABRIC = ('--hosts', '2', '--link', 'eth')


if __name__ == '__main__':
    unittest.main()
