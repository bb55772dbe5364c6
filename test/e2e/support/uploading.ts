import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Page } from 'playwright-core';
import { letTimersGo } from './heldTimers.js';

const megabyte = 1024 * 1024;

/** Writes a file of random bytes; answers its path. */
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

export interface Line {
	/** Lets hardly anything through: what is on its way does not come to its end. */
	clog(): Promise<void>;
	cut(): Promise<void>;
	mend(): Promise<void>;
}

/** What a page sends through. */
export async function lineOf(page: Page): Promise<Line> {
	const session = await page.context().newCDPSession(page);
	const emulate = async (offline: boolean, uploadThroughput: number) => {
		await session.send('Network.emulateNetworkConditions', {
			offline,
			latency: 0,
			downloadThroughput: -1,
			uploadThroughput,
		});
	};
	return { clog: () => emulate(false, 20_000), cut: () => emulate(true, -1), mend: () => emulate(false, -1) };
}

/** How long the page shows that all has been uploaded: `holdTimers` makes it wait for `uploadedOnce`. */
export const successMs = 3000;

/** Waits until the one file in the queue is in its place, and what the page shows of it has gone. */
export async function uploadedOnce(page: Page): Promise<void> {
	await page.getByText('Upload complete ✓').waitFor();
	await page.getByText('Verified', { exact: true }).waitFor();
	await page.getByText('File uploaded successfully!').waitFor();
	await letTimersGo(page);
	await page.getByText('Upload Queue').waitFor({ state: 'detached' });
}

/** Drops files or folders of the disk onto a point of the page, as a person does from the desktop. */
export async function dropFromDisk(page: Page, at: { x: number; y: number }, files: string[]): Promise<void> {
	const session = await page.context().newCDPSession(page);
	const data = { items: [], files, dragOperationsMask: 1 };
	for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
		await session.send('Input.dispatchDragEvent', { type, ...at, data });
	}
	await session.detach();
}
