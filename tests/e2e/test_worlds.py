# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Worlds (src/world/worlds.c): what stock programs show and do in each; tests/cli has the command line."""
import itertools
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import softhca  # noqa: E402

PORTS = itertools.count(softhca.port_block())


def pair(server, client):
    """Both ends on one host; the client tries again until the server listens."""
    return f'{server} >/dev/null & until {client}; do kill -0 $! || exit 1; sleep 0.1; done; wait $!'


class Worlds(unittest.TestCase):
    def fabric(self, worlds, *options):
        return softhca.Fabric('--world', worlds, *options)

    def said(self, worlds, script, *options):
        with self.fabric(worlds, *options) as f:
            r = f.run('sh', '-c', script)
            self.assertEqual(r.status, 0, r)
            return r.out

    def works(self, worlds, pp='', address='127.1.0.1', *options):
        """A pair of ibv_rc_pingpong with these options and of rping."""
        pp, ping = f'ibv_rc_pingpong -p {next(PORTS)} -n 3 {pp}', f'-C 1 -a {address}'
        out = self.said(worlds, pair(pp, f'{pp} localhost'), *options)
        self.assertIn('3 iters in', out)
        with self.fabric(worlds, *options) as f:
            server = f.start('rping', '-s', *ping.split())
            softhca.wait_for(lambda: server.ended() or not f.run('rping', '-c', *ping.split()).status, 'rping')
            r = server.finish()
            self.assertEqual(r.status, 0, r)

    # ---- P_Keys

    def test_pkey_limited(self):
        out = self.said('pkey-limited', 'cat /sys/class/infiniband/mlx5_0/ports/1/pkeys/[01] /sys/class/net/ib0/pkey')
        self.assertEqual(out.split(), ['0x7fff', '0x8001', '0xffff'])

    def test_pkey_limited_over_index_0_is_dropped(self):
        """The path record in 0x7fff is missing, and in 0x8001 there; rdma_cm takes ib0's partition."""
        out = self.said('pkey-limited', '! rping -c -C 1 -a 127.1.0.1 2>&1')
        self.assertIn('RDMA_CM_EVENT_ROUTE_ERROR', out)

    def test_pkey_limited_hosts_do_not_find_each_other(self):
        with self.fabric('pkey-limited', '--hosts', '2') as f:
            r = f.run('rping', '-c', '-C', '1', '-a', '127.1.0.2', options=['--host', 'h1'])
            self.assertIn('RDMA_CM_EVENT_ADDR_ERROR, error -110', r.out)

    def test_pkey_no_default(self):
        out = self.said('pkey-no-default', 'cat /sys/class/infiniband/mlx5_0/ports/1/pkeys/[01] /sys/class/net/ib0/pkey')
        self.assertEqual(out.split(), ['0x8001', '0x7fff', '0x8001'])
        self.works('pkey-no-default')

    # ---- LIDs and the manager

    def test_lmc2(self):
        out = self.said('lmc2', 'ibv_devinfo')
        self.assertRegex(out, r'port_lid:\s+4\n\s+port_lmc:\s+0x02')
        self.works('lmc2')

    def test_lid_high(self):
        self.assertRegex(self.said('lid-high', 'ibv_devinfo'), r'port_lid:\s+48896\n')
        self.works('lid-high')

    def test_sm_elsewhere(self):
        for world in ('sm-switch', 'sm-far'):
            lids = re.findall(r'(?:sm|port)_lid:\s+(\d+)', self.said(world, 'ibv_devinfo'))
            self.assertNotEqual(lids[0], lids[1], world)
            self.works(world)

    def test_grh_required(self):
        """Without -g libmlx5 and the kernel refuse the address; rdma_cm has the GRH from the path record."""
        pp = f'ibv_rc_pingpong -p {next(PORTS)}'
        out = self.said('grh-required', f'({pp} 2>&1 || true) & until {pp} localhost 2>&1 | grep "read/write remote"; do sleep 0.1; '
                        'done; wait')
        self.assertIn('Failed to modify QP to RTR', out)
        self.works('grh-required', '-g 0')

    # ---- GIDs

    def gids(self, world, *options):
        out = self.said(world, 'ibv_devinfo -v', *options)
        return re.findall(r'GID\[ *(\d+)\]:\s+(\S+?),', out)

    def test_gid_holes(self):
        self.assertEqual([int(i) for i, _ in self.gids('gid-holes')], [0, 1, 4, 5])
        self.works('gid-holes', '-g 5')

    def test_gid_link_local(self):
        self.assertEqual([g[:5] for _, g in self.gids('gid-link-local', '--link', 'eth')], ['fe80:', 'fe80:'])

    def test_gid_ipv6(self):
        self.assertEqual([g[:5] for _, g in self.gids('gid-ipv6', '--link', 'eth')],
                         ['fe80:', 'fe80:', 'fd5a:', 'fd5a:'])
        self.works('gid-ipv6', '-g 3', 'fd5a:17ca:3::7f01:1', '--link', 'eth')
        self.works('gid-ipv6', '', 'fd5a:17ca:3::7f01:1')

    # ---- ports

    def states(self, world, *options):
        return re.findall(r'state:\s+(PORT_\w+)', self.said(world, 'ibv_devinfo', *options))

    def test_ports_without_link(self):
        for link in ('ib', 'eth'):
            for world in ('port-first-adapter-down', 'port-2-only'):
                self.assertEqual(self.states(world, '--link', link), ['PORT_DOWN', 'PORT_ACTIVE'], (world, link))
        self.works('port-first-adapter-down', '-d mlx5_1', '127.2.0.1')
        self.works('port-2-only', '-i 2', '127.2.0.1')

    def test_mtu(self):
        for octets in (256, 1024):
            out = self.said(f'mtu-{octets}', 'ibv_devinfo')
            self.assertRegex(out, rf'max_mtu:\s+4096 \(5\)\n\s+active_mtu:\s+{octets} ')
            self.works(f'mtu-{octets}', f'-m {octets}')

    def test_links(self):
        for world, link, rate in (('link-1x', 'ib', '1X HDR'), ('link-sdr', 'ib', '10 Gb/sec (4X SDR)')):
            out = self.said(world, 'cat /sys/class/infiniband/mlx5_0/ports/1/rate', '--link', link)
            self.assertIn(rate, out)
            self.works(world)

    # ---- hosts

    def test_hca_16(self):
        self.assertEqual(len(self.states('hca-16')), 16)

    def test_names(self):
        """What rdma_rename makes of the adapter's PCI path has its domain, 0x5a17."""
        for world, link, name in (('name-pci', 'ib', 'ibP23063p0s0'), ('name-pci', 'eth', 'roceP23063p0s0'),
                                  ('name-bond', 'eth', 'mlx5_bond_0')):
            out = self.said(world, f"""ibv_devices; rdma link show {name}/1; ls /sys/class/infiniband
                            cat /sys/class/infiniband_verbs/uverbs0/ibdev /sys/class/infiniband/*/node_desc
                            {softhca.SOFTHCA} link {name} 1 down; ibv_devinfo -d {name}""", '--link', link)
            self.assertEqual(len(re.findall(name, out)), 6, (world, out))
            self.assertNotRegex(out, r'mlx5_\d')
            self.assertIn('PORT_DOWN', out)
            self.works(world, f'-d {name} -g {0 if link == "ib" else 3}', '127.1.0.1', '--link', link)

    def test_node_desc_is_written_by_any_name(self):
        out = self.said('name-pci', 'cd /sys/class/infiniband/ibP23063p0s0; printf new > node_desc; cat node_desc')
        self.assertEqual(out, 'new\n')

    def test_order_changes(self):
        out = self.said('order-changes', """ibv_devices; rdma link; ls -U /sys/class/infiniband
                        cat /sys/class/infiniband_verbs/uverbs0/ibdev""")
        self.assertEqual(re.findall(r'mlx5_\d', out), ['mlx5_1', 'mlx5_0'] * 3 + ['mlx5_1'])
        self.works('order-changes', '-d mlx5_1')

    def test_no_adapter(self):
        for link in ('ib', 'eth'):
            out = self.said('no-adapter', f"""ibv_devices; rdma link; ls /sys/class/infiniband /dev/infiniband
                            ibv_devinfo; rping -s -a 127.1.0.1 -C 1; {softhca.SOFTHCA} status; true""", '--link', link)
            self.assertEqual(re.findall(r'mlx5|uverbs|umad|issm', out), [])
            self.assertIn('rdma_cm', out)
            self.assertIn('host h1', out)

    def test_eth_no_address(self):
        """The GIDs of the MAC address stay; rdma_cm has no address."""
        self.assertEqual([g[:5] for _, g in self.gids('eth-no-address')], ['fe80:', 'fe80:'])
        out = self.said('eth-no-address', 'ip -br addr show rce0; ! rping -s -C 1 -a 127.1.0.1 2>&1')
        self.assertRegex(out, r'(?m)^rce0 +UP +$')
        self.assertIn('rdma_bind_addr: Cannot assign requested address', out)
        pp = f'ibv_rc_pingpong -g 1 -n 3 -p {next(PORTS)}'
        self.assertIn('3 iters in', self.said('eth-no-address', pair(pp, f'{pp} localhost')))

    def test_rails(self):
        """Each adapter reaches those of its rail, and a manager of its own; not those of the other rail."""
        for i in (0, 1):
            self.assertEqual(re.findall(r'"h\d (mlx5_\d)"', self.said('rails', f'ibhosts -C mlx5_{i}')), [f'mlx5_{i}'] * 2)
            self.works('rails', f'-d mlx5_{i}', f'127.{i + 1}.0.1')
        pp = f'ibv_rc_pingpong -n 3 -p {next(PORTS)} -d'
        out = self.said('rails', f'{pp} mlx5_0 >/dev/null & server=$!; until {pp} mlx5_1 localhost 2>&1 | grep status; do '
                        'sleep 0.1; done; kill $server')
        self.assertIn('transport retry counter exceeded', out)

    def test_numa(self):
        """Four adapters near each node; where there are CPUs enough, no node has those of the other."""
        out = self.said('numa', 'cd /sys/class/infiniband; for i in 0 1 2 3 4 5 6 7; do cd mlx5_$i/device/; '
                        'cat numa_node local_cpulist; cd - >/dev/null; done').split()
        self.assertEqual(out[::2], ['0'] * 4 + ['1'] * 4)
        self.assertEqual(len(set(out[1::2])), 2 if os.cpu_count() > 1 else 1)

    def test_link_mixed(self):
        out = self.said('link-mixed', 'cat /sys/class/infiniband/*/ports/1/link_layer; ibv_devinfo')
        self.assertEqual(out.split()[:2], ['InfiniBand', 'Ethernet'])
        self.assertEqual(re.findall(r'PORT_\w+', out), ['PORT_ACTIVE'] * 2)
        self.works('link-mixed', '-d mlx5_0')
        self.works('link-mixed', '-d mlx5_1 -g 3', '127.2.0.1')

    # ---- what changes while programs run

    def test_port_late(self):
        """It is down first and has no LID; then comes the event, and it works."""
        for link in ('ib', 'eth'):
            out = self.said('port-late', """ibv_devinfo; events=$(mktemp); stdbuf -oL ibv_asyncwatch > $events & pid=$!
                            until grep -q PORT_ACTIVE $events; do kill -0 $pid || exit 1; sleep 0.1; done
                            ibv_devinfo; kill $pid; rm $events""", '--link', link)
            self.assertEqual(re.findall(r'state:\s+(PORT_\w+)', out), ['PORT_DOWN', 'PORT_ACTIVE'], link)
            if link == 'ib':
                self.assertIn(re.findall(r'port_lid:\s+(\d+)', out)[0], ('0', '65535'))

    def test_gid_vlan(self):
        gids = self.gids('gid-vlan')
        self.assertEqual((gids[3][1], gids[7][1]), ('::ffff:127.101.0.1', '::ffff:127.1.0.1'))
        self.works('gid-vlan', '-g 3', '127.101.0.1')
        self.works('gid-vlan', '-g 7')

    def test_gid_changes(self):
        """An address comes, and another one; the first one goes."""
        script = """show() { ibv_devinfo -v | grep -q "$1"; }
            until show 127.111.0.1; do sleep 0.05; done; until show 127.112.0.1; do sleep 0.05; done
            until ! show 127.111.0.1; do sleep 0.05; done; show 127.1.0.1 && ip -4 -br addr show rce0"""
        self.assertIn('127.1.0.1/16', self.said('gid-changes', script))
        self.works('gid-changes', '-g 3')

    def test_worlds_combine(self):
        """What all of them change is there, and programs run."""
        out = self.said('lmc2,lid-high,pkey-no-default,grh-required,mtu-1024', 'ibv_devinfo')
        self.assertRegex(out, r'active_mtu:\s+1024 \(3\)\n\s+sm_lid:\s+\d+\n\s+port_lid:\s+48896\n\s+port_lmc:\s+0x02')
        self.works('lmc2,lid-high,pkey-no-default,grh-required,mtu-1024', '-g 0 -m 1024')


if __name__ == '__main__':
    unittest.main()
