import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Request } from 'playwright-core';
import { type Fixture, rowOf } from './fileManager.js';
import { openStranger, share } from './shares.js';
import { uploadTimeoutMs } from './timeouts.js';
import { makeFile, networkOf, sha256, sourceFolder, uploadAll } from './uploads.js';

/** Files are requested, and a file of so many bytes is received from a browser whose connection is cut three times on the way. */
export async function receiveOverCuts(t: ExecutionContext, fixture: Fixture, bytes: number): Promise<void> {
	const ada = await fixture.enter(t);
	await mkdir(path.join(ada.home, 'inbox'));
	const name = `film ${randomBytes(4).toString('hex')}.mp4`;
	const source = await makeFile(path.join(await sourceFolder(t), name), bytes);
	const { page, faults } = await openStranger(t, await share(ada, { items: ['inbox'], mode: 'upload' }));
	page.setDefaultTimeout(uploadTimeoutMs);
	const network = await networkOf(page);
	const offsets: number[] = [];
	const offsetOf = (request: Request) =>
		request.method() === 'PATCH' ? Number(request.headers()['upload-offset']) : undefined;
	page.on('request', (request) => {
		const offset = offsetOf(request);
		if (offset !== undefined) offsets.push(offset);
	});
	await page.getByText('Drop files or click to upload').waitFor();
	await page.setInputFiles('input[type=file]', source);
	await uploadAll(page);
	for (const part of [0.2, 0.5, 0.8]) {
		const isThere = (offset = 0) => offset >= part * bytes;
		// It has as long as an upload: hundreds of megabytes lie between.
		if (!isThere(offsets.at(-1))) await page.waitForRequest((request) => isThere(offsetOf(request)));
		await network.disconnect();
		await page.getByText('Connection lost. It goes on by itself.').first().waitFor();
		await network.restore();
	}
	await page.getByRole('list', { name: 'What you have sent' }).getByText(name).waitFor();
	t.is(await sha256(path.join(ada.home, 'inbox', name)), await sha256(source));
	// What had arrived was not sent again.
	t.is(offsets.filter((offset) => offset === 0).length, 1);
	t.true(offsets.length <= bytes / (8 * 1024 * 1024) + 1 + 2 * 3, `${offsets.length} chunks`);
	t.deepEqual(faults, []);

	const owner = await ada.open('/browser/inbox?type=private');
	await rowOf(owner, name).waitFor();
}
