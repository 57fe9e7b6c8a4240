# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Helpers of the scripts that processes.py runs under the shim: from shimlib import *"""
import array
import ctypes
import fcntl
import os
import socket
import stat
import subprocess
import sys
import time


libc = ctypes.CDLL(None, use_errno=True)
NODE = '/dev/infiniband/uverbs0'
RDMA_VERBS_IOCTL = 0xc0181b01


def command(fd):
    """errno of a command of no length: EINVAL from uverbs."""
    try:
        fcntl.ioctl(fd, RDMA_VERBS_IOCTL, bytearray(24))
    except OSError as e:
        return e.errno
    return 0


def is_node(fd):
    s = os.fstat(fd)
    return stat.S_ISCHR(s.st_mode) and s.st_rdev == os.makedev(231, 192)


def check(what, ok):
    if not ok:
        sys.exit('failed: ' + what)


def make_objects():
    """A context with a PD, an MR, a CQ and a QP; kept alive by the names returned."""
    from pyverbs.device import Context
    from pyverbs.pd import PD
    from pyverbs.mr import MR
    from pyverbs.cq import CQ
    from pyverbs.qp import QP, QPInitAttr, QPCap
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
    import verbs_enums as e
    ctx = Context(name='mlx5_0')
    pd = PD(ctx)
    mr = MR(pd, 8192, e.IBV_ACCESS_LOCAL_WRITE)
    cq = CQ(ctx, 16)
    qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=4, max_recv_wr=4)))
    return ctx, pd, mr, cq, qp


def unmap_doorbells():
    """As a mapping does on a kernel, doorbell pages keep their file open."""
    for line in open('/proc/self/maps'):
        at, perms, *_, name = line.split(None, 5)
        start, end = (int(x, 16) for x in at.split('-'))
        if perms[3] == 's' and name.startswith('/dev/zero'):
            check('unmapped', libc.munmap(ctypes.c_void_p(start), end - start) == 0)


def command_fds():
    out = []
    for f in sorted(map(int, os.listdir('/proc/self/fd'))):
        try:
            if is_node(f):
                out.append(f)
        except OSError:
            pass
    return out


def send_fd(sock, fd):
    sock.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [fd]))])


def recv_fd(sock):
    data, anc, _, _ = sock.recvmsg(1, socket.CMSG_SPACE(4))
    a = array.array('i')
    a.frombytes(anc[0][2][:4])
    return a[0]
