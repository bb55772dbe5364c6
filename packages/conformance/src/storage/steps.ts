import type { ByteRange, OpenFile, StorageEntry, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { type FailureKind, isFailure, parsePath } from '@stowage/rules';
import type { ExecutionContext } from 'ava';

/** Declares one rule. `reopen` reopens the same root, as after a restart. */
export type Rule = (
	title: string,
	check: (t: ExecutionContext, storage: StorageProvider, reopen: () => Promise<StorageProvider>) => Promise<void>,
) => void;

export const toPath = parsePath;

/** A body of these chunks. */
export async function* body(...chunks: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
	for (const chunk of chunks) yield typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
}

/** A body that fails after these chunks. */
export async function* brokenBody(error: Error, ...chunks: string[]): AsyncGenerator<Uint8Array> {
	yield* body(...chunks);
	throw error;
}

/** Stores a file with this content. */
export async function put(
	storage: StorageProvider,
	path: string,
	content: string | Uint8Array = path,
	options: { mtime?: number } = {},
): Promise<StorageItem> {
	const staged = await storage.stage();
	await staged.append(body(content), 0);
	return staged.commit(toPath(path), options);
}

/** Creates folders, parents before their contents. */
export async function putFolders(storage: StorageProvider, ...paths: string[]): Promise<void> {
	for (const path of paths) await storage.makeDirectory(toPath(path));
}

export async function readBytes(file: OpenFile, range?: ByteRange): Promise<Uint8Array> {
	const chunks: Uint8Array[] = [];
	// Copied at once: a chunk may be overwritten when the next one is requested.
	for await (const chunk of file.read(range)) chunks.push(Uint8Array.from(chunk));
	return Buffer.concat(chunks);
}

export async function readText(storage: StorageProvider, path: string, range?: ByteRange): Promise<string> {
	const file = await storage.open(toPath(path));
	try {
		return new TextDecoder().decode(await readBytes(file, range));
	} finally {
		await file.close();
	}
}

/** All rows of a folder, by name. */
export async function rows(storage: StorageProvider, path: string): Promise<StorageEntry[]> {
	const all: StorageEntry[] = [];
	for await (const batch of storage.list(toPath(path))) all.push(...batch);
	return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function names(storage: StorageProvider, path: string): Promise<string[]> {
	return (await rows(storage, path)).map((row) => row.name);
}

/** Asserts that `work` is refused with a Failure of that kind. */
export async function refused(t: ExecutionContext, kind: FailureKind, work: () => Promise<unknown>): Promise<void> {
	const outcome = await work().then(
		() => 'it succeeded',
		(error: unknown) => (isFailure(error) ? error.kind : error),
	);
	t.is(outcome, kind);
}

/** How each of these ended: `'done'` or the kind of its Failure. Anything else is thrown. */
export async function outcomes(work: readonly Promise<unknown>[]): Promise<string[]> {
	const results = await Promise.allSettled(work);
	return results.map((result) => {
		if (result.status === 'fulfilled') return 'done';
		if (isFailure(result.reason)) return result.reason.kind;
		throw result.reason;
	});
}

/** Bytes that encode their own offset, so that a misplaced chunk is noticed. */
export function patternBytes(length: number): Uint8Array {
	const words = new Uint32Array(Math.ceil(length / 4));
	for (let at = 0; at < words.length; at++) words[at] = at * 2654435761;
	return new Uint8Array(words.buffer, 0, length);
}
