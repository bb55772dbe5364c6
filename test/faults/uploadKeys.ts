import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { JobPair } from '../jobServers.js';

/** Sends each upload, a form or the beginning of a resumable one, to two processes at once under one key: both return the same one. */
export async function oneKeyAtBoth(t: ExecutionContext, rounds: number, { site, one, two }: JobPair): Promise<void> {
	const servers = [one, two];
	const cookie = await one.register('keys');
	const home = path.join(site.dataDir, 'files/users/keys');
	const staged = () => readdir(path.join(site.dataDir, 'files/.stowage/staging'));
	const atBoth = (send: (url: string) => Promise<Response>) => Promise.all(servers.map(({ url }) => send(url)));

	const names: string[] = [];
	for (let round = 0; round < rounds; round++) {
		const key = randomBytes(16).toString('hex');
		// The requested name of every second one is taken.
		const requestedName = `file ${round - (round % 2)}.txt`;
		const answers = await atBoth((url) => {
			const form = new FormData();
			form.append('directory', '');
			form.append('file', new Blob([`round ${round}`]), requestedName);
			return fetch(`${url}/api/upload`, { method: 'POST', headers: { cookie, 'stowage-upload-key': key }, body: form });
		});
		for (const answer of answers) t.is(answer.status, 200, `${round}: ${await answer.clone().text()}`);
		const [first, second] = await Promise.all(answers.map((answer) => answer.json()));
		t.deepEqual(first, second, `${round}`);
		const { name } = first.entries[0];
		t.is(await readFile(path.join(home, name), 'utf8'), `round ${round}`);
		names.push(name);
	}
	t.is(new Set(names).size, rounds);
	t.deepEqual((await readdir(home)).filter((name) => name !== 'Public').sort(), names.sort());
	t.deepEqual(await staged(), []);

	for (let round = 0; round < rounds; round++) {
		const key = randomBytes(16).toString('hex');
		const metadata = `filename ${Buffer.from(`tus ${round}`).toString('base64')},type ${Buffer.from('private').toString('base64')}`;
		const headers = { cookie, 'tus-resumable': '1.0.0', 'upload-length': '4', 'upload-metadata': metadata };
		const answers = await atBoth((url) =>
			fetch(`${url}/api/uploads`, { method: 'POST', headers: { ...headers, 'stowage-upload-key': key } }),
		);
		for (const answer of answers) t.is(answer.status, 201, `${round}: ${await answer.text()}`);
		const [first, second] = answers.map((answer) => answer.headers.get('location'));
		t.is(first, second);
	}
	t.is((await staged()).length, rounds);
	t.log(`${rounds} forms and ${rounds} creations at both: the same answer each time`);
}
