# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random programs from a seed. Most steps are right, so that programs go on."""
import random

from model import Model
from program import ARENA, Step, Undefined
from transport import ERR, INIT, OPCODES, RESET, RTR, RTS, SQE

GROUPS = ('g0', 'g1')

LENGTHS = (0, 1, 7, 8, 8, 16, 63, 64, 100, 255, 256, 257, 600, 1024, 2049, 4095, 4096, 4097, 8192,
           10000)
RIGHTS = ('LWRAB',) * 6 + ('', 'L', 'LW', 'LR', 'LA', 'R', 'RB', 'LRB', 'LWB', 'LWRA', 'W', 'A')
QP_RIGHTS = ('WRA',) * 20 + ('', 'W', 'R', 'A', 'WR')
PART = ARENA // 4  # a region lies in one of four parts; the last one is for receives
KINDS = ('RC',) * 6 + ('UC', 'UC', 'UD', 'UD', 'UD', 'XRC', 'XRC', 'DC', 'DC')


class Generator:
    def __init__(self, seed, arms=True):
        self.r = random.Random(seed)
        self.arms = arms  # may CQs be armed?
        self.model = Model()
        self.steps, self.told = [], []
        self.ids = {'send': 0, 'recv': 1000}

    def chance(self, p):
        return self.r.random() < p

    def add(self, *steps):
        """Add steps, or none of them when one is undefined."""
        before = len(self.steps)
        for step in steps:
            try:
                lines = self.model.step(step)
            except Undefined:
                del self.steps[before:], self.told[before:]
                self.model = Model()
                for s in self.steps:
                    self.model.step(s)
                return False
            self.steps.append(step)
            self.told.append((lines, self.model.waits(), self.model.scrubs))
        return True

    def names(self, kind, **kw):
        return [o.name for o in self.model.all(kind)
                if all(getattr(o, k) == v for k, v in kw.items())]

    def obj(self, name):
        return self.model.objs[name]

    def program(self):
        self.domains()
        for kind in self.r.sample(KINDS, 2 if self.chance(0.25) else 1):
            self.pair(kind)
        for _ in range(self.r.randint(6, 18)):
            self.any_step()
        self.finale()
        return self.steps

    # Objects.

    def domains(self):
        self.add(Step('pd', p='p0'))
        if self.chance(0.3):
            self.add(Step('pd', p='p1'))
        for i in range(self.r.randint(1, 3)):
            self.add(Step('cq', c=f'c{i}'))
        for i in range(self.r.randint(4, 7)):
            # The first of each part is likely to be good.
            acc = 'LWRAB' if i < 4 and self.chance(0.9) else self.r.choice(RIGHTS)
            off = i % 4 * PART + self.r.choice((0, 0, 8, 64, 1000, 4096))
            room = (i % 4 + 1) * PART - off
            self.add(Step('mr', m=f'm{i}', p=self.a_pd(), off=off,
                          len=self.r.choice((room,) * 8 + (room - 100, 5000, 100)), acc=acc))
        for i in range(self.r.choice((0, 0, 1, 2, 3))):
            self.add(Step('mw', w=f'w{i}', p=self.a_pd(), type=self.r.choice((1, 2, 2))))

    def a_pd(self):
        return 'p1' if self.chance(0.05) and self.names('p')[1:] else 'p0'

    def a_cq(self):
        return self.r.choice(self.names('c'))

    def new(self, kind):
        """A name that is not in use and never was."""
        n = sum(1 for s in self.steps if s.args.get(kind) and s.verb in (
            'qp', 'srq') and s.verb[0] == kind)
        return f'{kind}{n}'

    def qp(self, type_, **kw):
        name = self.new('q')
        pd = 'p0' if type_ != 'XT' else None
        if pd and self.chance(0.05):
            pd = self.a_pd()
        self.add(Step('qp', q=name, type=type_, p=pd, c=self.a_cq(), d=self.a_cq(),
                      all=int(self.chance(0.2)),
                      ex=int(self.chance(0.3) and type_ in ('RC', 'UC', 'UD', 'XI')),
                      nolb=int(self.chance(0.3)) if type_ == 'UD' else None, **kw))
        return name

    def srq(self, **kw):
        name = self.new('s')
        self.add(Step('srq', s=name, p=self.a_pd(), **kw))
        return name

    def pair(self, kind):
        if kind == 'XRC':
            if not self.names('x'):
                self.add(Step('xrcd', x='x0'))
            for _ in range(self.r.randint(1, 2)):
                self.srq(x='x0', c=self.a_cq())
            if self.chance(0.2):  # of another domain
                if 'x1' not in self.model.objs:
                    self.add(Step('xrcd', x='x1'))
                self.srq(x='x1', c=self.a_cq())
            a, b = self.qp('XI'), self.qp('XT', x='x0')
        elif kind == 'DC':
            s = self.srq()
            a, b = self.qp('DCI'), self.qp('DCT', s=s, key=77)
        else:
            s = self.srq() if self.chance(0.3) else None
            a = self.qp(kind)
            b = self.qp(kind, s=s)
            for q in (a, b) if kind == 'UD' else ():
                if self.chance(0.7):
                    self.add(Step('attach', q=q, g=self.r.choice(GROUPS)))
        self.connect(a, b)
        for to in self.receivers():
            if self.chance(0.8):
                self.add(self.recv(to, self.r.randint(1, 5)))

    def connect(self, a, b):
        """Both from RESET towards RTS; at times one stops before."""
        psn = self.r.choice((0, 1, 0xfffffe, self.r.randrange(1 << 24)))
        mtu = self.r.choice((256, 512, 1024, 2048, 4096, 4096))
        qkey = self.r.choice((0x11, 0x2222))
        for me, peer in ((a, b), (b, a)):
            type_ = self.obj(me).type
            if type_ != 'DCT':
                self.add(Step('modify', q=me, to=RESET))
            elif self.obj(me).state != RESET:
                continue
            self.add(Step('modify', q=me, to=INIT, acc=self.r.choice(QP_RIGHTS), qkey=qkey))
            if self.chance(0.03):
                continue
            self.add(Step('modify', q=me, to=RTR, dest=peer, mtu=mtu, rq_psn=psn,
                          reads=0 if self.chance(0.05) else 4))
            if type_ != 'DCT' and not self.chance(0.1 if me == b else 0.02):
                self.add(Step('modify', q=me, to=RTS, sq_psn=psn, retry=self.r.choice((0, 0, 1)),
                              rnr=self.r.choice((0, 1, 7, 7))))

    # Steps.

    def any_step(self):
        kinds = (('send', 45), ('recv', 18), ('arm', 8), ('limit', 5), ('modify', 3),
                 ('recover', 8), ('poke', 3), ('dereg', 1), ('dealloc', 1), ('destroy', 1),
                 ('group', 4), ('rereg', 5))
        if any(q.state in (SQE, ERR) for q in self.model.all('q')) and self.chance(0.5):
            kinds = (('recover', 1),)
        kinds = [k for k in kinds if k[0] != 'arm' or self.arms]
        kind = self.r.choices([k for k, _ in kinds], [n for _, n in kinds])[0]
        steps = getattr(self, 'some_' + kind)()
        if steps:
            self.add(*steps)

    def receivers(self):
        return self.names('s') + [q.name for q in self.model.all('q')
                                  if not q.srq and q.type in ('RC', 'UC', 'UD')]

    def some_recv(self):
        to = self.receivers()
        return to and [self.recv(self.r.choice(to), self.r.randint(1, 4))]

    def some_arm(self):
        return [Step('arm', c=self.a_cq(), sol=int(self.chance(0.5)))]

    def some_limit(self):
        s = self.names('s')
        return s and [Step('limit', s=self.r.choice(s), n=self.r.randint(0, 4))]

    def some_poke(self):
        return [Step('poke', off=self.r.randrange(0, ARENA - 5000, 8), len=5000,
                     seed=self.r.randrange(256))]

    def some_modify(self):
        q = self.obj(self.r.choice(self.names('q')))
        if q.type == 'DCT':
            return None
        to = self.r.choice((RESET, INIT, RTR, RTS, 'SQD', ERR, ERR))
        return [Step('modify', q=q.name, to=to)]

    def some_recover(self):
        """What has failed comes back, mostly together with its peer."""
        for q in self.model.all('q'):
            if q.state == SQE and self.chance(0.7):
                return [Step('modify', q=q.name, to=RTS)]
            if q.state in (ERR, RESET, INIT) and q.type not in ('DCT', 'XT'):
                peer = q.dest or self.peer_of(q)
                if peer in self.model.objs:
                    self.connect(q.name, peer)
                    return None
        return None

    def peer_of(self, q):
        others = [o.name for o in self.model.all('q') if o is not q and o.type in
                  {'DCI': ('DCT',), 'XI': ('XT',)}.get(q.type, (q.type,))]
        return self.r.choice(others) if others else ''

    def some_dereg(self):
        m = self.names('m')
        return m and [Step('dereg', m=self.r.choice(m))]

    def some_rereg(self):
        m = self.names('m')
        if not m:
            return None
        obj = self.obj(self.r.choice(m))
        step = Step('rereg', m=obj.name)
        if self.chance(0.5):
            step.args['acc'] = self.r.choice(('LWRAB', 'LRB', 'LW', 'R', 'L', 'W'))
        if self.chance(0.2):
            step.args['p'] = self.r.choice(self.names('p'))
        if self.chance(0.4) or len(step.args) == 1:
            off = obj.off // PART * PART + self.r.choice((0, 0, 8, 64, 1000, 4096))
            step.args.update(off=off, len=(obj.off // PART + 1) * PART - off)
        return [step]

    def some_group(self):
        """Into a group or out of it; mostly with QPs that can."""
        ud = [q for q in self.model.all('q') if q.type == 'UD']
        if not ud:
            return None
        q = self.r.choice(ud if self.chance(0.9) else self.model.all('q'))
        verb = 'detach' if q.groups and self.chance(0.4) else 'attach'
        return [Step(verb, q=q.name, g=self.r.choice(GROUPS))]

    def some_dealloc(self):
        w = self.names('w')
        return w and [Step('dealloc', w=self.r.choice(w))]

    def some_destroy(self):
        q = self.names('q')
        return q[1:] and [Step('destroy', q=self.r.choice(q))]

    def some_send(self):
        able = [q for q in self.model.all('q') if q.type not in ('XT', 'DCT')
                and q.began and q.state in (RTS, SQE, ERR)]
        good = [q for q in able if q.state == RTS]
        if not able:
            return None
        q = self.r.choice(good if good and self.chance(0.95) else able)
        wrs = [self.wr(q) for _ in range(self.r.choice((1, 1, 2, 3, 5)))]
        wrs = [w for w in wrs if w]
        # ibv_bind_mw() posts one request.
        ones = [w for w in wrs if w['op'] == 'BIND' and self.obj(w['w']).type == 1]
        wrs = ones[:1] or wrs
        if wrs and not q.all and 'S' not in wrs[-1]['fl']:
            wrs[-1]['fl'] += 'S'  # the last one tells that all are done
        return wrs and [Step('send', q=q.name, wrs=wrs)]

    # Work requests.

    def id(self, queue):
        self.ids[queue] += 1
        return self.ids[queue]

    def recv(self, to, n):
        return Step('recv', to=to, wrs=[
            {'id': self.id('recv'), 'sge': self.recv_sges(to)} for _ in range(n)])

    def recv_sges(self, to):
        if self.chance(0.1):
            return ''
        n = self.r.choice((40, 64, 100, 300, 1100, 4136) + (5000, 12000) * 4)
        m = 'm3' if self.chance(0.9) and 'm3' in self.model.objs else None
        return self.sges(m, n, zero=to[0] == 'q')

    def some_m(self, part=None):
        ms = [m for m in self.names('m') if part is None or int(m[1:]) % 4 == part]
        if ms and self.chance(0.8):
            return ms[0]
        return self.r.choice(ms or self.names('m') or ['m0'])

    def place(self, m, n):
        """An offset for n bytes that are in this region, or nearly."""
        obj = self.model.objs.get(m) or self.model.gone[m]
        last = obj.off + obj.len - n
        x = self.r.random()
        if x < 0.01:
            off = obj.off - self.r.choice((1, 8))
        elif x < 0.02:
            off = last + self.r.choice((1, 8))
        elif last < obj.off:
            off = obj.off
        else:
            off = self.r.choice((obj.off, last, self.r.randint(obj.off, last)))
        return max(0, min(off, ARENA - n))

    def sges(self, m, n, zero=True):
        """A list of n bytes in all."""
        parts = []
        while n and len(parts) < 4 and self.chance(0.4):
            parts.append(self.r.randint(1, n))
            n -= parts[-1]
        parts.append(n)
        if zero and self.chance(0.1):
            parts.insert(self.r.randrange(len(parts) + 1), 0)
        out, at = [], None
        for part in parts:
            name = m or self.some_m()
            if name not in self.model.objs and name not in self.model.gone:
                return ''
            if at is None or self.chance(0.3):
                at = self.place(name, sum(parts))
            key = name + ('x' if self.chance(0.005) else '')
            if part or zero:
                out.append(f'{key}:{at}:{part}')
            at = min(at + part, ARENA)
        return ','.join(out)

    def wr(self, q):
        ops = OPCODES[q.type]
        if self.chance(0.01) and not self.is_ex(q):
            ops = tuple(o for o in OPCODES['RC'] if o not in ('BIND', 'INV', 'SEND_INV'))
        op = self.r.choice(ops)
        if 'BIND' in ops and self.names('w') and self.chance(0.15):
            op = self.r.choice(('BIND', 'BIND', 'BIND', 'INV'))
        fl = 'S' * self.chance(0.7) + 'E' * self.chance(0.3) + 'F' * self.chance(0.1)
        wr = {'op': op, 'id': self.id('send'), 'fl': fl}
        if op in ('BIND', 'INV'):
            return self.window_wr(wr)
        part = self.r.randrange(3)
        n = 8 if op in ('CAS', 'FAA') else self.r.choice(LENGTHS)
        if q.type == 'UD' and n > 4096 and not self.chance(0.1):
            n = 100
        if op not in ('SEND', 'SEND_IMM', 'SEND_INV'):
            n = self.remote(wr, n, part)
        m = self.some_m(part)
        if op in ('CAS', 'FAA'):
            wr['sge'] = f'{m}:{self.place(m, 8)}:8' if m in self.model.objs else ''
        else:
            wr['sge'] = self.sges(m if self.chance(0.99) else None, n)
        if n <= 100 and op in ('SEND', 'SEND_IMM', 'SEND_INV', 'WRITE', 'WRITE_IMM'):
            wr['fl'] += 'I' * self.chance(0.2)
        if op.endswith('_IMM'):
            wr['imm'] = self.r.randrange(1 << 32)
        if op == 'SEND_INV':
            wr['inv'] = self.a_key(windows=0.9)[0]
        self.address(q, wr)
        return wr

    def is_ex(self, q):
        return any(s.verb == 'qp' and s.args['q'] == q.name and
                   (s.args['ex'] or q.type == 'DCI') for s in self.steps)

    def a_key(self, part=None, windows=0.3):
        """(key, its region or window)"""
        ws = self.names('w', bound=True) * 4
        windows = 0.6 if ws else windows
        ws += self.names('w') + [w for w in self.model.gone if w[0] == 'w']
        name = self.r.choice(ws) if ws and self.chance(windows) else self.some_m(part)
        x = self.r.random()
        odd = 'x' if x < 0.01 else '+' if x < 0.02 and name[0] == 'w' else \
            '-' if x < 0.04 and name[0] == 'w' else ''
        return name + odd, name

    def remote(self, wr, n, part):
        """The remote key and address of a request for n bytes, or for fewer, which are returned."""
        wr['rk'], name = self.a_key((part + self.r.randint(1, 2)) % 3)
        obj = self.model.objs.get(name) or self.model.gone.get(name)
        if obj is None or not hasattr(obj, 'off'):
            name = self.some_m()
        if name not in self.model.objs and name not in self.model.gone:
            wr['ra'] = 0
        else:
            obj = self.model.objs.get(name) or self.model.gone[name]
            if wr['op'] not in ('CAS', 'FAA') and obj.len < n and self.chance(0.95):
                n = self.r.randint(0, obj.len)
            wr['ra'] = self.place(name, n)
            if n > 1000 and self.chance(0.05):  # whole packets before the end of what it may use
                wr['ra'] = min(obj.off + obj.len - self.r.randrange(1, n), ARENA - n)
                wr['ra'] = max(wr['ra'], obj.off)
        if wr['op'] in ('CAS', 'FAA'):
            if not self.chance(0.02):
                wr['ra'] = (wr['ra'] + 7) & ~7
            old = int.from_bytes(self.model.mem[wr['ra']:wr['ra'] + 8], 'little')
            if wr['op'] == 'FAA':
                wr['add'] = self.r.choice((1, (1 << 64) - 1, self.r.randrange(1 << 64)))
            else:
                wr['cmp'] = old if self.chance(0.6) else self.r.randrange(1 << 64)
                wr['swap'] = self.r.randrange(1 << 64)
        return n

    def address(self, q, wr):
        if q.type == 'XI':
            srqs = [s.name for s in self.model.all('s') if s.x or self.chance(0.03)]
            wr['srq'] = self.r.choice(srqs or ['s0'])
        if q.type in ('UD', 'DCI'):
            to = {'UD': 'UD', 'DCI': 'DCT'}[q.type]
            to = [o.name for o in self.model.all('q') if o.type == to or self.chance(0.02)]
            wr['to'] = self.r.choice(to or [q.name])
            wr['grh'] = int(self.chance(0.3))
        if q.type == 'UD':
            right = self.obj(wr['to']).qkey
            if self.chance(0.3):
                wr['to'] = self.r.choice(GROUPS)
            wr['qkey'] = self.r.choice((right,) * 18 + (0x33, 0x80000001))
        if q.type == 'DCI':
            wr['dckey'] = 77 if self.chance(0.97) else 78

    def window_wr(self, wr):
        ws = self.names('w')
        if not ws:
            return None
        wr['w'] = self.r.choice(ws)
        if wr['op'] == 'INV':
            wr['which'] = 'x' if self.chance(0.05) else '-' if self.chance(0.05) else ''
            return wr
        if self.chance(0.05):
            return {**wr, 'len': 0, 'off': 0}
        m = self.some_m(self.r.randrange(3))
        if m not in self.model.objs:
            return None
        n = self.r.choice((8, 100, 4096, 10000))
        if self.chance(0.9):
            n = min(n, self.obj(m).len)
        return {**wr, 'mr': m, 'off': self.place(m, n), 'len': n,
                'acc': self.r.choice(('WRA',) * 4 + ('W', 'R', 'A', '')),
                'same': int(self.chance(0.1))}

    # The end.

    def finale(self):
        """
        Proof that there is no more: each queue fails, is given one more request, and CQs, the
        channel and the file of asynchronous events have one more entry, the last.
        """
        for c in self.names('c') if self.arms else ():
            self.add(Step('arm', c=c))
        for q in list(self.model.all('q')):
            if q.type == 'DCT':
                continue
            if q.state != RESET:
                self.add(Step('modify', q=q.name, to=ERR))
                if q.began and q.type != 'XT':
                    self.add(Step('send', q=q.name, wrs=[self.marker(q)]))
                if q.name in self.receivers():
                    self.add(Step('recv', to=q.name, wrs=[{'id': self.id('recv')}]))
        self.add(Step('srq', s='s15', p='p0'), Step('cq', c='c15'),
                 Step('qp', q='q15', type='RC', p='p0', c='c15', d='c15', s='s15'),
                 Step('modify', q='q15', to=INIT, acc='W'),
                 Step('modify', q='q15', to=RTR, dest='q15', rq_psn=0, reads=0),
                 Step('modify', q='q15', to=RTS, sq_psn=0),
                 *([Step('arm', c='c15')] if self.arms else []),
                 Step('modify', q='q15', to=ERR),
                 Step('send', q='q15', wrs=[{'op': 'SEND', 'id': self.id('send'), 'fl': 'S'}]))

    def marker(self, q):
        wr = {'op': 'SEND', 'id': self.id('send'), 'fl': 'S'}
        if q.type in ('UD', 'DCI'):
            wr.update(to=q.name, qkey=1, dckey=1)
        if q.type == 'XI':
            wr['srq'] = self.names('s')[0]
        return wr
