import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { isFailure, parsePath, type Renderer, type StorageItem } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { SpentTime } from '../../src/limits/SpentTime.js';
import { createThumbnails } from '../../src/thumbnails/createThumbnails.js';
import { KindProcess } from '../../src/thumbnails/kinds/KindProcess.js';
import type { CachedThumbnail } from '../../src/thumbnails/ThumbnailCache.js';

const picture = (() => {
	const bytes = Buffer.alloc(100);
	bytes.write('RIFF', 0, 'latin1');
	bytes.writeUInt32LE(92, 4);
	bytes.write('WEBP', 8, 'latin1');
	return bytes;
})();

const viewer = { kind: 'user', id: 'x', username: 'ada' } as const;

/** Thumbnails of files of any name, by a renderer that the test drives. */
function thumbnailsOf(
	render: (name: string, signal: AbortSignal) => Promise<Uint8Array>,
	options: Partial<Parameters<typeof createThumbnails>[0]> = {},
) {
	const known = new Map<string, CachedThumbnail>();
	const itemOf = (name: string) =>
		({
			name,
			type: 'file',
			size: 3,
			mtime: 0,
			id: name,
			version: '1',
			path: parsePath(name),
		}) as unknown as StorageItem;
	const renderer: Renderer = {
		version: '1',
		accepts: () => true,
		async render(source, _size, signal) {
			let name = '';
			for await (const chunk of source.read()) name += Buffer.from(chunk).toString();
			return render(name, signal);
		},
	};
	const thumbnails = createThumbnails({
		trees: { of: () => ({ root: parsePath('users/ada') }) as never },
		files: {
			async *stat(_viewer: unknown, _area: unknown, [ref]: readonly { path: string }[]) {
				yield { ...itemOf(ref?.path ?? ''), owner: undefined } as never;
			},
			async open(_viewer: unknown, { path: name }: { path: string }) {
				const openFile = {
					item: itemOf(name),
					async *read() {
						yield Buffer.from(name);
					},
					isChanged: async () => false,
					close: async () => {},
				};
				return { entry: { name }, file: openFile } as never;
			},
		} as never,
		storage: () => ({ rootId: 'root' }) as never,
		renderers: { all: () => new Map([['fake', renderer]]) },
		cache: { get: async (key) => known.get(key), put: async (key, value) => void known.set(key, value) },
		folder: os.tmpdir(),
		concurrency: 4,
		log: { warn() {}, info() {}, error() {} } as never,
		...options,
	});
	const get = (client: string, name: string, signal = new AbortController().signal, network = client) =>
		thumbnails.get(viewer, { area: 'private', path: parsePath(name) }, 256, { client, network, signal });
	return { thumbnails, get, known };
}

/** A renderer that holds each picture until it is let go, and the names of those begun. */
function holding() {
	const begun: string[] = [];
	const held = new Map<string, () => void>();
	return {
		begun,
		finish: (name: string) => held.get(name)?.(),
		render: (name: string) =>
			new Promise<Uint8Array>((resolve) => {
				begun.push(name);
				held.set(name, () => resolve(picture));
			}),
	};
}

async function settle(): Promise<void> {
	for (let round = 0; round < 50; round++) await setImmediate();
}

const ignore = (promise: Promise<unknown>) => void promise.catch(() => {});

test('visitors of many addresses hold at most half of the places, and a user is rendered beside them at once', async (t) => {
	const { begun, render, finish } = holding();
	const { get } = thumbnailsOf(render);
	for (let n = 0; n < 8; n++) ignore(get(`192.0.2.${n}`, `hostile${n}`));
	await settle();
	t.is(begun.length, 2);
	const honest = get('user ada', 'honest');
	await settle();
	t.true(begun.includes('honest'));
	finish('honest');
	t.truthy((await honest).bytes);
});

test('one client never holds all places, signed in or not', async (t) => {
	const { begun, render } = holding();
	const { get } = thumbnailsOf(render);
	for (let n = 0; n < 8; n++) ignore(get('user eve', `hostile${n}`));
	await settle();
	t.is(begun.length, 3);
	ignore(get('192.0.2.1', 'honest'));
	await settle();
	t.true(begun.includes('honest'));
});

test('an account whose pictures take long and a visitor share all places but one, which whoever else comes gets at once', async (t) => {
	const { begun, render, finish } = holding();
	const { get, thumbnails } = thumbnailsOf(render, { concurrency: 2, slowMs: 1000 });
	const first = get('user eve', 'hostile');
	await settle();
	await setTimeout(1000);
	finish('hostile');
	await first;
	for (const client of ['user eve', '192.0.2.1', '192.0.2.2'])
		for (const n of [1, 2]) ignore(get(client, `${client}/${n}`));
	await settle();
	for (let round = 0; round < 6; round++) {
		t.deepEqual([begun.length, thumbnails.queue.running], [round + 2, 1]);
		const honest = get(`user ada${round}`, `honest${round}`);
		await settle();
		t.is(begun.pop(), `honest${round}`);
		finish(`honest${round}`);
		t.truthy((await honest).bytes);
		finish(begun.at(-1) ?? '');
		await settle();
	}
	t.is(thumbnails.queue.running, 0, 'all had their turn');
});

const strangers = '198.51.100.1';

/** Asks for pictures by accounts of one network, each for one, which is named as they are. */
const askByStrangers = ({ get }: Pick<ReturnType<typeof thumbnailsOf>, 'get'>, names: readonly string[]) =>
	names.map((name) => get(`user ${name}`, name, undefined, strangers));

test('however many accounts of one network ask, all pictures of somebody in another network come before their next', async (t) => {
	const { begun, render, finish } = holding();
	const { get } = thumbnailsOf(render, { concurrency: 2 });
	const names = Array.from({ length: 12 }, (_, n) => `eve${n}`);
	askByStrangers({ get }, names).map(ignore);
	await settle();
	t.deepEqual(begun, ['eve0', 'eve1']);
	const honest = Array.from({ length: 10 }, (_, n) => get('user ada', `ada${n}`, undefined, '203.0.113.1'));
	await settle();
	finish('eve1');
	for (let n = 0; n < 10; n++) {
		await settle();
		t.is(begun.at(-1), `ada${n}`);
		finish(`ada${n}`);
	}
	t.true((await Promise.all(honest)).every(({ bytes }) => bytes !== undefined));
	await settle();
	t.is(begun.at(-1), 'eve2');
});

test('of one network the account that has had least of the decoders comes first', async (t) => {
	const { begun, render, finish } = holding();
	const hourlyMs = { account: 5_000, address: 5_000 };
	const { get } = thumbnailsOf(render, { concurrency: 2, hourlyMs });
	for (const name of ['eve', 'bob']) {
		const [had] = askByStrangers({ get }, [name]);
		await settle();
		await setTimeout(50);
		finish(name);
		await had;
	}
	askByStrangers({ get }, ['joe', 'mia']).map(ignore);
	await settle();
	ignore(get('user eve', 'hers', undefined, strangers));
	ignore(get('user ada', 'honest', undefined, strangers));
	await settle();
	t.deepEqual(begun.slice(2), ['joe', 'mia']);
	finish('mia');
	await settle();
	t.is(begun.at(-1), 'honest');
});

test('where as many accounts of one network are slow as there are places, the next of it leave one to other networks', async (t) => {
	for (const others of [['user bob'], []]) {
		const { begun, render, finish } = holding();
		const { get, thumbnails } = thumbnailsOf(render, { concurrency: 2, slowMs: 400 });
		for (const client of others) {
			const had = get(client, client, undefined, '203.0.113.2');
			await settle();
			finish(client);
			await had;
		}
		const slow = askByStrangers({ get }, ['eve0', 'eve1']);
		await settle();
		await setTimeout(500);
		finish('eve0');
		finish('eve1');
		await Promise.all(slow);
		const later = askByStrangers({ get }, ['eve2', 'eve3']);
		await settle();
		// Where nobody asks from elsewhere a place that is kept would be lost.
		t.is(thumbnails.queue.running, others.length === 0 ? 2 : 1);
		const honest = get('user ada', 'honest', undefined, '203.0.113.1');
		await settle();
		if (others.length > 0) t.is(begun.at(-1), 'honest');
		for (const name of ['eve2', 'honest', 'eve3', 'honest']) {
			finish(name);
			await settle();
		}
		t.truthy((await honest).bytes);
		t.is((await Promise.all(later)).length, 2, 'all had their turn');
	}
});

test('what is made for longer than a slow picture takes counts as one at once', async (t) => {
	const { begun, render, finish } = holding();
	const { get } = thumbnailsOf(render, { concurrency: 2, slowMs: 400 });
	const slow = get('user bob', 'slow');
	await settle();
	await setTimeout(500);
	finish('slow');
	await slow;
	ignore(get('user eve', 'hostile'));
	await settle();
	await setTimeout(500);
	ignore(get('user bob', 'another'));
	await settle();
	t.is(begun.at(-1), 'hostile');
	const honest = get('user ada', 'honest');
	await settle();
	t.is(begun.at(-1), 'honest');
	finish('honest');
	t.truthy((await honest).bytes);
});

test('visitors fill no more than half of the waiting places, and a user finds one however many wait', async (t) => {
	const { begun, render, finish } = holding();
	const { get, thumbnails } = thumbnailsOf(render, { concurrency: 2, waiting: { perClient: 4, total: 8 } });
	const refusals: unknown[] = [];
	const flood = (client: string) => {
		for (let n = 0; n < 6; n++) get(client, `${client}/${n}`).catch((error) => refusals.push(error));
	};
	for (let n = 0; n < 5; n++) flood(`192.0.2.${n}`);
	await settle();
	t.is(thumbnails.queue.waiting, 4);
	t.true(
		refusals.length > 0 && refusals.every((error) => isFailure(error, 'unavailable') && (error.retryAfter ?? 0) > 0),
	);
	for (const name of ['eve', 'bob', 'joe']) flood(`user ${name}`);
	await settle();
	t.true(thumbnails.queue.waiting >= 8);
	const honest = get('user ada', 'honest');
	// Each client is served once before any client's second.
	while (!begun.includes('honest')) {
		for (const name of [...begun]) finish(name);
		await settle();
	}
	t.true(begun.length < 12);
	finish('honest');
	t.truthy((await honest).bytes);
});

test('a visitor who has had little of the decoders comes before those who have had much, and finds a place however many of them wait', async (t) => {
	const { begun, render, finish } = holding();
	// So little an hour is forgotten slowly.
	const hourlyMs = { account: 5_000, address: 5_000 };
	const { get } = thumbnailsOf(render, { concurrency: 2, waiting: { perClient: 20, total: 40 }, hourlyMs });
	// Each address of somebody has had a picture.
	for (let n = 0; n < 21; n++) {
		const had = get(`198.51.100.${n}`, `first${n}`);
		// It takes some of its time.
		for (const began = performance.now(); performance.now() < began + 20; ) await settle();
		finish(`first${n}`);
		await had;
	}
	const answers: string[] = [];
	const flood = Array.from({ length: 21 }, (_, n) => get(`198.51.100.${n}`, `more${n}`));
	for (const each of flood) each.catch(({ kind }) => answers.push(kind));
	await settle();
	t.deepEqual([begun.at(-1), answers], ['more0', []], 'one is rendered, and as many as may wait');
	const honest = get('203.0.113.1', 'honest');
	await settle();
	t.deepEqual(answers, ['unavailable'], 'in the place of one who has had more');
	finish('more0');
	await settle();
	t.is(begun.at(-1), 'honest');
	finish('honest');
	t.truthy((await honest).bytes);
});

test('a picture that another client has asked for first is rendered in the place of whoever gets one first', async (t) => {
	const { begun, render, finish } = holding();
	const { get } = thumbnailsOf(render, { concurrency: 2 });
	ignore(get('192.0.2.1', 'hostile1'));
	ignore(get('192.0.2.1', 'hostile2'));
	const theirs = get('192.0.2.1', 'shared');
	await settle();
	t.deepEqual(begun, ['hostile1']);
	const ours = get('user ada', 'shared');
	await settle();
	t.deepEqual(begun, ['hostile1', 'shared']);
	finish('shared');
	t.truthy((await ours).bytes);
	t.truthy((await theirs).bytes, 'it is rendered once for both');
	t.deepEqual(begun, ['hostile1', 'shared']);
});

test('a client that leaves shared work gives up its place only', async (t) => {
	const { begun, render, finish } = holding();
	const { get, thumbnails } = thumbnailsOf(render, { concurrency: 2 });
	ignore(get('192.0.2.1', 'first'));
	await settle();
	const leaving = new AbortController();
	const left = get('192.0.2.1', 'shared', leaving.signal);
	const staying = get('192.0.2.2', 'shared');
	await settle();
	t.is(thumbnails.queue.waiting, 2);
	leaving.abort(new Error('left'));
	await t.throwsAsync(left, { message: 'left' });
	t.is(thumbnails.queue.waiting, 1);
	finish('first');
	await settle();
	t.deepEqual(begun, ['first', 'shared']);
	finish('shared');
	t.truthy((await staying).bytes);
	t.deepEqual([thumbnails.queue.running, thumbnails.queue.waiting], [0, 0]);
});

test('a picture that is given up at once has its place for as long as its decoder takes to start, and counts as long', async (t) => {
	const begun: string[] = [];
	const render = (name: string, signal: AbortSignal) =>
		new Promise<Uint8Array>((_, reject) => {
			begun.push(name);
			signal.addEventListener('abort', () => reject(signal.reason), { once: true });
		});
	const { get, thumbnails } = thumbnailsOf(render, { startMs: 300, hourlyMs: { account: 700, address: 1 } });
	let refusal: unknown;
	while (refusal === undefined && begun.length < 20) {
		const leaving = new AbortController();
		const asked = get('user eve', 'own', leaving.signal);
		await settle();
		leaving.abort(new Error('left'));
		const error = await t.throwsAsync(asked);
		if (error?.message !== 'left') refusal = error;
	}
	t.true(isFailure(refusal, 'unavailable'));
	// Three places at a time: one more may have been admitted before each of the first three was charged.
	t.true(begun.length >= 3 && begun.length <= 6, `${begun.length}`);
	while (thumbnails.queue.running > 0) await setTimeout(20);
	t.is(thumbnails.queue.waiting, 0);
});

test('who has had the decoders for all of its time in an hour is refused with the time to wait, and nobody else', async (t) => {
	const { get, known } = thumbnailsOf(
		async () => {
			const until = performance.now() + 20;
			while (performance.now() < until) await setImmediate();
			return picture;
		},
		{ hourlyMs: { account: 3_600_000, address: 10 } },
	);
	await get('192.0.2.1', 'one');
	const refused = await t.throwsAsync(get('192.0.2.1', 'two'));
	t.true(isFailure(refused, 'unavailable'));
	t.true(isFailure(refused) && (refused.retryAfter ?? 0) > 0);
	t.truthy((await get('192.0.2.1', 'one')).bytes, 'what is cached costs nothing');
	t.truthy((await get('192.0.2.2', 'two')).bytes);
	t.truthy((await get('user ada', 'three')).bytes);
	t.is(known.size, 3);
});

test('who asks for many pictures at once has no more of them made than its time in an hour is enough for', async (t) => {
	const { begun, render, finish } = holding();
	const { get, thumbnails } = thumbnailsOf(render, { concurrency: 2, hourlyMs: { account: 3_600_000, address: 10 } });
	const asked = Array.from({ length: 6 }, (_, n) => get('192.0.2.1', `${n}`).then(() => 'made', String));
	await settle();
	await setTimeout(50);
	const other = get('192.0.2.2', 'other');
	await settle();
	finish('0');
	await settle();
	t.deepEqual(begun, ['0', 'other']);
	finish('other');
	const answers = await Promise.all(asked);
	t.deepEqual(answers.slice(0, 2), [
		'made',
		'Failure: Too many previews are being made. Please try again in a moment.',
	]);
	t.is(new Set(answers).size, 2);
	t.truthy((await other).bytes);
	t.deepEqual(begun, ['0', 'other']);
	t.deepEqual([thumbnails.queue.running, thumbnails.queue.waiting], [0, 0]);
});

test('spent time is forgotten evenly within an hour', (t) => {
	let now = 0;
	const time = new SpentTime({ hourly: () => 1000, spent: 'Later.', now: () => now });
	time.add('a', 1500);
	const error = t.throws(() => time.assertLeft('a'));
	t.true(isFailure(error, 'unavailable') && Math.abs((error.retryAfter ?? 0) - 1836) <= 1);
	now = 1837 * 1000;
	t.notThrows(() => time.assertLeft('a'));
	t.notThrows(() => time.assertLeft('b'));
});

test('a decoder that can’t be started for want of descriptors, processes or memory is no property of the file', async (t) => {
	for (const code of ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOENT']) {
		let isWorking = false;
		const { get, known } = thumbnailsOf(async () => {
			if (isWorking) return picture;
			throw Object.assign(new Error(`spawn ${code}`), { code, errno: -1, syscall: 'spawn' });
		});
		const refused = await t.throwsAsync(get('user ada', 'a'));
		t.true(isFailure(refused, 'unavailable'), code);
		t.is(known.size, 0);
		isWorking = true;
		t.truthy((await get('user ada', 'a')).bytes);
	}
});

test('a spawn without free descriptors is answered as unavailable, and is tried again', async (t) => {
	let isWorking = false;
	const { get } = thumbnailsOf(async () => {
		const child = spawn(isWorking ? '/bin/true' : '/nonexistent/decoder', { stdio: 'ignore' });
		await once(child, 'close');
		return picture;
	});
	t.true(isFailure(await t.throwsAsync(get('user ada', 'a')), 'unavailable'));
	isWorking = true;
	t.truthy((await get('user ada', 'a')).bytes);
});

async function processOf(t: ExecutionContext, answer: string, timeLimitMs: number) {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-kinds-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const program = path.join(folder, 'program.mjs');
	const script = `import { createInterface } from 'node:readline';
		const image = () => console.log(JSON.stringify({ kind: 'image', contentKind: 'image' }));
		const answer = ${answer};
		console.log();
		for await (const line of createInterface({ input: process.stdin })) {
			answer(Buffer.from(JSON.parse(line).firstBytes, 'base64'));
		}`;
	await writeFile(program, script);
	const kinds = new KindProcess({ program, timeLimitMs });
	t.teardown(() => kinds.close());
	return kinds;
}

test('first bytes that take forever are given up by a time limit, hold up nothing but that, and are remembered', async (t) => {
	const hang = `(bytes) => {
		if (bytes[0] === 104) /^(a+)+$/.test('a'.repeat(60) + 'b');
		image();
	}`;
	const kinds = await processOf(t, hang, 3000);
	const { get, known } = thumbnailsOf(async () => picture, { kinds });
	const hostile = get('192.0.2.1', 'h.jpg');
	let turns = 0;
	const count = setInterval(() => turns++, 5);
	const refused = await t.throwsAsync(hostile);
	clearInterval(count);
	t.true(isFailure(refused, 'unsupportedMediaType'));
	t.true(turns > 10, 'the event loop of the server goes on');
	t.deepEqual([...known.values()], ['late'], 'for an hour: the machine may have stood still');
	t.truthy((await get('user ada', 'b.jpg')).bytes);
});

test('a process that ends is started again', async (t) => {
	const kinds = await processOf(t, '(bytes) => (bytes[0] === 120 ? process.exit(1) : image())', 30_000);
	t.true(isFailure(await t.throwsAsync(kinds.find('image', Buffer.from('x'))), 'unavailable'));
	t.deepEqual(await kinds.find('image', Buffer.from('y')), { kind: 'image', contentKind: 'image' });
});

test('the kinds of ordinary files are found', async (t) => {
	const kinds = new KindProcess({ timeLimitMs: 60_000 });
	t.teardown(() => kinds.close());
	const jpeg = Buffer.from('\xFF\xD8\xFF\xE0', 'latin1');
	t.deepEqual(await kinds.find('image', jpeg), { kind: 'image', contentKind: 'image' });
	t.deepEqual(await kinds.find('image', Buffer.from('%PDF-1.4')), { kind: 'pdf', contentKind: 'pdf' });
	const playlist = Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n');
	t.deepEqual(await kinds.find('video', playlist), { kind: 'unknown' });
});
