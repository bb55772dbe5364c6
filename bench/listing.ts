import { lstatSync, readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { medianSeconds, type Row, type Target } from './target.js';

const runs = 9;

/** Folders of files over HTTP, against readdir and lstat of each in a plain loop. */
export async function listingRows(target: Target): Promise<Row[]> {
	return [...(await rowsOf(target, 10_000)), ...(await rowsOf(target, 100_000))];
}

async function rowsOf({ url, cookie, home }: Target, entries: number): Promise<Row[]> {
	const folder = path.join(home, 'many');
	await mkdir(folder);
	for (let n = 0; n < entries; n++) await writeFile(path.join(folder, `IMG_${String(n).padStart(6, '0')}.jpg`), '');
	const firstBytes: number[] = [];
	const list = async () => {
		const start = performance.now();
		const answer = await fetch(`${url}/api/browse?type=private&directory=many`, {
			headers: { cookie, 'accept-encoding': 'identity' },
		});
		firstBytes.push((performance.now() - start) / 1000);
		const text = await answer.text();
		if (!answer.ok || text.length < entries) throw new Error(`The listing was answered ${answer.status}.`);
	};
	const readEntries = async () => {
		for (const name of readdirSync(folder)) lstatSync(path.join(folder, name));
	};
	await list();
	await readEntries();
	firstBytes.length = 0;
	const floor = await medianSeconds(runs, readEntries);
	const stowage = await medianSeconds(runs, list);
	const first = firstBytes.sort((a, b) => a - b)[Math.floor(runs / 2)] as number;
	await rm(folder, { recursive: true });
	const count = entries.toLocaleString('en-US');
	const plain = `readdir and lstat ${(floor * 1000).toFixed(0)} ms`;
	return [
		{
			work: `list ${count} entries`,
			stowage: `${(stowage * 1000).toFixed(0)} ms`,
			floor: plain,
			ratio: stowage / floor,
			better: 'lower',
			note: 'bar 3.00',
		},
		{
			work: `the first of ${count} entries`,
			stowage: `${(first * 1000).toFixed(0)} ms`,
			floor: plain,
			ratio: first / floor,
			better: 'lower',
			note: 'bar 100 ms',
		},
	];
}
