import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { AppOptions } from '../../src/index.js';
import { Client, json, testApp } from '../testApp.js';

/** Ada's home has the folder `docs/Photos` beside what nobody else may see. */
export async function memberFixture(t: ExecutionContext, flags: Record<string, string> = {}, options: AppOptions = {}) {
	const app = await testApp(t, flags, options);
	const [ada, bob, carol] = [
		await new Client(app).register('ada'),
		await new Client(app).register('bob'),
		await new Client(app).register('carol'),
	];
	const home = (...parts: string[]) => path.join(app.filesDir, 'users/ada', ...parts);
	for (const folder of ['docs/Photos/2030', 'docs/Photos-canary', 'Public/plain']) {
		await mkdir(home(folder), { recursive: true });
	}
	await writeFile(home('docs/Photos/fox.txt'), 'a fox');
	await writeFile(home('docs/Photos/2030/owl.txt'), 'an owl');
	await writeFile(home('docs/canary.txt'), 'canary');
	await writeFile(home('docs/Photos-canary/canary.txt'), 'canary');
	await writeFile(home('canary.txt'), 'canary');
	const share = async (members: Readonly<Record<string, 'view' | 'edit'>>, at = 'docs/Photos', by = ada) => {
		const wanted = Object.entries(members).map(([username, role]) => ({ username, role }));
		const answer = await by.call('PUT', '/api/members', { path: at, members: wanted });
		t.is(answer.statusCode, 200, answer.payload);
		return json(answer).members;
	};
	return { app, ada, bob, carol, home, share };
}

/** The rows of a folder that is shared with the client. */
export async function sharedRows(client: Client, directory = '') {
	const answer = await client.get(`/api/browse?type=shared&directory=${encodeURIComponent(directory)}`);
	return answer.statusCode === 200 ? json(answer).entries : answer.statusCode;
}

export const sharedNames = async (client: Client, directory = '') => {
	const rows = await sharedRows(client, directory);
	return Array.isArray(rows) ? rows.map(({ name }) => name).sort() : rows;
};
