/** The server under measurement. */
export interface Target {
	url: string;
	pid: number;
	cookie: string;
	dataDir: string;
	/** The signed-in user's home on disk. */
	home: string;
	/** A folder on the same disk, for what the references read and write. */
	folder: string;
	/** How large everything is, 1 for the figures of the documentation. */
	scale: number;
}

/** One kind of work, done by Stowage and by a reference in turn. */
export type Workload = Common & (Timed<'time', void> | Timed<'latency', readonly number[]>);

interface Common {
	/** As the table names it. */
	name: string;
	/** What one run does, for the processor time: such as 2 GB, or 5,000 files. */
	amount: { count: number; unit: 'GB' | 'file' | 'request' | 'search' | 'entry' | 'start' };
	/** The process that does it, if that is not the server. */
	pid?: number;
	/** Between two runs, outside of the measured time. */
	reset?(): Promise<void>;
	end(): Promise<void>;
}

/** Compared by the time of whole runs, or by that of the median request: then a run resolves to the milliseconds of each. */
interface Timed<By, Result> {
	by: By;
	reference: { name: string; run(): Promise<Result> };
	stowage(): Promise<Result>;
}

/** Makes what a workload needs, and the workload. */
export interface Suite {
	/** What `npm run bench -- <name>` calls it. */
	name: string;
	workloads(target: Target): AsyncIterable<Workload>;
}

/** What has no reference but, where there is one, an aim of its own: at most this number, or as it says. */
export interface Figure {
	name: string;
	value: number;
	unit: 'ms' | 's' | 'kB' | 'a second' | '';
	aim?: number | string;
}

/** Measures what has no reference. */
export interface Survey {
	/** What `npm run bench -- <name>` calls it. */
	name: string;
	figures(target: Target): AsyncIterable<Figure>;
}
