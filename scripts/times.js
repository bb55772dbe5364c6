import os from 'node:os';
import path from 'node:path';

/** How long the parts of a run took. TEST_TIMES has the part that ran before, such as `fresh start=61`. */
export class Times {
	#parts = [];

	constructor() {
		const [name, seconds] = (process.env.TEST_TIMES ?? '').split('=');
		if (seconds !== undefined) this.#parts.push([name, Number(seconds)]);
	}

	async measure(name, work) {
		const began = performance.now();
		const before = processorTimes();
		const result = await work();
		const after = processorTimes();
		const idle = (after.idle - before.idle) / (after.all - before.all || 1);
		this.#parts.push([name, (performance.now() - began) / 1000, idle]);
		return result;
	}

	/** The parts, and the test files by room from the records of their processes. */
	print(records) {
		console.log('\n== times');
		for (const [name, elapsed, idle] of this.#parts) {
			const unused = idle === undefined ? '' : `, processors idle ${Math.round(idle * 100)} %`;
			console.log(`${seconds(elapsed)}  ${name}${unused}`);
		}
		const files = records.filter(({ kind }) => kind === 'ended');
		console.log('\n processor     elapsed  of the test files of each room, with the programs that they start');
		for (const [room, ownFiles] of byRoom(files)) console.log(`${sum(ownFiles)}  ${room} (${ownFiles.length})`);
		console.log('\n processor     elapsed  of the files that cost most');
		const costliest = files.sort((a, b) => b.cpu - a.cpu).slice(0, 12);
		for (const one of costliest) console.log(`${sum([one])}  ${one.file}`);
	}
}

/** Milliseconds of all processors since the machine started. They include what no process has counted, such as a browser's pages. */
function processorTimes() {
	const times = os.cpus().map((cpu) => cpu.times);
	const of = (names) => times.reduce((sum, own) => sum + names.reduce((total, name) => total + own[name], 0), 0);
	return { idle: of(['idle']), all: of(['user', 'nice', 'sys', 'idle', 'irq']) };
}

function byRoom(files) {
	const rooms = new Map();
	for (const one of files) {
		const [first, second] = one.file.split(path.sep);
		const room = /\.ts$|^test$/.test(second) ? first : `${first}/${second}`;
		rooms.set(room, [...(rooms.get(room) ?? []), one]);
	}
	return [...rooms].sort(([a], [b]) => (a < b ? -1 : 1));
}

function sum(files) {
	const of = (name) => files.reduce((total, one) => total + one[name], 0);
	return `${seconds(of('cpu'))}  ${seconds(of('wall'))}`;
}

function seconds(value) {
	return `${value.toFixed(1).padStart(8)} s`;
}
