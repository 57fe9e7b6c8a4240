#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The adapters on the PCI bus, as programs see them that look there: pciutils, hwloc, DPDK."""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, SOFTHCA, TIMEOUT, TOP  # noqa: E402

FUNCTION = '5a17:00:00.0'


def run(*cmd, options=()):
    return subprocess.run([SOFTHCA, 'run', *options, '--', *cmd], stdin=subprocess.DEVNULL,
                          capture_output=True, errors='replace', timeout=TIMEOUT, cwd=TOP)


class Lspci(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A machine without kernel modules has a line about them.
        cls.machines = subprocess.run(['lspci', '-vv'], capture_output=True, errors='replace')

    def lspci(self, *args, options=()):
        r = run('lspci', *args, options=options)
        self.assertEqual(r.returncode, 0, r)
        self.assertEqual(set(r.stderr.splitlines()) - set(self.machines.stderr.splitlines()), set())
        return r.stdout

    def test_the_machines_functions_are_there_too(self):
        own = subprocess.run(['lspci', '-D', '-n'], capture_output=True, errors='replace').stdout
        seen = self.lspci('-D', '-n', options=['--hca', '2'])
        self.assertEqual(seen, own + FUNCTION + ' 0207: 15b3:101b\n' + '5a17:00:01.0 0207: 15b3:101b\n')

    def test_driver_and_ids(self):
        out = self.lspci('-k', '-n', '-s', FUNCTION)
        self.assertIn('\tSubsystem: 15b3:0007\n', out)
        self.assertIn('\tKernel driver in use: mlx5_core\n', out)
        self.assertIn(' 0207: 15b3:1021\n', self.lspci('-n', '-s', FUNCTION, options=['--device', 'cx7']))

    def test_class_is_that_of_the_link_layer(self):
        self.assertIn(' 0200: 15b3:101b\n', self.lspci('-n', '-s', FUNCTION, options=['--link', 'eth']))

    def test_capabilities(self):
        out = self.lspci('-v', '-s', FUNCTION)
        for text in ('Express Endpoint', 'Vital Product Data', 'MSI-X: Enable+', 'Vendor Specific Information',
                     'Power Management version 3', 'Advanced Error Reporting',
                     'Device Serial Number 5a-17-ca-03-00-01-00-00'):
            self.assertIn('] ' + text, out)
        self.assertRegex(out, r'Memory at [0-9a-f]+ \(64-bit, prefetchable\) \[size=32M\]')
        self.assertNotIn('unknown', out.lower())
        self.assertNotIn('denied', out)

    def test_links_and_product_data(self):
        out = self.lspci('-vv', '-s', FUNCTION)
        self.assertIn('LnkSta:\tSpeed 16GT/s, Width x16', out)
        self.assertIn('checksum good', out)
        self.assertIn('[PN] Part number: MCX653105A-HDAT', out)
        self.assertIn('[SN] Serial number: SH5a17ca0300010000', out)
        out = self.lspci('-vv', '-s', FUNCTION, options=['--device', 'cx7'])
        self.assertIn('LnkSta:\tSpeed 32GT/s, Width x16', out)

    def test_what_a_card_shows_of_its_link(self):
        """NVIDIA/l2fwd-nv#6, a ConnectX-6 Dx."""
        out = self.lspci('-vv', '-s', FUNCTION)
        for text in ('[60] Express (v2) Endpoint, MSI 00', 'MaxPayload 512 bytes, PhantFunc 0, Latency L0s unlimited, L1 unlimited',
                     'ExtTag+ AttnBtn- AttnInd- PwrInd- RBE+ ', 'SlotPowerLimit 75',
                     'LnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported',
                     'ClockPM- Surprise- LLActRep- BwNot- ASPMOptComp+'):
            self.assertIn(text, out)

    def test_all_of_the_configuration_space(self):
        out = self.lspci('-xxxx', '-s', FUNCTION)
        self.assertEqual(len(re.findall(r'^[0-9a-f]{2,3}: ', out, re.M)), 4096 // 16)
        self.assertIn('\n00: b3 15 1b 10 ', out)


class Hwloc(unittest.TestCase):
    def test_devices_hang_below_their_function(self):
        r = run('lstopo-no-graphics', '--of', 'console', '--whole-io', options=['--hca', '2'])
        self.assertEqual(r.returncode, 0, r)
        for i in range(2):
            self.assertRegex(r.stdout, rf'PCI 5a17:00:0{i}\.0 \(InfiniBand\)\n( +(Net|OpenFabrics) "\w+"\n)*'
                                       rf' +OpenFabrics "mlx5_{i}"')


class Dpdk(Case):
    def probe(self, device, options=()):
        r = run('dpdk-testpmd', '-l', '0', '--no-huge', '-m', '64', '--no-shconf', '--no-telemetry',
                '-a', device, '--log-level=pmd.common.mlx5:8', '--log-level=pmd.net.mlx5:8',
                '--log-level=pmd.crypto.mlx5:8', options=options)
        return r.stdout + r.stderr

    def test_device_is_opened_and_the_port_refused_by_name(self):
        out = self.probe(FUNCTION)
        self.assertIn('mlx5_common: DevX is supported.', out)
        self.assertIn('mlx5_net: port is not configured in Ethernet mode', out)
        self.assertIn(f'Requested device {FUNCTION} cannot be used', out)

    def test_ethernet_port_is_refused_by_name(self):
        out = self.probe(FUNCTION, options=['--link', 'eth'])
        self.assertIn('mlx5_common: DevX is supported.', out)
        self.assertIn('mlx5_net: Cannot create drop hash RX queue', out)

    def test_crypto_device(self):
        self.assertIn('Crypto device mlx5_0 was created', self.probe(FUNCTION + ',class=crypto'))
        out = self.probe(FUNCTION + ',class=crypto', options=['--crypto', 'none'])
        self.assertIn('Not enough capabilities to support crypto operations', out)

    def test_no_driver_takes_another_function(self):
        self.assertNotIn('DevX', self.probe('5a17:00:01.0'))


if __name__ == '__main__':
    unittest.main()
