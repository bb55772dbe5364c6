import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { readRecords } from './record.js';
import { root } from './run.js';
import { importedTests, readText } from './sources.js';
import { readTap } from './tap.js';

/** Its failure says nothing about a test, which passes or fails beside it. */
const hook = /^(before|after)(Each)?(\.always)? hook/;

/**
 * Runs the suites of a clone. What fails in a file that `isRetried` (by its path in the clone) runs once more, after
 * all others and alone: a test that passes then counts as passed and is listed in `flaky`, with the lines of its first
 * failure in `flakyLines`. More than `maxRetried` files fail for another reason than the load of the machine, so none of
 * them runs again. Resolves to the counts, in which each test counts once, the lines of what failed, and the records of
 * the processes.
 */
export async function runSuites({ clone, args, env, records, isRetried, maxRetried = 10, print }) {
	await mkdir(records);
	let runs = 0;
	const runOnce = async (words) => {
		const file = path.join(records, String(runs++));
		const report = await runAva(clone, words, { ...env, TEST_RECORD: file }, print);
		return { ...report, records: readRecords(file).map((one) => ({ ...one, file: path.relative(clone, one.file) })) };
	};

	const first = await runOnce(args);
	const tally = new Tally(first);
	const files = tally.failedFiles();
	const retried = files.filter(isRetried);
	for (const file of retried.length > maxRetried ? [] : retried) {
		for (const part of await partsToRetry(clone, file, tally)) {
			print(`\n== once more, alone: ${part}`);
			const again = await runOnce([part, '--concurrency=1']);
			tally.retried(file, part, again);
			first.records.push(...again.records);
		}
	}
	const { passed, failures, flaky, flakyLines } = tally.outcome();
	const isUnexplained = first.code !== 0 && files.length === 0 && failures.length === 0;
	if (isUnexplained || !first.hasEnd) {
		failures.push([
			`  ✗ The test runner itself ended with ${first.code}, after the tests above and what it wrote to stderr.`,
		]);
	}
	const lines = [...failures.flat(), ...(failures.length > 0 ? first.notes : [])];
	return { passed, failed: failures.length, lines, flaky, flakyLines, records: first.records };
}

async function runAva(cwd, args, env, print) {
	const child = spawn(process.execPath, [path.join(root, 'scripts/ava.js'), '--tap', ...args], {
		cwd,
		env,
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	const ended = new Promise((resolve) => child.on('close', resolve));
	const report = await readTap(child.stdout, print);
	return { ...report, code: await ended };
}

/** What became of each test of a run, and of each file that ended before its tests. */
class Tally {
	/** By file and title. */
	#tests = new Map();
	/** Failures that belong to a file but to none of its tests: it crashed, or a hook failed. */
	#troubles = [];
	/** Failures of which the report does not say the file, such as an uncaught exception. */
	#unplaced = [];
	#crashed;
	/** Files that were run again, and whether each of their runs was without a failure. */
	#isClean = new Map();
	/** The lines of the first failure, by what is said of the test. */
	#flaky = new Map();

	constructor(run) {
		const files = beganIn(run);
		this.#crashed = new Set(crashedIn(run));
		for (const result of run.results) {
			const { file, title } = place(result.title, files);
			if (file !== undefined && title !== undefined && !hook.test(title)) this.#add(file, title, result);
			else if (result.passed) this.#add('', result.title, result);
			else if (file !== undefined) this.#troubles.push({ file, lines: result.lines });
			else this.#unplaced.push(result.lines);
		}
		for (const file of this.#crashed) {
			if (this.#unplaced.length > 0 || this.#troubles.some((one) => one.file === file)) continue;
			this.#troubles.push({ file, lines: [`  ✗ ${file} ended before its tests did`] });
		}
	}

	#add(file, title, { passed, lines }) {
		const key = `${file}\0${title}`;
		if (this.#tests.get(key)?.passed !== false) this.#tests.set(key, { file, title, passed, lines });
	}

	failedFiles() {
		const failed = [...this.#tests.values(), ...this.#troubles].filter((one) => one.passed !== true);
		return [...new Set([...failed.map((one) => one.file), ...this.#crashed])];
	}

	/** The failed tests of a file, or undefined if more than single tests failed. */
	failedTests(file) {
		if (this.#crashed.has(file) || this.#troubles.some((one) => one.file === file)) return undefined;
		return [...this.#tests.values()].filter((one) => one.file === file && !one.passed);
	}

	/** Adds the second run of a file, or of the part of it that failed. */
	retried(file, part, run) {
		const isWhole = beganIn(run).length > 0 && crashedIn(run).length === 0;
		const isClean = isWhole && run.code === 0 && run.results.every(({ passed }) => passed);
		this.#isClean.set(file, isClean && (this.#isClean.get(file) ?? true));
		for (const result of run.results) {
			const { title = result.title } = place(result.title, beganIn(run));
			const key = `${file}\0${title}`;
			const before = this.#tests.get(key);
			if (before === undefined) {
				// Only what a crash or a failed hook had prevented.
				if (!hook.test(title)) this.#add(file, title, result);
			} else if (before.passed !== result.passed) {
				this.#tests.set(key, { ...before, passed: true });
				this.#flaky.set(`${part}: ${title}`, before.passed ? result.lines : before.lines);
			}
		}
	}

	outcome() {
		const isMended = (file) => this.#isClean.get(file) === true;
		const failures = [...this.#tests.values()].filter((one) => !one.passed).map(({ lines }) => lines);
		for (const { file, lines } of this.#troubles) {
			if (isMended(file)) this.#flaky.set(`${file}: ${lines[0].replace(/^ *✗ /, '')}`, lines);
			else failures.push(lines);
		}
		const areCrashesMended = this.#crashed.size > 0 && [...this.#crashed].every(isMended);
		for (const lines of this.#unplaced) {
			if (areCrashesMended)
				this.#flaky.set(`${[...this.#crashed].join(', ')}: ${lines[0].replace(/^ *✗ /, '')}`, lines);
			else failures.push(lines);
		}
		const passed = [...this.#tests.values()].filter((one) => one.passed).length;
		return { passed, failures, flaky: [...this.#flaky.keys()], flakyLines: [...this.#flaky.values()].flat() };
	}
}

function beganIn({ records }) {
	return [...new Set(records.filter(({ kind }) => kind === 'began').map(({ file }) => file))];
}

function crashedIn({ records, incomplete }) {
	const well = new Set(records.filter(({ kind, code }) => kind === 'ended' && code === 0).map(({ file }) => file));
	return [...new Set([...beganIn({ records }).filter((file) => !well.has(file)), ...incomplete])];
}

/** The file of a title in the report, and the title without it. A file that could not be run has no title. */
function place(title, files) {
	const crashed = files.find(
		(file) => title.startsWith(`${file} exited `) || title.startsWith(`No tests found in ${file}`),
	);
	if (crashed !== undefined) return { file: crashed };
	if (files.length === 1) return { file: files[0], title };
	const shared = sharedFolders(files);
	const [found] = files
		.map((file) => {
			const parts = file.split(path.sep).slice(shared);
			return { file, prefix: `${parts.join(' › ').replace(/(\.test)?\.[jt]sx?$/, '')} › ` };
		})
		.filter(({ prefix }) => title.startsWith(prefix))
		.sort((a, b) => b.prefix.length - a.prefix.length);
	return found === undefined ? {} : { file: found.file, title: title.slice(found.prefix.length) };
}

/** How many folders all paths begin with: the report leaves them out. */
function sharedFolders(files) {
	const folders = files.map((file) => file.split(path.sep).slice(0, -1));
	const [first = [], ...others] = folders;
	const differing = first.findIndex((name, at) => others.some((other) => other[at] !== name));
	return differing === -1 ? first.length : differing;
}

/**
 * The file, or those of the files it imports that hold its failed tests, if they can be told: by the stack of the
 * failure or by the title in the source.
 */
async function partsToRetry(clone, file, tally) {
	const tests = tally.failedTests(file);
	const parts = await importedTests(clone, file);
	if (tests === undefined || parts.length === 0) return [file];
	const texts = await Promise.all(parts.map((part) => readText(clone, part)));
	const found = tests.map(({ title, lines }) => {
		const inStack = parts.filter((part) => lines.some((line) => line.includes(part)));
		return inStack.length > 0 ? inStack : parts.filter((_, at) => texts[at].includes(title.replaceAll('\\#', '#')));
	});
	return found.some((some) => some.length === 0) ? [file] : [...new Set(found.flat())];
}
