# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Worlds of small adapters and of other systems: what a program gets there differs in the named things, and in no other."""
import errno
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import BUILD, NOBODY, SOFTHCA, Case, Running, ordinary_user_can_run  # noqa: E402

PROGRAM = os.path.join(BUILD, 'tests', 'world', 'adapter')
INVAL, NOMEM, NOSUP, NOTTY = errno.EINVAL, errno.ENOMEM, errno.EOPNOTSUPP, errno.ENOTTY

DEFAULT = {
    'uverbs_mode': 0o666, 'umad_open': 0, 'rdma_cm_open': 0, 'netlink': 0, 'uverbs_open': 0, 'no_device': 0, 'max_qp': 1 << 20, 'max_qp_wr': 1 << 15,
    'max_sge': 30, 'max_srq': 1 << 18, 'max_mw': (1 << 17) - 1, 'max_qp_rd_atom': 16, 'atomic_cap': 1, 'odp': 1, 'max_dm_size': 1,
    'comp_vectors': 8, 'ioctl': INVAL, 'devx': 0, 'depth_128': 0, 'depth_129': 0, 'sge_4': 0, 'sge_5': 0,
    'inline_60': 0, 'inline_61': 0, 'rc': 0, 'uc': 0, 'srq': 0, 'srq_128': 0, 'xrcd': 0, 'atomic_access': 0, 'reads_1': 0,
    'reads_2': 0, 'mr_odp': 0, 'mr_256k': 0, 'mw': 0, 'cqe_4096': 0, 'vector_1': 0, 'qps': 200, 'qps_errno': 0,
}
RC = ('sge_4', 'sge_5', 'inline_60', 'inline_61', 'rc')
# What differs in a world.
WORLDS = {
    'small-depth': {'max_qp_wr': 128, 'depth_129': INVAL, 'srq_128': INVAL, 'cqe_4096': INVAL},
    'small-sges': {'max_sge': 4, 'sge_5': INVAL},
    'small-inline': {'max_sge': 14, 'inline_61': INVAL, 'sge_5': INVAL},
    'no-srq': {'max_srq': 0, 'srq': NOSUP, 'srq_128': NOSUP, 'xrcd': NOSUP},
    'no-atomics': {'atomic_cap': 0, 'atomic_access': NOSUP},
    'no-odp': {'odp': 0, 'mr_odp': INVAL},
    'no-windows': {'max_mw': 0, 'mw': NOSUP},
    'one-read': {'max_qp_rd_atom': 1, 'reads_2': INVAL},
    'few-objects': {'max_qp': 64, 'max_srq': 16, 'comp_vectors': 1, 'vector_1': INVAL, 'qps': 64, 'qps_errno': NOMEM},
    'no-devx': {'devx': INVAL},
    'uc-only': {**{k: NOSUP for k in RC}, 'depth_128': NOSUP, 'depth_129': NOSUP, 'atomic_access': -1, 'reads_1': -1, 'reads_2': -1},
    'memlock': {'depth_129': NOMEM, 'mr_256k': NOMEM, 'cqe_4096': NOMEM, 'qps': 13, 'qps_errno': NOMEM},
    'no-rdma-cm': {'rdma_cm_open': errno.ENOENT},
    'no-netlink': {'netlink': errno.EPROTONOSUPPORT},
    'write-only': {'ioctl': NOTTY, 'devx': INVAL, 'max_dm_size': 0},
    'old-abi': {'ioctl': NOTTY, 'devx': INVAL, 'max_dm_size': 0, 'odp': 0},
    'cx4': {'max_qp': 1 << 18, 'max_dm_size': 0},
    'cx5': {'max_qp': 1 << 18},
    'cx6dx': {'max_qp': 1 << 17, **dict.fromkeys(('atomic_access', 'reads_1', 'reads_2'), INVAL)},  # Ethernet: no GID
    'cx7': {},
    'bf2': {'max_qp': 1 << 17, 'odp': 0, 'mr_odp': INVAL},
    'root-devices': {'uverbs_mode': 0o600},
}


def lines(out):
    return {k: int(v) for k, v in (line.split() for line in out.splitlines())}


class Adapters(Case):
    def differs(self, world, user=()):
        out = self.ok(Running([*user, SOFTHCA, 'run', *(('--world', world) if world else ()), '--', PROGRAM]).finish())
        now = lines(out)
        self.assertLessEqual(now.keys(), DEFAULT.keys(), out)
        self.assertTrue(now.keys() == DEFAULT.keys() or now['no_device'], out)
        return {k: v for k, v in now.items() if v != DEFAULT[k]}

    def test_default(self):
        self.assertEqual(self.differs(''), {})

    def test_a_combination(self):
        self.assertEqual(self.differs('no-srq,small-sges,no-netlink'),
                         WORLDS['no-srq'] | WORLDS['small-sges'] | WORLDS['no-netlink'])

    @unittest.skipUnless(ordinary_user_can_run(), 'needs root, and a checkout that others can read')
    def test_root_devices_are_not_for_others(self):
        self.assertEqual(self.differs('', NOBODY), {})
        self.assertEqual(self.differs('root-devices', NOBODY),
                         {'uverbs_mode': 0o600, 'no_device': 1, 'uverbs_open': errno.EACCES, 'umad_open': errno.EACCES})


def case(world):
    return lambda self: self.assertEqual(self.differs(world), WORLDS[world])


for w in WORLDS:
    setattr(Adapters, 'test_' + w.replace('-', '_'), case(w))

if __name__ == '__main__':
    unittest.main()
