import { isEveryday } from '../everyday.js';
import { isLong } from '../long.js';
import { processorMs, usualMs } from '../processorTime.js';
import { largeKilobytes, type Parser, parsers, slowParser } from './parsers.js';

/** What the program answers to the name of a parser: its most processor time, in milliseconds, and what took it. */
export interface Measured {
	/** For a fragment that is repeated up to 1 kB and up to `largeKilobytes`. */
	kilobyte: number;
	large: number;
	/** Texts whose time grew faster than they. */
	faults: string[];
}

/** A long run finds what grows with a square of one tenth. */
const small = (isLong ? 16 : 2) * 1024;
const factor = 8;
/** A time that grows with the square makes this 64, one that grows with the text 8. */
const maxGrowth = 28;
/**
 * From some length on memory is taken in larger blocks, which costs more: that is a step, and no square. Of a text twice as long a square
 * makes 4, more than 3.6 where it was more than `maxGrowth` before, and a step 2.
 */
const maxDoubling = 3;
/** Shorter times are noise. */
const noiseMs = isLong ? 60 : 15;
/** A megabyte takes 10 to 300 ms. With the square of its length it would take half an hour. */
const maxLargeMs = 6 * largeKilobytes;
/** Of what runs in the page's own thread, a megabyte at once. */
const maxLargeMsOfPage = 1.5 * largeKilobytes;
/** Of what is done at once, while nobody is served. On a slow machine it may be more, up to so many times what nothing but zeros take. */
const maxStepMs = 100;
const maxStepTimes = 10;
/** The largest part that is worked on at once, and one that is more. */
const stepKilobytes = [63, largeKilobytes];
/** Of what is ended when it takes too long: a kilobyte must not. */
const maxKilobyteMs = 1000;

async function runOn(run: Parser['run'], text: string): Promise<void> {
	try {
		await run(text);
	} catch {
		// Refused, as most of these texts are.
	}
}

const cost = (run: Parser['run'], text: string) => processorMs(() => runOn(run, text));

/** One that is over the limit is measured a few times more, as on a machine of usual speed: other programs may have slowed it down. */
async function costBelow(limit: number, run: Parser['run'], text: string): Promise<number> {
	let least = await cost(run, text);
	for (let tries = 0; least > limit && tries < 4; tries++)
		least = Math.min(least, await usualMs(() => runOn(run, text)));
	return least;
}

/**
 * The least time of three runs, and of more where they are short: on a busy machine a few can all be disturbed. A millisecond at least.
 * Ends sooner once `isEnough` says so of the least time of so many runs.
 */
async function leastCost(
	run: Parser['run'],
	text: string,
	isEnough: (least: number, runs: number) => boolean = () => false,
): Promise<number> {
	let least = Number.POSITIVE_INFINITY;
	let spent = 0;
	for (let runs = 0; runs < 3 || (runs < 10 && spent < 150); runs++) {
		const ms = await cost(run, text);
		least = Math.min(least, ms);
		spent += ms;
		if (isEnough(Math.max(1, least), runs + 1)) break;
	}
	return Math.max(1, least);
}

const repeated = (fragment: string, length: number) => fragment.repeat(Math.ceil(length / fragment.length));

async function measure({ run, lastStep, fragments, isEnded, isOfPage }: Parser): Promise<Measured> {
	const measured: Measured = { kilobyte: 0, large: 0, faults: [] };
	if (isEnded) return measureKilobytes(run, fragments, measured);
	const report = (shape: string, found: string) => {
		if (measured.faults.length < 5) measured.faults.push(`${JSON.stringify(shape)}: ${found}`);
	};

	/** The smaller text is measured only where the larger one takes long enough for a comparison. */
	const compare = async (shape: string, make: (length: number) => string): Promise<void> => {
		const large = make(small * factor);
		const first = await cost(run, large);
		if (first < noiseMs) return;
		// One run is enough where the other text takes 3.5 times as long: to hide a square it would be disturbed 18 times over.
		const isEnough = (least: number, runs: number) => first <= (maxGrowth / 8) * runs * least;
		if (first <= maxGrowth * (await leastCost(run, make(small), isEnough))) return;
		// Again, both at about the same time: the collector or other programs may have slowed down one of them.
		let growth = Number.POSITIVE_INFINITY;
		let doubling = Number.POSITIVE_INFINITY;
		for (let tries = 0; tries < 3 && growth > maxGrowth && doubling > maxDoubling; tries++) {
			const [smallMs, largeMs] = [await leastCost(run, make(small)), await leastCost(run, large)];
			growth = Math.min(growth, largeMs / smallMs);
			// Once, as it is the longest: a disturbed run finds nothing that did not grow before.
			doubling = Math.min(doubling, (await cost(run, make(2 * small * factor))) / largeMs);
		}
		if (growth > maxGrowth && doubling > maxDoubling) report(shape, `grows ${growth.toFixed()} times`);
	};

	const measureStep = async (fragment: string, lastStep: NonNullable<Parser['lastStep']>): Promise<void> => {
		for (const kilobytes of stepKilobytes) {
			const text = repeated(fragment, kilobytes * 1024);
			const first = await cost(lastStep(text), text);
			const ms = first > maxStepMs ? Math.min(first, await cost(lastStep(text), text)) : first;
			if (ms <= maxStepMs) continue;
			const zeros = repeated('\0', kilobytes * 1024);
			if (ms > maxStepTimes * Math.max(1, await cost(lastStep(zeros), zeros)))
				report(fragment, `${ms.toFixed()} ms at once for ${kilobytes} kB`);
		}
	};

	for (const fragment of fragments) {
		measured.kilobyte = Math.max(measured.kilobyte, await cost(run, repeated(fragment, 1024)));
		const limit = isOfPage ? maxLargeMsOfPage : maxLargeMs;
		const ms = await costBelow(limit, run, repeated(fragment, largeKilobytes * 1024));
		measured.large = Math.max(measured.large, ms);
		if (ms > limit) report(fragment, `${ms.toFixed()} ms for ${largeKilobytes} kB`);
		if (lastStep !== undefined) await measureStep(fragment, lastStep);
		for (const [at, other] of fragments.entries()) {
			// Repeated, both orders of two are the same text but for its ends: mostly that is read as the other one is.
			if (!isEveryday || at >= fragments.indexOf(fragment))
				await compare(fragment + other, (length) => repeated(fragment + other, length));
			if (fragment === other) continue;
			// Mostly the first of many is read like one alone.
			if (!isEveryday)
				await compare(`${fragment} before many ${other}`, (length) => fragment + repeated(other, length));
			// Two runs that a repetition could divide between them, and a third one without an end.
			await compare(`many ${fragment}, then many ${other}`, (length) => {
				return repeated(fragment, length / 2) + repeated(other, length / 2);
			});
		}
	}
	return measured;
}

async function measureKilobytes(
	run: Parser['run'],
	fragments: readonly string[],
	measured: Measured,
): Promise<Measured> {
	for (const fragment of fragments) {
		for (const other of fragments) {
			for (const text of [repeated(fragment + other, 1024), fragment + repeated(other, 1024)]) {
				const ms = await costBelow(maxKilobyteMs, run, text);
				measured.kilobyte = Math.max(measured.kilobyte, ms);
				if (ms > maxKilobyteMs)
					measured.faults.push(`${JSON.stringify(text.slice(0, 40))}: ${ms.toFixed()} ms for a kilobyte`);
			}
		}
	}
	return measured;
}

process.on('message', async (name) => {
	const parser = [...parsers, slowParser].find((each) => each.name === name);
	if (parser === undefined) throw new Error(`There is no parser ${name}.`);
	process.send?.(await measure(parser));
});
