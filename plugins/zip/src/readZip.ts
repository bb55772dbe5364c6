import type { ArchiveContents, ByteRange, OpenFile } from '@stowage/plugin-api';
import type { Checksums } from './Checksums.js';
import { computeMissing } from './computeMissing.js';
import { entryAt, type Layout } from './layout.js';
import { Output } from './Output.js';
import { contentChanged, ReadAhead, smallBytes } from './ReadAhead.js';
import { RunningCrc } from './RunningCrc.js';
import { centralRecord, descriptor, endRecords, localHeader, localHeaderSize, maxArchiveNameBytes } from './records.js';

const largestBuffer = 1024 * 1024;
const smallestBuffer = 64 * 1024;

/** What the archives that are read at the same time may hold together; the more there are, the less each of them. */
const memoryForArchives = 32 * 1024 * 1024;

/** A local header or a central record with a long name, or a small content. */
const largestPiece = Math.max(smallBytes, maxArchiveNameBytes + 128) + 32;

let archivesUnderWay = 0;

/** The bytes of a range of the archive. */
export async function* readZip(
	contents: ArchiveContents,
	layout: Layout,
	checksums: Checksums,
	range: ByteRange,
	signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
	const { count } = contents;
	archivesUnderWay++;
	const first = entryAt(layout, range.start);
	const size = bufferSize();
	const ahead = new ReadAhead(contents, first, entryAt(layout, range.end), size);
	const out = new Output(range, layout.starts[first] as number, size, 3 * largestPiece);
	try {
		for (let index = first; index < count && !out.isOver; index++) {
			signal?.throwIfAborted();
			const entry = contents.entry(index);
			out.put(localHeader(entry));
			if (entry.size > 0 && !out.isOver) {
				// Before it is taken: whoever leaves here leaves no file open.
				if (entry.size > smallBytes && !out.isEmpty) yield out.take();
				const loaded = await ahead.take();
				if ('file' in loaded) yield* readLarge(loaded.file, index);
				else await putSmall(loaded.bytes, index);
			}
			if (out.isFull) yield out.take();
		}
		if (!out.isOver) yield* readCentralDirectory();
		if (!out.isEmpty) yield out.take();
	} finally {
		archivesUnderWay--;
		await ahead.close();
		await checksums.save();
	}

	/** A content that was read before, and what follows it. */
	async function putSmall(bytes: Uint8Array, index: number): Promise<void> {
		out.put(bytes);
		const crc = new RunningCrc();
		crc.add(bytes, 0);
		await checksums.set(index, crc.progress);
		out.put(descriptor(contents.entry(index), crc.progress.crc));
	}

	/** A content whose chunks go through as they are, and what follows it. */
	async function* readLarge(file: OpenFile, index: number): AsyncGenerator<Uint8Array> {
		const entry = contents.entry(index);
		const begin = (layout.starts[index] as number) + localHeaderSize(entry);
		const from = Math.min(Math.max(0, range.start - begin), entry.size);
		const to = Math.min(entry.size, range.end + 1 - begin);
		const crc = new RunningCrc();
		try {
			crc.begin(await checksums.recall(index));
			// What was sent before is read only as far as nobody remembers its CRC, and only if the CRC is asked for.
			if (to === entry.size) await crc.catchUp(file, from, signal);
			if (from < to) {
				let at = from;
				for await (const chunk of file.read({ start: from, end: to - 1 })) {
					crc.add(chunk, at);
					at += chunk.length;
					if (crc.isWorthSaving) await checksums.set(index, crc.progress);
					yield chunk;
				}
				if (at !== to) throw contentChanged();
			}
			await crc.demandUnchanged(file);
		} finally {
			await file.close();
			await checksums.set(index, crc.progress);
		}
		out.position = begin + entry.size;
		if (!out.isOver) out.put(descriptor(entry, crc.progress.crc));
	}

	async function* readCentralDirectory(): AsyncGenerator<Uint8Array> {
		await computeMissing(contents, checksums, signal);
		for (let index = 0; index < count && !out.isOver; index++) {
			const crc = checksums.get(index) ?? 0;
			out.put(centralRecord(contents.entry(index), layout.starts[index] as number, crc));
			if (out.isFull) yield out.take();
		}
		out.put(endRecords(count, layout.centralStart, layout.centralSize));
	}
}

function bufferSize(): number {
	const share = memoryForArchives / archivesUnderWay;
	return Math.max(smallestBuffer, Math.min(largestBuffer, 2 ** Math.floor(Math.log2(share))));
}
