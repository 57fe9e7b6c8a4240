/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Executes the script of a page of `softhca topo -o html` (FILE), for test_topo.py: the elements and the
 * canvas only remember. Chooses a way to colour and a node, and prints as JSON the colours of the cables
 * and the text of the panel before and after.
 * Usage: node page.js FILE COLOURS SEARCH
 */
"use strict";
const fs = require("fs");
const [file, colours, word] = process.argv.slice(2);
const html = fs.readFileSync(file, "utf8");
const part = (open) => html.split(open)[1].split("</script>")[0];
const styles = [];
let drawn = 0;
const pen = new Proxy({}, {
	get: (o, k) => k === "measureText" ? () => ({width: 10}) :
		k === "beginPath" ? () => { drawn = 0; } : k === "lineTo" ? () => { drawn++; } :
		k === "stroke" ? () => drawn && styles.push(o.strokeStyle) : o[k] || (() => {}),
	set: (o, k, v) => { o[k] = v; return true; },
});
class Element {
	constructor() {
		Object.assign(this, {all: [], own: "", clientWidth: 800, clientHeight: 600, value: "", parentNode: {}});
	}
	set textContent(t) { this.own = String(t); this.all = []; }
	get textContent() { return [this.own, ...this.all.map(e => e.textContent)].filter(Boolean).join(" "); }
	appendChild(e) { this.all.push(e); return e; }
	getContext() { return pen; }
	blur() {}
}
const ids = {fabric: new Element()};
ids.fabric.textContent = part('id="fabric">');
global.document = {documentElement: null, createElement: () => new Element(),
		   getElementById: id => ids[id] || (ids[id] = new Element())};
global.window = {};
global.location = {hash: ""};
global.getComputedStyle = () => ({getPropertyValue: n => n});
global.requestAnimationFrame = f => f();
const out = {};
document.getElementById("colours").value = colours;
(0, eval)(part("<script>"));
out.panel = ids.panel.textContent;
out.styles = [...new Set(styles)];
ids.search.value = word;
ids.search.oninput();
ids.search.onkeydown({key: "Enter"});
out.node = ids.panel.textContent;
console.log(JSON.stringify(out));
