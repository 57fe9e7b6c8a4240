# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Debian's own pyverbs test suite on the adapter, module by module."""
import fnmatch
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import Case, Running, SOFTHCA  # noqa: E402

SUITE = '/usr/share/doc/rdma-core/tests'


# Keys, as the tests of crypto read them: the bytes 0, 1, 2..., wrapped by the adapter's import KEK, its credential, and
# what libcrypto makes of the bytes 'c' with these keys (EVP_aes_128_wrap(), EVP_aes_128_xts()).
CRYPTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'mlx5_crypto.json')

# Its objects live in cycles, and Python ends these in any order: a CQ of rdma-core 56 then asks libibverbs for the end of
# a CQ whose context is freed memory. See README.md.
NO_COLLECTION = 'import atexit, gc\ngc.disable()\natexit.register(gc.freeze)\n'

# From Python 3.14 on, processes do not start by fork(), and a case whose processes share its context cannot be pickled.
FORK = 'import multiprocessing\nmultiprocessing.set_start_method("fork")\n'

# Why cases of the whole suite are skipped.
SKIPS = (
    # what doc/SUPPORT.md lists as not there
    'Create QP type 8', 'Create Raw Packet QP', 'Extended QP', 'NIC flow table', 'MEMIC',
    'Create Mlx5DV QP', 'Create Mkey',
    'Set LAG affinity', 'Query device real time',
    # another vendor's card, a mode or a setting that the card of the test is not in
    'Can not run the test over non EFA device', 'Device mlx5_0 must be in switchdev', 'PCI device must be passed by',
    'The device does not support wrapped DEK', 'The device crypto engines does not support multi blocks',
    # the same, in cases that came after rdma-core 44
    'DV QP OOO', 'ODPv2', 'Create mr with IBV_ACCESS_FLUSH_GLOBAL', 'SRQ resize', "The device doesn't support general HCA CAPs 2",
    'ODP is unavailable', '.*Failed to create DMA Handle. Errno: 93', '.*Failed to allocate VAR. Errno: 93', '(DM|UAR) dmabuf export',
    'Device does not report CC_DMA_BOUNCE', 'Device is not a CC', 'ibv_query_port_speed',
    # the suite's own: files that a privileged program leaves, and a PCI function that could have virtual ones
    'FDs file not found', 'Virtual Functions are present',
    # what the machine of the test may lack
    'Allocating dmabuf', 'There are no huge pages', 'cuda-python', '.*/dev/dri', 'No PHC',
)

# Why an Ethernet port skips more.
IB_ONLY = ('Tag matching',)

# Why an InfiniBand port skips more.
ETH_ONLY = ('Must be run by root on Ethernet', 'To Create RAW QP must be', 'Must be run on Ethernet', 'Link layer of port=1',
            'No supported port is up')

# Cases of rdma-core 56 and newer that ask devlink for enable_roce before anything else: see doc/SUPPORT.md.
DEVLINK = {f'test_mlx5_dr.Mlx5DrTest.test_roce_bth_match_{way}' for way in ('rx', 'tx')}

# Cases of rdma-core 62 and newer that need what no Linux 6.1 has, and flow counters: see doc/SUPPORT.md.
NEWER = {'test_mlx5_devx.Mlx5DevxApiTest.test_devx_obj_export_import', 'test_rdmacm.CMTestCase.test_rdmacm_async_resolve_addrinfo'}

# Cases of newer suites that need what SUPPORT.md lists as not there, or the machine lacks: group 0x20, ODPv2, FLUSH, atomic
# write, VARs of TLPs, dmabufs of mappings, the speed of a port by a method of its own; huge pages.
NOT_IN_44 = {'test_mlx5_devx.Mlx5DevxRcTrafficTest.test_devx_rc_qp_odp_traffic',
             'test_mlx5_devx.Mlx5DevxRcTrafficTest.test_devx_rc_qp_send_imm_buf_umem_traffic',
             'test_mlx5_devx.Mlx5DevxRcTrafficTest.test_devx_rc_qp_send_imm_doorbell_less_traffic',
             'test_qpex.QpExTestCase.test_qp_ex_rc_flush', 'test_qpex.QpExTestCase.test_qp_ex_rc_flush_type_violate',
             *(f'test_odp.OdpTestCase.test_{t}' for t in (
                 'odp_qp_ex_rc_atomic_write', 'odp_qp_ex_rc_flush', 'mrex_odp_qp_ex_rc_flush', 'mrex_odp_rc_huge_traffic')),
             *(f'test_mlx5_var.Mlx5TlpVarTestCase.test_tlp_var_{t}' for t in ('alloc_and_mmap', 'import')),
             'test_mlx5_uar.Mlx5UarTestCase.test_uar_export_dmabuf_fd', 'test_mr.DeviceMemoryAPITest.test_dm_export_dmabuf_fd',
             'test_device.DeviceTest.test_query_port_speed', *NEWER}

# Parts of the suite, by patterns of their cases' names, and how many of these cases may be skipped.
RDMACM = {'test_rdmacm.*': 0, 'test_mlx5_rdmacm.*': 0}
INFINIBAND = {
    **RDMACM,  # its address is what `ip` shows of the device's interface
    'test_addr.*': 1,  # RoCE
    'test_atomic.*': 0,
    'test_cq.*': 0,
    'test_cq_events.*': 0,
    'test_cqex.*': 0,
    'test_device.*': 0,
    'test_mlx5_dc.*': 0,
    'test_mlx5_devx.*': 0,
    'test_mlx5_dma_memcpy.*': 0,
    'test_mlx5_mkey.*': 0,
    'test_mlx5_pp.*': 0,
    'test_mlx5_query_port.*': 0,
    'test_mlx5_sched.*': 0,
    'test_mlx5_uar.*': 0,
    'test_mlx5_var.*': 0,
    'test_mr.*': 15,  # dma-buf
    'test_mr.DeviceMemoryAPITest.*': 0,
    'test_odp.*': 2,  # huge pages
    'test_parent_domain.*': 1,  # where the host has no huge pages
    'test_pd.*': 0,
    'test_qp.QPTest.test_create_rc_qp_*': 0,
    'test_qp.QPTest.test_query_rc_qp': 0,
    # Each draws creation flags, and skips when it drew BLOCK_MULTICAST_LOOPBACK.
    'test_qp.QPTest.test_[cmq]*_ud_qp*': 5,
    'test_qpex.*': 1,  # atomic write
    'test_qpex.QpExTestCase.test_qp_ex_xrc_send*': 0,
    'test_relaxed_ordering.*': 0,
    'test_shared_pd.*': 0,
}


def results(out):
    """What became of each case, by its name. Some print lines of their own before that."""
    found = re.findall(r'^(\w+) \(tests\.([\w.]+)\)(?:\n[^\n]*?)? \.\.\. (?:(?s:.*?)^)??(ok|skipped|ERROR|FAIL)\b', out, re.M)
    return {where.removesuffix('.' + case) + '.' + case: what for case, where, what in found}


@unittest.skipUnless(os.path.isdir(SUITE), "Debian's python3-pyverbs is not installed")
class Pyverbs(Case):
    @classmethod
    def setUpClass(cls):
        # Debian ships part of the modules compressed; unpack them into a folder of ours.
        cls.dir = tempfile.mkdtemp(prefix='softhca-pyverbs-')
        os.mkdir(os.path.join(cls.dir, 'tests'))
        with open(os.path.join(cls.dir, 'sitecustomize.py'), 'w', encoding='ascii') as f:
            f.write(NO_COLLECTION + FORK)
        for f in os.listdir(SUITE):
            src = os.path.join(SUITE, f)
            if f.endswith('.py.gz'):
                with gzip.open(src) as i, open(os.path.join(cls.dir, 'tests', f[:-3]), 'wb') as o:
                    shutil.copyfileobj(i, o)
            elif f.endswith('.py'):
                shutil.copy(src, os.path.join(cls.dir, 'tests', f))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def module(self, *names, options=(), skips=0, errors=frozenset(), timeout=900):
        """Run tests (module, or module.Class.case); every one must pass but `errors`, `skips` may be skipped."""
        argv = [SOFTHCA, 'run', *options, '--', '/usr/bin/python3',
                os.path.join(self.dir, 'tests', 'run_tests.py'), '-v', '--dev', 'mlx5_0', *names]
        r = Running(argv, env=dict(os.environ, PYTHONPATH=self.dir, MLX5_CRYPTO_TEST_INFO=CRYPTO), cwd=self.dir).finish(timeout)
        bad = {c for c, what in results(r.out).items() if what in ('ERROR', 'FAIL')}
        if not bad or bad - errors:
            self.ok(r)
        m = re.search(r'^Ran (\d+) tests?', r.out, re.M)
        self.assertTrue(m and int(m.group(1)) > 0, str(r))
        s = re.search(r'skipped=(\d+)', r.out)
        self.assertLessEqual(int(s.group(1)) if s else 0, skips, str(r))
        return r.out

    def whole_suite(self, link, passes, reasons, parts):
        """So many pass, each skip has a reason above, and no part has more of them than it may."""
        modules = sorted(f'tests.{f[:-3]}' for f in os.listdir(os.path.join(self.dir, 'tests'))
                         if f.startswith('test_') and f.endswith('.py'))
        out = self.module(*modules, options=('--link', link), skips=1000, errors=DEVLINK | NEWER)
        found = [m[1] for m in re.findall(r'skipped (["\'])(.*)\1', out)]
        self.assertTrue(found)
        self.assertEqual([r for r in found if not any(re.match(e, r) for e in reasons)], [])
        cases = results(out)
        self.assertEqual(len(cases), int(re.search(r'^Ran (\d+) tests?', out, re.M).group(1)))
        self.assertGreaterEqual(sum(what == 'ok' for what in cases.values()), passes)
        for part, may in parts.items():
            with self.subTest(part):
                mine = {c: r for c, r in cases.items() if fnmatch.fnmatchcase(c, part) and c not in NOT_IN_44}
                self.assertTrue(mine)
                self.assertLessEqual(sum(r != 'ok' for r in mine.values()), may, mine)

    def test_whole_suite_on_ethernet(self):
        """At least 135 of rdma-core 44's 273 cases pass."""
        self.whole_suite('eth', 135, SKIPS + IB_ONLY, RDMACM)

    def test_whole_suite_on_infiniband(self):
        """At least 181 of rdma-core 44's 273 cases pass."""
        self.whole_suite('ib', 181, SKIPS + ETH_ONLY, INFINIBAND)

    def test_devx_polled_doorbells(self):
        self.module('tests.test_mlx5_devx', options=('--doorbell', 'poll'), errors=NEWER)

    def test_dc_polled_doorbells(self):
        self.module('tests.test_mlx5_dc', options=('--doorbell', 'poll'))

    def test_atomic_polled_doorbells(self):
        self.module('tests.test_atomic', options=('--doorbell', 'poll'))

    CRYPTO_CASES = ('tests.test_mlx5_crypto.Mlx5CryptoAPITest', 'tests.test_mlx5_crypto.Mlx5CryptoTrafficTest')

    def test_plaintext_keys(self):
        self.module(*self.CRYPTO_CASES, options=('--device', 'cx7'), skips=5)  # wrapped keys

    def test_wrapped_keys(self):
        self.module(*self.CRYPTO_CASES, options=('--device', 'cx7', '--crypto', 'wrapped'), skips=2)  # keys in plaintext

    def test_keys_of_single_blocks(self):
        self.module(*self.CRYPTO_CASES, options=('--crypto', 'wrapped'), skips=3)  # and transfers of several blocks


class CryptoFile(unittest.TestCase):
    """Another library makes the same of the keys that doc/SUPPORT.md names: RFC 3394, IEEE 1619."""

    def test_its_numbers(self):
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
            from cryptography.hazmat.primitives.keywrap import aes_key_wrap
        except ImportError:
            self.skipTest("Python's cryptography is not installed")
        with open(CRYPTO, encoding='ascii') as f:
            info = json.load(f)[0]

        def words(name):
            return b''.join(n.to_bytes(8, 'big') for n in info.pop(name))

        def xts(unit):
            do = Cipher(algorithms.AES(bytes(range(32))), modes.XTS(unit.to_bytes(16, 'little'))).encryptor()
            return do.update(b'c' * 512)

        kek = b'softhca demo KEK'
        self.assertEqual(words('credential'), aes_key_wrap(kek, b'softhca: the credential of every adapter'))
        for bits, size in (('', 32), ('_256_bits', 64)):
            key = bytes(range(size))
            self.assertEqual(words(f'wrapped{bits}_key'), aes_key_wrap(kek, key))
            self.assertEqual(b''.join(n.to_bytes(4, 'little') for n in info.pop(f'plaintext{bits}_key')), key)
        self.assertEqual(words('encrypted_data_for_512_c'), xts(0))
        self.assertEqual(words('encrypted_data_for_1024_c'), xts(0) + xts(1))
        self.assertEqual(info, {})


if __name__ == '__main__':
    unittest.main(verbosity=2)
