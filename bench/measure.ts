import { readFile, writeFile } from 'node:fs/promises';
import type { Target, Workload } from './Workload.js';

/** The figures of one workload. Times are milliseconds. */
export interface Result {
	name: string;
	reference: string;
	/** How fast Stowage was as a multiple of the reference, in the median round; 1 is as fast. */
	ratio: number;
	/** Of the slowest and the fastest round. */
	spread: [number, number];
	stowageMs: number;
	referenceMs: number;
	/** The first run, which reads from the disk where the system allows to empty its cache. */
	firstMs: number;
	/** Of single requests, where they are what matters. */
	latency?: { p50: number; p99: number };
	/** Milliseconds of the processor for each unit. */
	processor: { ms: number; unit: Workload['amount']['unit'] };
	/** Bytes that the process held at most. */
	peakMemory: number;
}

/** Runs a workload and its reference in turn; each round begins with the other one. */
export async function measure(target: Target, workload: Workload, rounds: number): Promise<Result> {
	const { reset, pid = target.pid } = workload;
	const runs =
		workload.by === 'time'
			? { own: () => whole(workload.stowage), other: () => whole(workload.reference.run) }
			: { own: () => ofRequests(workload.stowage), other: () => ofRequests(workload.reference.run) };
	try {
		await emptyDiskCache();
		const first = await runs.own();
		await reset?.();
		await runs.other();
		await reset?.();
		await forgetPeak(pid);
		const own: Run[] = [];
		const other: Run[] = [];
		let processor = 0;
		for (let round = 0; round < rounds; round++) {
			const runOwn = async () => {
				const before = await processorSeconds(pid);
				own.push(await runs.own());
				processor += (await processorSeconds(pid)) - before;
				await reset?.();
			};
			const runOther = async () => {
				other.push(await runs.other());
				await reset?.();
			};
			for (const run of round % 2 === 0 ? [runOther, runOwn] : [runOwn, runOther]) await run();
		}
		const ratios = own.map(({ ms }, n) => (other[n]?.ms ?? Number.NaN) / ms);
		const latencies = own.flatMap((run) => run.latencies).toSorted((a, b) => a - b);
		return {
			name: workload.name,
			reference: workload.reference.name,
			ratio: median(ratios),
			spread: [Math.min(...ratios), Math.max(...ratios)],
			stowageMs: median(own.map(({ ms }) => ms)),
			referenceMs: median(other.map(({ ms }) => ms)),
			firstMs: first.ms,
			...(latencies.length === 0
				? {}
				: { latency: { p50: median(latencies), p99: latencies[Math.floor(latencies.length * 0.99)] as number } }),
			processor: { ms: (processor * 1000) / rounds / workload.amount.count, unit: workload.amount.unit },
			peakMemory: await peakMemory(pid),
		};
	} finally {
		await workload.end();
	}
}

interface Run {
	/** What is compared. */
	ms: number;
	/** Of each request, if that is compared. */
	latencies: readonly number[];
}

async function whole(run: () => Promise<void>): Promise<Run> {
	const begun = performance.now();
	await run();
	return { ms: performance.now() - begun, latencies: [] };
}

async function ofRequests(run: () => Promise<readonly number[]>): Promise<Run> {
	const latencies = await run();
	return { ms: median(latencies), latencies };
}

export function median(values: readonly number[]): number {
	return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Seconds of processor time that a process has used so far. */
export async function processorSeconds(pid: number): Promise<number> {
	const line = await readFile(`/proc/${pid}/stat`, 'utf8');
	const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
	// utime and stime, in ticks of a hundredth of a second on Linux.
	return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Bytes that a process held at most since `forgetPeak`, or holds. */
export async function memoryOf(pid: number, field: 'VmHWM' | 'VmRSS'): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) * 1024;
}

const peakMemory = (pid: number) => memoryOf(pid, 'VmHWM');

async function forgetPeak(pid: number): Promise<void> {
	await writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** Only root may, and not in every container: the first run is then from whatever the cache has. */
async function emptyDiskCache(): Promise<void> {
	if (process.getuid?.() === 0) await writeFile('/proc/sys/vm/drop_caches', '1').catch(() => {});
}
