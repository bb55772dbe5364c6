import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { type Answer, Client, field, file, json, type Part, type TestApp, testApp } from './testApp.js';
import { until } from './until.js';

export interface Replacing {
	app: TestApp;
	ada: Client;
	/** The folder of ada's home. */
	home: string;
	/** Writes files of the home as another program would. */
	put(files: Record<string, string>): Promise<void>;
	/** The content of a file of the home. */
	read(name: string): Promise<string>;
	/** The ETag of a file of the private area. */
	etag(name: string): Promise<string>;
	/** Sends one file in a form to the root of the home. */
	send(name: string, content: string, fields: Record<string, string>): Promise<Answer>;
	assertStagingEmpty(): Promise<void>;
}

/** A server with a user ada, for tests of what replaces existing files. */
export async function replacing(t: ExecutionContext, flags: Record<string, string> = {}): Promise<Replacing> {
	const app = await testApp(t, flags);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	return {
		app,
		ada,
		home,
		async put(files) {
			for (const [name, content] of Object.entries(files)) {
				await mkdir(path.dirname(path.join(home, name)), { recursive: true });
				await writeFile(path.join(home, name), content);
			}
		},
		read: (name) => readFile(path.join(home, name), 'utf8'),
		async etag(name) {
			const answer = await ada.call('HEAD', `/api/download/${name}?type=private`);
			t.is(answer.statusCode, 200);
			return String(answer.headers.etag);
		},
		send: (name, content, fields) => ada.upload('/api/upload', [...fieldsOf(fields), file(name, content)]),
		async assertStagingEmpty() {
			// The notes of the trash are written from there, a moment after the answer.
			const staging = path.join(app.filesDir, '.stowage/staging');
			await until('nothing is left in staging', async () => (await readdir(staging)).length === 0);
		},
	};
}

export const fieldsOf = (fields: Record<string, string>): Part[] =>
	Object.entries(fields).map(([name, value]) => field(name, value));

/** The status and the code of a refusal. */
export const refusal = (answer: Answer) => [answer.statusCode, json(answer).code];

export const taken = [409, 'ALREADY_EXISTS'];
export const changed = [412, 'PRECONDITION_FAILED'];
export const invalid = [400, 'INVALID'];
