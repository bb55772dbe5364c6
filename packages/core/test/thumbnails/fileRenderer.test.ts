import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type ByteRange, Failure, isFailure, type OpenFile, type Renderer } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { createFileRenderer } from '../../src/thumbnails/createFileRenderer.js';

const size = 20 * 1024 * 1024;
const left = new AbortController().signal;
const noPicture = () => new Failure('unsupportedMediaType', 'There is no preview of this file.');

type Source = (range: ByteRange) => AsyncIterable<Uint8Array>;

async function* whole({ start, end }: ByteRange) {
	for (let at = start; at <= end; at += 1024 * 1024) yield Buffer.alloc(Math.min(1024 * 1024, end + 1 - at));
}

/** Renders a file with this content by one renderer; resolves to the picture, or what is known of it, or the kind of the refusal. */
async function outcome(
	t: ExecutionContext,
	{
		read,
		render,
		isLocal = false,
		timeLimitMs = 300,
	}: { read: Source; render: Renderer['render']; isLocal?: boolean; timeLimitMs?: number },
): Promise<unknown> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-renderer-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	await writeFile(path.join(folder, 'file'), 'content');
	const handle = await open(path.join(folder, 'file'));
	t.teardown(() => handle.close());
	const file: OpenFile = {
		item: { name: 'a.jpg', type: 'file', size, mtime: 0, id: 'a', version: 'a' },
		read: (range = { start: 0, end: size - 1 }) => read(range),
		isChanged: async () => false,
		close: async () => {},
		...(isLocal
			? { withLocalFile: (use: (file: { descriptor: number }) => never) => use({ descriptor: handle.fd }) }
			: {}),
	};
	const renderer: Renderer = { version: '1', accepts: () => true, render };
	const renderFile = createFileRenderer({
		renderers: { all: () => new Map([['fake', renderer]]) },
		kinds: { find: async () => ({ kind: 'image', contentKind: 'image' }) },
		folder,
		timeLimitMs,
		log: { info() {}, warn() {}, error() {} } as never,
	});
	// The timers of signals alone would let the process end.
	const alive = setInterval(() => {}, 1000);
	try {
		return await renderFile({ name: 'a.jpg', owner: 'ada', file }, 256, left);
	} catch (error) {
		return isFailure(error) ? error.kind : (error as Error).message;
	} finally {
		clearInterval(alive);
	}
}

/** The first bytes come at once, and what is behind them after a while. */
const slow: Source = async function* ({ start, end }) {
	if (start > 0 || end > 100_000) {
		yield Buffer.alloc(1000);
		await wait(900);
	}
	yield* whole({ start, end });
};

const readsAll: Renderer['render'] = async (source) => {
	for await (const _ of source.read());
	throw noPicture();
};

test('a picture whose source is waited for when the time is over is unavailable, and one that is drawn by then is late', async (t) => {
	t.is(await outcome(t, { read: slow, render: readsAll }), 'unavailable');
	const draws: Renderer['render'] = async (source) => {
		for await (const _ of source.read());
		await wait(900);
		throw noPicture();
	};
	t.is(await outcome(t, { read: whole, render: draws }), 'late');
	// The renderer takes its time between two chunks.
	const readsSlowly: Renderer['render'] = async (source) => {
		for await (const _ of source.read()) await wait(900);
		throw noPicture();
	};
	t.is(await outcome(t, { read: whole, render: readsSlowly }), 'late');
});

test('a copy for a program that is not complete when the time is over says nothing of the content', async (t) => {
	const lends: Renderer['render'] = (source) => source.withLocalFile(async () => Promise.reject(noPicture()));
	t.is(await outcome(t, { read: slow, render: lends }), 'unavailable');
	t.is(await outcome(t, { read: whole, render: lends, timeLimitMs: 60_000 }), 'none');
});

test('what a program says of a file that it was lent is believed only where that can be read', async (t) => {
	const fails = (at: number): Source =>
		async function* ({ start, end }) {
			for await (const chunk of whole({ start, end })) yield chunk;
			if (start <= at && end >= at && end > 100_000) throw new Error('EIO: i/o error, read');
		};
	const lends: Renderer['render'] = (source) => source.withLocalFile(async () => Promise.reject(noPicture()));
	const isLocal = true;
	t.is(await outcome(t, { read: whole, render: lends, isLocal, timeLimitMs: 60_000 }), 'none');
	for (const at of [0, size - 1])
		t.is(await outcome(t, { read: fails(at), render: lends, isLocal, timeLimitMs: 60_000 }), 'EIO: i/o error, read');
	const hangs: Source = async function* ({ start, end }) {
		if (end > 100_000) await wait(60_000, undefined, { ref: false });
		yield* whole({ start, end });
	};
	t.is(await outcome(t, { read: hangs, render: lends, isLocal, timeLimitMs: 60_000 }), 'unavailable');
	const neverEnds: Renderer['render'] = (source, _size, signal) =>
		source.withLocalFile(
			() => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
		);
	t.is(await outcome(t, { read: hangs, render: neverEnds, isLocal }), 'unavailable');
	t.is(await outcome(t, { read: whole, render: neverEnds, isLocal }), 'late');
});

test('a picture whose decoder had not begun when the time is over is unavailable, as its renderer says', async (t) => {
	const endsBy = (error: (signal: AbortSignal) => unknown, ms: number): Renderer['render'] => {
		return (_source, _size, signal) =>
			new Promise((_, reject) => {
				signal.addEventListener('abort', () => setTimeout(() => reject(error(signal)), ms));
			});
	};
	const notBegun = () => new Failure('unavailable', 'There are no previews right now.', { retryAfter: 30 });
	for (const ms of [0, 100]) t.is(await outcome(t, { read: whole, render: endsBy(notBegun, ms) }), 'unavailable');
	t.is(await outcome(t, { read: whole, render: endsBy(({ reason }) => reason, 100) }), 'late');
	t.is(await outcome(t, { read: whole, render: endsBy(noPicture, 0) }), 'late');
	t.is(await outcome(t, { read: whole, render: () => new Promise(() => {}) }), 'late', 'also one that does not end');
});
