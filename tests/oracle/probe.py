#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the only adapter of a host says of itself, a row a line: `probe.py sysfs` every file in sysfs, `probe.py
netlink` the answers to raw requests of NETLINK_RDMA, `probe.py rdma` what iproute2 prints."""
import errno
import os
import re
import socket
import stat
import struct
import subprocess
import sys

DEVICE = os.listdir('/sys/class/infiniband')[0]
with open('/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0' % DEVICE) as ndev:
    NETDEV = ndev.read().strip()


def row(key, answer):
    print('%s\t%s' % (key.replace(DEVICE, 'DEVICE'), answer.replace(DEVICE, 'DEVICE').replace('\t', ' ')))


# ---- sysfs

def shape(path, text):
    """Numbers are the adapter's: only their form counts."""
    if re.search(r'gids/|guid$', path):
        return re.sub('[0-9a-f]', 'h', text)
    if re.search(r'node_desc|fw_ver|board_id|hca_type|hw_rev|ndevs/|/parent$', path):
        return 'text' if text else ''
    return re.sub('[0-9]+', '9', re.sub('0x[0-9a-f]+', lambda m: '0x' + 'h' * (len(m.group()) - 2), text))


def content(path):
    try:
        with open(path, 'rb') as f:
            return shape(path, f.read().decode(errors='replace')).replace('\n', '\\n')
    except OSError as e:
        return errno.errorcode[e.errno]


GIDS = re.compile('/(gids|ndevs|types)$')  # of 16 here, of 1024 there


def tree(top):
    for at, folders, files in os.walk(top.rstrip('/') + '/.'):
        folders.sort()
        for name in sorted(files + folders, key=lambda n: (len(n), n)):
            if GIDS.search(at) and int(name) >= 16:
                continue
            path = (at + '/' + name).replace('/./', '/')
            mode = os.lstat(path).st_mode
            kind = stat.filemode(mode)
            row(path, kind + (' ' + content(path) if stat.S_ISREG(mode) and mode & 0o444 else ''))


def one(path):
    """A file outside of the tree, or its absence."""
    try:
        mode = os.stat(path).st_mode
        row(path, stat.filemode(mode) + (' ' + content(path) if stat.S_ISREG(mode) and mode & 0o444 else ''))
    except OSError as e:
        row(path, errno.errorcode[e.errno])


def sysfs():
    tree('/sys/class/infiniband/' + DEVICE + '/')
    for name in ('', '/abi_version', '/uverbs0', '/uverbs0/abi_version', '/uverbs0/dev', '/uverbs0/ibdev',
                 '/uverbs0/uevent', '/uverbs0/device', '/uverbs0/nothing', '/uverbs1'):
        one('/sys/class/infiniband_verbs' + name)
    for name in ('', '/abi_version', '/umad0', '/umad0/dev', '/umad0/ibdev', '/umad0/port', '/umad0/uevent', '/issm0',
                 '/issm0/dev', '/issm0/ibdev', '/issm0/port', '/issm0/uevent', '/umad1'):
        one('/sys/class/infiniband_mad' + name)
    for name in ('', '/abi_version', '/dev', '/uevent'):
        one('/sys/class/misc/rdma_cm' + name)
    for name in ('uverbs0', 'umad0', 'issm0', 'rdma_cm', 'uverbs1', 'umad1'):
        one('/dev/infiniband/' + name)


# ---- NETLINK_RDMA

REQUEST, ACK, DUMP = 1, 4, 0x300
NLDEV = 5 << 10
CAP_ACK, EXT_ACK = 10, 11
COMMANDS = ('0', 'GET', 'SET', 'NEWLINK', 'DELLINK', 'PORT_GET', 'SYS_GET', 'SYS_SET', '8', 'RES_GET', 'RES_QP_GET',
            'RES_CM_ID_GET', 'RES_CQ_GET', 'RES_MR_GET', 'RES_PD_GET', 'GET_CHARDEV', 'STAT_SET', 'STAT_GET', 'STAT_DEL',
            'RES_QP_GET_RAW', 'RES_CQ_GET_RAW', 'RES_MR_GET_RAW', 'RES_CTX_GET', 'RES_SRQ_GET', 'STAT_GET_STATUS',
            'RES_SRQ_GET_RAW', '26', '27', '28', '29')
CHANGES = ('SET', 'NEWLINK', 'DELLINK', 'SYS_SET')
(DEV_INDEX, DEV_NAME, PORT_INDEX, ENTRY_NAME, RES_LQPN, RES_PDN, RES_CQN, RES_MRN, RES_CTXN, CHARDEV_TYPE, STAT_MODE,
 STAT_RES) = (1, 2, 3, 17, 21, 60, 61, 62, 64, 69, 74, 75)
FW_VERSION, KERN_NAME = 5, 29
TABLES = (15, 16, 19, 20, 30, 31, 35, 36, 40, 41, 46, 47, 86, 87, 88, 89)  # nested, without the flag
# Attributes whose values are the core's: index, port, LIDs, states, node type, types of objects.
VALUES = (1, 3, 9, 10, 11, 12, 13, 14, 26, 27)
COUNTERS = (81,)  # as many as the adapter has


def attr(kind, value):
    data = value if isinstance(value, bytes) else struct.pack('=I', value)
    return (struct.pack('=HH', 4 + len(data), kind) + data).ljust((4 + len(data) + 3) & ~3, b'\0')


def is_text(b):
    return len(b) > 2 and b[-1:] == b'\0' and all(32 <= c < 127 for c in b[:-1])


def attrs_of(data):
    words = []
    while len(data) >= 4:
        n, kind = struct.unpack('=HH', data[:4])
        if n < 4 or n > len(data):
            return words + ['cut']
        body = data[4:n]
        if kind == FW_VERSION:
            pass
        elif kind & 0x8000 or kind in TABLES:
            inside = attrs_of(body)
            # the kernel's own objects have a name and no process
            if not any(w.startswith('%d:' % KERN_NAME) for w in inside):
                words.append('%d{%s}' % (kind & 0x7fff, ' '.join(inside)))
            if kind & 0x7fff in COUNTERS and words[-2:-1] == words[-1:]:
                words.pop()
        elif kind in VALUES:
            words.append('%d=%d' % (kind, int.from_bytes(body, 'little')))
        elif kind == ENTRY_NAME:
            words.append('%d=%s' % (kind, body.rstrip(b'\0').decode()))
        else:
            words.append('%d:%s' % (kind, 'text' if is_text(body) else len(body)))
        data = data[(n + 3) & ~3:]
    return words


def error_of(body, flags):
    code, = struct.unpack('=i', body[:4])
    text = errno.errorcode[-code] if code else 'done'
    if flags & 0x200:  # extended: behind the request's header, or the whole request
        length, = struct.unpack('=I', body[4:8])
        ext = body[4 + (16 if flags & 0x100 else length):]
        while len(ext) >= 4:
            n, kind = struct.unpack('=HH', ext[:4])
            value = ext[4:n]
            text += ' ' + (repr(value.rstrip(b'\0').decode()) if kind == 1 else '%d:%s' % (kind, value.hex()))
            ext = ext[(n + 3) & ~3:]
    return text


class Kernel:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20)
        self.socket.bind((0, 0))
        for option in (CAP_ACK, EXT_ACK):
            self.socket.setsockopt(270, option, 1)
        self.seq = 0

    def answers(self):
        words = []
        while True:
            try:
                data = self.socket.recv(1 << 17, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return ' | '.join(words) or 'nothing'
            while len(data) >= 16:
                n, kind, flags, seq, _ = struct.unpack('=IHHII', data[:16])
                body, data = data[16:n], data[(n + 3) & ~3:]
                answer = self.answer(kind, flags, seq, body)
                if not re.search(r' \d+\{\}$', answer):  # the kernel's own objects alone
                    words.append(answer)

    def answer(self, kind, flags, seq, body):
        if kind == 2:
            return 'error %s' % error_of(body, flags)
        if kind == 3:
            return 'end'
        return '%s flags=%#x%s %s' % (COMMANDS[kind & 0x3ff] if kind >> 10 == 5 else kind, flags, '' if seq == self.seq else ' seq',
                                      ' '.join(attrs_of(body)))

    def ask(self, key, command, flags, payload=b'', kind=None, length=None):
        self.seq += 1
        total = 16 + len(payload)
        self.socket.send(struct.pack('=IHHII', length or total, NLDEV | command if kind is None else kind, flags,
                                     self.seq, 0) + payload)
        row(key, self.answers())


def netlink():
    k = Kernel()
    name = DEVICE.encode() + b'\0'
    index, port = attr(DEV_INDEX, 0), attr(PORT_INDEX, 1)
    sets = {
        'nothing': b'', 'device': index, 'device, port': index + port, 'device 7': attr(DEV_INDEX, 7),
        'device, port 9': index + attr(PORT_INDEX, 9), 'device, port 0': index + attr(PORT_INDEX, 0), 'port': port,
        'device by name': attr(DEV_NAME, name), 'device twice': attr(DEV_INDEX, 7) + index,
        'device of 2 bytes': attr(DEV_INDEX, b'\0\0'), 'device of 8 bytes': attr(DEV_INDEX, b'\0' * 8),
        'an attribute that nobody knows': index + attr(300, 1), 'a name of 70 bytes': index + attr(DEV_NAME, b'x' * 70),
        'an attribute cut': index + b'\x20\0\x03\0\1\0\0\0', 'two bytes behind': index + b'\1\0',
        'QP 99999': index + attr(RES_LQPN, 99999), 'CQ 99999': index + attr(RES_CQN, 99999),
        'MR 99999': index + attr(RES_MRN, 99999), 'PD 99999': index + attr(RES_PDN, 99999),
        'context 99999': index + attr(RES_CTXN, 99999), 'QP 99999 of a port': index + port + attr(RES_LQPN, 99999),
        'counters': index + port + attr(STAT_RES, 2), 'counters of regions': index + attr(STAT_RES, 3),
        'mode': index + port + attr(STAT_MODE, 0) + attr(STAT_RES, 2),
        'uverbs': index + attr(CHARDEV_TYPE, b'uverbs\0'), 'umad': index + port + attr(CHARDEV_TYPE, b'umad\0'),
        'umad without a port': index + attr(CHARDEV_TYPE, b'umad\0'), 'rdma_cm': attr(CHARDEV_TYPE, b'rdma_cm\0'),
        'issm': index + port + attr(CHARDEV_TYPE, b'issm\0'), 'a file that nobody knows': index + attr(CHARDEV_TYPE, b'x\0'),
        'a type without its end': index + attr(CHARDEV_TYPE, b'uverbs'),
    }
    for command, title in enumerate(COMMANDS):
        for flags, how in ((REQUEST, ''), (REQUEST | ACK, ' ack'), (REQUEST | DUMP, ' dump')):
            for what, payload in sets.items():
                if title not in CHANGES:
                    k.ask('%s%s: %s' % (title, how, what), command, flags, payload)
    for what, kind in (('no operation', 1), ('an error', 2), ('a control message', 4), ('client 0', 20),
                       ('the old iWARP client', 2 << 10), ('the SA client', 4 << 10 | 1), ('client 9', 9 << 10 | 1),
                       ('client 63', 63 << 10 | 1)):
        k.ask('kind: ' + what, 0, REQUEST | ACK, index, kind=kind)
    k.ask('no request', 1, 0, index)
    k.ask('length beyond the message', 1, REQUEST | ACK, index, length=200)
    k.ask('length below a header', 1, REQUEST | ACK, index, length=12)
    k.ask('SET of nothing', 2, REQUEST | ACK, index)
    k.ask('SET of device 7', 2, REQUEST | ACK, attr(DEV_INDEX, 7) + attr(DEV_NAME, b'x\0'))
    k.ask('SET without a device', 2, REQUEST | ACK, attr(DEV_NAME, b'x\0'))
    k.ask('SET: a name with %', 2, REQUEST | ACK, index + attr(DEV_NAME, b'x%d\0'))
    k.ask('SET: an empty name', 2, REQUEST | ACK, index + attr(DEV_NAME, b'\0'))
    k.ask('SET: its own name', 2, REQUEST | ACK, index + attr(DEV_NAME, name))
    k.ask('NEWLINK of nothing', 3, REQUEST | ACK, b'')
    k.ask('DELLINK of nothing', 4, REQUEST | ACK, b'')
    k.ask('DELLINK of device 7', 4, REQUEST | ACK, attr(DEV_INDEX, 7))
    k.ask('SYS_SET of nothing', 7, REQUEST | ACK, b'')


# ---- iproute2

def rdma():
    for args in ('dev', 'dev show', '-d dev', '-j dev', 'link', '-d link', 'link show DEVICE', 'link show DEVICE/1',
                 'link show DEVICE/2', 'link show nobody', 'res', 'res show', 'res show pd', 'res show cq', 'res show mr',
                 'res show qp', 'res show cm_id', 'res show ctx', 'res show srq', '-d res show pd', '-d res show cq',
                 '-d res show mr', '-d res show qp', 'res show qp link DEVICE/1', 'res show qp link DEVICE/2',
                 'res show nobody', 'system', 'system show', '-d system show netns', 'statistic show',
                 'statistic show link DEVICE/1', 'statistic show link DEVICE/2', 'statistic mode', 'statistic qp mode',
                 'statistic qp show', 'dev show nobody', 'dev set nobody name x'):
        p = subprocess.run(['rdma'] + args.replace('DEVICE', DEVICE).split(), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, errors='replace')
        lines = sorted(set(line for line in (re.sub(r'\b[0-9a-f]{4}(:[0-9a-f]{4}){3}|\b\d[0-9a-fx:.]*', 'N', line.replace(DEVICE, 'DEVICE').replace(NETDEV, 'NETDEV')).strip() for line in
                           p.stdout.splitlines()) if '[ib_core]' not in line))
        row('rdma ' + args, '%d %s' % (p.returncode, ' / '.join(lines)))


if __name__ == '__main__':
    {'sysfs': sysfs, 'netlink': netlink, 'rdma': rdma}[sys.argv[1]]()
