/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The grammar of rules: what they mean, and where mistakes are. */
#include "fault/rows.h"
#include "util/cleanup.h"
#include "util/test_cmocka.h"
#include "wire/mad/cm.h"
#include "wire/mad/mad.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct hw_fault f;
static struct fault_mistake m;

static void good(const char *rule)
{
	if (fault_parse(rule, &f, &m))
		fail_msg("%s: %zu: %s", rule, m.at, m.text);
	assert_string_equal(f.text, rule);
}

/* `mark`: the rule up to the mistake. */
static void bad(const char *rule, const char *mark, const char *text)
{
	assert_int_equal(fault_parse(rule, &f, &m), -EINVAL);
	if (m.at != strlen(mark) || !strstr(m.text, text))
		fail_msg("%s: at %zu: %s", rule, m.at, m.text);
}

static void the_examples_of_each_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < fault_nwheres; i++) {
		const struct fault_where *w = &fault_wheres[i];

		good(w->example);
		assert_int_equal(f.sel.moment, w->at);
		assert_int_equal(f.sel.where, i);
		assert_true(w->act ? w->at >= HW_MOMENTS && w->at < HW_ACTS_END
				   : w->at > HW_AT_NEVER && w->at < HW_MOMENTS);
		assert_true(w->whats);
	}
}

static void what_a_rule_says(void **state)
{
	uint64_t v;

	(void)state;
	good("ibv_create_qp[comm=ib_write_bw,host=h2,pid=12,dev=mlx5_1]:error=ENOMEM");
	assert_int_equal(f.sel.moment, HW_AT_CALL);
	assert_string_equal(fault_wheres[f.sel.where].names[f.sel.id].name, "ibv_create_qp");
	assert_string_equal(f.sel.comm, "ib_write_bw");
	assert_string_equal(f.sel.host, "h2");
	assert_string_equal(f.sel.dev, "mlx5_1");
	assert_int_equal(f.sel.pid, 12);
	assert_int_equal(f.sel.have,
			 1u << HW_FK_COMM | 1u << HW_FK_HOST | 1u << HW_FK_PID | 1u << HW_FK_DEV);
	assert_true(fault_does(&f.does, FAULT_ERROR, &v));
	assert_int_equal(v, ENOMEM);
	assert_false(fault_does(&f.does, FAULT_STATUS, &v));

	good("fw[cmd=CREATE_MKEY]:status=NO_RESOURCES,syndrome=0x1234");
	assert_int_equal(f.sel.id, 0x200);
	assert_true(fault_does(&f.does, FAULT_STATUS, &v));
	assert_int_equal(v, 0xf);
	assert_true(fault_does(&f.does, FAULT_SYNDROME, &v));
	assert_int_equal(v, 0x1234);
	good("fw:status=0x51");
	assert_int_equal(f.sel.id, UINT32_MAX);
	assert_true(fault_does(&f.does, FAULT_STATUS, &v));
	assert_int_equal(v, 0x51);
}

static void adapters_and_objects(void **state)
{
	uint64_t v;

	(void)state;
	good("device[dev=mlx5_0]:unplug:at=1s");
	assert_true(fault_does(&f.does, FAULT_UNPLUG, &v));
	assert_int_equal(v, 0);
	good("device[host=h2]:unplug=2s:after=WRITE*100");
	assert_true(fault_does(&f.does, FAULT_UNPLUG, &v));
	assert_int_equal(v, 2000000000);
	good("device:fatal:at=0s");
	good("device[host=h2]:qps=40:after=ibv_create_qp*40");
	assert_true(fault_does(&f.does, FAULT_QPS, &v));
	assert_int_equal(v, 40);
	good("device:mrs=0:at=0s");
	bad("device:qps:at=1s", "device:qps", "qps wants a value");
	good("process[comm=x]:memory=65536:at=0s");
	assert_true(fault_does(&f.does, FAULT_MEMORY, &v));
	assert_int_equal(v, 65536);
	good("process[comm=x]:descriptors=0:after=ibv_alloc_pd");
	assert_true(fault_does(&f.does, FAULT_FILES, &v));
	bad("device:unplug=:at=1s", "device:unplug=", "a time is a number");
	bad("device:unplug", "device:unplug", "a time or an event is missing");
	bad("device:fatal=1s:at=1s", "device:fatal", "fatal has no value");
	bad("device[port=1]:fatal:at=1s", "device[", "port= does not narrow device");

	good("qp[type=RC,nth=2]:event=QP_FATAL:at=1s");
	assert_int_equal(f.sel.nth, 2);
	assert_true(fault_does(&f.does, FAULT_QP_EVENT, &v));
	assert_int_equal(v, 1);
	good("qp[qp=0x41]:event=PATH_MIG_ERR:at=1s");
	bad("qp:event=SRQ_ERR:at=1s", "qp:event=", "no event of QPs");
	assert_string_equal(m.allowed, "QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR, PATH_MIG_ERR");
	bad("qp[nth=0]:event=QP_FATAL:at=1s", "qp[nth=", "the first one is number 1");
	bad("qp:event=QP_FATAL:when=2", "qp:event=QP_FATAL:", "is no condition of qp");

	good("srq[nth=1,srq=7]:event=SRQ_ERR:at=1s");
	assert_int_equal(f.sel.num, 7);
	good("wq[wq=9]:event=WQ_FATAL:after=ibv_query_qp");
	bad("wq[nth=1]:event=WQ_FATAL:at=1s", "wq[", "nth= does not narrow wq");

	good("cq[nth=1]:overrun:when=10");
	assert_int_equal(f.sel.moment, HW_AT_CQE);
	assert_int_equal(f.when.first, 10);
	good("process:kill:after=cq[comm=x]*100");
	bad("cq:overrun:at=1s", "cq:overrun:", "at= is no condition of cq");
}

static void when_it_fires(void **state)
{
	static const struct {
		const char *when;
		uint64_t first, last, step;
	} is[] = {
		{"", 1, UINT64_MAX, 1},         {":when=3", 3, 3, 1},
		{":when=3+", 3, UINT64_MAX, 1}, {":when=3+2", 3, UINT64_MAX, 2},
		{":when=3..7", 3, 7, 1},        {":when=3..3", 3, 3, 1},
	};
	char rule[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		snprintf(rule, sizeof(rule), "ibv_reg_mr:error=ENOMEM%s", is[i].when);
		good(rule);
		assert_int_equal(f.when.first, is[i].first);
		assert_int_equal(f.when.last, is[i].last);
		assert_int_equal(f.when.step, is[i].step);
	}
	good("ibv_reg_mr:error=ENOMEM:p=0.25");
	assert_int_equal(f.when.of_2_32, UINT64_C(1) << 30);
	good("ibv_reg_mr:error=ENOMEM:p=1");
	assert_int_equal(f.when.of_2_32, UINT64_C(1) << 32);
	good("ibv_reg_mr:error=ENOMEM:p=0.000000001");
	assert_int_equal(f.when.of_2_32, 4);
	good("ibv_reg_mr:error=ENOMEM:p=0.5:count=3:per=process:until=1500ms");
	assert_int_equal(f.when.budget, 3);
	assert_int_equal(f.when.per, HW_PER_PROCESS);
	assert_int_equal(f.when.until_ns, 1500000000);
	good("ibv_reg_mr:error=ENOMEM:when=2,count=1");
	assert_int_equal(f.when.budget, 1);
}

static void events_of_conditions(void **state)
{
	(void)state;
	good("ibv_reg_mr[comm=x]:error=ENOMEM:after=ibv_create_qp*3:until=ibv_destroy_qp");
	assert_int_equal(f.when.after.moment, HW_AT_CALL);
	assert_int_equal(f.when.after_n, 3);
	assert_string_equal(f.when.after.comm, "x"); /* that of the rule */
	assert_int_equal(f.when.before.moment, HW_AT_CALL);
	assert_int_equal(f.when.before_n, 1);
	good("ibv_reg_mr[comm=x]:error=ENOMEM:after=fw[cmd=CREATE_QP]");
	assert_int_equal(f.when.after.moment, HW_AT_FW);
	assert_int_equal(f.when.after.id, 0x500);
	assert_int_equal(f.when.after.have, 1u << HW_FK_CMD);
}

static void messages(void **state)
{
	uint64_t v;

	(void)state;
	good("WRITE[size=65536,type=RC,qp=0x41]:cut=3:when=1");
	assert_int_equal(f.sel.moment, HW_AT_WR);
	assert_int_equal(f.sel.size, 65536);
	assert_int_equal(f.sel.st, 0);
	assert_int_equal(f.sel.qpn, 0x41);
	assert_true(fault_does(&f.does, FAULT_CUT, &v));
	assert_int_equal(v, 3);
	good("SEND:status=REM_ACCESS_ERR:per=qp");
	assert_true(fault_does(&f.does, FAULT_WC, &v));
	assert_int_equal(v, 10);
	good("RECV:status=LOC_LEN_ERR");
	assert_true(fault_does(&f.does, FAULT_RECV_WC, &v));
	assert_int_equal(v, 1);
	good("RECV:status=LOC_LEN_ERR,vendor_err=0x99");
	assert_true(fault_does(&f.does, FAULT_VENDOR_ERR, &v));
	assert_int_equal(v, 0x99);
	good("UMR:status=MW_BIND_ERR,vendor_err=255");
	good("cable[host=h1,dev=mlx5_0,port=1]:latency=5ms,rate=500Mbps:until=2s");
	assert_int_equal(f.sel.moment, HW_AT_CABLE);
	assert_true(fault_does(&f.does, FAULT_LATENCY, &v));
	assert_int_equal(v, 5000000);
	assert_true(fault_does(&f.does, FAULT_RATE, &v));
	assert_int_equal(v, 500000000);
	good("cable:rate=10Gbps");
	bad("cable:rate=10", "cable:rate=10", "a rate has a unit");
	bad("cable:rate=0Gbps", "cable:rate=", "a rate is from 1");
	bad("cable:latency=1ms,latency=2ms", "cable:latency=1ms,", "latency is given twice");
	bad("cable:latency=1ms:at=1s", "cable:latency=1ms:", "at= is no condition of cable");
	good("CAS:nak=sequence:when=2");
	assert_true(fault_does(&f.does, FAULT_NAK, &v));
	assert_int_equal(v, 0x60);
	good("READ:nak=remote_access,vendor_err=1");
	bad("READ:nak=sequence,vendor_err=1", "READ:nak=sequence,", "vendor_err= stands beside");
	bad("READ:lost,vendor_err=1", "READ:lost,", "vendor_err= stands beside status=");
	bad("READ:vendor_err=1", "READ:", "vendor_err cannot happen there");
	bad("SEND:status=LOC_LEN_ERR,vendor_err=256", "SEND:status=LOC_LEN_ERR,", "below 256");
	bad("SEND:nak=rnr", "SEND:nak=", "there is no NAK 'rnr'");
	bad("RECV:status=REM_ACCESS_ERR", "RECV:status=", "there is no status of receives");
	bad("SEND:status=SUCCESS", "SEND:status=", "there is no status of completions");
	bad("READ:cut=1", "READ:", "cut cannot happen there");
	bad("UMR:lost", "UMR:", "lost cannot happen there");
	bad("SEND[type=RD]:lost", "SEND[type=", "there is no type of QPs 'RD'");
	bad("SEND[cmd=NOP]:lost", "SEND[", "cmd= does not narrow SEND");
	bad("SEND:lost=1", "SEND:lost", "lost has no value");
	bad("SENDS:lost", "", "did you mean 'SEND'?");
}

static void acts(void **state)
{
	uint64_t v;

	(void)state;
	good("port:gid[1]=fe80::2:at=1s");
	assert_true(fault_does(&f.does, FAULT_GID, &v));
	assert_int_equal(v, 1);
	assert_int_equal(f.does.gid[0], 0xfe);
	assert_int_equal(f.does.gid[15], 2);
	assert_int_equal(f.when.at_ns, 1000000000);
	good("port:gid[127]=::ffff:10.0.0.1:after=ibv_reg_mr");
	assert_int_equal(f.does.gid[12], 10);
	good("port:gid[3]=:::at=1s");
	assert_int_equal(f.does.gid[15], 0);
	bad("port:gid[1]=10.0.0.1:at=1s", "port:gid[1]=", "a GID is written as an IPv6 address");
	bad("port:gid[1]=fe80::1g:at=1s", "port:gid[1]=", "a GID is written as an IPv6 address");
	bad("port:gid=fe80::1:at=1s", "port:gid", "gid wants an index and a GID");
	bad("port:gid[128]=fe80::1:at=1s", "port:gid[", "the index is below 128");
	good("port[host=h2,dev=mlx5_1,port=2]:pkey[3]=0x7fff:at=500ms");
	assert_int_equal(f.sel.moment, HW_ACT_PORT);
	assert_int_equal(f.sel.port, 2);
	assert_int_equal(f.when.at_ns, 500000000);
	assert_true(fault_does(&f.does, FAULT_PKEY, &v));
	assert_int_equal(v, UINT64_C(3) << 32 | 0x7fff);
	good("port:flap=200ms:at=0s");
	assert_int_equal(f.when.at_ns, 1);
	assert_true(fault_does(&f.does, FAULT_FLAP, &v));
	assert_int_equal(v, 200000000);
	good("process[comm=x]:kill:after=ibv_reg_mr*100");
	assert_int_equal(f.when.after_n, 100);
	assert_string_equal(f.when.after.comm, "x");
	bad("process:kill", "process:kill", "a time or an event is missing");
	bad("process:kill:when=1", "process:kill:", "when= is no condition of process");
	bad("process:kill=1:at=1s", "process:kill", "kill has no value");
	bad("process:stop:at=1s", "process:stop", "stop wants a value");
	bad("process:kill:at=1s:after=fw", "process:kill:at=1s:after=fw", "either at= or after=");
	bad("ibv_reg_mr:error=EIO:at=1s", "ibv_reg_mr:error=EIO:", "at= is no condition of ibv_");
	bad("ibv_reg_mr:error=EIO:after=port", "ibv_reg_mr:error=EIO:after=", "port is no event");
	bad("port:pkey=1:at=1s", "port:pkey", "pkey wants an index and a P_Key");
	bad("port:pkey[128]=1:at=1s", "port:pkey[", "the index is below 128");
	bad("port:pkey[0]=0x10000:at=1s", "port:pkey[0]=", "a P_Key has 16 bits");
	bad("port:pkey[0:at=1s", "port:pkey[0", "']' is missing");
}

static void management(void **state)
{
	uint64_t v;

	(void)state;
	good("cm[msg=REQ,host=h2,dev=mlx5_1,port=1,lid=3]:reject=consumer:when=1");
	assert_int_equal(f.sel.moment, HW_AT_CM);
	assert_int_equal(f.sel.id, CM_ATTR_REQ);
	assert_int_equal(f.sel.lid, 3);
	assert_true(fault_does(&f.does, FAULT_REJECT, &v));
	assert_int_equal(v, CM_REJ_CONSUMER_DEFINED);
	good("cm:late=50ms:p=0.1");
	assert_int_equal(f.sel.id, UINT32_MAX);
	good("cm[msg=DREP]:duplicated:per=host");
	good("cm[msg=REP]:reject=timeout");
	good("cm[msg=REQ]:lost");
	assert_true(fault_does(&f.does, FAULT_MAD_LOST, &v));
	assert_int_equal(v, 1);
	good("cm[msg=SIDR_REQ]:lost=16:after=ibv_create_qp");
	assert_true(fault_does(&f.does, FAULT_MAD_LOST, &v));
	assert_int_equal(v, 16);
	bad("cm[msg=REG]:lost", "cm[msg=", "did you mean 'REQ'?");
	assert_non_null(strstr(m.allowed, "SIDR_REP, LAP, APR"));
	bad("cm[msg=REQ]:reject=consume", "cm[msg=REQ]:reject=", "did you mean 'consumer'?");
	assert_non_null(strstr(m.allowed, "no_qp, no_eec"));
	bad("cm[msg=RTU]:reject=consumer", "cm[msg=RTU]:", "only a REQ or REP");
	bad("cm[msg=REQ]:reject=timeout", "cm[msg=REQ]:", "answers a REP");
	bad("cm[msg=REQ]:status=1", "cm[msg=REQ]:", "status cannot happen there");
	bad("cm:lost=0", "cm:lost=", "at least 1");
	bad("cm:lost:per=qp", "cm:lost:per=", "only per=host");
	bad("cm[pid=1]:lost", "cm[", "pid= does not narrow cm");

	good("mad[attr=PathRecord,class=SubnAdm,method=GetTable,lid=1]:status=NO_RECORDS");
	assert_int_equal(f.sel.moment, HW_AT_MAD);
	assert_int_equal(f.sel.attr, MAD_CLASS_SA << 16 | SA_ATTR_PATH_RECORD);
	assert_int_equal(f.sel.mad_class, MAD_CLASS_SA | HW_FAULT_NAMED);
	assert_int_equal(f.sel.method, MAD_METHOD_GET_TABLE);
	assert_true(fault_does(&f.does, FAULT_MAD_STATUS, &v));
	assert_int_equal(v, SA_STATUS_NO_RECORDS);
	good("mad[class=0x32,method=0x1b,attr=0xff10]:late=1s");
	assert_int_equal(f.sel.mad_class, 0x32);
	assert_int_equal(f.sel.attr, 0xff10);
	good("mad[class=SubnDR,attr=NodeInfo]:status=0x1c");
	good("mad[class=PerfMgt,attr=ClassPortInfo]:lost");
	bad("mad[class=PerfMgt,attr=PathRecord]:lost", "mad[class=PerfMgt,attr=PathRecord",
	    "no such attribute");
	bad("mad[attr=PathRecords]:lost", "mad[attr=", "did you mean 'PathRecord'?");
	bad("mad[method=GetResp]:status=BUSY", "mad[method=GetResp]:", "answers a request");
	bad("mad[attr=ConnectRequest]:status=BUSY",
	    "mad[attr=ConnectRequest]:", "answers a request");
	bad("mad:status=BUSI", "mad:status=", "did you mean 'BUSY'?");
	bad("mad:reject=consumer", "mad:", "reject cannot happen there");
	bad("mad:lost:per=process", "mad:lost:per=", "only per=host");
	good("port:sm_change:at=1s");
	bad("port:sm_change=1:at=1s", "port:sm_change", "has no value");
}

static void mistakes(void **state)
{
	char rule[400];

	(void)state;
	bad("", "", "begins with a place");
	bad("ibv_creat_qp:error=ENOMEM", "", "did you mean 'ibv_create_qp'?");
	assert_non_null(strstr(m.allowed, "ibv_open_device"));
	bad("nonsense:error=ENOMEM", "", "there is no place 'nonsense'");
	assert_non_null(strstr(m.allowed, "ibv_..."));
	assert_non_null(strstr(m.allowed, "fw"));
	bad("fw", "fw", "the effect is missing");
	bad("fw status=3", "", "there is no place");
	bad("fw:", "fw:", "the effect is missing");
	assert_string_equal(m.allowed, "status");
	bad("fw:error=ENOMEM", "fw:", "error cannot happen there");
	bad("fw:status", "fw:status", "status wants a value");
	bad("fw:status=", "fw:status=", "status= wants a status");
	bad("fw:status=NO_RESOURCE", "fw:status=", "did you mean 'NO_RESOURCES'?");
	bad("fw:status=OK,status=OK", "fw:status=OK,", "status cannot stand here");
	bad("fw:status=OK,syndrome=x", "fw:status=OK,syndrome=", "syndrome is a number");
	bad("fw[cmd=CREATE_QPS]:status=OK", "fw[cmd=", "did you mean 'CREATE_QP'?");
	bad("fw[cmd]:status=OK", "fw[cmd", "cmd wants a value");
	bad("fw[host=a,host=b]:status=OK", "fw[host=a,", "host is given twice");
	bad("fw[hots=a]:status=OK", "fw[", "did you mean 'host'?");
	assert_string_equal(m.allowed, "pid, host, comm, dev, cmd");
	bad("fw[host=a:status=OK", "fw[host=a", "']' is missing");
	bad("ibv_reg_mr[cmd=NOP]:error=EIO", "ibv_reg_mr[", "cmd= does not narrow ibv_");
	bad("ibv_reg_mr:error=ENOMEN", "ibv_reg_mr:error=", "did you mean 'ENOMEM'?");
	bad("ibv_reg_mr:error=ENOMEM:wen=2", "ibv_reg_mr:error=ENOMEM:", "did you mean 'when'?");
	assert_string_equal(m.allowed, "when, p, until, after, count, per");
	bad("ibv_reg_mr:error=EIO:when=0", "ibv_reg_mr:error=EIO:when=", "number 1");
	bad("ibv_reg_mr:error=EIO:when=x", "ibv_reg_mr:error=EIO:when=", "is a number");
	bad("ibv_reg_mr:error=EIO:when=3..2", "ibv_reg_mr:error=EIO:when=3..", "before the first");
	bad("ibv_reg_mr:error=EIO:when=3+0", "ibv_reg_mr:error=EIO:when=3+", "at least 1");
	bad("ibv_reg_mr:error=EIO:when=1:when=2", "ibv_reg_mr:error=EIO:when=1:", "twice");
	bad("ibv_reg_mr:error=EIO:p=2", "ibv_reg_mr:error=EIO:p=", "at most 1");
	bad("ibv_reg_mr:error=EIO:p=0", "ibv_reg_mr:error=EIO:p=", "above 0");
	bad("ibv_reg_mr:error=EIO:until=3", "ibv_reg_mr:error=EIO:until=3", "has a unit");
	bad("ibv_reg_mr:error=EIO:count=0", "ibv_reg_mr:error=EIO:count=", "at least 1");
	bad("ibv_reg_mr:error=EIO:per=qps", "ibv_reg_mr:error=EIO:per=", "there is no unit");
	bad("ibv_reg_mr:error=EIO:when=1]", "ibv_reg_mr:error=EIO:when=1", "should end here");
	bad("ibv_reg_mr:error=EIO:after=nobody", "ibv_reg_mr:error=EIO:after=", "no place");
	bad("ibv_reg_mr:error=EIO:when=99999999999999999999",
	    "ibv_reg_mr:error=EIO:when=", "is a number");
	memset(rule, 'x', sizeof(rule));
	rule[sizeof(rule) - 1] = '\0';
	bad(rule, "", "at most 255 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_each_place),
		cmocka_unit_test(what_a_rule_says),
		cmocka_unit_test(adapters_and_objects),
		cmocka_unit_test(when_it_fires),
		cmocka_unit_test(events_of_conditions),
		cmocka_unit_test(messages),
		cmocka_unit_test(acts),
		cmocka_unit_test(management),
		cmocka_unit_test(mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
