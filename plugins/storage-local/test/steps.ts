import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { StorageDriver, StorageProvider } from '@stowage/plugin-api';
import { type FailureKind, isFailure, parsePath } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import type { ExecutionContext } from 'ava';
import type { LocalStorageOptions } from '../src/driver.js';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';

export const run = promisify(execFile);
export const p = parsePath;

/**
 * The calls that the server uses. Awaited here, which every test file imports: a file that awaited them itself would
 * declare its tests too late in a shared process.
 */
export const best = await loadSystemCalls();

/** Whether this test may mount, change owners and read everything. */
export const isRoot = process.getuid?.() === 0;

/** A folder of its own, removed after the test. */
export async function temporaryFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'stowage-storage-'));
	t.teardown(async () => {
		try {
			await rm(folder, { recursive: true, force: true });
		} catch {
			// It can't remove a tree whose paths are longer than a system call accepts.
			await run('rm', ['-rf', folder]);
		}
	});
	return folder;
}

/** A driver for the root `files` in a temporary folder. */
export async function localDriver(
	t: ExecutionContext,
	options: LocalStorageOptions = {},
): Promise<{ driver: StorageDriver; root: string; folder: string }> {
	const folder = await temporaryFolder(t);
	const root = join(folder, 'files');
	return { driver: localStorageDriver(root, options), root, folder };
}

export interface OpenedRoot {
	storage: StorageProvider;
	driver: StorageDriver;
	root: string;
	/** Contains the root, and files outside it. */
	folder: string;
}

/** An opened storage over an empty root. */
export async function localStorage(t: ExecutionContext, options: LocalStorageOptions = {}): Promise<OpenedRoot> {
	const { driver, root, folder } = await localDriver(t, options);
	const storage = await driver.open(undefined);
	t.teardown(() => storage.close());
	return { storage, root, driver, folder };
}

/** Creates files with their folders directly on the disk, as another program would. */
export async function plant(root: string, files: Readonly<Record<string, string>>): Promise<void> {
	for (const [path, content] of Object.entries(files)) {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), content);
	}
}

export async function* body(...chunks: string[]): AsyncGenerator<Uint8Array> {
	for (const chunk of chunks) yield Buffer.from(chunk);
}

export async function put(storage: StorageProvider, path: string, content: string): Promise<void> {
	const staged = await storage.stage();
	await staged.append(body(content), 0);
	await staged.commit(p(path));
}

export async function readText(storage: StorageProvider, path: string): Promise<string> {
	const file = await storage.open(p(path));
	try {
		let text = '';
		for await (const chunk of file.read()) text += Buffer.from(chunk).toString();
		return text;
	} finally {
		await file.close();
	}
}

export async function names(storage: StorageProvider, path: string): Promise<string[]> {
	const found: string[] = [];
	for await (const batch of storage.list(p(path))) found.push(...batch.map((row) => row.name));
	return found.sort();
}

/** Asserts that `work` is refused with a Failure of that kind whose message reveals nothing of the host. */
export async function refused(t: ExecutionContext, kind: FailureKind, work: () => Promise<unknown>): Promise<void> {
	const outcome = await work().then(
		() => 'it succeeded',
		(error: unknown) => (isFailure(error) ? error : String(error)),
	);
	if (!isFailure(outcome)) {
		t.fail(`not refused as ${kind}: ${outcome}`);
		return;
	}
	t.is(outcome.kind, kind);
	t.notRegex(outcome.message, /\/tmp|\/proc|stowage-storage|E[A-Z]{4,}/);
}

/** Waits until `isSo` returns true; fails after 5 minutes. */
export async function eventually(t: ExecutionContext, isSo: () => Promise<boolean> | boolean): Promise<void> {
	for (const end = performance.now() + 5 * 60_000; performance.now() < end; ) {
		if (await isSo()) {
			t.pass();
			return;
		}
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	t.fail('the condition was not met in time');
}
