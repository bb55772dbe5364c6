import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import type { JobPair } from '../jobServers.js';
import type { ServerProcess } from '../serverProcess.js';

/** Renames a folder at one process while another one moves a file in it that has a link: the link leads to the file at both. */
export async function renameAgainstMoveInside(
	t: ExecutionContext,
	races: number,
	{ site, one, two }: JobPair,
): Promise<void> {
	const cookie = await one.register('links');
	const home = path.join(site.dataDir, 'files/users/links');
	const call = async ({ url }: ServerProcess, address: string, body: object): Promise<Response> =>
		fetch(`${url}/api/${address}`, {
			method: 'POST',
			headers: { cookie, 'content-type': 'application/json' },
			body: JSON.stringify(body),
		});

	const lost: string[] = [];
	const moved = { inTime: 0, tooLate: 0 };
	for (let race = 0; race < races; race++) {
		const folder = `folder ${race}`;
		await mkdir(path.join(home, folder, 'inner'), { recursive: true });
		await writeFile(path.join(home, folder, 'inner/file.txt'), folder);
		const made = await call(one, 'generateTempLink', { filePath: `${folder}/inner/file.txt`, expiration: '1h' });
		const { token } = (await made.json()) as { token: string };
		const [renamed, inside] = await Promise.all([
			// A rename is faster and would nearly always win.
			wait((race % 4) * 10).then(() =>
				call(one, 'renameItem', { oldPath: folder, newName: `renamed ${race}`, type: 'private' }),
			),
			call(two, 'moveItem', { fromPath: `${folder}/inner/file.txt`, toPath: `${folder}/file.txt`, type: 'private' }),
		]);
		t.is(renamed.status, 200, await renamed.text());
		t.true([200, 404].includes(inside.status), await inside.text());
		moved[inside.status === 200 ? 'inTime' : 'tooLate']++;
		for (const { url } of [one, two]) {
			const answer = await fetch(`${url}/api/temp/${token}`);
			const text = await answer.text();
			if (answer.status !== 200 || text !== folder) lost.push(`${race}: ${answer.status}`);
		}
	}
	t.log(`${lost.length} links lost in ${races} races; ${moved.inTime} moves were in time, ${moved.tooLate} too late`);
	t.deepEqual(lost, []);
}
