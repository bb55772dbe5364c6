import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startServer } from '../test/serverProcess.js';
import { archiveRows } from './archives.js';
import { chunkRows } from './chunks.js';
import { downloadRows } from './downloads.js';
import { listingRows } from './listing.js';
import { Processes } from './processes.js';
import { smallFileRows } from './smallFiles.js';
import type { Row } from './target.js';
import { transferRows } from './transfer.js';

const folder = await mkdtemp(path.join(process.env.BENCH_DIR ?? os.tmpdir(), 'stowage-bench-'));
const processes = new Processes();
try {
	const dataDir = path.join(folder, 'data');
	const server = await startServer(processes, {
		args: ['cli/bin/stowage.js', 'serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'warn'],
	});
	const cookie = await server.register('bench');
	const target = { url: server.url, pid: server.pid, cookie, home: path.join(dataDir, 'files/users/bench'), folder };
	const rows: Row[] = [];
	const all = [transferRows, chunkRows, smallFileRows, listingRows, archiveRows, downloadRows];
	const only = process.argv[2];
	for (const measure of all.filter(({ name }) => only === undefined || name.startsWith(only)))
		rows.push(...(await measure(target)));
	print(rows);
} finally {
	await processes.end();
	await rm(folder, { recursive: true, force: true });
}

function print(rows: readonly Row[]): void {
	console.log(`\nNode ${process.versions.node}, ${os.cpus().length} cores, ${os.cpus()[0]?.model ?? 'unknown'}`);
	console.table(
		Object.fromEntries(
			rows.map(({ work, stowage, floor, ratio, better, note }) => [
				work,
				{ stowage, floor, ratio: ratio.toFixed(2), 'better is': better, note: note ?? '' },
			]),
		),
	);
}
