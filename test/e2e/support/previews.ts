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

/**
 * The output of ffmpeg with these arguments, as a file with this extension. Created once for all tests of a process;
 * each gets a copy.
 */
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
export async function openPreview(page: Page, name: string): Promise<Locator> {
	await nameIn(page, name).click();
	const viewer = page.getByRole('dialog', { name });
	await viewer.waitFor();
	return viewer;
}

export async function closePreview(page: Page): Promise<void> {
	await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
	await overlaysClosed(page);
}

/** Waits until `read` resolves to the expected value: the page is drawn a moment after an event. */
export async function expectValue<T>(
	t: ExecutionContext,
	read: () => Promise<T>,
	expected: T,
	message?: string,
): Promise<void> {
	for (const limit = performance.now() + timeoutMs; performance.now() < limit; await wait(20)) {
		if (isDeepStrictEqual(await read(), expected)) break;
	}
	t.deepEqual(await read(), expected, message);
}

/** Collects requests to other hosts. Requests that a policy blocks are errors on the console instead. */
export function watchRequests(page: Page, own: string): string[] {
	const foreign: string[] = [];
	page.on('request', (request) => {
		const url = request.url();
		if (!url.startsWith(own) && !/^(blob|data|about):/.test(url)) foreign.push(url);
	});
	return foreign;
}

/**
 * Resolves to what says for how long the main thread of the page has been at work since then, in milliseconds of the processor: what other
 * programs take from it on a busy machine does not count.
 */
export async function measureMainThread(page: Page): Promise<() => Promise<number>> {
	const session = await page.context().newCDPSession(page);
	await session.send('Performance.enable', { timeDomain: 'threadTicks' });
	const workMs = async () => {
		const { metrics } = await session.send('Performance.getMetrics');
		const work = metrics.find(({ name }) => name === 'TaskDuration');
		if (work === undefined) throw new Error('The browser does not say how long its tasks took.');
		return Math.round(work.value * 1000);
	};
	const before = await workMs();
	return async () => (await workMs()) - before;
}
