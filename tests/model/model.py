# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What an InfiniBand adapter does, said as plainly as possible: nothing is in flight, each message is
executed whole when its turn comes. Each rule names its sources (sources.py): what was measured on
cards, the kernel, rdma-core, the InfiniBand Architecture Specification, volume 1 (IBA). It shares
nothing with src/engine: a mistake is seen as a difference.

Model.step() executes one step of a program and returns the lines that exec.c must print.
"""
from zlib import adler32

from program import ARENA, BLOCK, Undefined, is_group, pattern, sges
from sources import books, rule
from transport import (ATOMICS, ERR, FLUSH, INIT, LOCAL, RESET, RTR, RTS, SQE, SUCCESS, TRANSITIONS,
                       WC_NAME, Transport, letters)


class Obj:
    """A queue, key or domain: its name and what it was made with."""

    def __init__(self, name, **kw):
        self.name = name
        self.__dict__.update(kw)


class Model(Transport):
    gid = bytes(16)  # of the port, from the fabric

    def __init__(self):
        self.mem = bytearray(pattern(0, ARENA))
        self.objs, self.gone = {}, {}
        self.lines, self.events, self.fired, self.scrubs = [], [], [], []
        self.unpolled = []
        self.counters = {}

    @books
    def get(self, name):
        obj = self.objs.get(name)
        if obj is None:
            raise Undefined(f'no {name}')
        return obj

    @books
    def all(self, kind):
        return [o for o in self.objs.values() if o.name[0] == kind]

    # Steps.

    @books
    def step(self, step):
        """The lines of this step; then what is to be awaited, and memory to be made defined."""
        self.lines, self.events, self.fired, self.scrubs = [], [], [], []
        self.unpolled = []
        rc = getattr(self, 'do_' + step.verb)(step.args, step.wrs) or 0
        self.progress()
        for off, n in self.scrubs:
            self.mem[off:off + n] = pattern(1, n)
        blocks = [adler32(self.mem[i:i + BLOCK]) for i in range(0, ARENA, BLOCK)]
        lines = sorted(self.lines + self.events + self.fired, key=lambda s: s.split(' id=')[0])
        return [f'rc {rc}', *lines,
                *(f'state {q.name} {q.state}{self.psns(q)}' for q in self.all('q')
                  if q.type != 'DCT'),
                *(f'left {s.name} {s.limit}' for s in self.all('s')),
                'mem ' + ' '.join(f'{b:08x}' for b in blocks)]

    @staticmethod
    @rule('RC alone numbers packets that both ends show; the send queue must be idle', 'IBA 9.7.1',
          'linux rxe_req.c update_wqe_psn()')
    @rule('in ERR they show what had been sent and had come before', 'card ref_psn', 'card ref_part', 'card own_range')
    def psns(q):
        """Packet numbers of a connected QP in order: IBA 9.7.1, 11.2.5.3; of one that failed, if they are known."""
        if q.type != 'RC' or q.state not in (RTR, RTS, ERR):
            return ''
        sq_known, rq_known = q.known if q.state == ERR else (q.state == RTS and not q.sq, True)
        sq = f'{q.sq_psn:06x}' if sq_known else '?'
        return f' {sq} {q.rq_psn:06x}' if rq_known and q.rq_psn is not None else f' {sq} ?'

    @books
    def waits(self):
        """How many completions of each CQ, asynchronous events and CQ events the step has."""
        count = {}
        for line in self.lines:
            cq = line.split()[1]
            count[cq] = count.get(cq, 0) + 1
        return {**count, 'ev': len(self.events), 'cqev': len(self.fired)}

    @books
    def do_pd(self, a, _):
        self.objs[a['p']] = Obj(a['p'])

    @rule('remote writes and atomics need the local right: EINVAL', 'card mr_rights',
          'linux ib_verbs.h ib_check_mr_access()')
    def do_mr(self, a, _):
        """IBA 11.2.8.2; man ibv_reg_mr: remote writes and atomics need the local right."""
        self.get(a['p'])
        rights = letters(a.get('acc'))
        if ('W' in rights or 'A' in rights) and 'L' not in rights:
            return 22
        self.objs[a['m']] = Obj(a['m'], pd=a['p'], off=a['off'], len=a['len'], rights=rights)
        return 0

    @rule('what is named changes, what is not stays', 'man ibv_rereg_mr', 'linux mr.c mlx5_ib_rereg_user_mr()')
    @rule('rights as at registration: IBV_REREG_MR_ERR_CMD', 'linux uverbs_cmd.c ib_uverbs_rereg_mr()',
          'linux ib_verbs.h ib_check_mr_access()')
    def do_rereg(self, a, _):
        """IBA 11.2.8.6; man ibv_rereg_mr: what is named changes, no work request may use it."""
        self.idle()
        mr = self.get(a['m'])
        if len(a) == 1:
            raise Undefined('nothing is named')
        if any(w.bound and w.mr is mr for w in self.all('w')):
            raise Undefined('a window is bound to it')
        if any(self.key(k)[0] is mr for o in self.all('q') + self.all('s') for wr in o.rq
               for k, _, _ in sges(wr)):
            raise Undefined('its key may change')
        rights = letters(a['acc']) if 'acc' in a else mr.rights
        if ('W' in rights or 'A' in rights) and 'L' not in rights:
            return -4  # IBV_REREG_MR_ERR_CMD
        if a.get('p'):
            mr.pd = self.get(a['p']).name
        mr.off, mr.len, mr.rights = a.get('off', mr.off), a.get('len', mr.len), rights
        return 0

    @rule('its keys are refused from now on', 'card ref_key', 'card recv_key')
    def do_dereg(self, a, _):
        self.idle()
        self.gone[a['m']] = self.get(a['m'])
        del self.objs[a['m']]

    @books
    def do_mw(self, a, _):
        self.get(a['p'])
        self.objs[a['w']] = Obj(a['w'], pd=a['p'], type=a['type'], tag=0, known=0, bound=False)

    @books
    def do_dealloc(self, a, _):
        self.idle()
        self.gone[a['w']] = self.get(a['w'])
        del self.objs[a['w']]

    @books
    def do_cq(self, a, _):
        self.objs[a['c']] = Obj(a['c'], armed='')

    @books
    def do_xrcd(self, a, _):
        self.objs[a['x']] = Obj(a['x'])

    @books
    def do_srq(self, a, _):
        for k in ('p', 'c', 'x'):
            if a.get(k):
                self.get(a[k])
        self.objs[a['s']] = Obj(a['s'], pd=a['p'], x=a.get('x'), cq=a.get('c'), rq=[], limit=0)

    @books
    def do_qp(self, a, _):
        for k in ('p', 'c', 'd', 'x', 's'):
            if a.get(k):
                self.get(a[k])
        self.objs[a['q']] = Obj(
            a['q'], type=a['type'], pd=a.get('p'), scq=a['c'], rcq=a.get('d'), srq=a.get('s'),
            x=a.get('x'), all=a.get('all', 0), key=a.get('key'), state=RESET, sq=[], rq=[], dest='',
            rights='', qkey=0, mtu=4096, retry=0, rnr=0, reads=0, sq_psn=0, rq_psn=0, said=False,
            known=(False, False), began=False, groups=set(), nolb=a.get('nolb', 0))

    @rule('a QP in a multicast group: EBUSY', 'linux uverbs_std_types_qp.c uverbs_free_qp()')
    def do_destroy(self, a, _):
        if self.get(a['q']).groups:
            return 16  # EBUSY, as IBA 11.2.5.5 has it for a QP in a group
        del self.objs[a['q']]
        return 0

    @rule('of datagrams alone: EINVAL', 'linux verbs.c ib_attach_mcast()', 'man ibv_attach_mcast')
    @rule('once more is no error', 'linux uverbs_cmd.c ib_uverbs_attach_mcast()', 'man ibv_attach_mcast')
    def do_attach(self, a, _):
        """IBA 11.3.1: of datagrams alone. Once more is no error (ib_uverbs_attach_mcast())."""
        q = self.get(a['q'])
        if q.type != 'UD':
            return 22
        q.groups.add(a['g'])
        return 0

    @rule('from a group that it is not in: EINVAL', 'linux uverbs_cmd.c ib_uverbs_detach_mcast()')
    def do_detach(self, a, _):
        q = self.get(a['q'])
        if a['g'] not in q.groups:
            return 22
        q.groups.remove(a['g'])
        return 0

    @books
    def do_poke(self, a, _):
        """The program writes to memory."""
        self.idle()
        self.mem[a['off']:a['off'] + a['len']] = pattern(a['seed'], a['len'])

    @rule('a request for solicited completions does not take back one for any', 'card note_down')
    @rule('one for any takes back one for solicited', 'card note_up')
    def do_arm(self, a, _):
        """IBA 11.4.2.2: a request for solicited completions does not take back one for any."""
        cq = self.get(a['c'])
        cq.armed = 'any' if not a.get('sol') or cq.armed == 'any' else 'sol'

    @rule('arming below the limit raises the event at once',
          'inferred from uDAPL (dat_srq_set_lw), which says so: rxe_srq.c and rdmavt look when a receive is taken')
    def do_limit(self, a, _):
        """IBA 10.2.9.2, 11.2.3.3. Arming below the limit: mlx5 raises the event at once."""
        srq = self.get(a['s'])
        srq.limit = a['n']
        self.below_limit(srq)

    @rule('RESET empties both queues', 'card post_reuse', 'linux qp.c __mlx5_ib_modify_qp()')
    @rule('ERR from RESET: EINVAL', 'linux verbs.c ib_modify_qp_is_ok()')
    @rule('no state is left out: EINVAL', 'card call_skips', 'linux verbs.c ib_modify_qp_is_ok()')
    @rule('a QP that its program has moved to RTS raises no COMM_EST', 'linux qp.c rvt_comm_est()',
          'linux rc.c hfi1_rc_rcv()')
    def do_modify(self, a, _):
        q = self.get(a['q'])
        to = a['to']
        if q.type == 'DCT':
            return self.modify_dct(q, a)
        if to == RESET:
            q.state, q.sq, q.rq, q.said, q.began = RESET, [], [], False, False
        elif to == ERR and q.state == RESET:
            return 22  # the specification allows it, ib_modify_qp_is_ok() of the kernel does not
        elif to == ERR:
            self.fail(q)
        elif (q.state, to) not in TRANSITIONS:
            return 22
        else:
            self.attributes(q, a)
            if q.state == RTR and to == RTS:
                q.said = q.began = True
            q.state = to
        return 0

    @staticmethod
    @rule('two steps, rights with the first', 'linux qp.c mlx5_ib_modify_dct()')
    def modify_dct(q, a):
        """A DC target has no send queue and goes by two steps (mlx5_ib_modify_dct())."""
        if (q.state, a['to']) not in ((RESET, INIT), (INIT, RTR)):
            raise Undefined('a DCT goes no other way')
        q.rights = letters(a.get('acc')) if a['to'] == INIT else q.rights
        q.state = a['to']

    @staticmethod
    @rule('rights come with INIT, the peer with RTR, the own PSN with RTS', 'card call_attributes',
          'linux verbs.c ib_modify_qp_is_ok()')
    def attributes(q, a):
        if ('dest' in a) != (a['to'] == RTR) or ('sq_psn' in a) != (q.state == RTR):
            raise Undefined('attributes of another transition')
        if a['to'] == INIT:
            q.rights = letters(a.get('acc'))
        for k in ('dest', 'qkey', 'mtu', 'retry', 'rnr', 'reads', 'sq_psn', 'rq_psn'):
            if k in a:
                setattr(q, k, a[k])

    @books
    def idle(self):
        """While a message waits its memory is the adapter's (IBA 10.7.3.1): nobody may touch it."""
        if any(q.sq for q in self.all('q')):
            raise Undefined('a message waits')

    # Posting.

    @rule('a receive in ERR is flushed at once', 'card post_err_recv')
    def do_recv(self, a, wrs):
        to = self.get(a['to'])
        if sum(self.waits_for(q, to) for q in self.all('q')) > 1:
            raise Undefined('which of those that wait takes the first receive')
        if to.name[0] == 'q' and (to.state == RESET or to.srq or to.type in ('XI', 'XT', 'DCI')):
            raise Undefined('no receive queue, or one in reset')
        for wr in wrs:
            if to.name[0] == 's' and any(not n for _, _, n in sges(wr)):
                raise Undefined('libmlx5 gives an SRQ a length of 0, which mlx5 takes for 2 GiB')
            to.rq.append(wr)
        if to.name[0] == 'q' and to.state == ERR:
            self.flush_receives(to)

    @books
    def waits_for(self, q, srq):
        if not q.sq or q.state != RTS:
            return False
        peer = self.objs.get(q.sq[0].get('to') or q.dest)
        return srq.name in (q.sq[0].get('srq'), peer and peer.type != 'XT' and peer.srq)

    @rule('a request in ERR is flushed at once; SQE flushes as ERR does', 'card post_err_send', 'IBA 10.3.1.6')
    @rule('inline data has left its memory when the post returns, its key is not looked at', 'card recv_inline')
    @rule('a request has the key that its window has when it is posted', 'rdma-core qp.c set_bind_wr()')
    def do_send(self, a, wrs):
        q = self.get(a['q'])
        if q.state not in (RTS, SQE, ERR) or not q.began:
            raise Undefined('libmlx5 posts in any state, the verb refuses before RTS')
        if not q.all and 'S' not in letters(wrs[-1].get('fl')):
            raise Undefined('nothing tells when the last one is done')
        if wrs[0]['op'] == 'BIND' and self.refused_by_library(wrs[0]):
            return 1
        for wr in wrs:
            wr = dict(wr)
            if wr['op'] in ATOMICS and [n for _, _, n in sges(wr)] != [8]:
                raise Undefined('libmlx5 makes 8 of every length (set_data_ptr_seg_atomic())')
            wr['list'] = [(self.key(k), o, n) for k, o, n in sges(wr)]
            if 'I' in letters(wr.get('fl')):  # copied when it is posted, and needs no key
                wr['inline'] = b''.join(self.mem[o:o + n] for _, o, n in wr['list'])
            if wr['op'] in LOCAL:
                w = self.get(wr['w'])
                if wr['op'] == 'BIND':
                    w.known = wr['tag'] = self.next_tag(w, wr)
                    wr['mr'] = self.get(wr['mr']) if wr.get('mr') else None
                else:
                    wr['tag'] = self.key(wr['w'] + wr.get('which', ''))[1]
                wr['obj'] = w
            for k in ('rk', 'inv'):
                if k in wr:
                    wr[k + 'ey'] = self.key(wr[k])
            if 'to' in wr and not is_group(wr['to']):
                self.get(wr['to'])
            q.sq.append(wr)
        if q.state != RTS:
            self.flush_sends(q)
        return 0

    @rule('a bind of type 1 whose domains differ: EPERM', 'rdma-core verbs.h ibv_bind_mw()')
    def refused_by_library(self, wr):
        """ibv_bind_mw() sees itself that domains differ: EPERM."""
        w, mr = self.get(wr['w']), wr.get('mr') and self.get(wr['mr'])
        return w.type == 1 and mr and mr.pd != w.pd

    @staticmethod
    @rule('each bind of type 1 has the next key', 'card mw1_rebind', 'rdma-core qp.c mlx5_bind_mw()')
    @rule('a bind of type 2 has the tag of its rkey', 'card mw2_low_byte')
    def next_tag(w, wr):
        return (w.known + (0 if wr.get('same') and w.type == 2 else 1)) & 255

    @books
    def key(self, name):
        """(object, tag): tag is -1 for a key that nobody has."""
        bare = name.rstrip('x+-')
        obj = self.gone.get(bare) or self.get(bare)
        tag = obj.known if bare[0] == 'w' else 0
        tag = {'': tag, 'x': -1, '+': (tag + 1) & 255, '-': (tag - 1) & 255}[name[len(bare):]]
        return obj, tag

    # Completions and events.

    @rule('the first completion that was asked for raises one event', 'card note_any', 'card note_once')
    @rule('solicited: a receive whose message says so', 'card note_solicited', 'man ibv_req_notify_cq')
    @rule('and any error', 'man ibv_req_notify_cq', 'IBA 11.4.2.2')
    def complete(self, cq, q, queue, status, solicited=False, **fields):
        c = self.get(cq)
        text = ' '.join(f'{k}={v}' for k, v in fields.items() if v is not None)
        self.lines.append(f'wc {cq} {q.name} {queue} {text} {status}')
        if c.armed == 'any' or c.armed == 'sol' and (solicited or status != SUCCESS):
            c.armed = ''
            self.fired.append(f'cqev {cq}')

    @books
    def event(self, what, obj):
        self.events.append(f'ev {what} {obj.name}')

    @rule("requests count that their key refuses, those that the QP's rights refuse do not", 'card cnt_refused')
    def count(self, what):
        """The port's hw_counters that count messages. No document says whether refused messages count."""
        self.counters[what] = self.counters.get(what, 0) + 1

    @rule('an unsignalled request completes only with an error', 'card post_unsignalled', 'card own_seq',
          'IBA 10.7.3.1')
    @rule('byte_len of READs and atomics, the immediate flag', 'rdma-core cq.c handle_good_req()')
    def sent(self, q, wr, status):
        """IBA 10.7.3.1, 10.8.6: unsignalled ones complete only with an error."""
        if status != SUCCESS:
            self.complete(q.scq, q, 'send', status, id=wr['id'])
        elif q.all or 'S' in letters(wr.get('fl')):
            n = {'READ': self.total(wr), 'CAS': 8, 'FAA': 8}.get(wr['op'])
            imm = 'imm' if wr['op'].endswith('_IMM') else None
            self.complete(q.scq, q, 'send', SUCCESS, id=wr['id'], op=WC_NAME[wr['op']], len=n,
                          fl=imm)

    @rule('opcode, immediate data, byte_len', 'card recv_write_imm', 'rdma-core cq.c handle_responder()')
    def received(self, q, cq, wr, status, msg=None, **fields):
        if status != SUCCESS:
            self.complete(cq, q, 'recv', status, id=wr['id'])
            return
        op = 'RECV_RDMA_WITH_IMM' if msg['op'] == 'WRITE_IMM' else 'RECV'
        imm = f"{msg['imm']:08x}" if msg['op'].endswith('_IMM') else None
        self.complete(cq, q, 'recv', SUCCESS, 'E' in letters(msg.get('fl')), id=wr['id'], op=op,
                      imm=imm, **fields)

    @rule('to ERR: all that is posted is flushed, in order', 'card own_seq', 'IBA 10.3.1.5')
    @rule('QP_LAST_WQE_REACHED of a QP with an SRQ', 'card srq_last_wqe')
    @rule('QP_LAST_WQE_REACHED of an XRC target',
          'inferred from RC: the kernel makes it with an SRQ (create_xrc_tgt_qp() of mlx5)')
    @rule('a DC target does not leave its state', 'linux qp.c mlx5_ib_modify_dct()')
    def fail(self, q, answered=True):
        """To ERR: IBA 10.3.1.5. All that is posted is flushed, in order."""
        if q.type == 'DCT':
            return
        was, q.state = q.state, ERR
        if was != ERR:  # how many of the requests behind had been sent, nobody knows
            q.known = answered and was == RTS and not q.sq, was in (RTR, RTS)
        self.flush_sends(q)
        self.flush_receives(q)
        if was != ERR and (q.srq or q.type == 'XT'):
            self.event('QP_LAST_WQE_REACHED', q)  # IBA 11.6.3, annex A14

    @rule('unsignalled ones, too: FLUSH', 'card own_seq', 'card own_err')
    def flush_sends(self, q):
        sq, q.sq = q.sq, []
        for wr in sq:
            self.sent(q, wr, FLUSH)

    @rule('FLUSH; receives of an SRQ stay', 'card srq_err_keeps', 'card post_err_recv')
    def flush_receives(self, q):
        rq, q.rq = q.rq, []
        for wr in rq:
            self.received(q, q.rcq, wr, FLUSH)

    @rule('SRQ_LIMIT_REACHED when fewer receives than the limit are left', 'card srq_limit',
          'linux rxe_resp.c get_srq_wqe()')
    @rule('once', 'linux rxe_resp.c get_srq_wqe()', 'card srq_limit_once')
    def below_limit(self, srq):
        if len(srq.rq) < srq.limit:
            srq.limit = 0
            self.event('SRQ_LIMIT_REACHED', srq)
