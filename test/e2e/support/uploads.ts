import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import type { Fixture } from './fileManager.js';
import { holdTimers, releaseTimers } from './heldTimers.js';
import { uploadTimeoutMs } from './timeouts.js';

const megabyte = 1024 * 1024;

/** Writes a file of random bytes; returns its path. */
export async function makeFile(file: string, size: number): Promise<string> {
	const handle = await open(file, 'w');
	try {
		for (let left = size; left > 0; left -= megabyte) await handle.write(randomBytes(Math.min(left, megabyte)));
	} finally {
		await handle.close();
	}
	return file;
}

export async function sha256(file: string): Promise<string> {
	const hash = createHash('sha256');
	await pipeline(createReadStream(file), hash);
	return hash.digest('hex');
}

export interface Network {
	/** So slow that a running upload does not end. */
	throttle(): Promise<void>;
	disconnect(): Promise<void>;
	restore(): Promise<void>;
}

/** Controls the network of a page. */
export async function networkOf(page: Page): Promise<Network> {
	const session = await page.context().newCDPSession(page);
	const emulate = async (offline: boolean, uploadThroughput: number) => {
		await session.send('Network.emulateNetworkConditions', {
			offline,
			latency: 0,
			downloadThroughput: -1,
			uploadThroughput,
		});
	};
	return {
		throttle: () => emulate(false, 20_000),
		disconnect: () => emulate(true, -1),
		restore: () => emulate(false, -1),
	};
}

/** How long the page shows a success. With `holdTimers` it stays until `waitForUpload`. */
export const successMs = 3000;

/** Waits until the only file in the queue is uploaded and the queue has disappeared. */
export async function waitForUpload(page: Page): Promise<void> {
	await page.getByText('Upload complete ✓').waitFor();
	await page.getByText('Verified', { exact: true }).waitFor();
	await page.getByText('File uploaded successfully!').waitFor();
	await releaseTimers(page);
	await page.getByText('Upload Queue').waitFor({ state: 'detached' });
}

/** A folder for files to upload. It is removed after the test. */
export async function sourceFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-sources-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

export const uploadAll = (page: Page) => page.getByRole('button', { name: 'Upload All' }).click();
export const queueClosed = (page: Page) => page.getByText('Upload Queue (').waitFor({ state: 'detached' });

/** Uploads `count` small files through one queue; all are stored complete, and at most one row is ever shown as uploading. */
export async function uploadMany(t: ExecutionContext, fixture: Fixture, count: number): Promise<void> {
	const manager = await fixture.enter(t);
	const sources = await sourceFolder(t);
	const digests = new Map<string, string>();
	for (let index = 0; index < count; index++) {
		const bytes = randomBytes(500 + index);
		digests.set(`${index}.dat`, createHash('sha256').update(bytes).digest('hex'));
		await writeFile(path.join(sources, `${index}.dat`), bytes);
	}
	await holdTimers(manager.context, successMs);
	const page = await manager.open('/browser?type=private');
	page.setDefaultTimeout(uploadTimeoutMs);
	await page.setInputFiles(
		'input[type=file]',
		[...digests.keys()].map((name) => path.join(sources, name)),
	);
	await page.getByRole('dialog', { name: `Upload Queue (${count} files)` }).waitFor();
	await page.evaluate(() => {
		const seen = { most: 0 };
		Object.assign(window, { seen });
		new MutationObserver(() => {
			seen.most = Math.max(seen.most, document.querySelectorAll('[data-status=uploading]').length);
		}).observe(document.body, { subtree: true, attributes: true, childList: true });
	});
	const begun = performance.now();
	await uploadAll(page);
	await page.getByText(`${count} of ${count} done`).waitFor();
	t.log(`${Math.round((count / (performance.now() - begun)) * 1000)} files a second`);
	t.is(await page.evaluate(() => (window as unknown as { seen: { most: number } }).seen.most), 1);
	await releaseTimers(page);
	await queueClosed(page);
	const names = (await readdir(manager.home)).filter((name) => name !== 'Public');
	t.is(names.length, count);
	for (const name of names) {
		const digest = createHash('sha256')
			.update(await readFile(path.join(manager.home, name)))
			.digest('hex');
		t.is(digest, digests.get(name) ?? '', name);
	}
	t.deepEqual(manager.faults, []);
}
