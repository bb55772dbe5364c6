import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { findJob, ResultOf } from '@stowage/contract';
import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { reservePort } from '../e2e/support/reservePort.js';
import { serveArgs, startServer } from '../serverProcess.js';
import { dataFolder, faultsIn, longAgo, writeManyFiles } from './manyFiles.js';

/** Observes a copy: `begun` is called before it is requested, `ended` when it has completed. */
export interface Observer {
	begun(url: string, cookie: string): Promise<void>;
	ended(t: ExecutionContext): Promise<void>;
}

type JobAnswer = ResultOf<typeof findJob>;

/** The files of a staged copy that are known to be durable, each with its inode and time of birth. */
async function durableFiles(staging: string): Promise<Map<string, string>> {
	const found = new Map<string, string>();
	for (const entry of await readdir(staging, { withFileTypes: true, recursive: true })) {
		if (!entry.isFile()) continue;
		const { ino, birthtimeMs, mtimeMs } = await stat(path.join(entry.parentPath, entry.name));
		const isDurable = mtimeMs < (longAgo + 10_000_000) * 1000;
		if (isDurable) found.set(entry.name, `${ino} ${birthtimeMs}`);
	}
	return found;
}

/**
 * Kills the server in the middle of a job that copies a folder, and starts another one: the copy is complete in the
 * end, its durable files are not copied again, and nothing is left in staging.
 */
export async function copyAcrossKill(t: ExecutionContext, count: number, observer?: Observer): Promise<void> {
	const folder = await dataFolder(t);
	const root = path.join(folder, 'files');
	const port = `${await reservePort()}`;
	const dying = pathToFileURL(path.resolve('test/faults/programs/dyingStorage.js')).href;
	// All names are counted first, then three quarters are copied.
	const plugins = JSON.stringify({ [dying]: { root, names: Math.floor(count * 1.75) } });
	// The index would list names as well.
	const args = serveArgs(folder, '--port', port, '--storage', 'dying', '--plugins', plugins, '--search-index', 'false');
	const server = await startServer(t, { args });
	const cookie = await server.register('ada');
	const home = path.join(root, 'users/ada');
	const staging = path.join(root, '.stowage/staging');
	await writeManyFiles(path.join(home, 'many'), count);
	await observer?.begun(server.url, cookie);

	const call = async <T>(method: string, at: string, body?: object): Promise<T> => {
		const headers = { cookie, 'content-type': 'application/json' };
		const answer = await fetch(at, { method, headers, ...(body && { body: JSON.stringify(body) }) });
		return (await answer.json()) as T;
	};
	const items = [{ path: 'many' }];
	const { id } = await call<{ id: string }>('POST', `${server.url}/api/jobs`, {
		...{ kind: 'copy', type: 'private', directory: 'copies', items },
	});
	await server.ended;
	const durable = await durableFiles(staging);
	t.true(durable.size >= 1000 && durable.size < count, `killed in the middle of the copy: ${durable.size}`);
	// The target folder was created before, and is empty.
	t.deepEqual(await readdir(path.join(home, 'copies')), []);

	const again = await startServer(t, { args: serveArgs(folder, '--port', port) });
	let job: JobAnswer;
	do {
		await wait(50);
		job = await call<JobAnswer>('GET', `${again.url}/api/jobs/${id}`);
	} while (job.endTime === null);
	t.like(job, { status: 'completed', error: null, detail: { done: 1, failed: 0 } });
	t.is(job.done, job.total);
	const copy = path.join(home, 'copies/many');
	t.deepEqual(await faultsIn(copy, count), []);
	t.deepEqual(await faultsIn(path.join(home, 'many'), count), []);
	let kept = 0;
	for (const entry of await readdir(copy, { withFileTypes: true, recursive: true })) {
		if (!durable.has(entry.name)) continue;
		const { ino, birthtimeMs } = await stat(path.join(entry.parentPath, entry.name));
		if (durable.get(entry.name) === `${ino} ${birthtimeMs}`) kept++;
	}
	t.is(kept, durable.size, 'the durable files were kept');
	t.deepEqual(await readdir(staging), []);
	await observer?.ended(t);
}

/** Opens the list of jobs in a page and records each value of the progress bar. */
export function watchBar(open: (url: string, cookie: string) => Promise<Page>): Observer {
	let page: Page | undefined;
	return {
		async begun(url, cookie) {
			page = await open(url, cookie);
			await page.evaluate(() => {
				const seen: number[] = [];
				Object.assign(window, { seenValues: seen });
				new MutationObserver(() => {
					const value = document.querySelector('[role=dialog] [role=progressbar]')?.getAttribute('aria-valuenow');
					if (typeof value === 'string' && seen.at(-1) !== Number(value)) seen.push(Number(value));
				}).observe(document.body, { subtree: true, childList: true, attributes: true });
			});
			await page.getByRole('button', { name: 'ada' }).click();
			await page.getByRole('menuitem', { name: 'Activity' }).click();
		},
		async ended(t) {
			await page?.getByRole('dialog').getByText('Completed').first().waitFor();
			const seen = (await page?.evaluate(() => (window as unknown as { seenValues: number[] }).seenValues)) ?? [];
			t.log(`the bar showed ${seen.join(', ')}`);
			t.true(new Set(seen.filter((value) => value > 0 && value < 100)).size >= 2, 'the bar moved');
		},
	};
}
