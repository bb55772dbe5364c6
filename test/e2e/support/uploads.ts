import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Page } from 'playwright-core';
import { releaseTimers } from './heldTimers.js';

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

/** Drops files or folders of the disk onto a point of the page, as from the desktop. */
export async function dropFromDisk(page: Page, at: { x: number; y: number }, files: string[]): Promise<void> {
	const session = await page.context().newCDPSession(page);
	const data = { items: [], files, dragOperationsMask: 1 };
	for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
		await session.send('Input.dispatchDragEvent', { type, ...at, data });
	}
	await session.detach();
}
