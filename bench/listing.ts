import { lstatSync, readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Row } from './main.js';
import { medianSeconds, type Target } from './target.js';

const entries = 10_000;
const runs = 9;

/** A folder of 10,000 files over HTTP, against reading its names and looking at each in a plain loop. */
export async function listingRows({ url, cookie, home }: Target): Promise<Row[]> {
	const folder = path.join(home, 'many');
	await mkdir(folder);
	for (let n = 0; n < entries; n++) await writeFile(path.join(folder, `IMG_${String(n).padStart(5, '0')}.jpg`), '');
	const list = async () => {
		const answer = await fetch(`${url}/api/browse?type=private&directory=many`, {
			headers: { cookie, 'accept-encoding': 'identity' },
		});
		const text = await answer.text();
		if (!answer.ok || text.length < entries) throw new Error(`The listing was answered ${answer.status}.`);
	};
	const look = async () => {
		for (const name of readdirSync(folder)) lstatSync(path.join(folder, name));
	};
	await list();
	await look();
	const floor = await medianSeconds(runs, look);
	const ours = await medianSeconds(runs, list);
	await rm(folder, { recursive: true });
	return [
		{
			work: 'list 10,000 entries',
			ours: `${(ours * 1000).toFixed(0)} ms`,
			floor: `readdir and lstat ${(floor * 1000).toFixed(0)} ms`,
			ratio: ours / floor,
			better: 'lower',
			note: 'bar 3.00',
		},
	];
}
