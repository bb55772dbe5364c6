import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { AppOptions } from '../../src/index.js';
import { type Answer, Client, json, type TestApp, testApp } from '../testApp.js';

/** A client of shares, with the cookie that each of them has set. */
export class ShareGuest {
	/** By the path that they are for. */
	readonly cookies = new Map<string, string>();

	constructor(
		readonly app: TestApp,
		/** Of the share: `/api/share/{token}`. */
		readonly base: string,
	) {}

	async call(method: string, url: string, payload?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
		const target = `${this.base}${url}`;
		const own = [...this.cookies].filter(([scope]) => target.startsWith(scope)).map(([, pair]) => pair);
		const cookie: Record<string, string> = own.length === 0 ? {} : { cookie: own.join('; ') };
		const answer = await new Client(this.app).call(method, target, payload, { ...cookie, ...headers });
		for (const line of answer.headers['set-cookie'] ?? []) {
			const [pair = ''] = line.split(';');
			const [, scope = '/'] = /Path=([^;]+)/.exec(line) ?? [];
			if (pair.startsWith('share=')) this.cookies.set(scope, pair);
		}
		return answer;
	}

	get(url: string, headers?: Record<string, string>) {
		return this.call('GET', url, undefined, headers);
	}
}

/** A server with Ada, who has files to share. */
export async function shareFixture(t: ExecutionContext, flags: Record<string, string> = {}, options: AppOptions = {}) {
	const app = await testApp(t, flags, options);
	const ada = await new Client(app).register('ada');
	const home = (name: string) => path.join(app.filesDir, 'users/ada', name);
	await mkdir(home('docs/deep'), { recursive: true });
	await mkdir(home('other'), { recursive: true });
	await writeFile(home('docs/fox.txt'), 'The quick brown fox');
	await writeFile(home('docs/deep/low.txt'), 'low');
	await writeFile(home('other/fox.txt'), 'another fox');
	await writeFile(home('secret.txt'), 'secret');
	const share = async (paths: readonly string[], choices: object = {}) => {
		const items = paths.map((each) => ({ path: each }));
		const answer = await ada.post('/api/shares', { items, mode: 'view', ...choices });
		t.is(answer.statusCode, 201, answer.payload);
		const { id, url } = json(answer) as { id: string; url: string };
		const base = `/api/share/${url.split('/').at(-1)}`;
		return { id, base, guest: new ShareGuest(app, base) };
	};
	const change = (id: string, choices: object) => ada.call('PATCH', `/api/shares/${id}`, choices);
	return { app, ada, home, share, change };
}

export const names = (answer: Answer, key: 'items' | 'entries' = 'entries'): string[] =>
	json(answer)[key].map(({ path: at }: { path: string }) => at);
