# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stock programs that look at the adapter."""
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import SOFTHCA, NOBODY, Case, Running, ordinary_user_can_run, needs_ucx  # noqa: E402


class Devices(Case):
    user = []

    def embedded(self, *cmd, options=()):
        """One private fabric for one command."""
        return Running([*self.user, SOFTHCA, 'run', *options, '--', *cmd]).finish()

    def test_ibv_devices(self):
        out = self.ok(self.embedded('ibv_devices'))
        self.assertRegex(out, r'mlx5_0\s+[0-9a-f]{16}')

    def test_ibv_devinfo(self):
        out = self.ok(self.embedded('ibv_devinfo', '-v'))
        # ConnectX shows both (public outputs in ompi#6137, ucx#9830): its port counts violations.
        self.assertRegex(out, r'BAD_PKEY_CNTR\n\s+BAD_QKEY_CNTR\n')
        for want in (r'hca_id:\s+mlx5_0', r'transport:\s+InfiniBand \(0\)',
                     r'state:\s+PORT_ACTIVE \(4\)', r'link_layer:\s+InfiniBand',
                     r'sm_lid:\s+[1-9]', r'port_lid:\s+[1-9]', r'vendor_id:\s+0x02c9',
                     r'vendor_part_id:\s+4123', r'active_mtu:\s+4096 \(5\)',
                     r'GID\[\s*0\]:\s+fe80:', r'max_qp:\s+[1-9]\d{3,}',
                     r'max_mr_size:\s+0xffffffffffffffff'):
            self.assertRegex(out, want)
        self.assertRegex(out, r'atomic_cap:\s+ATOMIC_HCA')
        self.assertRegex(out, r'general_odp_caps:\s+ODP_SUPPORT\s+ODP_SUPPORT_IMPLICIT')
        self.assertRegex(out, r'uc_odp_caps:\s+NO SUPPORT')

    def test_two_ports_two_hcas(self):
        out = self.ok(self.embedded('ibv_devinfo', options=('--hca', '2', '--ports', '2')))
        self.assertEqual(re.findall(r'hca_id:\s+(\S+)', out), ['mlx5_0', 'mlx5_1'])
        self.assertEqual(out.count('PORT_ACTIVE'), 4)
        lids = re.findall(r'port_lid:\s+(\d+)', out)
        self.assertEqual(len(set(lids)), 4, 'every port has a LID of its own')

    def test_cx7(self):
        out = self.ok(self.embedded('ibv_devinfo', options=('--device', 'cx7')))
        self.assertRegex(out, r'vendor_part_id:\s+4129')

    def test_ibstat(self):
        out = self.ok(self.embedded('ibstat'))
        for want in ("CA 'mlx5_0'", 'CA type: MT4123', 'State: Active', 'Physical state: LinkUp',
                     'Link layer: InfiniBand', r'Base lid: [1-9]', r'Rate: \d+'):
            self.assertRegex(out, want)

    def test_before_a_subnet_manager_comes(self):
        """As a card: the reset value of its vport's context."""
        sh = ('ibstat; ibv_devinfo -v; rdma link show; cat /sys/class/infiniband/mlx5_0/ports/1/lid')
        out = self.ok(self.embedded('sh', '-c', sh, options=('--sm', 'none')))
        for want in ('State: Initializing', 'Base lid: 65535', 'SM lid: 0', r'port_lid:\s+65535',
                     r'sm_lid:\s+0', r'subnet_timeout:\s+0', 'lid 65535 sm_lid 0', '0xffff'):
            self.assertRegex(out, want)

    def test_ibstatus(self):
        out = self.ok(self.embedded('ibstatus'))
        for want in ("Infiniband device 'mlx5_0' port 1 status", 'ACTIVE', 'LinkUp', 'InfiniBand'):
            self.assertIn(want, out)

    def test_shell_children_see_it(self):
        out = self.ok(self.embedded('sh', '-c', 'ls /sys/class/infiniband; '
                                    'cat /sys/class/infiniband/mlx5_0/ports/1/state; '
                                    'ls -l /dev/infiniband/uverbs0'))
        self.assertIn('mlx5_0', out)
        self.assertIn('4: ACTIVE', out)
        self.assertRegex(out, r'crw.rw.rw. .* 231, *192 ')

    @needs_ucx
    def test_ucx_info(self):
        out = self.ok(self.embedded('ucx_info', '-d'))
        self.assertIn('mlx5_0:1', out)

    def test_environment_and_status_are_the_commands(self):
        self.assertEqual(self.embedded('sh', '-c', 'exit 37').status, 37)

    def test_forks_of_forks(self):
        """Also where nobody opened a device: every generation must be able to fork again."""
        out = self.ok(self.embedded('bash', '-c', '( ( ( (ibv_devices; echo 4) ; echo 3) ; echo 2) )'))
        self.assertEqual(out.split()[-3:], ['4', '3', '2'])


@unittest.skipUnless(ordinary_user_can_run(), 'not root, or an ordinary user cannot reach the build')
class DevicesAsOrdinaryUser(Devices):
    user = [*NOBODY, 'HOME=/nonexistent']


if __name__ == '__main__':
    unittest.main(verbosity=2)
