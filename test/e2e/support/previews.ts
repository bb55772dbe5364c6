import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import type { Locator, Page } from 'playwright-core';
import { nameIn, overlaysClosed } from './fileManager.js';
import { timeoutMs } from './timeouts.js';

const run = promisify(execFile);

const recordings = new Map<string, Promise<Buffer>>();

/** What ffmpeg makes of its arguments, as a file with this extension. Made once for all tests of a process; each gets a copy. */
export async function recorded(extension: string, ...args: string[]): Promise<Buffer> {
	const key = JSON.stringify([extension, ...args]);
	const recording = recordings.get(key) ?? record(extension, args);
	recordings.set(key, recording);
	return Buffer.from(await recording);
}

async function record(extension: string, args: string[]): Promise<Buffer> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-media-'));
	try {
		const file = path.join(folder, `made.${extension}`);
		await run('ffmpeg', ['-nostdin', '-v', 'error', ...args, file]);
		return await readFile(file);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** A picture in one colour. */
export const picture = (extension: string, size: string, colour: string) =>
	recorded(extension, '-f', 'lavfi', '-i', `color=${colour}:s=${size}`, '-frames:v', '1');

/** Opens a file of the list; resolves to its viewer. */
export async function show(page: Page, name: string): Promise<Locator> {
	await nameIn(page, name).click();
	const viewer = page.getByRole('dialog', { name });
	await viewer.waitFor();
	return viewer;
}

export async function leave(page: Page): Promise<void> {
	await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
	await overlaysClosed(page);
}

/** Waits until it looks so: what a moved pointer changes is drawn a moment after the move. */
export async function expectLook<T>(
	t: ExecutionContext,
	look: () => Promise<T>,
	expected: T,
	message?: string,
): Promise<void> {
	for (const limit = performance.now() + timeoutMs; performance.now() < limit; await wait(20)) {
		if (isDeepStrictEqual(await look(), expected)) break;
	}
	t.deepEqual(await look(), expected, message);
}

/** What a policy forbids in a page or in any frame of it is told on the console; nothing may be. */
export function watchRequests(page: Page, own: string): string[] {
	const foreign: string[] = [];
	page.on('request', (request) => {
		const url = request.url();
		if (!url.startsWith(own) && !/^(blob|data|about):/.test(url)) foreign.push(url);
	});
	return foreign;
}
