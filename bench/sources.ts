import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';

export const megabyte = 1024 ** 2;
export const gigabyte = 1024 ** 3;

/** A file of so many bytes that no disk compresses away. */
export async function writeSource(file: string, bytes: number): Promise<void> {
	const handle = await open(file, 'w');
	const chunk = Buffer.alloc(megabyte);
	for (let at = 0; at < chunk.length; at += 4) chunk.writeUInt32LE((at * 2654435761) >>> 0, at);
	for (let written = 0; written < bytes; written += chunk.length)
		await handle.write(chunk, 0, Math.min(chunk.length, bytes - written));
	await handle.sync();
	await handle.close();
}

/** Fills a folder with empty files up to so many; it has `present` of them. */
export async function emptyFiles(folder: string, count: number, present = 0): Promise<void> {
	// At once: a promise for each of a million would take longer than the files.
	for (let n = present; n < count; n++)
		closeSync(openSync(path.join(folder, `IMG_${String(n).padStart(6, '0')}.jpg`), 'w'));
}

/** How a size is called in the names of workloads. */
export function sized(bytes: number): string {
	return bytes >= gigabyte ? `${bytes / gigabyte} GB` : `${Math.round(bytes / megabyte)} MB`;
}

/** Runs `work` for each number below `count`, so many at once. */
export async function inLanes(lanes: number, count: number, work: (n: number) => Promise<void>): Promise<void> {
	let next = 0;
	const lane = async () => {
		while (next < count) await work(next++);
	};
	await Promise.all(Array.from({ length: lanes }, lane));
}
