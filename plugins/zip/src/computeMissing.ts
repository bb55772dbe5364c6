import { type ArchiveContents, forEachConcurrently, Yielder } from '@stowage/plugin-api';
import type { Checksums } from './Checksums.js';
import { type Pause, pausing } from './pausing.js';
import { RunningCrc } from './RunningCrc.js';

const readConcurrency = 8;

/** Learns the CRCs of contents that were not sent this time: remembered ones, or else the contents are read. */
export async function computeMissing(
	contents: ArchiveContents,
	checksums: Checksums,
	signal: AbortSignal | undefined,
): Promise<void> {
	const yielder = new Yielder();
	const isMissing = (index: number) => checksums.get(index) === undefined && contents.entry(index).size > 0;
	let next = 0;
	for (; next < contents.count; next++) {
		if (yielder.shouldYield) await yielder.yield(signal);
		if (isMissing(next) && (await checksums.recall(next)).bytes < contents.entry(next).size) break;
	}
	if (next === contents.count) return;
	const failed = new AbortController();
	const reading = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
	const work = async (index: number, pause: Pause) => {
		try {
			if (yielder.shouldYield) await yielder.yield(reading);
			await pause();
			if (isMissing(index)) await compute(contents, checksums, index, pause, reading);
		} catch (error) {
			// Nobody gets this archive any more: the other readers stop at their next chunk, and keep what they have computed.
			failed.abort(error);
			throw error;
		}
	};
	await contents.throttle(async (turn) => {
		const pause = pausing(turn);
		await forEachConcurrently(readConcurrency, indexes(next, contents.count), (index) => work(index, pause));
	}, reading);
}

function* indexes(first: number, end: number): Generator<number> {
	for (let index = first; index < end; index++) yield index;
}

async function compute(
	contents: ArchiveContents,
	checksums: Checksums,
	index: number,
	pause: Pause,
	signal: AbortSignal | undefined,
): Promise<void> {
	signal?.throwIfAborted();
	const entry = contents.entry(index);
	const crc = new RunningCrc();
	crc.begin(await checksums.recall(index));
	if (crc.progress.bytes === entry.size) return;
	const file = await contents.open(entry);
	try {
		await crc.catchUp(file, entry.size, pause, signal);
		await crc.assertUnchanged(file);
	} finally {
		await file.close();
		await checksums.set(index, crc.progress);
	}
}
