import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import type { Result } from './measure.js';
import type { Figure } from './Workload.js';

/** A run of the suite as it is kept. */
export interface Report {
	machine: string;
	node: string;
	results: Result[];
	/** Those without a reference. */
	figures: Figure[];
}

/** A row that falls by more than this part of the kept one is named. */
const tolerated = 0.8;

export function reportOf(results: Result[], figures: Figure[]): Report {
	const [cpu] = os.cpus();
	return { machine: `${os.cpus().length} × ${cpu?.model ?? 'unknown'}`, node: process.versions.node, results, figures };
}

export function printReport({ machine, node, results, figures }: Report): void {
	console.log(`\nNode ${node}, ${machine}. A ratio of 1 is as fast as the reference, 2 twice as fast.`);
	const row = (result: Result) => ({
		reference: result.reference,
		ratio: result.ratio.toFixed(2),
		'from, to': result.spread.map((each) => each.toFixed(2)).join(', '),
		'Stowage, ms': shown(result.stowageMs),
		'reference, ms': shown(result.referenceMs),
		'first, ms': shown(result.firstMs),
		'p99, ms': result.latency === undefined ? '' : shown(result.latency.p99),
		'processor, ms': `${shown(result.processor.ms)} a ${result.processor.unit}`,
		'peak, MB': (result.peakMemory / 1024 ** 2).toFixed(0),
	});
	if (results.length > 0) console.table(Object.fromEntries(results.map((result) => [result.name, row(result)])));
	const figure = ({ value, unit, aim }: Figure) => ({ value: `${shown(value)} ${unit}`, aim: aim ?? '' });
	if (figures.length > 0) console.table(Object.fromEntries(figures.map((each) => [each.name, figure(each)])));
}

const shown = (ms: number) => (ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2));

/** The rows that are slower than in the kept report, and by how much. */
export function slowerRows(report: Report, kept: Report): string[] {
	return report.results.flatMap(({ name, ratio }) => {
		const before = kept.results.find((each) => each.name === name)?.ratio;
		if (before === undefined || ratio >= before * tolerated) return [];
		return [`${name}: ${ratio.toFixed(2)} instead of ${before.toFixed(2)}`];
	});
}

/** Undefined where none is kept. */
export async function keptReport(file: string): Promise<Report | undefined> {
	try {
		return JSON.parse(await readFile(file, 'utf8')) as Report;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
		throw error;
	}
}

export async function writeReport(file: string, report: Report): Promise<void> {
	await writeFile(file, `${JSON.stringify(report, null, '\t')}\n`);
}
