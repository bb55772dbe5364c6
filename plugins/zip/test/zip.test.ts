import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Archive, Failure } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { longMs, until } from '../../../packages/core/test/until.js';
import { ChecksumCache } from '../src/ChecksumCache.js';
import { Checksums } from '../src/Checksums.js';
import { layOut } from '../src/layout.js';
import { descriptorSize, localHeaderSize, packedSize } from '../src/records.js';
import { type Block, Blocks, deflatedSize } from '../src/storedBlocks.js';
import { zipFormat } from '../src/zipFormat.js';
import { bytesOf, GeneratedFiles, Rows } from './generatedFiles.js';

const run = promisify(execFile);
const env = { ...process.env, LC_ALL: 'C.UTF-8', PYTHONUTF8: '1' };
function blocksFrom(size: number, position?: number): Block[] {
	const found: Block[] = [];
	for (const blocks = new Blocks(size, position); blocks.next !== undefined; blocks.advance()) found.push(blocks.next);
	return found;
}

/** Writes the archive to disk and tests it with three other programs. */
async function assertReadable(t: ExecutionContext, archive: Archive): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-zip-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const zip = path.join(folder, 'archive.zip');
	await pipeline(archive.read(), createWriteStream(zip));
	await run('unzip', ['-tqq', zip], { env });
	await run('7z', ['t', zip], { env });
	await run('python3', ['-c', 'import sys, zipfile; sys.exit(zipfile.ZipFile(sys.argv[1]).testzip())', zip], { env });
	return zip;
}

async function list(zip: string): Promise<{ name: string; size: number; time: number[] }[]> {
	const script =
		'import sys, json, zipfile; print(json.dumps([{"name": i.filename, "size": i.file_size, "time": i.date_time} for i in zipfile.ZipFile(sys.argv[1]).infolist()]))';
	return JSON.parse((await run('python3', ['-c', script, zip], { env, maxBuffer: 2 ** 28 })).stdout);
}

test('unzip, 7z and Python read names, sizes, times, empty files and folders', async (t) => {
	const files = new GeneratedFiles()
		.add('docs', 'folder')
		.add('docs/empty', 'folder')
		.add('docs/nothing', 0)
		.add('docs/naïve 📁.txt', randomBytes(1000))
		.add('docs/large', randomBytes(3_000_000))
		.add('-rf', randomBytes(64 * 1024))
		.add(`${'x'.repeat(255)}/${'y'.repeat(255)}`, randomBytes(1))
		.add('before 1980', randomBytes(1), Date.UTC(1970, 0, 1))
		.add('after 2107', randomBytes(1), Date.UTC(2300, 0, 1));
	const archive = await zipFormat(new Rows()).archive(files);
	const listed = await list(await assertReadable(t, archive));
	t.deepEqual(
		listed.map(({ name, size }) => [name, size]),
		files.entries.map(({ name, type, size }) => [type === 'file' ? name : `${name}/`, size]),
	);
	t.deepEqual(listed[0]?.time, [2020, 2, 3, 4, 5, 6]);
	t.deepEqual(listed.at(-2)?.time, [1980, 1, 1, 0, 0, 0]);
	t.deepEqual(listed.at(-1)?.time, [2107, 12, 31, 23, 59, 58]);
	t.is(files.opened, files.closed);
});

test('an archive without entries consists of its end record', async (t) => {
	const archive = await zipFormat(new Rows()).archive(new GeneratedFiles());
	t.is(archive.size, 22);
	t.is((await bytesOf(archive)).length, 22);
});

test('an archive of more than 65,535 entries can be read', async (t) => {
	const files = new GeneratedFiles();
	for (let n = 0; n < 65_600; n++) files.add(`folder ${n % 100}/file ${n}`, n % 1000 === 0 ? randomBytes(10) : 0);
	t.is((await list(await assertReadable(t, await zipFormat(new Rows()).archive(files)))).length, 65_600);
});

test('the bytes of an archive do not depend on the local time zone', async (t) => {
	const files = new GeneratedFiles().add('a', randomBytes(100));
	const zone = process.env.TZ;
	const bytes = await bytesOf(await zipFormat(new Rows()).archive(files));
	process.env.TZ = 'Pacific/Auckland';
	const elsewhere = await bytesOf(await zipFormat(new Rows()).archive(files));
	process.env.TZ = zone;
	if (zone === undefined) delete process.env.TZ;
	t.true(bytes.equals(elsewhere));
});

test('a range has the same bytes as in the whole archive', async (t) => {
	const files = new GeneratedFiles().add('f', 'folder').add('f/a', randomBytes(200_000));
	for (let n = 0; n < 30; n++) files.add(`f/${n}`, randomBytes(n * 37));
	files.add('f/z', randomBytes(70_000));
	const whole = await bytesOf(await zipFormat(new Rows()).archive(files));
	for (let start = 0; start < whole.length; start += 1 + Math.floor(whole.length / 97)) {
		for (const end of [start, start + 1, start + 30, start + 65_000, whole.length - 1]) {
			if (end >= whole.length) continue;
			const part = await bytesOf(await zipFormat(new Rows()).archive(files), { start, end });
			t.true(part.equals(whole.subarray(start, end + 1)), `${start}-${end}`);
		}
	}
	t.is(files.opened, files.closed);
});

test('contents that a storage reads together give the same bytes as those that are opened', async (t) => {
	const files = new GeneratedFiles().add('f', 'folder');
	for (let n = 0; n < 300; n++)
		files.add(`f/${n}`, randomBytes(n % 7 === 0 ? 0 : n % 50 === 1 ? 70_000 : (n * 211) % 65_000));
	const opened = await bytesOf(await zipFormat(new Rows()).archive(files));
	const openedOnes = files.opened;
	for (const isReadTogether of [() => true, (name: string) => Number(name.slice(2)) % 3 > 0]) {
		files.opened = 0;
		files.closed = 0;
		files.isReadTogether = isReadTogether;
		t.true((await bytesOf(await zipFormat(new Rows()).archive(files))).equals(opened));
		t.true(files.opened < openedOnes);
		t.is(files.opened, files.closed);
		const range = { start: 1_000_000, end: 1_500_000 };
		const part = await bytesOf(await zipFormat(new Rows()).archive(files), range);
		t.true(part.equals(opened.subarray(range.start, range.end + 1)));
	}
});

test('ranges that begin or end at any boundary of records have the same bytes as in the whole archive', async (t) => {
	const files = new GeneratedFiles()
		.add('folder', 'folder')
		.add('folder/nothing', 0)
		.add('folder/one 📁', randomBytes(1));
	for (const size of [65_535, 65_536, 65_537, 131_070, 131_071, 200_000]) files.add(`${size}`, randomBytes(size));
	files.add('last', randomBytes(10));
	const whole = await bytesOf(await zipFormat(new Rows()).archive(files));
	const layout = await layOut(files, undefined);
	const boundaries = new Set([0, layout.centralStart, layout.centralStart + 46, whole.length - 22]);
	for (const [index, entry] of files.entries.entries()) {
		const start = layout.starts[index] as number;
		const content = start + localHeaderSize(entry);
		const end = content + packedSize(entry);
		for (const at of [start, start + 14, content, end, end + descriptorSize(entry)]) boundaries.add(at);
		if (descriptorSize(entry) === 0) continue;
		for (const block of blocksFrom(entry.size)) {
			for (const at of [block.start, block.start + 1, block.start + 5]) boundaries.add(content + at);
		}
	}
	const format = zipFormat(new Rows());
	for (const boundary of boundaries) {
		for (const start of [boundary - 1, boundary, boundary + 1]) {
			if (start < 0 || start >= whole.length) continue;
			const rest = await bytesOf(await format.archive(files), { start, end: whole.length - 1 });
			t.true(rest.equals(whole.subarray(start)), `from ${start}`);
			const begun = await bytesOf(await format.archive(files), { start: Math.max(0, start - 70_000), end: start });
			t.true(begun.equals(whole.subarray(Math.max(0, start - 70_000), start + 1)), `to ${start}`);
		}
	}
	t.is(files.opened, files.closed);
});

test('no content has the packed size that programs read in two ways', (t) => {
	const size = 0xffffffff - 65_533 * 5;
	t.is(deflatedSize(size - 1), 0xffffffff - 1);
	t.is(deflatedSize(size), 0xffffffff + 5);
	t.deepEqual(
		blocksFrom(size, 0xffffffff - 10).map(({ header, contentStart, contentEnd }) => [
			header[0],
			contentEnd - contentStart > 0,
		]),
		[
			[0, true],
			[1, false],
		],
	);
});

test('the end of an archive is read again without opening its small files again', async (t) => {
	const files = new GeneratedFiles();
	for (let n = 0; n < 3000; n++) files.add(`${n}`, randomBytes(1 + (n % 50)));
	const format = zipFormat(new Rows());
	const archive = await format.archive(files);
	const range = { start: archive.size - 88, end: archive.size - 1 };
	const end = await bytesOf(archive, range);
	t.is(files.opened, 3000);
	t.is(files.throttled, 1, 'reads for checksums only are throttled');
	for (let n = 0; n < 5; n++) t.true((await bytesOf(await format.archive(files), range)).equals(end));
	t.is(files.opened, 3000);
	t.is(files.throttled, 1);
	// Other selections of the same files as well.
	files.entries.reverse();
	t.is((await bytesOf(await format.archive(files), range)).length, 88);
	t.is(files.opened, 3000);
});

test('reading earlier bytes of a file again for its checksum is throttled', async (t) => {
	const files = new GeneratedFiles().add('a', randomBytes(10_000_000));
	const archive = await zipFormat(new Rows()).archive(files);
	await bytesOf(archive, { start: 9_000_000, end: 9_000_010 });
	t.is(files.throttled, 0);
	await bytesOf(archive, { start: 9_000_000, end: archive.size - 1 });
	t.is(files.throttled, 1);
});

test('all readers for checksums pause while others have their turn, also in the middle of a file', async (t) => {
	const files = new GeneratedFiles();
	for (const name of ['a', 'b', 'c']) files.add(name, 30_000_000);
	let isOver = false;
	let resume = () => {};
	let turns = 0;
	files.turn = {
		get isOver() {
			return isOver;
		},
		async next() {
			turns++;
			isOver = false;
			await new Promise<void>((resolve) => {
				resume = resolve;
			});
		},
	};
	let chunks = 0;
	files.onChunk = () => {
		// It stays over until a reader asks, whatever others read until then.
		if (++chunks === 10) isOver = true;
	};
	const archive = await zipFormat(new Rows()).archive(files);
	const end = bytesOf(archive, { start: archive.size - 88, end: archive.size - 1 });
	await until('the turn is over', () => turns === 1);
	for (let round = 0; round < 50; round++) await setImmediate();
	const paused = chunks;
	t.true(paused < 10 + 2 * 3, `${paused} chunks`);
	for (let round = 0; round < 50; round++) await setImmediate();
	t.is(chunks, paused);
	resume();
	t.is((await end).length, 88);
	t.true(chunks > paused);
});

test('a file that fails while checksums are read ends all other readers, and what they had read is kept', async (t) => {
	const size = 50_000_000;
	const files = new GeneratedFiles();
	for (let n = 0; n < 12; n++) files.add(`file ${n}`, size);
	const chunks = new Map<string, number>();
	files.onChunk = async (name) => {
		await setImmediate();
		chunks.set(name, (chunks.get(name) ?? 0) + 1);
		if (name === 'file 3' && chunks.get(name) === 5) throw new Failure('unavailable', 'The disk is away.');
	};
	const rows = new Rows();
	const archive = await zipFormat(rows).archive(files);
	const last = { start: archive.size - 1, end: archive.size - 1 };
	t.is((await t.throwsAsync(bytesOf(archive, last)))?.message, 'The disk is away.');
	t.is(files.opened, 8);
	t.is(files.closed, 8, 'nothing is read for an archive that has failed');
	const read = files.bytesRead;
	t.true(read < 8 * 10 * 1024 * 1024, `${read} bytes`);
	for (let round = 0; round < 20; round++) await setImmediate();
	t.is(files.bytesRead, read);
	t.is(rows.rows.size, 8);
	files.onChunk = () => {};
	await bytesOf(await zipFormat(rows).archive(files), last);
	t.true(files.bytesRead - 12 * size < 8 * 1024 * 1024, 'of each the chunk that had just come is read twice at most');
});

test('readers whose place is waited for end at once where another one fails', async (t) => {
	const files = new GeneratedFiles();
	for (const name of ['a', 'b', 'c']) files.add(name, 30_000_000);
	let isOver = false;
	let isPaused = false;
	let aborted: AbortSignal | undefined;
	const throttle = files.throttle.bind(files);
	files.throttle = (work, signal) => {
		aborted = signal;
		return throttle(work);
	};
	files.turn = {
		get isOver() {
			return isOver;
		},
		next() {
			isPaused = true;
			return wait(longMs, undefined, { signal: aborted });
		},
	};
	files.onChunk = async (name, at) => {
		if (at === 0) return;
		if (name === 'b') isOver = true;
		while (name === 'b' ? !isPaused : !isOver) await setImmediate();
		if (name === 'b') throw new Failure('conflict', 'It was changed.');
	};
	const archive = await zipFormat(new Rows()).archive(files);
	const reading = bytesOf(archive, { start: archive.size - 1, end: archive.size - 1 });
	t.is((await t.throwsAsync(reading))?.message, 'It was changed.');
	t.is(files.opened, files.closed);
});

test('a storage that reads into buffers makes the same bytes in every range', async (t) => {
	const files = new GeneratedFiles()
		.add('a', randomBytes(3_000_001))
		.add('b', randomBytes(10))
		.add('c', randomBytes(2_500_000));
	const whole = await bytesOf(await zipFormat(new Rows()).archive(files));
	files.canReadInto = true;
	const format = zipFormat(new Rows());
	t.true((await bytesOf(await format.archive(files))).equals(whole));
	const content = localHeaderSize(files.entry(0));
	for (const start of [0, content, content + 3, content + 5, content + 65_540, content + 70_000, 3_000_400]) {
		for (const end of [start + 1_200_000, start + 65_540 * 20, start + 65_540 * 20 + 2, whole.length - 1]) {
			if (end >= whole.length) continue;
			const part = await bytesOf(await format.archive(files), { start, end });
			t.true(part.equals(whole.subarray(start, end + 1)), `${start}-${end}`);
		}
	}
	for (const failing of ['a', 'c']) {
		files.onChunk = (name, at) => {
			if (name === failing && at > 2_000_000) throw new Error('The disk is gone.');
		};
		await t.throwsAsync(bytesOf(await format.archive(files)), { message: 'The disk is gone.' });
	}
	t.is(files.opened, files.closed);
});

test('a second archive that is resumed reads nothing for a checksum', async (t) => {
	const rows = new Rows();
	const files = new GeneratedFiles().add('a', randomBytes(1_000_000)).add('b', randomBytes(1_000_000));
	const whole = await bytesOf(await zipFormat(rows).archive(files));
	files.bytesRead = 0;
	const start = 1_500_000;
	const rest = await bytesOf(await zipFormat(rows).archive(files), { start, end: whole.length - 1 });
	t.true(rest.equals(whole.subarray(start)));
	// Headers of entries and blocks are a part of what was sent.
	t.true(files.bytesRead <= 500_300, `${files.bytesRead}`);
});

test('an archive that was interrupted in the middle of a file is resumed without reading the sent bytes again', async (t) => {
	const rows = new Rows();
	const files = new GeneratedFiles().add('a', 50 * 1024 * 1024);
	const archive = await zipFormat(rows).archive(files);
	let received = 0;
	for await (const chunk of archive.read()) {
		received += chunk.length;
		if (received > 30 * 1024 * 1024) break;
	}
	files.bytesRead = 0;
	// A little less arrived than was sent.
	const start = received - 2 * 1024 * 1024;
	const rest = await bytesOf(await zipFormat(rows).archive(files), { start, end: archive.size - 1 });
	t.true(files.bytesRead <= archive.size - start, `${files.bytesRead}`);
	t.true((await bytesOf(await zipFormat(new Rows()).archive(files))).subarray(start).equals(rest));
});

test('the checksum of a recently modified file is not stored', async (t) => {
	const rows = new Rows();
	// However slow the machine is, the archive is made before this time has passed.
	const files = new GeneratedFiles().add('a', randomBytes(100_000), Date.now() + 3_600_000);
	await bytesOf(await zipFormat(rows).archive(files));
	t.is(rows.rows.size, 0);
});

test('a source that fails or changes ends the archive with an error', async (t) => {
	for (const [name, size] of [
		['small', 100],
		['large', 5_000_000],
	] as const) {
		const failing = new GeneratedFiles().add('first', randomBytes(10)).add(name, randomBytes(size));
		failing.onChunk = (reading) => {
			if (reading === name) throw new Error('The disk is gone.');
		};
		await t.throwsAsync(bytesOf(await zipFormat(new Rows()).archive(failing)), { message: 'The disk is gone.' });
		t.is(failing.opened, failing.closed);

		const rows = new Rows();
		const changing = new GeneratedFiles().add(name, randomBytes(size));
		changing.isChanged = true;
		await t.throwsAsync(bytesOf(await zipFormat(rows).archive(changing)), { message: /changed/ });
		t.is(changing.opened, changing.closed);
		t.deepEqual(
			[...rows.rows.values()].filter((row) => (row as number[])[1] !== 0),
			[],
		);
	}
});

test('files are opened and read ahead within a bound, and all are closed when the reader stops', async (t) => {
	const files = new GeneratedFiles();
	for (let n = 0; n < 2000; n++) files.add(`${n}`, randomBytes(10_000));
	const archive = await zipFormat(new Rows()).archive(files);
	let chunks = 0;
	for await (const _chunk of archive.read()) {
		t.true(files.opened * 10_000 < 3 * 1024 * 1024, `${files.opened} were opened`);
		if (++chunks === 2) break;
	}
	t.true(files.opened < 400, `${files.opened} were opened`);
	t.is(files.opened, files.closed);
});

test('a large file is closed when the reader stops before it', async (t) => {
	const files = new GeneratedFiles().add('small', randomBytes(10)).add('large', randomBytes(1_000_000));
	for await (const _chunk of (await zipFormat(new Rows()).archive(files)).read()) break;
	t.is(files.opened, files.closed);
});

test('an archive is complete although the database is full or unavailable', async (t) => {
	const files = new GeneratedFiles().add('a', randomBytes(100_000)).add('b', randomBytes(100_000));
	const whole = await bytesOf(await zipFormat(new Rows()).archive(files));
	const rows = new Rows();
	rows.getMany = () => Promise.reject(new Failure('unavailable', 'The database is not available right now.'));
	rows.setMany = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));
	t.true((await bytesOf(await zipFormat(rows).archive(files))).equals(whole));
	const start = 150_000;
	const rest = await bytesOf(await zipFormat(rows).archive(files), { start, end: whole.length - 1 });
	t.true(rest.equals(whole.subarray(start)));
	t.is(files.opened, files.closed);
});

test('reading a file for its checksum is aborted between two chunks', async (t) => {
	const files = new GeneratedFiles().add('huge', 10 * 1024 ** 4).add('last', randomBytes(10));
	const archive = await zipFormat(new Rows()).archive(files);
	const controller = new AbortController();
	let chunks = 0;
	files.onChunk = () => {
		if (++chunks === 20) controller.abort(new Error('The reader has left.'));
	};
	const reading = archive.read({ start: archive.size - 1, end: archive.size - 1 }, controller.signal);
	await t.throwsAsync(
		async () => {
			for await (const _chunk of reading);
		},
		{ message: 'The reader has left.' },
	);
	t.is(files.opened, files.closed);
});

test('stored checksums are read in batches', async (t) => {
	const files = new GeneratedFiles();
	for (let n = 0; n < 500; n++) files.add(`${n}`, 70_000);
	const rows = new Rows();
	let reads = 0;
	const getMany = rows.getMany.bind(rows);
	rows.getMany = (keys) => {
		reads++;
		return getMany(keys);
	};
	const checksums = new Checksums(files, rows, new ChecksumCache());
	for (let n = 0; n < 500; n++) t.deepEqual(await checksums.recall(n), { crc: 0, bytes: 0 });
	t.is(reads, 3);
});
