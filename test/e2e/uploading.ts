import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Page } from 'playwright-core';

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
	cut(): Promise<void>;
	mend(): Promise<void>;
}

/** Lets the page send so many bytes in a second, or none. */
export async function lineOf(page: Page, bytesPerSecond: number): Promise<Line> {
	const session = await page.context().newCDPSession(page);
	const emulate = async (offline: boolean) => {
		await session.send('Network.emulateNetworkConditions', {
			offline,
			latency: 0,
			downloadThroughput: -1,
			uploadThroughput: bytesPerSecond,
		});
	};
	await emulate(false);
	return { cut: () => emulate(true), mend: () => emulate(false) };
}

/** Waits until the one file in the queue is in its place. */
export async function uploadedOnce(page: Page): Promise<void> {
	await page.getByText('Upload complete ✓').waitFor();
	await page.getByText('File uploaded successfully!').waitFor();
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
