# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The model's transports: keys, what a requester does with a work request, how a responder answers,
windows. See model.py.
"""
from program import Undefined, is_group, sges
from sources import books, named, rule

RESET, INIT, RTR, RTS, SQE, ERR = 'RESET', 'INIT', 'RTR', 'RTS', 'SQE', 'ERR'
SUCCESS, LOC_LEN, LOC_QP_OP, LOC_PROT = 'SUCCESS', 'LOC_LEN_ERR', 'LOC_QP_OP_ERR', 'LOC_PROT_ERR'
FLUSH, MW_BIND, LOC_ACCESS = 'WR_FLUSH_ERR', 'MW_BIND_ERR', 'LOC_ACCESS_ERR'
REM_INV_REQ, REM_ACCESS, REM_OP = 'REM_INV_REQ_ERR', 'REM_ACCESS_ERR', 'REM_OP_ERR'
RETRY_EXC, RNR_EXC = 'RETRY_EXC_ERR', 'RNR_RETRY_EXC_ERR'
WAIT, DROP = 'wait', 'drop'  # answers: the request waits for a receive; a silent responder drops it

WRITES = ('WRITE', 'WRITE_IMM')
SENDS = ('SEND', 'SEND_IMM', 'SEND_INV')
ATOMICS = ('CAS', 'FAA')
LOCAL = ('BIND', 'INV')
RELIABLE = ('RC', 'XI', 'DCI')
# IBA table 9-5 (functions of the transports), and mlx5: no invalidation and no binding by UD.
OPCODES = {
    'RC': SENDS + WRITES + ATOMICS + LOCAL + ('READ',),
    'UC': ('SEND', 'SEND_IMM') + WRITES + LOCAL,
    'UD': ('SEND', 'SEND_IMM'),
}
OPCODES['XI'] = OPCODES['RC']
OPCODES['DCI'] = SENDS + WRITES + ATOMICS + ('READ',)
# The right that a request needs of the responder's QP and key: letters as in exec.c.
RIGHT = {'WRITE': 'W', 'WRITE_IMM': 'W', 'READ': 'R', 'CAS': 'A', 'FAA': 'A'}
WC_NAME = {'SEND': 'SEND', 'SEND_IMM': 'SEND', 'SEND_INV': 'SEND', 'WRITE': 'RDMA_WRITE',
           'WRITE_IMM': 'RDMA_WRITE', 'READ': 'RDMA_READ', 'CAS': 'COMP_SWAP', 'FAA': 'FETCH_ADD',
           'BIND': 'BIND_MW', 'INV': 'LOCAL_INV'}
# IBA figure 124 (states of a QP); every state leads to RESET, and every other one to ERR. None
# leads to SQD: mlx5_ib has no command for it (optab[] in __mlx5_ib_modify_qp()).
TRANSITIONS = {(RESET, INIT), (INIT, INIT), (INIT, RTR), (RTR, RTS), (RTS, RTS), (SQE, RTS)}
named('TRANSITIONS', 'states follow each other so', 'card call_skips', 'linux verbs.c ib_modify_qp_is_ok()')
named('TRANSITIONS', 'none leads to SQD', 'linux qp.c __mlx5_ib_modify_qp()')
named('OPCODES', 'functions of the transports', 'man ibv_post_send', 'IBA table 9-5')
# The man page and libmlx5 list it, but UC has no such packet (ib_pack.h of Linux).
named('OPCODES', 'UC has no SEND with invalidate', 'IBA table 9-5')
named('OPCODES', 'a DC initiator binds and invalidates nothing',
      'inferred: libmlx5 lets it (MLX5_SUPPORTED_SEND_OPS_FLAGS_DCI), no program here does')
named('RIGHT', 'each operation needs its right', 'card ref_qp', 'card mr_right')
named('WC_NAME', 'opcodes of completions', 'rdma-core cq.c handle_good_req()')


def letters(rights):
    return '' if rights is None else str(rights)


class Transport:
    """The part of Model that executes what is posted."""

    # Keys.

    @rule("a local key is that of a region of the QP's domain", 'card own_lkey', 'card pd_own', 'card recv_key')
    @rule('all of the segment lies in the region', 'card own_range', 'card recv_range')
    @rule('only what is written to needs LOCAL_WRITE', 'card mr_own_right', 'card recv_right')
    def local(self, key, off, n, pd, right=''):
        """May the adapter use this local key? IBA 10.6.3.1: only a region's, of this PD."""
        obj, tag = key
        if obj.name[0] == 'w':
            raise Undefined('to a card the key of a window is one as others')
        return (tag == 0 and self.objs.get(obj.name) is obj and obj.pd == pd
                and off >= obj.off and off + n <= obj.off + obj.len and right in obj.rights)

    @rule("the key of a region of the QP's domain, with the right, around all bytes", 'card ref_key', 'card pd_remote',
          'card mr_right')
    @rule('a window of type 1 serves every QP of its domain', 'card mw1_other_qp')
    @rule('one of type 2 the QP that bound it', 'card mw2_other_qp')
    @rule('the tag must be the present one', 'card mw1_rebind', 'card mw2_low_byte')
    @rule('what a window leads to is looked at when it is used',
          'inferred: that it is not when it is bound is measured (card win_large)')
    @rule("a window that writes needs the region's LOCAL_WRITE when it is used",
          'inferred: that it does not when it is bound is measured (card win_atomic)')
    @rule('a region that is gone, or moved to another domain, below a window: refused', 'inferred from regions')
    def remote(self, key, off, n, q, pd, right):
        """And a requester this remote one? IBA 10.6.3.2, 10.6.7.2 (windows; 2B: one QP's only)."""
        obj, tag = key
        if self.objs.get(obj.name) is not obj or obj.pd != pd:
            return False
        if obj.name[0] == 'w':
            if not obj.bound or tag != obj.tag or obj.type == 2 and obj.q is not q:
                return False
            # What it leads to is looked at now: cards let it be bound beside its region.
            mr = obj.mr
            if (self.objs.get(mr.name) is not mr or mr.pd != pd
                    or off < mr.off or off + n > mr.off + mr.len
                    or right in 'WA' and 'L' not in mr.rights):
                return False
        elif tag != 0:
            return False
        return off >= obj.off and off + n <= obj.off + obj.len and right in obj.rights

    @rule('as many bytes as lie in the region, from the first on', 'card own_range', 'card recv_long_segment')
    def fitting(self, key, off, n, pd, right=''):
        """How many of these bytes, from the first on, may the adapter use by a local key?"""
        obj, at = key[0], max(off, key[0].off)
        inside = min(n, obj.off + obj.len - off) if at == off else 0
        return inside if inside > 0 and self.local(key, off, inside, pd, right) else 0

    @rule('as many bytes as lie in the region, from the first on', 'card ref_part')
    def fitting_remote(self, wr, n, q, pd):
        obj = wr['rkey'][0]
        bound = obj.name[0] != 'w' or obj.bound
        inside = min(n, obj.off + obj.len - wr['ra']) if bound and wr['ra'] >= obj.off else 0
        ok = inside > 0 and self.remote(wr['rkey'], wr['ra'], inside, q, pd, RIGHT[wr['op']])
        return inside if ok else 0

    @rule('SQ_PSN advances by the packets before the failure', 'card ref_part')
    @rule('RQ_PSN, too', 'inferred from SQ_PSN')
    def landed(self, q, to, n):
        """So many packets have come before the one that is refused."""
        if q.type != 'UC':
            q.sq_psn = q.sq_psn + n & 0xffffff
        to.rq_psn = to.rq_psn + n & 0xffffff

    # Requests.

    @books
    def progress(self):
        """Execute what is posted until all queues are empty or wait."""
        silent, again = {}, True
        while again:
            again = False
            for q in self.all('q'):
                while q.state == RTS and q.sq:
                    lines = len(self.lines)
                    if not self.one(q):
                        break
                    again, silent[q.name] = True, len(self.lines) == lines
        if any(silent.get(q.name) for q in self.all('q') if q.sq):
            raise Undefined('nothing tells when the one before the one that waits is done')

    @rule('requests of a queue are executed in their order, and complete in it; those behind a WAIT wait, too',
          'card own_seq', 'IBA 9.5')
    @rule('what RNR_EXC leaves in SQ_PSN is not predicted', 'inferred: nobody has measured it')
    def one(self, q):
        wr = q.sq[0]
        status = self.execute(q, wr)
        if status == WAIT:
            return False
        # A datagram to this QP itself has completed.
        if q.sq and q.sq[0] is wr:
            q.sq.pop(0)
            self.sent(q, wr, status)
        if status != SUCCESS:
            self.send_error(q, status != RNR_EXC)
        return True

    @rule('RC, XRC and DC: ERR', 'card own_lkey', 'card ref_key')
    @rule('UD goes to SQE, where receiving goes on', 'IBA 10.3.1.6', 'IBA figure 124')
    @rule('UC goes to SQE', 'IBA 10.3.1.6', 'IBA figure 124')
    def send_error(self, q, answered):
        """IBA 10.3.1.6: UC and UD go to SQE, where receiving goes on; others to ERR."""
        if q.type in ('UC', 'UD'):
            q.state = SQE
            self.flush_sends(q)
        else:
            self.fail(q, answered)

    @staticmethod
    @books
    def total(wr):
        return sum(n for _, _, n in wr['list'])

    @rule('a segment of length 0 needs no key', 'rdma-core qp.c _mlx5_post_send()')
    def gather(self, q, wr):
        """The bytes of a SEND or WRITE; None: a local key is wrong."""
        data = b''
        if 'inline' in wr:
            return wr['inline']
        for key, off, n in wr['list']:
            if n and not self.local(key, off, n, q.pd):
                return None
            self.uses(off, n)
            data += self.mem[off:off + n]
        return data

    @books
    def uses(self, off, n):
        """These bytes are read: nobody else may write them meanwhile."""
        if any(off < o + m and o < off + n for o, m in self.scrubs):
            raise Undefined('bytes that an error has left undefined')
        self.touches(off, n)
        self.sources.append((off, n))

    @books
    def writes(self, off, n):
        if any(off < o + m and o < off + n for o, m in self.sources if m and n):
            raise Undefined('a message that overlaps itself')
        self.touches(off, n)
        self.sources.append((off, n))

    @books
    def touches(self, off, n):
        """
        A short payload lies in its CQE (scatter to CQE, which libmlx5 asks for), and comes into memory
        when the program polls, at the end of the step. Until then that memory is not looked at.
        """
        if n and any(off < o + m and o < off + n for o, m in self.unpolled):
            raise Undefined('memory of a completion that nobody has polled')

    @rule('a payload of 32 bytes lies in the CQE: of receives of RC and UC',
          'linux qp.c create_user_qp()')
    @rule('of READs and atomics of RC, if every request is signalled', 'linux qp.c configure_requester_scat_cqe()')
    def in_cqe(self, qp, wr, data, answer=False):
        """Of QPs of mlx5_ib, with CQEs of 64 bytes (create_user_qp())."""
        if len(data) > 32 or qp.type not in (('RC',) if answer else ('RC', 'UC')) or answer and not qp.all:
            return
        left = len(data)
        for _, off, n in wr['list']:
            self.unpolled.append((off, min(n, left)))
            left -= min(n, left)

    @rule('an opcode that the transport lacks: LOC_QP_OP; one that invalidates nothing: MW_BIND', 'card ud_opcode')
    @rule('a datagram longer than the MTU: LOC_LEN', 'card ud_long')
    @rule('a datagram succeeds when it has left', 'card ud_no_receive', 'card ud_qpn')
    @rule('so does a UC message', 'linux rxe_comp.c rxe_completer()')
    @rule('DROP, no answer: RETRY_EXC', 'card dead_state', 'card rc_to_ud')
    @rule('SQ_PSN counts unanswered packets, too', 'card ref_psn')
    @rule('WAIT, no receive: RNR_EXC, but with rnr_retry 7 it waits', 'card ref_rnr',
          'linux rxe_comp.c rxe_completer()')
    @rule('a READ or atomic is executed there before its own key counts', 'card own_read_right', 'card own_atomic')
    def execute(self, q, wr):
        op, self.sources = wr['op'], []
        if op not in OPCODES[q.type]:
            return LOC_QP_OP
        if op == 'BIND':
            return self.bind(q, wr)
        if op == 'INV':
            return self.invalidate(q, wr['obj'], wr['tag'], MW_BIND)
        data, wr['cut'] = None, False
        if op in SENDS + WRITES:
            data = self.gather(q, wr)
            if q.type == 'UD' and self.total(wr) > 4096:
                if data is None:
                    raise Undefined('too long and a wrong key: which is seen first')
                return LOC_LEN
            if data is None:
                return self.cut(q, wr)
        if q.type == 'UD':
            self.datagram(q, wr, data)
            return SUCCESS
        to = self.responder(q, wr)
        answer = self.request(q, to, wr, data) if to else DROP
        if to:
            self.arrived(to, answer)
        if q.type == 'UC':
            q.sq_psn += self.packets(q, wr)
            return SUCCESS
        if answer == DROP:
            q.sq_psn = (q.sq_psn + self.psns_of(wr, q)) & 0xffffff
            return RETRY_EXC
        if answer == WAIT and q.rnr != 7:
            return RNR_EXC
        if answer == SUCCESS:
            self.advance(q, to, wr)
        if answer == SUCCESS and op in ATOMICS + ('READ',):
            return self.scatter_answer(q, wr)
        return answer

    @rule('a wrong local key, LOC_PROT: the whole packets before it are sent', 'card own_range')
    @rule('of UC, too', 'inferred from RC')
    @rule('a datagram is one packet: nothing is sent', 'linux rxe_req.c rxe_requester()')
    def cut(self, q, wr):
        """
        A local key is wrong: the whole packets before it are sent (measured on ConnectX-5 and -6).
        """
        data = b''
        for key, off, n in wr['list'] if q.type != 'UD' else ():
            fits = self.fitting(key, off, n, q.pd)
            self.uses(off, fits)
            data += self.mem[off:off + fits]
            if fits < n:
                break
        n, psn = len(data) // q.mtu, q.sq_psn
        to = self.responder(q, wr) if n else None
        if to:
            wr['cut'] = True
            answer = self.request(q, to, wr, data[:n * q.mtu])
            self.arrived(to, answer)
            if answer == SUCCESS:
                to.rq_psn = to.rq_psn + n & 0xffffff
        q.sq_psn = psn + n & 0xffffff
        return LOC_PROT

    @books
    def packets(self, q, wr):
        return max(1, -(-self.total(wr) // q.mtu))

    @rule('a READ takes as many PSNs as its answer has packets, an atomic one', 'linux rxe_req.c update_wqe_psn()',
          'IBA 9.7.2')
    def psns_of(self, wr, q):
        return 1 if wr['op'] in ATOMICS else self.packets(q, wr)

    @rule('both ends count the same', 'IBA 9.7.1')
    def advance(self, q, to, wr):
        n = self.psns_of(wr, q)
        q.sq_psn = (q.sq_psn + n) & 0xffffff
        to.rq_psn = (to.rq_psn + n) & 0xffffff

    @rule('RTR and RTS hear', 'card post_serve_rtr')
    @rule('SQE hears', 'IBA 10.3.1.6')
    @rule('RESET, INIT and ERR are silent', 'card dead_state')
    @rule('so are QPs of another transport', 'card rc_to_ud', 'card ud_to_rc', 'linux rxe_recv.c check_type_state()')
    @rule('and a DC target whose access key is another',
          'inferred from the event MLX5_EVENT_TYPE_DCT_KEY_VIOLATION, which nobody hears of at the other end')
    @rule('and a QP that is connected to another one',
          "inferred: IBA 9.2 (a BTH names no source) and check_addr() of rxe_recv.c say that it hears its peer's "
          "port, whichever QP sends there, if the PSN fits")
    def responder(self, q, wr):
        """The QP that hears it; None: silence."""
        name = wr.get('to') if q.type == 'DCI' else q.dest
        to = self.objs.get(name)
        if to is None or to.state not in (RTR, RTS, SQE):
            return None
        if q.type == 'DCI':
            # mlx5: a wrong access key is not answered.
            return to if to.type == 'DCT' and to.key == wr['dckey'] else None
        if to.type != {'XI': 'XT'}.get(q.type, q.type) or to.dest != q.name:
            return None
        if to.rq_psn != q.sq_psn and q.type != 'UC':
            raise Undefined('PSNs that do not fit')
        return to

    @rule('the first message in RTR: COMM_EST, once', 'linux qp.c rvt_comm_est()', 'linux rc.c hfi1_rc_rcv()',
          'linux uc.c hfi1_uc_rcv()', 'IBA 11.6.3.1')
    def arrived(self, to, answer):
        """IBA 11.6.3.1: communication is established by the first message in RTR."""
        if to.state == RTR and not to.said and to.type not in ('UD', 'DCT'):
            if answer != SUCCESS:
                raise Undefined('a first message that is refused')
            to.said = True
            self.event('COMM_EST', to)

    @rule('an XRC request uses the domain of the SRQ that it names', 'linux qp.c create_xrc_tgt_qp()')
    @rule("an SRQ that is not of the target's XRC domain: REM_INV_REQ, QP_REQ_ERR",
          'inferred from invalid requests of RC')
    @rule("the QP's rights are looked at before the key: REM_INV_REQ, QP_REQ_ERR", 'card ref_qp',
          'linux rxe_resp.c check_op_valid()')
    @rule("completions of an XRC target go to the SRQ's CQ", 'man ibv_create_srq_ex')
    @rule("a WRITE that an SRQ's receive belongs to: its key is of the QP's domain", 'card srq_pd_write')
    def request(self, q, to, wr, data):
        """What the responder does with a request, and answers: IBA 9.7.4, 9.9.3."""
        op = wr['op']
        srq, pd = to.srq and self.get(to.srq), to.pd
        if to.type == 'XT':
            # A14: each request names an SRQ, which must be of the target's domain; its PD counts.
            srq = self.objs.get(wr['srq'])
            if srq is None or srq.x != to.x:
                self.event('QP_REQ_ERR', to)
                self.fail(to)
                return REM_INV_REQ
            pd = srq.pd
        # Cards look at the QP's rights before anything else (measured on ConnectX-5 and -6); check_op_valid() of rxe.
        if op in RIGHT and RIGHT[op] not in self.rights(to):
            return self.refuse(q, to, REM_INV_REQ, 'QP_REQ_ERR')
        rq, cq = (srq.rq, srq.cq or to.rcq) if srq else (to.rq, to.rcq)
        if op in ('WRITE', 'WRITE_IMM'):
            return self.write(q, to, wr, data, srq, rq, cq, pd)
        if op == 'READ':
            return self.read(q, to, wr, pd)
        if op in ATOMICS:
            return self.atomic(to, wr, pd)
        return self.send(q, to, wr, data, srq, rq, cq, pd)

    @rule('a NAK moves the responder to ERR, with the event', 'card ref_qp', 'card ref_key', 'card key_align')
    @rule('UC: DROP, and the QP goes on', 'linux rxe_resp.c rxe_responder()', 'linux rxe_resp.c check_op_valid()')
    @rule('a DC target goes on, without event', 'inferred: it serves other initiators, and has no command to come back')
    def refuse(self, q, to, status, event):
        """A NAK. The responder's QP fails, but a DCT; UC drops what is wrong (class E)."""
        if q.type == 'UC':
            return DROP
        if to.type != 'DCT':
            self.event(event, to)
        self.fail(to)
        return status

    @rule('a message of no bytes needs no key', 'card key_zero')
    def allowed(self, to, wr, n, pd):
        """By the key, if there are bytes (C9-88)."""
        return not n or self.remote(wr['rkey'], wr['ra'], n, to, pd, RIGHT[wr['op']])

    @staticmethod
    @rule('without responder resources no READs and atomics', 'linux qp.c set_qpc_atomic_flags()')
    def rights(q):
        """Letters of what is left."""
        if q.type in ('RC', 'XT') and not q.reads:
            return q.rights.replace('R', '').replace('A', '')
        return q.rights

    @rule('WAIT: a message with immediate needs a receive', 'card ref_rnr')
    @rule('of a single packet the receive comes before the key', 'linux rxe_resp.c check_resource()',
          'card recv_write_imm_key')
    @rule('of several packets the key comes first: the last one alone needs a receive',
          'linux rxe_resp.c check_resource()')
    @rule('of UC the key comes first', 'inferred: nobody sees the order but counters')
    @rule('a wrong key with a receive in hand: LOC_ACCESS there, REM_ACCESS', 'card recv_write_imm_key', 'IBA 9.9.3')
    @rule('and no event', 'inferred: the completion says it')
    @rule('a wrong key: REM_ACCESS, QP_ACCESS_ERR', 'card ref_key')
    @rule('the whole packets that the key allows have landed', 'card ref_part')
    @rule('of XRC, DC and UC, too', 'inferred from RC')
    def write(self, q, to, wr, data, srq, rq, cq, pd):
        imm, many = wr['op'] == 'WRITE_IMM' and not wr['cut'], self.packets(q, wr) > 1
        ok = self.allowed(to, wr, len(data), pd)
        # UC and the first of several packets: the key is looked at before a receive is taken.
        if imm and not rq and (ok or not (many or q.type == 'UC')):
            if ok and data:
                # Its first packets may have been written.
                if many and q.rnr == 7 and q.type != 'UC':
                    raise Undefined('part of a message that waits')
                if many:
                    self.scrubs.append((wr['ra'], len(data)))
                    to.rq_psn = None if to.type == 'RC' else to.rq_psn
            return WAIT
        self.count('rx_write_requests')  # also one that its key refuses (measured on cards)
        if not ok and imm and not many and q.type != 'UC':
            # It has a receive in hand: class C.
            self.received(to, cq, self.take(srq, rq), LOC_ACCESS)
            self.fail(to)
            return REM_ACCESS
        if not ok:
            # The whole packets that the key allows have landed (measured on ConnectX-5 and -6).
            n = self.fitting_remote(wr, len(data), to, pd) // q.mtu
            self.writes(wr['ra'], n * q.mtu)
            self.mem[wr['ra']:wr['ra'] + n * q.mtu] = data[:n * q.mtu]
            self.landed(q, to, n)
            return self.refuse(q, to, REM_ACCESS, 'QP_ACCESS_ERR')
        self.writes(wr['ra'], len(data))
        self.mem[wr['ra']:wr['ra'] + len(data)] = data
        if imm:
            self.received(to, cq, self.take(srq, rq), SUCCESS, wr, len=len(data))
        return SUCCESS

    @rule('a wrong key: REM_ACCESS, QP_ACCESS_ERR', 'card ref_key')
    @rule('answers to the whole packets that the key allows have come', 'card ref_part_read')
    def read(self, q, to, wr, pd):
        n = self.total(wr)
        self.count('rx_read_requests')
        if not self.allowed(to, wr, n, pd):
            # Answers to the packets that the key allows have come before (inferred from WRITEs).
            n = self.fitting_remote(wr, n, to, pd) // q.mtu
            if n and not all(self.local(k, o, m, q.pd, 'L') for k, o, m in wr['list'] if m):
                raise Undefined('part of an answer, for a list that is wrong behind it')
            self.uses(wr['ra'], n * q.mtu)
            error = self.scatter(wr, bytes(self.mem[wr['ra']:wr['ra'] + n * q.mtu]), q.pd, mtu=q.mtu)
            self.landed(q, to, n)
            return self.refuse(q, to, REM_ACCESS, 'QP_ACCESS_ERR') and (error or REM_ACCESS)
        self.uses(wr['ra'], n)
        wr['answer'] = bytes(self.mem[wr['ra']:wr['ra'] + n])
        return SUCCESS

    @rule('an address that is not aligned, whatever its key: REM_INV_REQ, QP_REQ_ERR', 'card key_align')
    @rule('a wrong key: REM_ACCESS, QP_ACCESS_ERR', 'card ref_key')
    @rule('FETCH_ADD adds 64 bits and wraps', 'card atomic_add')
    @rule('COMPARE_SWAP stores if equal; the answer is the old word', 'card atomic_swap')
    def atomic(self, to, wr, pd):
        """IBA 9.4.5: an address that is not aligned is an invalid request, whatever its key."""
        if wr['ra'] % 8:
            return self.refuse(to, to, REM_INV_REQ, 'QP_REQ_ERR')
        self.count('rx_atomic_requests')
        if not self.allowed(to, wr, 8, pd):
            return self.refuse(to, to, REM_ACCESS, 'QP_ACCESS_ERR')
        self.uses(wr['ra'], 8)
        old = int.from_bytes(self.mem[wr['ra']:wr['ra'] + 8], 'little')
        if wr['op'] == 'FAA':
            new = (old + wr['add']) & (1 << 64) - 1
        else:
            new = wr['swap'] if old == wr['cmp'] else old
        self.mem[wr['ra']:wr['ra'] + 8] = new.to_bytes(8, 'little')
        wr['answer'] = old.to_bytes(8, 'little')
        return SUCCESS

    @books
    def take(self, srq, rq):
        wr = rq.pop(0)
        if srq:
            self.below_limit(srq)
        return wr

    @rule('a wrong key: LOC_PROT', 'card recv_key', 'card own_read_right')
    @rule('a list that is too short: LOC_LEN', 'card recv_short')
    @rule('what the message does not fill stays', 'card recv_long_segment')
    @rule('whole packets before the failure have landed', 'inferred from WRITEs')
    def scatter(self, wr, data, pd, mtu, dry=False):
        """
        Into a list of (key, offset, length): None or the error. Its rest is not touched, nor what
        is not a whole packet before an error: self.whole says how many there were.
        """
        todo, bad, fits = data, False, 0
        spans = []
        for key, off, n in wr['list']:
            n = min(n, len(todo))
            if n:
                spans.append((off, todo[:n]))
                fits += 0 if bad else self.fitting(key, off, n, pd, 'L')
                bad = bad or not self.local(key, off, n, pd, 'L')
            todo = todo[n:]
        if todo and bad:
            raise Undefined('a list too short with a wrong key: which is seen first')
        if dry:
            for off, part in spans if todo else ():
                self.scrubs.append((off, len(part)))
            return LOC_LEN if todo else LOC_PROT if bad else None
        self.whole = fits // mtu
        left = self.whole * mtu if todo or bad else len(data)
        for off, part in spans:
            self.writes(off, min(left, len(part)))
            self.mem[off:off + min(left, len(part))] = part[:left]
            left -= min(left, len(part))
        return LOC_LEN if todo else LOC_PROT if bad else None

    @rule('its own key refuses the answer: LOC_PROT', 'card own_read_right', 'card own_atomic',
          'linux rxe_comp.c do_read()')
    def scatter_answer(self, q, wr):
        error = self.scatter(wr, wr['answer'], q.pd, q.mtu)
        if not error:
            self.in_cqe(q, wr, wr['answer'], answer=True)
        return error or SUCCESS

    @rule('WAIT: no receive', 'card ref_rnr')
    @rule('a receive that is too short: LOC_LEN there, REM_INV_REQ', 'card recv_short')
    @rule('a receive whose key is wrong: REM_OP', 'card recv_key', 'card recv_range', 'card recv_right')
    @rule('the receiver fails without an event', 'inferred: the completion says it (IBA 11.6.3.1 has none for it)')
    @rule('UC without SRQ and too long: DROP, the receive is used again', 'linux rxe_resp.c rxe_responder()',
          'IBA 9.9.3')
    @rule('UC with an SRQ: the receive is used, with the error', 'linux rxe_resp.c rxe_responder()')
    @rule("an SRQ's receives use its domain", 'card srq_pd_recv')
    @rule('a key that cannot be invalidated fails the receive: LOC_ACCESS, and the QP', 'card mw2_send_inv_wrong')
    @rule('then DROP, neither ACK nor NAK', 'IBA 9.9.6.3', 'linux rxe_resp.c rxe_responder()')
    @rule('a DC target sends its ACK and goes on', 'inferred: it serves other initiators')
    @rule('the receive has the key that was invalidated', 'card mw2_send_inv', 'rdma-core cq.c handle_responder()')
    def send(self, q, to, wr, data, srq, rq, cq, pd):
        if not rq:
            return WAIT
        if q.type == 'UC' and not srq:
            # IBA 9.9.3: too long for UC is class E, the receive is used again for the next.
            if self.scatter(self.with_keys(rq[0]), data, pd, q.mtu, dry=True) == LOC_LEN:
                return DROP
        if wr['cut']:
            return self.begun(q, to, rq, data, cq, srq)
        recv = self.with_keys(self.take(srq, rq))
        pd = srq.pd if srq else pd  # IBA 10.2.9.1: an SRQ has its own
        error = self.scatter(recv, data, pd, q.mtu)
        if error:
            self.landed(q, to, self.whole)
            self.received(to, cq, recv, error)
            self.fail(to)
            return REM_INV_REQ if error == LOC_LEN else REM_OP
        if wr['op'] == 'SEND_INV':
            obj, tag = wr['invey']
            if self.invalidate(to, obj, tag, LOC_ACCESS):
                # IBA 9.9.6.3: class J, neither ACK nor NAK. A DCT goes on.
                self.received(to, cq, recv, LOC_ACCESS)
                self.fail(to)
                return SUCCESS if to.type == 'DCT' else DROP
        inv = None
        if wr['op'] == 'SEND_INV':
            inv = f'{obj.name}:{tag}'
        self.in_cqe(to, recv, data)
        self.received(to, cq, recv, SUCCESS, wr, len=len(data), inv=inv)
        return SUCCESS

    @rule('the receive of a message that does not end stays posted', 'inferred from RDMA: nothing completes it')
    @rule('its first packets end it as whole messages would: REM_INV_REQ, REM_OP, LOC_LEN there',
          'inferred from recv_short and recv_key')
    def begun(self, q, to, rq, data, cq, srq):
        """The first packets of a SEND whose last one does not come: its receive stays posted."""
        if srq:
            raise Undefined('whose is a receive that a message has begun')
        error = self.scatter(self.with_keys(rq[0]), data, to.pd, q.mtu)
        if not error:
            return SUCCESS
        self.landed(q, to, self.whole)
        self.received(to, cq, self.take(srq, rq), error)
        self.fail(to)
        return REM_INV_REQ if error == LOC_LEN else REM_OP

    @books
    def with_keys(self, recv):
        """A receive's keys count when it is used."""
        return {**recv, 'list': [(self.key(k), o, n) for k, o, n in sges(recv)]}

    @rule('silence about a QPN, type, state or Q_Key that does not fit', 'card ud_qpn', 'card ud_qkey', 'card ud_to_rc')
    @rule('SQE receives', 'IBA 10.3.1.6')
    @rule("a Q_Key with its high bit means the QP's own", 'linux ud.c hfi1_make_bth_deth()')
    @rule('each member of a group gets a copy, also the sender', 'IBA 10.5.2', 'man ibv_attach_mcast')
    @rule('but one that blocks its own', 'linux qp.c create_user_qp()')
    @rule('the sender gets its copy last', "inferred: known to the engine's author")
    def datagram(self, q, wr, data):
        """IBA 9.8.3: silence on whatever does not fit."""
        qkey = q.qkey if wr['qkey'] & 0x80000000 else wr['qkey']
        names = [wr['to']]
        if is_group(wr['to']):  # IBA 10.5.2: each member gets a copy, also the sender
            names = [m.name for m in self.all('q') if wr['to'] in m.groups
                     and not (m is q and m.nolb)]
        to = [self.objs.get(n) for n in names]
        to = [m for m in to if m and m.type == 'UD' and m.state in (RTR, RTS, SQE)
              and m.qkey == qkey]
        srqs = [m.srq for m in to if m.srq]
        if len(set(srqs)) < len(srqs):
            raise Undefined('which member takes the first receive')
        if q in to and len(to) > 1:
            to.append(to.pop(to.index(q)))
        for m in to:
            self.arrive(q, m, wr, data)

    @rule('fields of the GRH', 'card ud_class', 'linux ruc.c hfi1_make_grh()', 'IBA 8.3')
    def grh(self, wr, data):
        """IBA 8.3, with the fields of the address handle that exec.c makes."""
        size = 12 + 8 + 4 * wr['op'].endswith('_IMM') + (len(data) + 3) // 4 * 4 + 4
        words = (6 << 28 | 0x12 << 20 | 0x34567, size << 16 | 0x1b << 8 | 5)
        dgid = bytes([255, 0x12, *bytes(13), int(wr['to'][1:])]) if is_group(wr['to']) else self.gid
        return b''.join(w.to_bytes(4, 'big') for w in words) + self.gid + dgid

    @rule('40 bytes come first, the GRH if there is one', 'card ud_arrives', 'man ibv_post_recv')
    @rule('no receive: lost', 'card ud_no_receive')
    @rule('too short, LOC_LEN: lost, and the receive is used again', 'card ud_short')
    @rule('of an SRQ it is used, and the QP fails', 'linux rxe_resp.c rxe_responder()')
    @rule('a wrong key fails the receive and the QP', 'linux rxe_resp.c rxe_responder()')
    @rule('a datagram to its own QP has left before it arrives', "inferred: known to the engine's author")
    def arrive(self, q, to, wr, data):
        """40 bytes of a GRH come first; without one they are undefined."""
        srq = to.srq and self.get(to.srq)
        rq = srq.rq if srq else to.rq
        if not rq:
            return
        recv, pd = self.with_keys(rq[0]), srq.pd if srq else to.pd
        grh = self.grh(wr, data) if wr.get('grh') or is_group(wr['to']) else None
        message = (grh or bytes(40)) + data
        if not srq and self.scatter(recv, message, pd, 4096, dry=True) == LOC_LEN:
            return
        self.take(srq, rq)
        if to is q:
            self.sent(q, q.sq.pop(0), SUCCESS)  # it has left before it arrives
        error = self.scatter(recv, message, pd, 1 << 30)
        if error:
            self.received(to, to.rcq, recv, error)
            self.fail(to)
            return
        left = 0 if grh else 40
        for _, off, n in recv['list']:
            self.scrubs.append((off, min(n, left)))
            left -= min(n, left)
        self.received(to, to.rcq, recv, SUCCESS, wr, len=len(data) + 40, src=q.name,
                      grh=1 if grh else None)

    # Windows.

    @rule('the region is not looked at', 'card win_large', 'card win_atomic', 'rdma-core qp.c set_bind_wr()')
    @rule('MW_BIND: the window is gone, or of another domain', 'linux rxe_mw.c rxe_check_bind_mw()')
    @rule('MW_BIND: a window of type 2 that is bound', 'card mw2_rebind')
    @rule('type 1 to no bytes ends its key', 'card mw1_zero')
    @rule('type 2 to no bytes: MW_BIND unless it is bound to this QP', 'card mw2_zero',
          'rdma-core qp.c set_umr_control_seg()')
    @rule('a bind that is refused changes nothing', 'card mw2_rebind_keeps')
    def bind(self, q, wr):
        """
        IBA 10.6.7.2, 11.4.1.1. That the region was made for windows (IBV_ACCESS_MW_BIND) no mlx5
        card can check: its memory keys have no such bit. Cards look at nothing of the region.
        """
        w, mr, n = wr['obj'], wr['mr'], wr['len']
        rights = letters(wr.get('acc'))
        if self.objs.get(w.name) is not w or w.pd != q.pd or n and w.type == 2 and w.bound:
            return MW_BIND
        if not n:
            # To no bytes: the same request as LOCAL_INV (set_umr_control_seg() of libmlx5).
            if w.type == 2 and not (w.bound and w.q is q):
                return MW_BIND
            w.tag, w.bound = wr['tag'], False
            return SUCCESS
        w.tag, w.bound, w.mr, w.off, w.len = wr['tag'], True, mr, wr['off'], n
        w.rights, w.q = rights, q
        return SUCCESS

    @rule('a window of type 2 that is bound to this QP', 'card mw2_inv', 'card mw2_inv_other', 'card mw2_send_inv')
    @rule('one that is not bound is refused, also if a SEND has invalidated it',
          'inferred from mw2_zero, and IBA o10-37.2.40')
    @rule('another tag is refused', 'card mw2_inv_key', 'card mw2_send_inv_wrong')
    @rule('a SEND does not invalidate one of type 1', 'card mw2_send_inv_wrong')
    @rule('LOCAL_INV does (MW_BIND otherwise)',
          'inferred from mlx5dv_wr_post(3): it unbinds keys of no QP, and a window of type 1 is one; IBA o10-37.2.26 '
          'and rxe_check_invalidate_mw() refuse type 1')
    def invalidate(self, q, w, tag, error):
        """
        IBA 10.6.7.3: a window of type 2 that is bound to this QP. LOCAL_INV unbinds one of
        type 1, too, in libmlx5's way: for the card both are keys of no QP.
        """
        if self.objs.get(w.name) is not w or w.name[0] != 'w' or not w.bound:
            return error
        if w.tag != tag and error == MW_BIND:
            raise Undefined('libmlx5 has the UMR set the tag, so that a card may not compare it')
        if w.tag != tag:
            return error
        if w.pd != q.pd or (w.q is not q if w.type == 2 else error != MW_BIND):
            return error
        w.bound = False
        return SUCCESS if error == MW_BIND else None
