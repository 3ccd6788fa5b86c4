// SPDX-License-Identifier: GPL-2.0
//
// page.js - the controls of the page, and what it says
//
// The C of the schemes is in the variable "wheel", an instance of wheel.c. Beginning again makes a
// new instance. WASM and PAPER, the code and Table II's orders of growth, are put here when the
// page is made.

const SET = 0, CANCEL = 1, MOVE = 2, TICK = 3, PAIR = 4;
const LAST = 0, MOST = 1, TENTHS = 2, TIMES = 3;
const NOWHERE = -2, TIMERS = 1024, MOST_TIMERS = 1000;

const ABOUT = {
	hashed_wheel: ["Scheme 6 with bounds",
		"The facility's own. A timer of tick t waits in slot t mod the number of slots. " +
		"Green: no timer there is due before the bound. A tick before the bound of all " +
		"looks at nothing."],
	hashed_wheel_paper: ["Scheme 6: hashed wheel",
		"As in the paper. Each timer counts the rounds that it has to wait, and each " +
		"visit of a slot counts down all that wait there."],
	hierarchical_wheel: ["Scheme 7: hierarchical",
		"A ring for each digit of time, as of a clock, the finest outermost. When a hand " +
		"reaches a slot, its timers move outwards."],
	"hierarchical_wheel:no_migration": ["Scheme 7: no migration",
		"The interval chooses the ring, and the timer stays there. It fires when the " +
		"first slot begins that is not too early."],
	"hierarchical_wheel:one_migration": ["Scheme 7: one migration",
		"The interval chooses the ring. A timer moves outwards once, and fires when its " +
		"slot there begins."],
	"hierarchical_wheel:first_digit": ["Scheme 7: 16 rings of 16",
		"A digit is four bits of the tick. No tick is out of range."],
	sorted_list: ["Scheme 2: sorted list",
		"BSD's old list. A tick looks at the first timer only. Setting walks along the " +
		"list to the timer's place."],
	unsorted_list: ["Scheme 1: unsorted list",
		"Setting puts a timer at the end. Each tick looks at all timers."],
	tree: ["Scheme 3: red-black tree",
		"The kernel's own, ordered by expiry. The first timer is always known."],
	pairing_heap: ["Pairing heap",
		"No timer expires before its parent. What is put off when timers are set is done " +
		"when the first one is wanted."],
	dary_heap: ["4-ary heap",
		"Four children each, in an array. No timer expires before its parent."],
	skip_list: ["Skip list",
		"A sorted list with express lists above it: the higher a bar, the more lists the " +
		"timer is on."],
	timing_wheel: ["Scheme 4: timing wheel",
		"A slot for each of the next ticks. What lies beyond waits in a sorted list."],
	logic_wheel: ["Logic simulation's wheel",
		"Slots for the ticks of this cycle. All others wait in one list, which is " +
		"searched when the cycle ends."],
	sorted_wheel: ["Scheme 5: sorted hashed wheel",
		"Each slot has a sorted list: setting searches it, a tick looks at its first " +
		"timer only."],
	lawn: ["Lawn",
		"A queue for each interval. In one queue timers expire in the order in which " +
		"they are set."],
	calendar_queue: ["Calendar queue",
		"A sorted list for each day of the year. Days become more and shorter as timers " +
		"become more."],
};
// At first, and in figure 9.
const SHOWN = ["sorted_list", "hashed_wheel_paper", "hashed_wheel", "hierarchical_wheel"];
// What the counters of these schemes leave out.
const BOUNDED = ["tree", "pairing_heap", "dary_heap", "skip_list", "lawn", "calendar_queue"];

const element = id => document.getElementById(id);
const number = id => Math.max(1, Math.min(Number(element(id).max),
	Math.floor(Number(element(id).value)) || 1));
const code = WebAssembly.compile(Uint8Array.from(atob(WASM), letter => letter.charCodeAt(0)));

let compiled, wheel, schemes, chosen, broken;
// The last operation, whose cost is shown in another colour.
let lastOp = -1;
// The timer of setInterval() while time runs, or 0.
let running = 0;
const panels = [];

function textAt(pointer) {
	const bytes = new Uint8Array(wheel.memory.buffer, Number(pointer));

	return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}

// Empty schemes at tick 0.
function beginAgain(slots, seed) {
	wheel = new WebAssembly.Instance(compiled, {}).exports;
	const count = wheel.wheel_new(slots, seed);

	schemes = Array.from({ length: count }, (_, k) => {
		const name = textAt(wheel.wheel_name(k));
		const variant = textAt(wheel.wheel_variant(k));
		const key = PAPER[name + ":" + variant] ? name + ":" + variant : name;
		const [title, about] = ABOUT[key] || ABOUT[name] || [name, ""];

		return {
			k, name, variant, about,
			title: key === name || ABOUT[key] ? title :
				title + ", " + variant.replace("_", " "),
			paper: PAPER[key] || {}, fired: [], said: "", late: 0, latest: 0,
		};
	});
	chosen = -1;
	lastOp = -1;
	broken = false;
	element("wrong").hidden = true;
}

// guarded(work): the work, unless the model stops it
function guarded(work) {
	if (broken)
		return;
	try {
		work();
	} catch (error) {
		if (!(error instanceof WebAssembly.RuntimeError))
			throw error;
		broken = true;
		stopRunning();
		element("wrong").hidden = false;
		element("wrong").textContent = "A scheme and the model that checks it disagree: " +
			textAt(wheel.wheel_wrong()) +
			" does not hold. “Begin again” makes new ones.";
	}
}

function say(text) {
	element("said").textContent = text;
}

function pending() {
	const timers = [];

	for (let timer = 0; timer < TIMERS; timer++)
		if (wheel.wheel_pending(timer))
			timers.push({ timer, due: wheel.wheel_expires(timer) });
	return timers.sort((a, b) => a.due - b.due || a.timer - b.timer);
}

function setTimers(count, interval) {
	let set = 0, timer = -1;

	guarded(() => {
		const room = MOST_TIMERS - wheel.wheel_kept(0);

		for (; set < Math.min(count, room); set++) {
			timer = wheel.wheel_set(interval());
			if (timer < 0)
				break;
		}
		if (set) {
			chosen = timer;
			lastOp = SET;
		}
	});
	return set;
}

function advance(ticks) {
	guarded(() => {
		wheel.wheel_advance(ticks);
		lastOp = TICK;
		for (const scheme of schemes) {
			const fired = wheel.wheel_fired(scheme.k), said = [];

			for (let i = 0; i < fired; i++) {
				const timer = wheel.wheel_fired_timer(scheme.k, i);
				const late = wheel.wheel_late(scheme.k, i);

				scheme.fired.push([timer, wheel.wheel_now(), late]);
				scheme.late += late > 0;
				scheme.latest = Math.max(scheme.latest, late);
				if (i < 6 && late)
					said.push("#" + timer + " (" + late + " late)");
				else if (i < 6)
					said.push("#" + timer);
			}
			if (fired > 6)
				said.push("and " + (fired - 6) + " more");
			if (fired)
				scheme.said = "At tick " + wheel.wheel_now() + ": " +
					said.join(", ");
		}
	});
}

const order = text => !text || text === "-" ? "–" :
	text.replace(/(log n|n|m|1)(?= |;|$)/g, "O($1)").replace(/;(.*) at worst/, " to$1");
const mean = (k, op) => wheel.wheel_cost(k, op, TIMES) ?
	(wheel.wheel_cost(k, op, TENTHS) / 10).toFixed(1) : "–";
const unknown = (scheme, op) => op !== TICK && BOUNDED.includes(scheme.name);

function row(cells, moved) {
	const line = document.createElement("tr");

	for (const [i, cell] of cells.entries()) {
		const box = line.appendChild(document.createElement("td"));

		box.textContent = cell;
		if (moved && i === 2)
			box.className = "moved";
	}
	return line;
}

function costs(scheme) {
	const lines = [["set", SET, scheme.paper.start], ["cancel", CANCEL, scheme.paper.stop],
		["move", MOVE, ""], ["a tick", TICK, scheme.paper.tick]];

	return lines.map(([name, op, paper]) => {
		const none = unknown(scheme, op) || !wheel.wheel_cost(scheme.k, op, TIMES);
		const costs = none ? ["–", "–", "–"] : [wheel.wheel_cost(scheme.k, op, LAST),
			mean(scheme.k, op), wheel.wheel_cost(scheme.k, op, MOST)];

		return row([name, order(paper), ...costs], op === lastOp);
	});
}

function verdict(scheme) {
	const agrees = "✓ The model agrees: of " + scheme.fired.length + " none early";

	if (!scheme.fired.length)
		return "The model has seen none fire yet.";
	if (!wheel.wheel_late_by_design(scheme.k))
		return agrees + ", none late, all in order.";
	if (!scheme.late)
		return agrees + ". This scheme may be late by design: none was.";
	return agrees + ", " + scheme.late + " late by design, by up to " + scheme.latest +
		(scheme.latest === 1 ? " tick." : " ticks.");
}

function scene(scheme) {
	const k = scheme.k, start = Number(wheel.wheel_places(k)), timers = [];
	const places = new Int32Array(wheel.memory.buffer, start, 2 * TIMERS).slice();
	const bounds = wheel.wheel_nr_bounds(k), at = Number(wheel.wheel_bounds());

	for (let timer = 0; timer < TIMERS; timer++)
		if (places[2 * timer] !== NOWHERE)
			timers.push({
				timer, group: places[2 * timer], order: places[2 * timer + 1],
				due: wheel.wheel_expires(timer),
			});
	return {
		shape: wheel.wheel_shape(k), levels: wheel.wheel_levels(k),
		slots: wheel.wheel_slots(k), timers, chosen,
		lap: Number(element("slots").value), now: wheel.wheel_now(),
		walked: lastOp === SET ? wheel.wheel_cost(k, SET, LAST) : 0,
		rear: scheme.variant === "rear",
		bounds: bounds && new Uint32Array(wheel.memory.buffer, at, bounds).slice(),
	};
}

function showPanel(panel) {
	const scheme = schemes[panel.scheme], kept = wheel.wheel_kept(scheme.k);

	panel.points = drawScene(panel.canvas, scene(scheme));
	panel.canvas.setAttribute("aria-label",
		scheme.title + ": a picture of its " + kept + " timers");
	panel.about.textContent = scheme.about;
	panel.fired.textContent = kept + (kept === 1 ? " timer. " : " timers. ") + scheme.said;
	panel.verdict.textContent = verdict(scheme);
	panel.rows.replaceChildren(...costs(scheme));
}

function showTimers() {
	const timers = pending(), box = element("timers");

	if (!timers.some(timer => timer.timer === chosen))
		chosen = timers.length ? timers[0].timer : -1;
	box.replaceChildren(...timers.filter(({ timer }, i) => i < 100 || timer === chosen).map(
		({ timer, due }) => new Option("#" + timer + " in " + (due - wheel.wheel_now()),
			timer, false, timer === chosen)));
}

function showAll() {
	element("all").tBodies[0].replaceChildren(...schemes.map(scheme => {
		const cells = [[scheme.paper.start, SET], [scheme.paper.stop, CANCEL],
			[scheme.paper.tick, TICK]].flatMap(([paper, op]) =>
			[order(paper), unknown(scheme, op) ? "–" : mean(scheme.k, op)]);

		return row([scheme.title, ...cells,
			scheme.late ? scheme.late + " of " + scheme.fired.length : "0"]);
	}));
}

function show() {
	if (broken)
		return;
	element("now").value = wheel.wheel_now();
	showTimers();
	for (const panel of panels)
		showPanel(panel);
	showAll();
}

function pick(panel, event) {
	let nearest = 20, box = panel.canvas.getBoundingClientRect();

	for (const [timer, [x, y]] of panel.points) {
		const away = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);

		if (away < nearest && wheel.wheel_pending(timer)) {
			nearest = away;
			chosen = timer;
		}
	}
	show();
}

function addPanel(k) {
	const part = element("panel").content.cloneNode(true);
	const section = part.querySelector("section"), find = what => section.querySelector(what);
	const panel = {
		scheme: k, canvas: find("canvas"), about: find(".about"), fired: find(".fired"),
		verdict: find(".verdict"), rows: find("tbody"), select: find("select"),
	};

	panel.select.id = "scheme" + panels.length;
	find("label").htmlFor = panel.select.id;
	panel.select.replaceChildren(...schemes.map(scheme => new Option(scheme.title, scheme.k)));
	panel.select.value = k;
	panel.select.addEventListener("change", () => {
		panel.scheme = Number(panel.select.value);
		show();
	});
	panel.canvas.addEventListener("click", event => pick(panel, event));
	element("panels").append(section);
	panels.push(panel);
}

const find = (name, variant) => schemes.findIndex(scheme => scheme.name === name &&
	(!variant || scheme.variant === variant));

function choosePanels(names) {
	names.forEach((name, i) => {
		panels[i].scheme = find(...name.split(":"));
		panels[i].select.value = panels[i].scheme;
	});
}

function stopRunning() {
	clearInterval(running);
	running = 0;
	element("run").setAttribute("aria-pressed", "false");
}

function startRunning() {
	const rate = Number(element("speed").value), ticks = Math.max(1, rate / 20);

	stopRunning();
	element("run").setAttribute("aria-pressed", "true");
	running = setInterval(() => {
		for (let i = 0; i < ticks; i++)
			advance(1);
		if (!schemes.some(scheme => wheel.wheel_kept(scheme.k))) {
			stopRunning();
			say("No timer is left: time stands still.");
		}
		show();
	}, 1000 * ticks / rate);
}

const interval = ahead => element("how").value === "exact" ? ahead : 1 + wheel.wheel_random(ahead);

const DO = {
	tick() {
		advance(1);
		say("One tick has passed.");
	},
	next() {
		const due = pending()[0];

		if (!due) {
			say("No timer is set.");
			return;
		}
		advance(due.due - wheel.wheel_now());
		say("Time has jumped to tick " + wheel.wheel_now() +
			", in one call of each scheme.");
	},
	jump() {
		advance(number("distance"));
		say("Time has jumped to tick " + wheel.wheel_now() +
			", in one call of each scheme.");
	},
	run() {
		if (running)
			stopRunning();
		else
			startRunning();
	},
	set() {
		const wanted = number("many");
		const set = setTimers(wanted, () => interval(number("ahead")));

		say(set < wanted ? set + " set: the page holds no more than " + MOST_TIMERS + "." :
			set === 1 ? "Timer #" + chosen + " is set." : set + " timers are set.");
	},
	cancel() {
		if (chosen < 0) {
			say("No timer is set.");
			return;
		}
		guarded(() => wheel.wheel_cancel(chosen));
		lastOp = CANCEL;
		say("Timer #" + chosen + " is cancelled.");
	},
	move() {
		if (chosen < 0) {
			say("No timer is set.");
			return;
		}
		guarded(() => wheel.wheel_move(chosen, number("to")));
		lastOp = MOVE;
		say("Timer #" + chosen + " is moved to tick " + wheel.wheel_expires(chosen) + ".");
	},
	again() {
		stopRunning();
		beginAgain(Number(element("slots").value), Date.now() >>> 0);
		say("No timer is set. It is tick 0.");
	},
	fig9() {
		DO.again();
		choosePanels(SHOWN);
		figure9(0, panels.map((panel, i) => ({
			k: panel.scheme, name: schemes[panel.scheme].title,
			shade: "series" + (i + 1), points: [],
		})));
		element("chart").scrollIntoView({ block: "nearest" });
	},
};
const KEYS = {
	t: "tick", n: "next", r: "run", s: "set", c: "cancel", m: "move", j: "jump", b: "again",
	9: "fig9",
};

// One point for each scheme shown, then 25 timers more, up to 1000.
function figure9(n, curves) {
	const mine = wheel;

	element("chart").hidden = false;
	guarded(() => {
		wheel.wheel_pair(20000);
		curves.forEach(curve =>
			curve.points.push([n, wheel.wheel_cost(curve.k, PAIR, LAST)]));
	});
	drawChart(element("chart"), curves, MOST_TIMERS, 2 * MOST_TIMERS);
	const costs = curves.map(curve => curve.points[curve.points.length - 1][1]);

	element("chart").setAttribute("aria-label",
		"Entries looked at to set and cancel one timer: " +
		curves.map((curve, i) => curve.name + ", " + costs[i]).join("; ") +
		", with " + n + " timers set");
	show();
	say("To set and cancel one timer beside " + n + " others, the sorted list looks at " +
		costs[0] + " entries.");
	if (n < MOST_TIMERS && !broken)
		setTimeout(() => {
			if (wheel !== mine)
				return;
			setTimers(25, () => 2000 + wheel.wheel_random(8000));
			figure9(n + 25, curves);
		}, 60);
}

const TRY = {
	laps: [["hashed_wheel_paper", "hashed_wheel", "sorted_wheel", "timing_wheel"], 40,
		() => 3 * Number(element("slots").value) + wheel.wheel_random(64)],
	levels: [["hierarchical_wheel", "hierarchical_wheel:first_digit", "hashed_wheel_paper",
		"hashed_wheel"], 60, () => 100 + wheel.wheel_random(400)],
	late: [["hierarchical_wheel:no_migration", "hierarchical_wheel:one_migration",
		"hierarchical_wheel", "hashed_wheel"], 60, () => 20 + wheel.wheel_random(300)],
	heaps: [["tree", "pairing_heap", "dary_heap", "skip_list"], 60,
		() => 1 + wheel.wheel_random(600)],
	overflow: [["timing_wheel", "logic_wheel", "calendar_queue", "lawn"], 80,
		() => 5 * (1 + wheel.wheel_random(60))],
};

function tryOut(name) {
	const [names, count, ahead] = TRY[name];

	DO.again();
	choosePanels(names);
	setTimers(count, ahead);
	show();
	say(count + " timers are set. “Run” lets time pass.");
	element("panels").scrollIntoView();
}

function pressed(event) {
	const typing = event.target.matches("select, input");

	if (typing || event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key])
		return;
	DO[KEYS[event.key]]();
	show();
	event.preventDefault();
}

code.then(module => {
	compiled = module;
	beginAgain(64, 1);
	for (const name of SHOWN)
		addPanel(find(name));
	for (const id of Object.keys(DO))
		element(id).addEventListener("click", () => {
			DO[id]();
			show();
		});
	for (const button of document.querySelectorAll("[data-try]"))
		button.addEventListener("click", () => tryOut(button.dataset.try));
	element("timers").addEventListener("change", () => {
		chosen = Number(element("timers").value);
		show();
	});
	element("slots").addEventListener("change", () => {
		DO.again();
		show();
	});
	element("speed").addEventListener("change", () => running && startRunning());
	element("controls").addEventListener("submit", event => event.preventDefault());
	document.addEventListener("keydown", pressed);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
	new ResizeObserver(show).observe(element("panels"));
	setTimers(40, () => 1 + wheel.wheel_random(300));
	show();
});
