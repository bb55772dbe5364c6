import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startServer } from '../test/serverProcess.js';
import { archives } from './archives.js';
import { downloads } from './downloads.js';
import { growth } from './growth.js';
import { listings } from './listings.js';
import { measure, type Result } from './measure.js';
import { page } from './page.js';
import { Processes } from './processes.js';
import { keptReport, printReport, reportOf, slowerRows, writeReport } from './report.js';
import { searches } from './searches.js';
import { sorting } from './sorting.js';
import { starts } from './starts.js';
import { uploads } from './uploads.js';
import type { Figure } from './Workload.js';
import { workers } from './workers.js';

/**
 * `npm run bench [-- uploads downloads ... page growth workers] [--quick] [--rounds 5] [--json file] [--keep]`. `--keep` makes this run
 * the one that others are compared with; that is done only with the sizes and the rounds of the documentation.
 */
const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		quick: { type: 'boolean', default: false },
		rounds: { type: 'string' },
		json: { type: 'string' },
		keep: { type: 'boolean', default: false },
	},
});
const suites = [uploads, downloads, listings, archives, searches, starts, sorting];
/** They take long, or have nothing to do with a server's speed: only where they are asked for. */
const surveys = [page, growth, workers];
const unknown = positionals.filter((name) => ![...suites, ...surveys].some((each) => each.name === name));
if (unknown.length > 0)
	throw new Error(
		`There is no ${unknown.join(', ')}, but ${[...suites, ...surveys].map(({ name }) => name).join(', ')}.`,
	);
if (values.keep && values.quick) throw new Error('A quick run is not to be kept.');
const rounds = Number(values.rounds ?? (values.quick ? 3 : 5));
const scale = values.quick ? 0.1 : 1;
const keptFile = path.resolve('bench/kept.json');

const folder = await mkdtemp(path.join(process.env.BENCH_DIR ?? os.tmpdir(), 'stowage-bench-'));
const processes = new Processes();
try {
	const dataDir = path.join(folder, 'data');
	const server = await startServer(processes, {
		args: ['cli/bin/stowage.js', 'serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'warn'],
	});
	const cookie = await server.register('bench');
	const home = path.join(dataDir, 'files/users/bench');
	const target = { url: server.url, pid: server.pid, cookie, dataDir, home, folder, scale };
	const results: Result[] = [];
	for (const suite of suites) {
		if (positionals.length > 0 && !positionals.includes(suite.name)) continue;
		for await (const workload of suite.workloads(target)) {
			console.error(`${workload.name} ...`);
			results.push(await measure(target, workload, rounds));
		}
	}
	const figures: Figure[] = [];
	for (const survey of surveys) {
		if (!positionals.includes(survey.name)) continue;
		console.error(`${survey.name} ...`);
		for await (const figure of survey.figures(target)) {
			console.error(`${figure.name}: ${figure.value.toFixed(2)} ${figure.unit}`);
			figures.push(figure);
		}
	}
	const report = reportOf(results, figures);
	printReport(report);
	if (values.json !== undefined) await writeReport(values.json, report);
	// Smaller work has other ratios.
	const kept = values.quick ? undefined : await keptReport(keptFile);
	for (const row of kept === undefined ? [] : slowerRows(report, kept)) console.log(`Slower than before: ${row}`);
	if (values.keep) await writeReport(keptFile, report);
} finally {
	await processes.end();
	await rm(folder, { recursive: true, force: true });
}
