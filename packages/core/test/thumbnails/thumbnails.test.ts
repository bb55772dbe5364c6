import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { Failure, isFailure, type OpenFile, parsePath, type Renderer, type StorageItem } from '@stowage/plugin-api';
import test from 'ava';
import { SharedWork } from '../../src/limits/SharedWork.js';
import { createThumbnails } from '../../src/thumbnails/createThumbnails.js';
import type { CachedThumbnail } from '../../src/thumbnails/ThumbnailCache.js';
import { formOfRun, serversOfRun } from '../severalApps.js';
import { Client, file, json, type TestApp, testApp } from '../testApp.js';

/** Bytes with the header of a WebP picture of this length. */
function picture(mark: string, length = 100): Buffer {
	const bytes = Buffer.alloc(length, mark);
	bytes.write('RIFF', 0, 'latin1');
	bytes.writeUInt32LE(length - 8, 4);
	bytes.write('WEBP', 8, 'latin1');
	return bytes;
}

interface Fake {
	calls: string[];
	/** The work of each call; by default it returns a picture made of the content's first byte. */
	render: Renderer['render'];
}

/** Offers a renderer for files named `.toy`. */
function fakeRenderer(app: TestApp): Fake {
	const fake: Fake = {
		calls: [],
		async render(source, size) {
			let text = '';
			for await (const chunk of source.read()) text += Buffer.from(chunk).toString();
			return picture(text[0] ?? '', size);
		},
	};
	app.server.providers.renderer.register('fake', {
		version: '1',
		accepts: (_kind, extension) => extension === 'toy',
		render(source, size, signal) {
			fake.calls.push(`${source.kind} ${source.extension} ${size}`);
			return fake.render(source, size, signal);
		},
	});
	return fake;
}

/** A server with a user `ada` who has `a.toy`. */
async function adasApp(t: Parameters<typeof testApp>[0], flags: Record<string, string> = {}) {
	const app = await testApp(t, flags);
	const fake = fakeRenderer(app);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload?type=private', [
		{ name: 'type', value: 'private' },
		{ name: 'directory', value: '' },
		file('a.toy', 'x'),
	]);
	return { app, fake, ada };
}

const url = (name: string, query = 'type=private&size=256') => `/api/thumbnail/${name}?${query}`;

/** A promise, and the function that resolves it. */
function gate() {
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { opened, open };
}

/** Polls until the condition holds, without a timeout. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
	while (!(await condition())) await wait(5);
}

test('a thumbnail is WebP with private cache headers, and is rendered once for each size', async (t) => {
	const { fake, ada } = await adasApp(t);
	const first = await ada.get(url('a.toy'));
	t.is(first.statusCode, 200);
	t.is(first.headers['content-type'], 'image/webp');
	t.is(first.headers['cache-control'], 'private, no-cache');
	t.is(first.headers['x-content-type-options'], 'nosniff');
	t.deepEqual(first.bytes, picture('x', 256));
	const again = await ada.get(url('a.toy'));
	t.is(again.headers.etag, first.headers.etag);
	t.deepEqual(again.bytes, first.bytes);
	const large = await ada.get(url('a.toy', 'type=private&size=2048'));
	t.is(large.bytes.length, 2048);
	t.not(large.headers.etag, first.headers.etag);
	t.deepEqual(fake.calls, ['unknown toy 256', 'unknown toy 2048']);
	const head = await ada.call('HEAD', url('a.toy'));
	t.is(head.statusCode, 200);
	t.is(head.headers['content-length'], '256');
	t.is(head.bytes.length, 0);
});

test('what renders files is told those of each folder apart, also of one owner', async (t) => {
	const { app, fake, ada } = await adasApp(t);
	const eve = await new Client(app).register('eve');
	const home = path.join(app.filesDir, 'users/ada');
	await mkdir(path.join(home, 'drop'));
	await mkdir(path.join(app.filesDir, 'users/eve'), { recursive: true });
	const files = ['ada/b.toy', 'ada/drop/a.toy', 'eve/a.toy', 'eve/b.toy'];
	for (const name of files) await writeFile(path.join(app.filesDir, 'users', name), name);
	const owners: string[] = [];
	fake.render = async ({ owner }, size) => {
		owners.push(owner);
		return picture('x', size);
	};
	const ownerOf = async (client: Client, name: string) => {
		t.is((await client.get(url(name))).statusCode, 200);
		return owners.pop();
	};
	const first = await ownerOf(ada, 'a.toy');
	const beside = await ownerOf(ada, 'b.toy');
	const below = await ownerOf(ada, 'drop/a.toy');
	t.is(first, beside);
	t.not(first, below);
	const hers = await ownerOf(eve, 'a.toy');
	t.is(new Set([first, below, hers, await ownerOf(eve, 'b.toy')]).size, 3);
	t.not(first, undefined);
});

test('a conditional request for an unchanged thumbnail is answered 304, without bytes and without rendering', async (t) => {
	const { app, fake, ada } = await adasApp(t);
	const { headers } = await ada.get(url('a.toy'));
	const again = await ada.get(url('a.toy'), { 'if-none-match': headers.etag ?? '' });
	t.is(again.statusCode, 304);
	t.is(again.bytes.length, 0);
	t.is(again.headers.etag, headers.etag);
	t.is((await ada.get(url('a.toy'), { 'if-none-match': '"other"' })).statusCode, 200);
	t.is((await ada.get(url('a.toy'), { 'if-none-match': '*' })).statusCode, 304);
	await writeFile(path.join(app.filesDir, 'users/ada/b.jpg'), 'no picture');
	t.is((await ada.get(url('b.jpg'), { 'if-none-match': '*' })).statusCode, 415);
	t.is(fake.calls.length, 1);
});

test('a client that may not download a file gets the same refusal for its thumbnail', async (t) => {
	const { ada, app } = await adasApp(t);
	t.is((await ada.get(url('a.toy'))).statusCode, 200);
	const others = [await new Client(app).register('eve'), new Client(app)];
	for (const other of others) {
		for (const query of ['type=private', 'type=private&owner=ada', 'type=public&owner=ada', 'type=public']) {
			const download = await other.get(`/api/download/a.toy?${query}`);
			const thumbnail = await other.get(url('a.toy', `${query}&size=256`), { 'if-none-match': '*' });
			t.true(download.statusCode >= 400);
			t.is(thumbnail.statusCode, download.statusCode, query);
			t.deepEqual(json(thumbnail), json(download));
		}
	}
});

test('a visitor who names the owner gets the thumbnail of a public file', async (t) => {
	const { app, ada } = await adasApp(t);
	await mkdir(path.join(app.filesDir, 'users/ada/Public'), { recursive: true });
	await rename(path.join(app.filesDir, 'users/ada/a.toy'), path.join(app.filesDir, 'users/ada/Public/a.toy'));
	const visitor = new Client(app);
	t.is((await visitor.get(url('a.toy', 'type=public&owner=ada&size=256'))).statusCode, 200);
	t.is((await ada.get(url('a.toy', 'type=public&size=256'))).statusCode, 200);
	t.is((await visitor.get(url('a.toy', 'type=public&owner=eve&size=256'))).statusCode, 404);
});

test('a folder, a file that no renderer accepts and any file without a renderer have no thumbnail', async (t) => {
	const { app, ada } = await adasApp(t);
	await ada.post('/api/createFolder', { directory: '', folderName: 'folder.toy', type: 'private' });
	await writeFile(path.join(app.filesDir, 'users/ada/b.txt'), 'x');
	for (const name of ['b.txt', 'folder.toy']) {
		const answer = await ada.get(url(name));
		t.is(answer.statusCode, 415);
		t.is(json(answer).code, 'UNSUPPORTED_MEDIA_TYPE');
	}
	t.is((await ada.get(url('gone.toy'))).statusCode, 404);
	t.true(json(await ada.get('/api/capabilities')).thumbnails);

	const bare = await testApp(t);
	const eve = await new Client(bare).register('eve');
	await mkdir(path.join(bare.filesDir, 'users/eve'), { recursive: true });
	await writeFile(path.join(bare.filesDir, 'users/eve/a.toy'), 'x');
	t.is((await eve.get(url('a.toy'))).statusCode, 415);
	t.is((await eve.get(url('gone.toy'))).statusCode, 404);
	t.false(json(await eve.get('/api/capabilities')).thumbnails);
});

test('invalid sizes, areas and paths are refused', async (t) => {
	const { ada, fake } = await adasApp(t);
	for (const query of [
		'type=private',
		'size=',
		'size=512&type=private',
		'size=256&size=2048',
		'type=elsewhere&size=256',
	]) {
		t.is((await ada.get(url('a.toy', query))).statusCode, 400, query);
	}
	for (const name of ['..%2Fa.toy', '%2e%2e/a.toy', 'a%00.toy']) t.is((await ada.get(url(name))).statusCode, 400, name);
	t.deepEqual(fake.calls, []);
});

test('fifty concurrent requests for one thumbnail render it once', async (t) => {
	const { fake, ada } = await adasApp(t);
	const { opened, open } = gate();
	fake.render = async () => {
		await opened;
		return picture('x');
	};
	const answers = Array.from({ length: 50 }, () => ada.get(url('a.toy')));
	await until(() => fake.calls.length > 0);
	open();
	for (const { statusCode } of await Promise.all(answers)) t.is(statusCode, 200);
	t.is(fake.calls.length, 1);
});

test('rendering is aborted when its only request is closed, and the next request renders again', async (t) => {
	const { app, fake, ada } = await adasApp(t);
	const given = gate();
	fake.render = (_source, _size, signal) =>
		new Promise((_resolve, reject) => {
			signal.addEventListener('abort', () => {
				given.open();
				reject(signal.reason);
			});
		});
	const leaving = request(`${app.server.info.uri}${url('a.toy')}`, { headers: { cookie: ada.cookie ?? '' } });
	leaving.on('error', () => {});
	leaving.end();
	await until(() => fake.calls.length === 1);
	leaving.destroy();
	await given.opened;
	fake.render = async () => picture('x');
	t.is((await ada.get(url('a.toy'))).statusCode, 200, 'an aborted rendering is not remembered as a failure');
});

test('a picture that takes long is given to nobody whose access has ended meanwhile', async (t) => {
	const { app, fake, ada } = await adasApp(t);
	const bob = await new Client(app).register('bob');
	const other = new Client(app);
	await other.post('/api/login', { username: 'ada', password: 'correct horse' });
	await ada.post('/api/createFolder', { directory: '', folderName: 'docs', type: 'private' });
	await ada.post('/api/copyItem', { fromPath: 'a.toy', toPath: 'docs/b.toy', type: 'private' });
	const members = (usernames: string[]) =>
		ada.call('PUT', '/api/members', {
			path: 'docs',
			members: usernames.map((username) => ({ username, role: 'view' })),
		});
	t.is((await members(['bob'])).statusCode, 200);
	const share = json(await ada.post('/api/shares', { items: [{ path: 'docs' }], mode: 'view' }));
	const { opened, open } = gate();
	fake.render = async () => {
		await opened;
		return picture('x');
	};
	await app.server.start();
	const asked = async (client: Client, at: string) => {
		const answer = await fetch(`${app.server.info.uri}${at}`, { headers: { cookie: client.cookie ?? '' } }).catch(
			() => undefined,
		);
		return answer?.status ?? 'broken off';
	};
	const pictures = [
		asked(other, url('a.toy')),
		asked(new Client(app), `/api/share/${share.url.split('/').at(-1)}/thumbnail/b.toy?size=256`),
		asked(bob, url('docs/b.toy', 'type=shared&size=256')),
		asked(ada, url('a.toy')),
	];
	await until(() => fake.calls.length >= 2);
	t.is((await ada.call('DELETE', '/api/sessions')).statusCode, 200);
	t.is((await ada.call('DELETE', `/api/shares/${share.id}`)).statusCode, 200);
	t.is((await members([])).statusCode, 200);
	t.deepEqual(await Promise.all(pictures.slice(0, 2)), ['broken off', 'broken off']);
	open();
	t.deepEqual(await Promise.all(pictures.slice(2)), [404, 200]);
});

test('shared work continues until its last waiter has left, and is then started anew', async (t) => {
	const shared = new SharedWork<string>({ enter: async () => () => {} });
	const from = ({ signal }: AbortController) => ({ client: 'ada', signal });
	const { opened, open } = gate();
	const ended: unknown[] = [];
	const work = async (signal: AbortSignal) => {
		signal.addEventListener('abort', () => ended.push(signal.reason));
		await opened;
		return 'done';
	};
	const [leaving, staying] = [new AbortController(), new AbortController()];
	const first = shared.join('key', from(leaving), work);
	const second = shared.join('key', from(staying), () => Promise.reject(new Error('The work was already started.')));
	await setImmediate();
	leaving.abort(new Error('left'));
	await t.throwsAsync(first, { message: 'left' });
	t.deepEqual(ended, []);
	open();
	t.is(await second, 'done');
	const alone = new AbortController();
	const only = shared.join('key', from(alone), () => new Promise(() => {}));
	alone.abort(new Error('left'));
	await t.throwsAsync(only, { message: 'left' });
	t.is(await shared.join('key', from(staying), async () => 'begun anew'), 'begun anew');
});

test('who may not begin shared work as its turn comes waits for others that may, and is refused where there are none', async (t) => {
	const grants = new Map<string, () => void>();
	const released: string[] = [];
	const shared = new SharedWork<string>({
		enter: (from, signal) =>
			new Promise((resolve, reject) => {
				const { client } = from as { client: string };
				grants.set(client, () => resolve(() => void released.push(client)));
				signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
			}),
	});
	const join = (client: string, { signal } = new AbortController()) =>
		shared.join(
			'key',
			{ client, signal },
			async () => `begun by ${client}`,
			(each) => {
				if (each.startsWith('spent')) throw new Error(`${each} has no time left`);
			},
		);
	const joined = [join('spent 1'), join('ada')];
	grants.get('spent 1')?.();
	await setImmediate();
	t.deepEqual(released, ['spent 1'], 'its place is free for others');
	grants.get('ada')?.();
	t.deepEqual(await Promise.all(joined), ['begun by ada', 'begun by ada']);

	const leaving = new AbortController();
	const two = [join('spent 1'), join('spent 2')].map((each) => each.catch(({ message }: Error) => message));
	const left = join('bob', leaving);
	for (const client of ['spent 1', 'spent 2']) grants.get(client)?.();
	await setImmediate();
	leaving.abort(new Error('left'));
	await t.throwsAsync(left, { message: 'left' });
	t.deepEqual(await Promise.all(two), ['spent 2 has no time left', 'spent 2 has no time left']);
	const anew = join('ada');
	grants.get('ada')?.();
	t.is(await anew, 'begun by ada');
});

test('a renderer that hangs is timed out, frees its slot and is not tried again at once', async (t) => {
	const { app } = await adasApp(t);
	const viewer = { kind: 'user', id: 'x', username: 'ada' } as const;
	const ref = { area: 'private', path: parsePath('a.toy') } as const;
	const renderings: string[] = [];
	const renderer: Renderer = {
		version: '1',
		accepts: () => true,
		render: () => new Promise(() => renderings.push('hangs')),
	};
	const known = new Map<string, CachedThumbnail>();
	const thumbnails = createThumbnails({
		files: app.services.files,
		trees: app.services.trees,
		storage: () => app.services.storage,
		renderers: { all: () => new Map([['hangs', renderer]]) },
		cache: { get: async (key) => known.get(key), put: async (key, value) => void known.set(key, value) },
		folder: app.dataDir,
		concurrency: 1,
		log: app.services.log,
		timeLimitMs: 20,
	});
	const asker = { client: 'ada', signal: new AbortController().signal };
	for (const size of [256, 2048, 256, 2048] as const) {
		const error = await t.throwsAsync(thumbnails.get(viewer, ref, size, asker));
		t.true(isFailure(error, 'unsupportedMediaType'));
	}
	t.is(renderings.length, 2, 'a thumbnail that timed out is not rendered again at once');
	t.deepEqual([...known.values()], ['late', 'late']);
});

test('a changed file gets a new thumbnail', async (t) => {
	const { app, ada } = await adasApp(t);
	const before = await ada.get(url('a.toy'));
	await writeFile(path.join(app.filesDir, 'users/ada/a.toy'), 'yy');
	const after = await ada.get(url('a.toy'), { 'if-none-match': before.headers.etag ?? '' });
	t.is(after.statusCode, 200);
	t.deepEqual(after.bytes, picture('y', 256));
});

test('a file that changes while its thumbnail is rendered is rendered again, and the outdated one is not cached', async (t) => {
	const { app, fake, ada } = await adasApp(t);
	const source = path.join(app.filesDir, 'users/ada/a.toy');
	fake.render = async () => {
		const before = await readFile(source, 'utf8');
		if (fake.calls.length === 1) await writeFile(source, 'yy');
		return picture(before);
	};
	for (let server = 0; server < serversOfRun; server++) {
		t.deepEqual((await ada.get(url('a.toy'))).bytes, picture('yy'));
		t.is(fake.calls.length, 2 + (formOfRun() === 'nodes' ? server : 0), 'each node keeps its own');
	}
	for (let server = 0; server < serversOfRun; server++) t.deepEqual((await ada.get(url('a.toy'))).bytes, picture('yy'));
	t.is(fake.calls.length, 2 + (formOfRun() === 'nodes' ? serversOfRun - 1 : 0));
});

test('a file that can’t be rendered is remembered and not tried again', async (t) => {
	const { fake, ada } = await adasApp(t);
	fake.render = async () => {
		throw new Failure('unsupportedMediaType', 'Broken.');
	};
	t.is((await ada.get(url('a.toy'))).statusCode, 415);
	t.is((await ada.get(url('a.toy'))).statusCode, 415);
	t.is(fake.calls.length, 1);
});

test('a file that no renderer accepts is not remembered, and is rendered once a renderer accepts it', async (t) => {
	const { app, ada } = await adasApp(t);
	await writeFile(path.join(app.filesDir, 'users/ada/a.later'), 'x');
	let isReady = false;
	app.server.providers.renderer.register('later', {
		version: '1',
		accepts: (_kind, extension) => isReady && extension === 'later',
		render: async () => picture('x'),
	});
	t.is((await ada.get(url('a.later'))).statusCode, 415);
	isReady = true;
	t.is((await ada.get(url('a.later'))).statusCode, 200);
});

test('a renderer that throws, or returns something that is no picture, is answered 415', async (t) => {
	const { fake, ada } = await adasApp(t);
	fake.render = async () => {
		throw new TypeError('a bug');
	};
	t.is((await ada.get(url('a.toy'))).statusCode, 415);
	fake.render = async () => Buffer.from('<script>');
	t.is((await ada.get(url('a.toy', 'type=private&size=2048'))).statusCode, 415);
});

test('a renderer that is unavailable is answered 503, and is called again for the next request', async (t) => {
	const { fake, ada } = await adasApp(t);
	fake.render = async () => {
		throw new Failure('unavailable', 'Not now.', { retryAfter: 3 });
	};
	const refused = await ada.get(url('a.toy'));
	t.is(refused.statusCode, 503);
	t.is(refused.headers['retry-after'], '3');
	fake.render = async () => picture('x');
	t.is((await ada.get(url('a.toy'))).statusCode, 200);
});

test('a request beyond the limit of waiting ones is answered 503 with Retry-After, and another client is still served', async (t) => {
	const { app, fake, ada } = await adasApp(t, { '--thumbnails-concurrency': '1' });
	const { opened, open } = gate();
	fake.render = async () => {
		await opened;
		return picture('x');
	};
	const names = Array.from({ length: 258 }, (_, n) => `${n}.toy`);
	for (const name of names) await writeFile(path.join(app.filesDir, 'users/ada', name), name);
	const answers = names.map((name) => ada.get(url(name)));
	const first = await Promise.race(answers);
	t.is(first.statusCode, 503);
	t.true(Number(first.headers['retry-after']) > 0);
	t.is(json(first).message, 'Too many previews are being made. Please try again in a moment.');
	// A client that waits for one picture is served before the rest of a client that waits for many.
	const eve = await new Client(app).register('eve');
	await mkdir(path.join(app.filesDir, 'users/eve'), { recursive: true });
	await writeFile(path.join(app.filesDir, 'users/eve/e.toy'), 'e');
	const hers = eve.get(url('e.toy'));
	open();
	t.is((await hers).statusCode, 200);
	const codes = (await Promise.all(answers)).map(({ statusCode }) => statusCode);
	t.deepEqual([codes.filter((code) => code === 200).length, codes.filter((code) => code === 503).length], [257, 1]);
});

test('the renderer that was offered last is called first, and the others if it refuses the file', async (t) => {
	const { app, fake, ada } = await adasApp(t);
	await writeFile(path.join(app.filesDir, 'users/ada/b.toy'), 'b');
	app.server.providers.renderer.register('own', {
		version: '1',
		accepts: (_kind, extension) => extension === 'toy',
		async render(source) {
			let text = '';
			for await (const chunk of source.read()) text += Buffer.from(chunk).toString();
			if (text === 'b') throw new Failure('unsupportedMediaType', 'Not this one.');
			return picture('o');
		},
	});
	t.deepEqual((await ada.get(url('a.toy'))).bytes, picture('o'));
	t.is(fake.calls.length, 0);
	t.deepEqual((await ada.get(url('b.toy'))).bytes, picture('b', 256));
});

test('a playlist is never given to a renderer, and the kind of a file is detected by its first bytes', async (t) => {
	const { app, ada } = await adasApp(t);
	const seen: string[] = [];
	app.server.providers.renderer.register('all', {
		version: '1',
		accepts: (kind) => {
			seen.push(kind);
			return true;
		},
		render: async () => picture('x'),
	});
	const home = path.join(app.filesDir, 'users/ada');
	await writeFile(path.join(home, 'leak.mp4'), '#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n');
	await writeFile(path.join(home, 'photo.jpg'), Buffer.from('\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41', 'latin1'));
	t.is((await ada.get(url('leak.mp4'))).statusCode, 415);
	t.deepEqual(seen, []);
	t.is((await ada.get(url('photo.jpg'))).statusCode, 200);
	t.deepEqual(seen, ['video']);
});

test('thumbnails are rendered and served even if they can’t be cached', async (t) => {
	const { app, fake, ada } = await adasApp(t);
	await writeFile(path.join(app.dataDir, 'thumbnails'), 'in the way');
	t.is((await ada.get(url('a.toy'))).statusCode, 200);
	t.is((await ada.get(url('a.toy'))).statusCode, 200);
	t.is(fake.calls.length, 2);
});

test('a moved file keeps its cached thumbnail, unless its id may be reused', async (t) => {
	const { app } = await adasApp(t);
	const { files } = app.services;
	await writeFile(path.join(app.filesDir, 'users/ada/b.toy'), 'b');
	const viewer = { kind: 'user', id: 'x', username: 'ada' } as const;
	const asker = { client: 'ada', signal: new AbortController().signal };
	for (const mayReuseId of [undefined, true] as const) {
		// Both paths have the same id and version: as after a move, or as a new file that got the reused id of another.
		const same = <Item extends StorageItem>(item: Item): Item => ({
			...item,
			id: '7',
			version: '1',
			...(mayReuseId && { mayReuseId }),
		});
		const known = new Map<string, CachedThumbnail>();
		const rendered: number[] = [];
		const renderer: Renderer = {
			version: '1',
			accepts: () => true,
			async render({ size }) {
				rendered.push(size);
				return picture('x');
			},
		};
		const thumbnails = createThumbnails({
			trees: app.services.trees,
			files: {
				async *stat(...args) {
					for await (const item of files.stat(...args)) yield same(item);
				},
				async open(...args) {
					const { entry, file } = await files.open(...args);
					const lent: OpenFile = {
						item: same(file.item),
						read: (range) => file.read(range),
						isChanged: async () => false,
						close: () => file.close(),
					};
					return { entry, file: lent };
				},
			},
			storage: () => app.services.storage,
			renderers: { all: () => new Map([['one', renderer]]) },
			cache: { get: async (key) => known.get(key), put: async (key, value) => void known.set(key, value) },
			folder: app.dataDir,
			concurrency: 1,
			log: app.services.log,
		});
		for (const name of ['a.toy', 'b.toy', 'a.toy', 'b.toy']) {
			await thumbnails.get(viewer, { area: 'private', path: parsePath(name) }, 256, asker);
		}
		t.is(rendered.length, mayReuseId ? 2 : 1);
	}
});
