import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { medianSeconds, type Row, seconds, type Target } from './target.js';

const run = promisify(execFile);
const runs = 3;
const smallFiles = 10_000;
const smallBytes = 10_000;
const largeBytes = 1024 ** 3;

/** Archives over HTTP, against `zip -0` writing the same files to disk. */
export async function archiveRows(target: Target): Promise<Row[]> {
	const [large, small] = ['one', 'many'].map((name) => path.join(target.home, name)) as [string, string];
	await mkdir(large);
	await writeFile(path.join(large, 'large.bin'), Buffer.alloc(largeBytes, 'stowage'));
	// The checksum of a file that was written just now is not cached, as the file may still change.
	await run('touch', ['-d', '2020-01-01', path.join(large, 'large.bin')]);
	await mkdir(small);
	for (let n = 0; n < smallFiles; n++) await writeFile(path.join(small, `${n}.bin`), Buffer.alloc(smallBytes, n));

	const zipLarge = await medianSeconds(runs, () => zip(target, 'one'));
	const first = await seconds(() => download(target, 'one'));
	const again = await medianSeconds(runs, () => download(target, 'one'));
	const zipSmall = await medianSeconds(runs, () => zip(target, 'many'));
	const many = await medianSeconds(runs, () => download(target, 'many'));
	await Promise.all([rm(large, { recursive: true }), rm(small, { recursive: true })]);
	const row = (work: string, stowage: number, floor: number, bar: string): Row => ({
		work,
		stowage: `${stowage.toFixed(2)} s`,
		floor: `zip -0 ${floor.toFixed(2)} s`,
		ratio: floor / stowage,
		better: 'higher',
		note: `bar ${bar}`,
	});
	return [
		row('archive of one 1 GB file', first, zipLarge, '5.00'),
		row('the same archive again', again, zipLarge, '8.00'),
		row('archive of 10,000 files of 10 kB', many, zipSmall, '2.00'),
	];
}

async function zip({ home, folder }: Target, name: string): Promise<void> {
	const file = path.join(folder, 'floor.zip');
	await run('zip', ['-0', '-q', '-r', file, name], { cwd: home });
	await rm(file);
}

/** curl fails if a byte is missing. */
async function download({ url, cookie }: Target, name: string): Promise<void> {
	await run('curl', ['-sSf', '-b', cookie, '-o', '/dev/null', `${url}/api/download/${name}?type=private`]);
}
