import { crc32 } from 'node:zlib';
import { type ArchiveContents, type ByteRange, MemoryPool, type OpenFile, Yielder } from '@stowage/plugin-api';
import type { Checksums } from './Checksums.js';
import { computeMissing } from './computeMissing.js';
import { entryAt, type Layout } from './layout.js';
import { Output } from './Output.js';
import { pausing } from './pausing.js';
import { contentChanged, ReadAhead } from './ReadAhead.js';
import { RunningCrc } from './RunningCrc.js';
import { readFramed } from './readFramed.js';
import {
	centralRecord,
	descriptor,
	endRecords,
	localHeader,
	localHeaderSize,
	maxArchiveNameBytes,
	packedSize,
	smallBytes,
} from './records.js';
import { Blocks, contentBefore, framedBytes } from './storedBlocks.js';

const kilobyte = 1024;

/** An archive has two buffers and its read-ahead. */
const buffersOfOne = 3;

/** Memory of all archives that are read at the same time. */
const memory = new MemoryPool(32 * kilobyte * kilobyte, {
	min: buffersOfOne * 64 * kilobyte,
	max: buffersOfOne * kilobyte * kilobyte,
});

/** A local header or a central record with a long name, or a small content, or a block of a large one. */
const largestPart = Math.max(smallBytes, maxArchiveNameBytes + 128) + 32;

/** The bytes of a range of the archive. */
export async function* readZip(
	contents: ArchiveContents,
	layout: Layout,
	checksums: Checksums,
	range: ByteRange,
	signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
	const { count } = contents;
	const first = entryAt(layout, range.start);
	const lent = memory.allocate();
	const size = lent.bytes / buffersOfOne;
	const ahead = new ReadAhead(contents, first, entryAt(layout, range.end), size);
	const out = new Output(range, layout.starts[first] as number, size, 3 * largestPart);
	const yielder = new Yielder();
	try {
		for (let index = first; index < count && !out.isOver; index++) {
			if (yielder.shouldYield) await yielder.yield(signal);
			const entry = contents.entry(index);
			if (entry.size === 0) {
				out.put(localHeader(entry, 0));
			} else {
				const taken = ahead.take();
				// Most are there: a promise for each would cost as much as reading it.
				const loaded = taken instanceof Promise ? await taken : taken;
				if ('file' in loaded) yield* readLarge(loaded.file, index);
				else putSmall(loaded.bytes, index);
			}
			if (out.isFull) yield out.take();
		}
		if (!out.isOver) yield* readCentralDirectory();
		if (!out.isEmpty) yield out.take();
	} finally {
		lent.release();
		await ahead.close();
		await checksums.save();
	}

	/** A content that was read before, so that its CRC precedes it. */
	function putSmall(bytes: Uint8Array, index: number): void {
		const crc = crc32(bytes);
		checksums.setSmall(index, crc);
		out.put(localHeader(contents.entry(index), crc));
		out.put(bytes);
	}

	/** A content that is read while it is sent, from the block in which the range begins, and its data descriptor. */
	async function* readLarge(file: OpenFile, index: number): AsyncGenerator<Uint8Array> {
		const entry = contents.entry(index);
		const { size } = entry;
		const start = (layout.starts[index] as number) + localHeaderSize(entry);
		const end = start + packedSize(entry);
		const crc = new RunningCrc();
		try {
			out.put(localHeader(entry, 0));
			const skipped = Math.min(end - start, Math.max(0, range.start - start));
			const blocks = new Blocks(size, skipped);
			const from = contentBefore(size, skipped);
			const to = contentBefore(size, Math.max(0, range.end + 1 - start));
			crc.begin(await checksums.recall(index));
			// The part that was sent before is read only if its CRC is not cached, and only if the CRC is needed.
			if (range.end >= end && crc.progress.bytes < from)
				await contents.throttle((turn) => crc.catchUp(file, from, pausing(turn), signal), signal);
			// A range that begins in the middle of a block does not need its header.
			if (blocks.next === undefined) out.position = end;
			else out.position = start + (from === blocks.next.contentStart ? blocks.next.start : skipped);
			let at = from;
			const isLong = to - from > out.fullBytes;
			if (isLong && file.readInto !== undefined) {
				if (!out.isEmpty) yield out.takeLast();
				for await (const { bytes, contents: parts } of readFramed(
					file.readInto.bind(file),
					blocks,
					from,
					to,
					framedBytes(out.fullBytes),
				)) {
					signal?.throwIfAborted();
					for (const part of parts) {
						crc.add(part, at);
						at += part.length;
					}
					if (crc.isWorthSaving) await checksums.set(index, crc.progress);
					yield out.cut(bytes);
				}
			} else if (from < to) {
				for await (const chunk of file.read({ start: from, end: to - 1 })) {
					signal?.throwIfAborted();
					crc.add(chunk, at);
					for (let taken = 0; taken < chunk.length && blocks.next !== undefined; ) {
						const { header, contentStart, contentEnd } = blocks.next;
						if (at === contentStart) out.put(header);
						const part = chunk.subarray(taken, taken + contentEnd - at);
						out.put(part);
						taken += part.length;
						at += part.length;
						if (at === contentEnd) blocks.advance();
						if (out.isFull) yield out.take();
					}
					if (crc.isWorthSaving) await checksums.set(index, crc.progress);
				}
			}
			if (at !== to) throw contentChanged();
			// The range may end in a header, and the last block may have no content.
			if (at === blocks.next?.contentStart) out.put(blocks.next.header);
			await crc.assertUnchanged(file);
		} finally {
			await file.close();
			await checksums.set(index, crc.progress);
		}
		if (!out.isOver) out.put(descriptor(entry, crc.progress.crc));
	}

	async function* readCentralDirectory(): AsyncGenerator<Uint8Array> {
		await computeMissing(contents, checksums, signal);
		for (let index = 0; index < count && !out.isOver; index++) {
			if (yielder.shouldYield) await yielder.yield(signal);
			const crc = checksums.get(index) ?? 0;
			out.put(centralRecord(contents.entry(index), layout.starts[index] as number, crc));
			if (out.isFull) yield out.take();
		}
		out.put(endRecords(count, layout.centralStart, layout.centralSize));
	}
}
