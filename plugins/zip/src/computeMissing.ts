import { type ArchiveContents, Yielder } from '@stowage/plugin-api';
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
	const work = async (pause: Pause) => {
		for (let index = next++; index < contents.count; index = next++) {
			if (yielder.shouldYield) await yielder.yield(signal);
			await pause();
			if (isMissing(index)) await compute(contents, checksums, index, pause, signal);
		}
	};
	const readers = (pause: Pause) => Promise.all(Array.from({ length: readConcurrency }, () => work(pause)));
	await contents.throttle((turn) => readers(pausing(turn)), signal);
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
