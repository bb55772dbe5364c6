import type { IncomingMessage } from 'node:http';
import { mock } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { MemoryStorage } from '@stowage/conformance';
import test from 'ava';
import { receiveForm } from '../../src/uploads/form/receiveForm.js';
import { until } from '../until.js';

test('the first files of a form are not swept while a later one takes more than a day', async (t) => {
	mock.timers.enable({ apis: ['setInterval'] });
	t.teardown(() => mock.timers.reset());
	const storage = new MemoryStorage();
	const ids: string[] = [];
	const part = (name: string) => `--x\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
	let sendRest = () => {};
	const isRestSent = new Promise<void>((resolve) => {
		sendRest = resolve;
	});
	const body = async function* () {
		yield Buffer.from(`${part('first')}one\r\n${part('second')}tw`);
		await isRestSent;
		yield Buffer.from('o\r\n--x--\r\n');
	};
	const received = receiveForm({ headers: { 'content-type': 'multipart/form-data; boundary=x' } } as IncomingMessage, {
		...{ fields: [], maxFileSize: 0, digest: undefined, body: body() },
		beforeFile: async () => {},
		async stage() {
			const staged = await storage.stage();
			ids.push(staged.id);
			return staged;
		},
	});
	await until('the second has begun', async () => ids.length === 2);
	await wait(5);
	const between = Date.now();
	await wait(5);
	mock.timers.tick(60 * 60_000);
	await wait(20);
	await storage.sweepStaging({ staged: between, copies: 0 }, async (id) => id === ids[1]);
	sendRest();
	const { files } = await received;
	t.deepEqual(await Promise.all(files.map(({ staged }) => staged.size())), [3, 3]);
	await wait(5);
	const after = Date.now();
	await wait(5);
	mock.timers.tick(2 * 60 * 60_000);
	await wait(20);
	await storage.sweepStaging({ staged: after, copies: 0 }, async () => false);
	await t.throwsAsync(async () => files[0]?.staged.size(), undefined, 'what is over is touched no more');
});
