# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock OpenSM and saquery exchange long messages (RMPP), and OpenSM opens its issm."""
import contextlib
import os
import re
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Fabric, wait_for  # noqa: E402

HOSTS, SWITCHES = 128, 80
NODES = HOSTS + SWITCHES
IS_SM = 2


class Messages(Case):
    @contextlib.contextmanager
    def opensm(self, fab, host, folder):
        """A running OpenSM, its subnet up; its log (flushed at each line)."""
        log = os.path.join(folder, 'log')
        sm = fab.start('opensm', '-d', '2', '-f', log, options=('--host', host),
                       env=dict(os.environ, OSM_CACHE_DIR=folder, OSM_TMP_DIR=folder))

        def is_up():
            if not os.path.exists(log):
                return False
            with open(log, errors='replace') as f:
                return 'SUBNET UP' in f.read()
        try:
            wait_for(is_up, 'SUBNET UP')
            yield sm, log
        finally:
            sm.kill()

    def count(self, fab, host, what, record):
        r = fab.run('saquery', '-t', '60000', what, options=('--host', host))
        return len(re.findall(rf'^{record}', self.ok(r), re.M))

    def all_records(self, fab, host):
        self.assertEqual(self.count(fab, host, 'NR', 'NodeRecord'), NODES)
        self.assertEqual(self.count(fab, host, 'PR', 'PathRecord'), NODES * NODES)

    def test_built_in_manager(self):
        """The built-in manager has no open file from which it sends the segments of its answers."""
        with Fabric('--topo', f'fat-tree:3:8:{HOSTS}') as fab:
            self.all_records(fab, 'h1')
            self.all_records(fab, 'h100')

    def test_opensm(self):
        """All paths of 208 nodes: 2.7 MB, 13 840 segments."""
        with tempfile.TemporaryDirectory() as folder, \
                Fabric('--topo', f'fat-tree:3:8:{HOSTS}', '--sm', 'none') as fab:
            with self.opensm(fab, 'h1', folder) as (sm, log):
                self.all_records(fab, 'h77')
                self.all_records(fab, 'h1')
                sm.kill(signal.SIGTERM)
            with open(log, errors='replace') as f:
                self.assertNotIn('ERR', f.read())

    def cap_mask(self, fab):
        def both():
            out = self.ok(fab.run('ibstat', options=('--host', 'h1')))
            mad = self.ok(fab.run('smpquery', '-D', 'portinfo', '0', options=('--host', 'h1')))
            shown = re.search(r'Capability mask: (0x\w+)', out).group(1)
            return re.search(r'^CapMask:\.*(0x\w+)', mad, re.M).group(1) == shown and int(shown, 16)

        return wait_for(both, 'sysfs and PortInfo to say the same')  # it may change between the two

    def test_issm(self):
        """IsSM is set in the port while OpenSM lives, and cleared when OpenSM ends or is killed."""
        with tempfile.TemporaryDirectory() as folder, Fabric('--sm', 'none') as fab:
            self.assertFalse(self.cap_mask(fab) & IS_SM)
            for sig in (signal.SIGTERM, signal.SIGKILL):
                with self.opensm(fab, 'h1', folder) as (sm, log):
                    self.assertTrue(self.cap_mask(fab) & IS_SM)
                    sm.kill(sig)
                wait_for(lambda: not self.cap_mask(fab) & IS_SM, 'IsSM to go')
                os.unlink(log)


if __name__ == '__main__':
    unittest.main()
