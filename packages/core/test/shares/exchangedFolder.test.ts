import { renameSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import test from 'ava';
import { memberFixture } from '../members/memberFixture.js';
import { Client, json } from '../testApp.js';

for (const [name, call] of [
	['browse', 'list'],
	['download', 'listWithStats'],
] as const) {
	test(`what another program has put in the place of the folder of a share is not shown, however late: ${name}`, async (t) => {
		const { app, ada, home } = await memberFixture(t);
		await writeFile(home('docs/Photos-canary/fox.txt'), 'canary');
		const made = await ada.post('/api/shares', { items: [{ path: 'docs/Photos' }], mode: 'view' });
		const token = json(made).url.split('/').at(-1);
		const [{ storage }] = app.services.roots.all() as unknown as [
			{ storage: Record<string, (...words: unknown[]) => unknown> },
		];
		const original = storage[call]?.bind(storage) as (...words: unknown[]) => unknown;
		let exchanged = 0;
		storage[call] = (...words) => {
			// After the folder was looked up.
			if (exchanged === 0 && String(words[0]).includes('docs/Photos')) {
				exchanged++;
				renameSync(home('docs/Photos'), home('aside'));
				renameSync(home('docs/Photos-canary'), home('docs/Photos'));
			}
			return original(...words);
		};
		const answer = await new Client(app).get(`/api/share/${token}/${name}`);
		t.is(exchanged, 1);
		t.false(answer.payload.includes('canary'), answer.payload);
	});
}
