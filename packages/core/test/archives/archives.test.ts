import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
	appendFileSync,
	mkdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	truncateSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import path from 'node:path';
import { hasSmallFiles, type StorageProvider } from '@stowage/plugin-api';
import { rootPath } from '@stowage/rules';
import test from 'ava';
import { processorMs } from '../../../../test/processorTime.js';
import { assertReadable, listWhole, listZip } from '../readZip.js';
import { Client, field, file, json, testApp } from '../testApp.js';

async function withAda(t: Parameters<typeof testApp>[0], flags?: Record<string, string>) {
	const app = await testApp(t, flags);
	const ada = await new Client(app).register('ada');
	return { app, ada, home: path.join(app.filesDir, 'users/ada') };
}

const today = () => new Date().toLocaleDateString('sv');

test.serial('a folder is downloaded as a ZIP with a Content-Length, which unzip, 7z and Python can read', async (t) => {
	const { ada, home } = await withAda(t);
	mkdirSync(path.join(home, 'docs/empty'), { recursive: true });
	mkdirSync(path.join(home, 'docs/naïve 📁'), { recursive: true });
	writeFileSync(path.join(home, 'docs/a.txt'), 'content of a');
	writeFileSync(path.join(home, 'docs/nothing'), '');
	writeFileSync(path.join(home, 'docs/naïve 📁/-rf'), Buffer.alloc(300_000, 'x'));
	utimesSync(path.join(home, 'docs/a.txt'), 1_600_000_001, 1_600_000_001);
	const begun = today();
	const answer = await ada.get('/api/download/docs?type=private');
	t.is(answer.statusCode, 200);
	t.is(answer.headers['content-type'], 'application/zip');
	t.is(Number(answer.headers['content-length']), answer.bytes.length);
	t.is(answer.headers['x-stowage-skipped'], '0');
	t.is(answer.headers['cache-control'], 'private, no-cache');
	t.is(answer.headers['last-modified'], undefined);
	t.regex(
		answer.headers['content-disposition'] ?? '',
		new RegExp(`^attachment; filename="docs_(${begun}|${today()}).zip"`),
	);
	const zip = await assertReadable(t, answer.bytes);
	t.deepEqual(await listZip(zip), [
		['docs/', 0],
		['docs/a.txt', 12],
		['docs/empty/', 0],
		['docs/naïve 📁/', 0],
		['docs/nothing', 0],
		['docs/naïve 📁/-rf', 300_000],
	]);
	const folder = path.join(path.dirname(zip), 'out');
	execFileSync('unzip', ['-q', zip, '-d', folder], { env: { ...process.env, LC_ALL: 'C.UTF-8' } });
	t.is(readFileSync(path.join(folder, 'docs/a.txt'), 'utf8'), 'content of a');
	t.is(Math.floor(execStat(path.join(folder, 'docs/a.txt'))), 1_600_000_001);
});

const execStat = (name: string) => Number(execFileSync('stat', ['-c', '%Y', name], { encoding: 'utf8' }));

test.serial('a folder that is called like a drive is none in an archive', async (t) => {
	const { ada, home } = await withAda(t);
	mkdirSync(path.join(home, 'C:/Windows'), { recursive: true });
	writeFileSync(path.join(home, 'C:/Windows/a.txt'), 'content of a');
	const answer = await ada.get('/api/download/C%3A?type=private');
	t.deepEqual(await listZip(await assertReadable(t, answer.bytes)), [
		['C_/', 0],
		['C_/Windows/', 0],
		['C_/Windows/a.txt', 12],
	]);
});

test.serial('HEAD of a folder returns the size and ETag of its archive without a body', async (t) => {
	const { ada, home } = await withAda(t);
	mkdirSync(path.join(home, 'docs'));
	writeFileSync(path.join(home, 'docs/a'), 'x'.repeat(1000));
	const [head, get] = [
		await ada.call('HEAD', '/api/download/docs?type=private'),
		await ada.get('/api/download/docs?type=private'),
	];
	t.is(head.statusCode, 200);
	t.is(head.bytes.length, 0);
	t.is(head.headers['content-length'], String(get.bytes.length));
	t.is(head.headers.etag, get.headers.etag);
});

test.serial(
	'selected items are at the top of the archive by their own names, equal names get numbers, and names from the client are ignored',
	async (t) => {
		const { ada, home } = await withAda(t);
		for (const folder of ['one/docs', 'two/docs']) mkdirSync(path.join(home, folder), { recursive: true });
		writeFileSync(path.join(home, 'one/x.txt'), '1');
		writeFileSync(path.join(home, 'two/x.txt'), '22');
		writeFileSync(path.join(home, 'one/docs/in.txt'), '333');
		writeFileSync(path.join(home, 'two/docs/in.txt'), '4444');
		const begun = today();
		const answer = await ada.post('/api/downloadZip', {
			files: ['one/x.txt', 'two/x.txt', 'one/docs', 'two/docs'].map((from) => ({ path: from, name: '../../evil' })),
			type: 'private',
			directory: '',
		});
		t.is(answer.statusCode, 200);
		t.is(Number(answer.headers['content-length']), answer.bytes.length);
		t.regex(answer.headers['content-disposition'] ?? '', new RegExp(`filename="files_(${begun}|${today()}).zip"`));
		t.deepEqual(await listZip(await assertReadable(t, answer.bytes)), [
			['x.txt', 1],
			['x (1).txt', 2],
			['docs/', 0],
			['docs/in.txt', 3],
			['docs (1)/', 0],
			['docs (1)/in.txt', 4],
		]);
	},
);

test.serial('an empty selection, a missing item and a path outside the area are refused', async (t) => {
	const { ada, home } = await withAda(t);
	writeFileSync(path.join(home, 'a'), 'x');
	const none = await ada.post('/api/downloadZip', { files: [], type: 'private', directory: '' });
	t.is(none.statusCode, 400);
	t.is(json(none).message, 'No files selected for download');
	const files = [{ path: 'a' }, { path: 'gone' }];
	t.is((await ada.post('/api/downloadZip', { files, type: 'private', directory: '' })).statusCode, 404);
	t.is((await ada.get('/api/download/gone/folder?type=private')).statusCode, 404);
	const outside = [{ path: '../bob' }];
	t.is((await ada.post('/api/downloadZip', { files: outside, type: 'private', directory: '' })).statusCode, 400);
});

test.serial('a private file can be downloaded in an archive by its owner only', async (t) => {
	const { app, ada } = await withAda(t);
	const bob = await new Client(app).register('bob');
	const visitor = new Client(app);
	await ada.upload('/api/upload', [field('type', 'private'), file('secret.txt', 'secret')]);
	const secret = { files: [{ path: 'secret.txt', owner: 'ada' }], type: 'private', directory: '' };
	t.is((await bob.post('/api/downloadZip', secret)).statusCode, 404);
	t.is((await visitor.post('/api/downloadZip', secret)).statusCode, 401);
	t.is((await ada.post('/api/downloadZip', secret)).statusCode, 200);
});

test.serial('users and visitors can’t download the root of an area, alone or in a selection', async (t) => {
	const { app, ada } = await withAda(t);
	await new Client(app).register('bob');
	await ada.upload('/api/upload', [field('type', 'public'), file('public.txt', 'for all')]);
	const visitor = new Client(app);
	for (const query of ['type=public', 'type=public&owner=', 'type=public&owner=ada', 'type=public&owner=bob']) {
		t.is((await visitor.get(`/api/download/?${query}`)).statusCode, 404, query);
		t.is((await ada.get(`/api/download/?${query}`)).statusCode, 404, query);
		t.is((await ada.call('HEAD', `/api/download/?${query}`)).statusCode, 404, query);
	}
	t.is((await ada.get('/api/download/?type=private')).statusCode, 404);
	t.is((await visitor.get('/api/download/?type=private')).statusCode, 401);
	for (const call of ['/api/downloadZip', '/api/downloadTickets']) {
		for (const chosen of [{ path: '' }, { path: '', owner: 'ada' }, { path: '', owner: null }]) {
			const files = [{ path: 'public.txt', owner: 'ada' }, ...Array.from({ length: 1000 }, () => chosen)];
			for (const type of ['public', 'private']) {
				t.is((await ada.post(call, { files, type, directory: '' })).statusCode, 400);
				t.is((await visitor.post(call, { files, type: 'public', directory: '' })).statusCode, 400);
			}
		}
	}
	const root = app.services.files.stat({ kind: 'anonymous', access: 'upload' }, 'public', [{ path: rootPath }]);
	await t.throwsAsync(
		async () => {
			for await (const _item of root);
		},
		{ message: 'There is no such file or folder.' },
	);
});

test.serial('an item that is selected twice, or with its folder, is in the archive once', async (t) => {
	const { ada, home } = await withAda(t);
	mkdirSync(path.join(home, 'docs/deep/deeper'), { recursive: true });
	mkdirSync(path.join(home, 'docs 2'));
	writeFileSync(path.join(home, 'docs/a.txt'), 'a');
	writeFileSync(path.join(home, 'docs/deep/deeper/b.txt'), 'bb');
	writeFileSync(path.join(home, 'docs 2/a.txt'), 'ccc');
	const zipOf = (paths: string[], type = 'private', owner?: string | null) =>
		ada.post('/api/downloadZip', { files: paths.map((from) => ({ path: from, owner })), type, directory: '' });
	const chosen = ['docs/deep/deeper/b.txt', 'docs 2', 'docs/deep', 'docs', 'docs', 'docs/a.txt', 'docs 2'];
	const answer = await zipOf(Array.from({ length: 200 }, () => chosen).flat());
	t.is(answer.statusCode, 200);
	t.deepEqual(await listZip(await assertReadable(t, answer.bytes)), [
		['docs 2/', 0],
		['docs 2/a.txt', 3],
		['docs/', 0],
		['docs/a.txt', 1],
		['docs/deep/', 0],
		['docs/deep/deeper/', 0],
		['docs/deep/deeper/b.txt', 2],
	]);
	t.is((await zipOf(['docs', 'docs/gone'])).statusCode, 404);
	t.regex((await zipOf(['docs', 'docs/a.txt'])).headers['content-disposition'] ?? '', /filename="docs_/);

	mkdirSync(path.join(home, 'Public'), { recursive: true });
	writeFileSync(path.join(home, 'Public/x.txt'), 'x');
	const files = [{ path: 'x.txt' }, { path: 'x.txt', owner: 'ada' }, { path: 'x.txt' }];
	const twice = await ada.post('/api/downloadZip', { files, type: 'public', directory: '' });
	t.deepEqual(await listWhole(t, twice.bytes), [['x.txt', 1]]);
});

test.serial('an archive with more entries than the limit is refused', async (t) => {
	const { ada, home } = await withAda(t, { '--downloads-max-zip-entries': '100' });
	mkdirSync(path.join(home, 'docs/more'), { recursive: true });
	for (let n = 0; n < 98; n++) writeFileSync(path.join(home, `docs/more/${n}`), '');
	const url = '/api/download/docs?type=private';
	t.is((await ada.get(url)).statusCode, 200);
	writeFileSync(path.join(home, 'docs/more/one more'), '');
	const answer = await ada.get(url);
	t.is(answer.statusCode, 413);
	t.is(json(answer).message, 'This is too much for one ZIP: it can hold 100 files and folders at most.');
	const files = [{ path: 'docs' }];
	t.is((await ada.post('/api/downloadTickets', { files, type: 'private', directory: '' })).statusCode, 413);
});

test.serial('links, special files and files with invalid names are left out of an archive and counted', async (t) => {
	const { ada, home } = await withAda(t);
	mkdirSync(path.join(home, 'odd'));
	writeFileSync(path.join(home, 'odd/plain'), 'x');
	writeFileSync(path.join(home, 'odd/a\\..\\b'), 'x');
	symlinkSync('/etc/passwd', path.join(home, 'odd/link'));
	execFileSync('mkfifo', [path.join(home, 'odd/pipe')]);
	const answer = await ada.get('/api/download/odd?type=private');
	t.is(answer.headers['x-stowage-skipped'], '3');
	t.deepEqual(await listZip(await assertReadable(t, answer.bytes)), [
		['odd/', 0],
		['odd/plain', 1],
	]);
});

test.serial(
	'an archive of unchanged files has the same bytes, whole and in ranges, and one of changed files has another ETag',
	async (t) => {
		const { ada, home } = await withAda(t);
		mkdirSync(path.join(home, 'docs'));
		writeFileSync(path.join(home, 'docs/large'), Buffer.alloc(3_000_000, 'abcdefg'));
		for (let n = 0; n < 20; n++) writeFileSync(path.join(home, `docs/small ${n}`), Buffer.alloc(n * 1000, n));
		const url = '/api/download/docs?type=private';
		const whole = await ada.get(url);
		const etag = whole.headers.etag ?? '';
		t.regex(etag, /^"[\w-]+"$/);
		t.true((await ada.get(url)).bytes.equals(whole.bytes));
		const size = whole.bytes.length;
		for (const start of [0, 1, 29, 40, 100, 3_000_050, 3_000_100, size - 5_000, size - 22, size - 1]) {
			for (const end of [start, Math.min(size - 1, start + 70_000), size - 1]) {
				const part = await ada.get(url, { range: `bytes=${start}-${end}`, 'if-range': etag });
				t.is(part.statusCode, 206);
				t.is(part.headers['content-range'], `bytes ${start}-${end}/${size}`);
				t.true(part.bytes.equals(whole.bytes.subarray(start, end + 1)), `${start}-${end}`);
			}
		}
		t.is((await ada.get(url, { 'if-none-match': etag })).statusCode, 304);
		t.is((await ada.get(url, { range: `bytes=${size}-` })).statusCode, 416);
		t.regex((await ada.get(url, { range: 'bytes=0-9,50-59' })).headers['content-type'] ?? '', /^multipart\/byteranges/);

		writeFileSync(path.join(home, 'docs/small 3'), 'changed');
		const changed = await ada.get(url, { range: 'bytes=100-', 'if-range': etag });
		t.is(changed.statusCode, 200);
		t.not(changed.headers.etag, etag);
		await assertReadable(t, changed.bytes);
	},
);

test.serial(
	'the first byte of an archive of 3,000 files costs less than ten listings of them, and no file is opened for it',
	async (t) => {
		const { app, ada, home } = await withAda(t);
		for (const folder of ['many', 'more']) {
			mkdirSync(path.join(home, folder));
			for (let n = 0; n < 3_000; n++) writeFileSync(path.join(home, `${folder}/${n}`), 'x');
		}
		const fail = () => {
			throw new Error('a file was opened');
		};
		Object.assign(app.services.roots.first.storage, { open: fail, readSmallFiles: fail });
		// Processor time, compared with that of a listing: so neither the load nor the speed of the machine matters.
		const msOf = (url: string, status: number, headers?: Record<string, string>) =>
			processorMs(async () => t.is((await ada.get(url, headers)).statusCode, status));
		// The least of two: a collection of garbage may be in one of them.
		const leastOf = async (of: (folder: string) => Promise<number>) => Math.min(await of('many'), await of('more'));
		const listing = await leastOf((folder) => msOf(`/api/browse?type=private&directory=${folder}`, 200));
		const beginning = await leastOf((folder) =>
			msOf(`/api/download/${folder}?type=private`, 206, { range: 'bytes=0-0' }),
		);
		t.true(beginning < 10 * listing, `${beginning} ms, where the listing takes ${listing} ms`);
	},
);

test.serial('the Content-Length of an archive includes a file of more than 4 GiB', async (t) => {
	const { ada, home } = await withAda(t);
	mkdirSync(path.join(home, 'huge'));
	writeFileSync(path.join(home, 'huge/sparse'), '');
	truncateSync(path.join(home, 'huge/sparse'), 5 * 1024 ** 3);
	const head = await ada.call('HEAD', '/api/download/huge?type=private');
	t.is(head.statusCode, 200);
	t.true(Number(head.headers['content-length']) > 5 * 1024 ** 3);
});

test.serial('without the zip plugin archives are answered 503, and single files can be downloaded', async (t) => {
	const { ada, home } = await withAda(t, { '--plugins': JSON.stringify({ '@stowage/zip': false }) });
	mkdirSync(path.join(home, 'docs'));
	writeFileSync(path.join(home, 'docs/a'), 'x');
	t.is((await ada.get('/api/download/docs?type=private')).statusCode, 503);
	const plain = await ada.get('/api/download/docs/a?type=private');
	t.is(plain.statusCode, 200, plain.payload);
	const files = [{ path: 'docs/a' }];
	t.is((await ada.post('/api/downloadZip', { files, type: 'private', directory: '' })).statusCode, 503);
});

/** Calls `change` before or after a file is opened or read, the first `times` times. */
function changeOnOpen(
	app: { services: { roots: { first: { storage: StorageProvider } } } },
	times: number,
	change: () => void,
) {
	const { storage } = app.services.roots.first;
	const open = storage.open.bind(storage);
	let left = times;
	const changeIfDue = () => {
		if (left-- > 0) change();
	};
	return {
		before: () => {
			storage.open = (at) => {
				changeIfDue();
				return open(at);
			};
			if (!hasSmallFiles(storage)) throw new Error('A local storage reads small files together.');
			const read = storage.readSmallFiles.bind(storage);
			storage.readSmallFiles = (...call) => {
				changeIfDue();
				return read(...call);
			};
		},
		after: () => {
			storage.open = async (at) => {
				const file = await open(at);
				changeIfDue();
				return file;
			};
		},
	};
}

const calls = {
	'a folder': (ada: Client) => ada.get('/api/download/docs?type=private'),
	'a selection': (ada: Client) =>
		ada.post('/api/downloadZip', { files: [{ path: 'docs' }], type: 'private', directory: '' }),
	'a ticket': async (ada: Client) => {
		const made = await ada.post('/api/downloadTickets', { files: [{ path: 'docs' }], type: 'private', directory: '' });
		return ada.get(String(json(made).url));
	},
	'a temporary link': async (ada: Client) => {
		const made = await ada.post('/api/generateTempLink', { filePath: 'docs', expiration: '1h' });
		return ada.get(`/api/temp/${json(made).token}`);
	},
};

for (const [what, call] of Object.entries(calls)) {
	test.serial(`the archive of ${what} is prepared again if a file changes before its first byte`, async (t) => {
		const { app, ada, home } = await withAda(t);
		mkdirSync(path.join(home, 'docs'));
		const changes = [
			() => appendFileSync(path.join(home, 'docs/a'), 'more'),
			() => rmSync(path.join(home, 'docs/a')),
			() => writeFileSync(path.join(home, 'docs/b'), 'another'),
		];
		const left = [
			['a', 8],
			['b', 6],
		] as const;
		for (const [index, change] of changes.entries()) {
			writeFileSync(path.join(home, 'docs/a'), 'once');
			writeFileSync(path.join(home, 'docs/b'), 'before');
			changeOnOpen(app, 1, change).before();
			const answer = await call(ada);
			t.is(answer.statusCode, 200);
			t.is(Number(answer.headers['content-length']), answer.bytes.length);
			const expected = [left, [left[1]], [['a', 4] as const, ['b', 7] as const]][index] ?? [];
			t.deepEqual(await listWhole(t, answer.bytes), [
				['docs/', 0],
				...expected.map(([name, size]) => [`docs/${name}`, size] as [string, number]),
			]);
		}
	});

	test.serial(`the archive of ${what} is refused with 503 if a file changes at every attempt`, async (t) => {
		const { app, ada, home } = await withAda(t);
		mkdirSync(path.join(home, 'docs'));
		writeFileSync(path.join(home, 'docs/a'), 'once');
		const answering: ServerResponse[] = [];
		app.server.listener.on('request', (_request, response: ServerResponse) => void answering.push(response));
		const listeners: number[] = [];
		changeOnOpen(app, 1000, () => {
			appendFileSync(path.join(home, 'docs/a'), 'more');
			listeners.push(answering.at(-1)?.listenerCount('close') ?? 0);
		}).before();
		const answer = await call(ada);
		t.is(answer.statusCode, 503);
		t.is(answer.headers['retry-after'], '5');
		t.true(listeners.length >= 3);
		t.is(new Set(listeners).size, 1, `each attempt adds a close listener to the response: ${listeners}`);
	});
}

test.serial('a file that shrinks after it was opened and before its first byte is opened again', async (t) => {
	const { app, ada, home } = await withAda(t);
	writeFileSync(path.join(home, 'a'), 'long enough');
	changeOnOpen(app, 1, () => truncateSync(path.join(home, 'a'), 4)).after();
	const answer = await ada.get('/api/download/a?type=private');
	t.is(answer.statusCode, 200);
	t.is(answer.bytes.toString(), 'long');
});

const midStream = test.macro(async (t, change: (docs: string) => void) => {
	const { app, ada, home } = await withAda(t);
	const docs = path.join(home, 'docs');
	mkdirSync(docs);
	writeFileSync(path.join(docs, 'a large'), '');
	truncateSync(path.join(docs, 'a large'), 32 * 1024 * 1024);
	// So many that the last one has not been opened in advance yet.
	for (let n = 10; n < 60; n++) writeFileSync(path.join(docs, `b ${n}`), 'x');
	writeFileSync(path.join(docs, 'b later'), Buffer.alloc(100_000, 'b'));
	const { hostname, port } = new URL(app.server.info.uri);
	const headers = { cookie: ada.cookie ?? '' };
	const sent = request({ hostname, port, path: '/api/download/docs?type=private', agent: false, headers }).end();
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	await once(answer, 'readable');
	change(docs);
	let received = 0;
	await t.throwsAsync(async () => {
		for await (const chunk of answer) received += chunk.length;
	});
	t.true(received < Number(answer.headers['content-length']));
	const again = await ada.get('/api/download/docs?type=private');
	t.is(again.statusCode, 200);
	await listWhole(t, again.bytes);
});
const inSerial = (title: string, change: (docs: string) => void) => test.serial(title, midStream, change);
inSerial('a file that is deleted before it is sent aborts the download', (docs) => rmSync(path.join(docs, 'b later')));
inSerial('a file that grows before it is sent aborts the download', (docs) =>
	appendFileSync(path.join(docs, 'b later'), 'x'),
);
inSerial('a file that grows while it is sent aborts the download', (docs) =>
	appendFileSync(path.join(docs, 'a large'), 'x'),
);
inSerial('a file that shrinks while it is sent aborts the download', (docs) =>
	truncateSync(path.join(docs, 'a large'), 28 * 1024 * 1024),
);
inSerial('a file that is replaced by a link before it is sent aborts the download', (docs) => {
	rmSync(path.join(docs, 'b later'));
	symlinkSync('/etc/passwd', path.join(docs, 'b later'));
});
