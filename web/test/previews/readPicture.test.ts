import { sniffedBytes } from '@stowage/rules';
import { QueryClient } from '@tanstack/react-query';
import test, { type ExecutionContext } from 'ava';
import { firstBytesQuery } from '../../src/features/previews/common/bytes/firstBytes.js';
import { imageSource, previewFile } from '../../src/features/previews/common/bytes/previewFile.js';
import { pixelsOfIconMetadata } from '../../src/features/previews/common/images/metadata.js';
import { type Picture, pictureIn } from '../../src/features/previews/common/images/picture.js';
import { maxPixels } from '../../src/features/previews/common/images/pixels.js';

const addressOf = () => 'file';
const source = { viewUrl: addressOf, downloadUrl: addressOf, tabUrl: addressOf, thumbnailUrl: () => 'rendition' };
const fileOf = (name: string, { length }: Uint8Array) =>
	previewFile(source as never, { name, path: name as never, type: 'file', size: length, mtime: 0 });

/** 100 kB that begin as a picture of 1 by 1 pixel and say all else further back. */
const jpeg = Buffer.alloc(100_000);
jpeg.set(Buffer.from('ffd8ffc000110800010001030000000000000000', 'hex'));
const icons = Buffer.alloc(100_000);
icons.set([0, 0, 1, 0]);

/** Reads a file of a server that answers ranges, with workers that answer so. */
async function readWith(t: ExecutionContext, name: string, bytes: Buffer, answer: (task: Uint8Array) => object) {
	const tasks: Uint8Array[] = [];
	class FakeWorker {
		onmessage?: (event: object) => void;
		onerror?: (event: object) => void;
		terminate() {}
		postMessage(task: Uint8Array) {
			tasks.push(task);
			const event = answer(task);
			queueMicrotask(() =>
				'data' in event ? this.onmessage?.(event) : this.onerror?.({ ...event, preventDefault() {} }),
			);
		}
	}
	const fakes = {
		Worker: FakeWorker,
		window: new EventTarget(),
		fetch: async (_: string, { headers }: { headers: { range: string } }) => {
			const [start = 0, end = 0] = headers.range.slice('bytes='.length).split('-').map(Number);
			const range = `bytes ${start}-${end}/${bytes.length}`;
			return new Response(Uint8Array.from(bytes.subarray(start, end + 1)), {
				status: 206,
				headers: { 'content-range': range },
			});
		},
	};
	for (const [global, fake] of Object.entries(fakes)) {
		const own = Object.getOwnPropertyDescriptor(globalThis, global);
		Object.defineProperty(globalThis, global, { value: fake, configurable: true });
		t.teardown(() =>
			own ? Object.defineProperty(globalThis, global, own) : Reflect.deleteProperty(globalThis, global),
		);
	}
	const client = new QueryClient();
	t.teardown(() => client.clear());
	const file = fileOf(name, bytes);
	const first = await client.fetchQuery(firstBytesQuery(file));
	return { file, first, tasks };
}

test.serial(
	'a picture that is read whole is gone through by a worker, and the page has nothing but its first bytes',
	async (t) => {
		for (const [name, bytes] of Object.entries({ 'a.jpg': jpeg, 'a.ico': icons })) {
			const found: Picture = { type: 'image/jpeg', isIcon: false, pixels: 7 };
			const { first, tasks } = await readWith(t, name, bytes, () => ({ data: found }));
			t.deepEqual(
				tasks.map(({ length }) => length),
				[bytes.length],
				name,
			);
			t.is(first.picture, found);
			t.is(first.bytes.buffer.byteLength, sniffedBytes);
			t.is(first.size, bytes.length);
		}
	},
);

test.serial('a picture of which a worker says nothing is not drawn from its own bytes', async (t) => {
	const rendition = { kind: 'rendition', url: 'rendition', otherwise: { kind: 'none' } };
	for (const silence of [{ data: undefined }, { message: 'Uncaught RangeError' }, {}]) {
		const ofJpeg = await readWith(t, 'a.jpg', jpeg, () => silence);
		t.deepEqual(imageSource(ofJpeg.file, ofJpeg.first.picture), rendition as never);
		const ofIcons = await readWith(t, 'a.ico', icons, () => silence);
		t.deepEqual(imageSource(ofIcons.file, ofIcons.first.picture), { kind: 'none' });
	}
});

test.serial('a file whose first bytes say all of it needs no worker', async (t) => {
	for (const name of ['a.txt', 'a.png']) {
		const { first, tasks } = await readWith(t, name, Buffer.alloc(100_000, 'a'), () => ({}));
		t.deepEqual(tasks, []);
		t.deepEqual(first.picture, { type: undefined, isIcon: false, pixels: 0 });
	}
});

test('a picture that begins like icons is as large as what is larger', (t) => {
	const box = (length: string, name: string, content: string) =>
		Buffer.concat([Buffer.from(length, 'hex'), Buffer.from(name), Buffer.from(content, 'hex')]);
	const avif = Buffer.concat([
		box(
			'00000100',
			'ftyp',
			Buffer.from('avif')
				.toString('hex')
				.padEnd(2 * 248, '0'),
		),
		box('00000020', 'meta', '00000000'),
		box('00000014', 'ispe', '00000000 00010000 00010000'.replaceAll(' ', '')),
	]);
	t.deepEqual(pictureIn(avif), { type: 'image/avif', isIcon: true, pixels: 2 ** 32 });
	t.is(imageSource(fileOf('a.ico', avif), pictureIn(avif)).kind, 'rendition');
});

test('icons are gone through without a call for each beginning of the name of a profile', (t) => {
	let calls = 0;
	class Counted extends Uint8Array {
		override subarray(start?: number, end?: number) {
			calls++;
			return super.subarray(start, end);
		}
	}
	for (const beginning of ['i', 'iC', 'iCC'])
		pixelsOfIconMetadata(Counted.from(Buffer.alloc(100_000, beginning)), maxPixels);
	t.is(calls, 0);
	pixelsOfIconMetadata(Counted.from(Buffer.from('\0\0\0\x04iCCPabcd')), maxPixels);
	t.true(calls > 0, 'it is counted');
});
