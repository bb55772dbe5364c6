import { readFile } from 'node:fs/promises';

/** One line of the report. The ratio compares Stowage to the floor; `better` says whether a higher or a lower one is better. */
export interface Row {
	work: string;
	stowage: string;
	floor: string;
	ratio: number;
	better: 'higher' | 'lower';
	note?: string;
}

/** The server under measurement. */
export interface Target {
	url: string;
	pid: number;
	cookie: string;
	/** The signed-in user's home on disk. */
	home: string;
	/** A folder on the same disk for the floors. */
	folder: string;
}

/** Bytes of memory that a process held at its peak. */
export async function peakMemory(pid: number): Promise<number> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8');
	return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Seconds of processor time that a process used so far. */
export async function cpuSeconds(pid: number): Promise<number> {
	const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
	// utime and stime, in ticks of a hundredth of a second on Linux.
	return (Number(fields[11]) + Number(fields[12])) / 100;
}

export async function seconds(work: () => Promise<unknown>): Promise<number> {
	const start = performance.now();
	await work();
	return (performance.now() - start) / 1000;
}

/** The median of several runs. */
export async function medianSeconds(runs: number, work: () => Promise<unknown>): Promise<number> {
	const times: number[] = [];
	for (let run = 0; run < runs; run++) times.push(await seconds(work));
	return times.sort((a, b) => a - b)[Math.floor(runs / 2)] as number;
}
