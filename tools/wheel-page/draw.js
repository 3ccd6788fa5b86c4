// SPDX-License-Identifier: GPL-2.0
//
// draw.js - the picture of a scheme, from what inspect.c says
//
// scene: side, the length of the square; timers: [{timer, group, order, due}]; now; shape, levels
// and slots; bounds, of the wheel that has them, or 0; chosen, a timer; walked, how many entries
// the last search looked at, and whether from the rear. Each function returns a Map of timers to
// the points where it has drawn them.

const LIST = 0, RING = 1, LEVELS = 2, TREE = 3, QUEUES = 4, TOWERS = 5;
const APART = -1, NEVER = 0xffffffff;
const TOP = -Math.PI / 2;

// The page's colours, until the next picture.
let colours = {};

function colour(name) {
	colours[name] ||= getComputedStyle(document.documentElement)
		.getPropertyValue("--" + name).trim();
	return colours[name];
}

// begin(canvas): its context, cleared, with CSS pixels as units
function begin(canvas) {
	const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");

	colours = {};
	canvas.width = canvas.clientWidth * ratio;
	canvas.height = canvas.clientHeight * ratio;
	context.scale(ratio, ratio);
	context.font = "12px system-ui, 'DejaVu Sans', sans-serif";
	return context;
}

function words(context, text, x, y, shade, align) {
	context.fillStyle = colour(shade);
	context.textAlign = align || "center";
	context.textBaseline = "middle";
	context.fillText(text, x, y);
}

function line(context, points, shade, width) {
	context.strokeStyle = colour(shade);
	context.lineWidth = width;
	context.beginPath();
	for (const [x, y] of points)
		context.lineTo(x, y);
	context.stroke();
}

function arc(context, [x, y], radius, from, to, shade, width) {
	context.strokeStyle = colour(shade);
	context.lineWidth = width;
	context.beginPath();
	context.arc(x, y, radius, from, to);
	context.stroke();
}

function dots(context, scene, points) {
	const soon = colour("soon"), later = colour("later");

	for (const timer of scene.timers) {
		const at = points.get(timer.timer);

		if (!at)
			continue;
		context.fillStyle = timer.due - scene.now <= scene.lap ? soon : later;
		context.beginPath();
		context.arc(at[0], at[1], at[2], 0, 2 * Math.PI);
		context.fill();
		if (timer.timer === scene.chosen)
			arc(context, at, 6.5, 0, 2 * Math.PI, "chosen", 2);
	}
}

// by(timers, key): the timers in a Map of lists by this member, each in order
function by(timers, key) {
	const lists = new Map();

	for (const timer of timers) {
		if (!lists.has(timer[key]))
			lists.set(timer[key], []);
		lists.get(timer[key]).push(timer);
	}
	for (const list of lists.values())
		list.sort((a, b) => a.order - b.order);
	return lists;
}

// Fills a part of a ring from the inside with a list.
function fill(list, points, centre, [inner, outer], [from, to]) {
	let step = 11, rows, across;
	const middle = row => inner + (row + .5) * step;
	const columns = row => Math.max(1, Math.floor((to - from) * middle(row) / step));

	do {
		step *= .93;
		rows = Math.max(1, Math.floor((outer - inner) / step));
		across = 0;
		for (let row = 0; row < rows; row++)
			across += columns(row);
	} while (across < list.length && step > .8);
	for (let i = 0, row = 0, place = 0; i < list.length; i++) {
		const angle = from + (to - from) * (place + .5) / columns(row);
		const width = (to - from) * middle(row) / columns(row);

		points.set(list[i].timer, [centre[0] + middle(row) * Math.cos(angle),
			centre[1] + middle(row) * Math.sin(angle),
			Math.max(1.2, Math.min(4, step * .42, width * .5))]);
		if (++place >= columns(row)) {
			place = 0;
			row = Math.min(row + 1, rows - 1);
		}
	}
}

// Lays a list out in rows that turn at their ends.
function snake(list, points, [left, top, width, height]) {
	let step = 36;
	const columns = () => Math.max(1, Math.floor(width / step));

	while (step > 1 && Math.ceil(list.length / columns()) * step > height)
		step *= .98;
	list.forEach((timer, i) => {
		const row = Math.floor(i / columns()), place = i % columns();

		points.set(timer.timer, [
			left + step * (.5 + (row % 2 ? columns() - 1 - place : place)),
			top + step * (row + .5), Math.min(5, step * .36)]);
	});
}

function drawList(context, scene) {
	const list = scene.timers.slice().sort((a, b) => a.order - b.order);
	const from = scene.rear ? list.length - scene.walked : 0, points = new Map();

	snake(list, points, [4, 4, scene.side - 8, scene.side - 8]);
	line(context, list.map(timer => points.get(timer.timer)), "line", 1.5);
	if (scene.walked)
		line(context, list.slice(Math.max(from, 0), from + scene.walked)
			.map(timer => points.get(timer.timer)), "walk", 3);
	dots(context, scene, points);
	return points;
}

// The timers beside a wheel, late or beyond its reach, along the lower edge.
function drawApart(context, scene, points, apart) {
	if (!apart.length)
		return;
	words(context, apart.length + " beside the wheel", 4, scene.side - 26, "faint",
		"left");
	snake(apart, points, [4, scene.side - 18, scene.side - 8, 17]);
}

// around(centre, radius, turns): a point, by the turns from the top
function around([x, y], radius, turns) {
	const angle = TOP + 2 * Math.PI * turns;

	return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
}

// The lines between the slots of a ring, or some of them.
function spokes(context, centre, [inner, outer], slots) {
	for (let slot = 0; slot < slots; slot += Math.ceil(slots / 64))
		line(context, [around(centre, inner, slot / slots),
			around(centre, outer, slot / slots)], "line", 1);
}

// The bounds: a mark where a slot has one, an arc for each node above, the root in the middle.
function drawBounds(context, scene, centre, inner) {
	const nodes = scene.bounds.length - scene.slots, turn = 2 * Math.PI;
	const root = scene.bounds[scene.bounds.length - 1];

	for (let i = 0; i < scene.slots; i++)
		if (scene.bounds[i] !== NEVER)
			arc(context, centre, inner - 6, TOP + turn * (i + .12) / scene.slots,
				TOP + turn * (i + .88) / scene.slots, "bound", 5);
	for (let i = 0; i < nodes - 1; i++) {
		const bound = scene.bounds[scene.slots + i];

		arc(context, centre, inner * .78, TOP + turn * (i + .03) / (nodes - 1),
			TOP + turn * (i + .97) / (nodes - 1), bound === NEVER ? "line" : "bound",
			2);
		if (nodes <= 5 && bound !== NEVER)
			words(context, bound,
				...around(centre, inner * .58, (i + .5) / (nodes - 1)), "bound");
	}
	words(context, "none before", centre[0], centre[1] - 9, "faint");
	words(context, root === NEVER ? "–" : root, centre[0], centre[1] + 8, "bound");
}

function hand(context, centre, [inner, outer], slot, slots) {
	const turns = (slot + .5) / slots;

	line(context, [around(centre, inner, turns), around(centre, outer, turns)], "ink",
		2.5);
}

function drawRing(context, scene) {
	const lists = by(scene.timers, "group"), now = scene.now % scene.slots;
	const outer = (scene.side - (lists.has(APART) ? 44 : 6)) / 2, inner = outer * .58;
	const centre = [scene.side / 2, outer + 3], turn = 2 * Math.PI / scene.slots;
	const points = new Map();

	spokes(context, centre, [inner, outer], scene.slots);
	arc(context, centre, inner, 0, 2 * Math.PI, "line", 2);
	arc(context, centre, inner, TOP + turn * now, TOP + turn * (now + 1), "ink", 5);
	for (let slot = 0; slot < scene.slots; slot++)
		fill(lists.get(slot) || [], points, centre, [inner + 4, outer],
			[TOP + turn * slot, TOP + turn * (slot + 1)]);
	if (scene.bounds) {
		drawBounds(context, scene, centre, inner);
	} else {
		hand(context, centre, [0, inner - 3], now, scene.slots);
		for (let i = 0; i < 4; i++)
			words(context, i * scene.slots / 4, ...around(centre, inner - 13,
				(i * scene.slots / 4 + .5) / scene.slots), "faint");
	}
	drawApart(context, scene, points, lists.get(APART) || []);
	dots(context, scene, points);
	return points;
}

// The finest level outermost.
function drawLevels(context, scene) {
	const lists = by(scene.timers, "group"), turn = 2 * Math.PI / scene.slots;
	const outer = (scene.side - (lists.has(APART) ? 44 : 6)) / 2;
	const centre = [scene.side / 2, outer + 3], points = new Map();
	const highest = Math.max(0, ...lists.keys());
	const levels = Math.max(Math.min(scene.levels, 4), Math.floor(highest / scene.slots) + 1);
	const band = outer * .88 / levels;

	for (let level = 0, unit = 1; level < levels; level++, unit *= scene.slots) {
		const inner = outer - band * (level + 1);
		const now = Math.floor(scene.now / unit) % scene.slots;

		spokes(context, centre, [inner, inner + band], scene.slots);
		arc(context, centre, inner, 0, 2 * Math.PI, "line", 2);
		arc(context, centre, inner, TOP + turn * now, TOP + turn * (now + 1), "ink", 5);
		for (let slot = 0; slot < scene.slots; slot++)
			fill(lists.get(level * scene.slots + slot) || [], points, centre,
				[inner + 4, inner + band - 2],
				[TOP + turn * slot, TOP + turn * (slot + 1)]);
	}
	drawApart(context, scene, points, lists.get(APART) || []);
	dots(context, scene, points);
	return points;
}

// Leaves side by side, each parent above the middle of its children.
function drawTree(context, scene) {
	const children = by(scene.timers, "group"), at = new Map(), points = new Map();
	const stack = (children.get(APART) || []).map(timer => [timer, 0]).reverse();
	const order = [];
	let leaves = 0, depth = 0;

	while (stack.length) {
		const [timer, level] = stack.pop(), below = children.get(timer.timer) || [];

		order.push([timer, below]);
		at.set(timer.timer, [below.length ? 0 : leaves++, level]);
		depth = Math.max(depth, level);
		for (const child of below.slice().reverse())
			stack.push([child, level + 1]);
	}
	for (const [timer, below] of order.reverse())
		if (below.length)
			at.get(timer.timer)[0] = (at.get(below[0].timer)[0] +
				at.get(below[below.length - 1].timer)[0]) / 2;
	const width = (scene.side - 12) / Math.max(1, leaves);
	const height = Math.min(40, (scene.side - 20) / (depth + 1));

	for (const [timer, [x, y]] of at)
		points.set(timer, [6 + (x + .5) * width, 10 + (y + .3) * height,
			Math.max(.9, Math.min(4, width, height * .35))]);
	for (const [timer, below] of order)
		for (const child of below)
			line(context, [points.get(timer.timer), points.get(child.timer)],
				"line", 1);
	dots(context, scene, points);
	return points;
}

// Columns of timers from the lower edge up.
function drawColumns(context, scene, columns) {
	const points = new Map(), width = (scene.side - 8) / Math.max(12, columns.length);
	const tallest = Math.max(1, ...columns.map(column => column.length));
	const height = Math.min(14, (scene.side - 12) / tallest), base = scene.side - 6;
	const radius = Math.max(.8, Math.min(4, width * .45, height * .42));

	line(context, [[4, base], [scene.side - 4, base]], "line", 1.5);
	columns.forEach((column, i) => column.forEach((timer, row) =>
		points.set(timer.timer, [4 + (i + .5) * width, base - 4 - (row + .5) * height,
			radius])));
	dots(context, scene, points);
	return points;
}

function drawQueues(context, scene) {
	const lists = by(scene.timers, "group"), columns = [];

	for (const [group, list] of lists)
		if (group !== APART)
			columns[group] = list;
	return drawColumns(context, scene, Array.from(columns, column => column || []));
}

// A timer on several express lists is drawn once, above a bar as high as they are many.
function drawTowers(context, scene) {
	const list = scene.timers.slice().sort((a, b) => a.group - b.group);
	const width = (scene.side - 8) / Math.max(24, list.length), base = scene.side - 20;
	const step = Math.min(30, (base - 20) / 6), points = new Map();

	line(context, [[4, base], [scene.side - 4, base]], "line", 1.5);
	list.forEach((timer, i) => {
		const x = 4 + (i + .5) * width, y = base - timer.order * step;

		points.set(timer.timer, [x, y, Math.max(.9, Math.min(4, width * .45))]);
		line(context, [[x, base], [x, y]], "line", Math.min(3, width * .6));
	});
	dots(context, scene, points);
	return points;
}

const DRAW = [drawList, drawRing, drawLevels, drawTree, drawQueues, drawTowers];

// Draws the scene and returns where its timers are.
function drawScene(canvas, scene) {
	const context = begin(canvas);

	scene.side = canvas.clientWidth;
	return DRAW[scene.shape](context, scene);
}

// Draws curves, [{name, shade, points: [[x, y]]}], from 0 to these limits.
function drawChart(canvas, curves, mostX, mostY) {
	const context = begin(canvas), left = 46, bottom = 34, right = 20, top = 30;
	const width = canvas.clientWidth - left - right;
	const height = canvas.clientHeight - top - bottom;
	const x = value => left + width * value / mostX;
	const y = value => top + height * (1 - value / mostY);

	for (let i = 0; i <= 4; i++) {
		const at = y(mostY * i / 4);

		line(context, [[left, at], [left + width, at]], "line", 1);
		words(context, mostY * i / 4, left - 6, at, "faint", "right");
		words(context, mostX * i / 4, x(mostX * i / 4), top + height + 12, "faint");
	}
	words(context, "entries looked at", 4, 10, "faint", "left");
	words(context, "timers set", left + width / 2, top + height + 26, "faint");
	curves.forEach((curve, i) => {
		const last = curve.points[curve.points.length - 1];

		if (!last)
			return;
		// Curves of one height beside each other.
		line(context, curve.points.map(([n, cost]) => [x(n), y(cost) - 2 * i]),
			curve.shade, 2.5);
		words(context, curve.name + ": " + last[1], left + 8, top + 12 + 18 * i,
			curve.shade, "left");
	});
}
