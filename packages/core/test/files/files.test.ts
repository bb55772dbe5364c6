import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { Client, field, file, json, type TestApp, testApp } from '../testApp.js';

const put = async (app: TestApp, name: string, text = name) => {
	const full = path.join(app.filesDir, name);
	await mkdir(path.dirname(full), { recursive: true });
	await writeFile(full, text);
};
const onDisk = (app: TestApp, name: string) => readFile(path.join(app.filesDir, name), 'utf8');
const names = (listing: { entries: { path: string }[] }) => listing.entries.map((entry) => entry.path).sort();
const url = (name: string) => name.split('/').map(encodeURIComponent).join('/');

test('files that other programs created are listed with size, time and owner', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/docs/a.txt', 'hello');
	await put(app, 'users/ada/Public/mine.txt');
	await put(app, 'Public/everyone.txt');
	await put(app, 'users/anonymous/Public/visitor.txt');
	await put(app, 'users/bob/Public/his.txt');
	const home = json(await ada.get('/api/browse?type=private'));
	t.is(home.type, 'private');
	t.is(home.directory, '');
	t.deepEqual(names(home), ['Public', 'docs']);
	const folders = Object.fromEntries(home.entries.map((entry: { name: string }) => [entry.name, entry]));
	t.true(folders.Public.protected);
	t.is(folders.Public.count, 1);
	t.like(folders.docs, { type: 'directory', size: 0, count: 1 });
	t.false('owner' in folders.docs);
	const [document] = json(await ada.get('/api/browse?type=private&directory=docs')).entries;
	t.like(document, { name: 'a.txt', path: 'docs/a.txt', type: 'file', size: 5 });
	t.true(Math.abs(document.mtime - Date.now()) < 60_000 && Number.isInteger(document.mtime));
	const shown = json(await ada.get('/api/browse'));
	t.deepEqual(shown.entries.map((entry: { name: string; owner: string | null }) => [entry.name, entry.owner]).sort(), [
		['everyone.txt', null],
		['mine.txt', 'ada'],
		['visitor.txt', 'anonymous'],
	]);
	const toVisitors = json(await new Client(app).get('/api/browse/public'));
	t.deepEqual(names(toVisitors), ['everyone.txt', 'visitor.txt']);
});

test('a folder of several public trees is listed once for each, and its listing is their union', async (t) => {
	const app = await testApp(t, { '--public-listing': 'everyone' });
	await new Client(app).register('ada');
	await put(app, 'users/ada/Public/trip/a.jpg');
	await put(app, 'Public/trip/b.jpg');
	const root = json(await new Client(app).get('/api/browse/public'));
	t.deepEqual(root.entries.map((entry: { owner: string | null }) => entry.owner).sort(), ['ada', null]);
	t.deepEqual(names(json(await new Client(app).get('/api/browse/public?directory=trip'))), [
		'trip/a.jpg',
		'trip/b.jpg',
	]);
});

test('visitors can browse the public view only, and a missing folder or unknown area is refused', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	t.is((await visitor.get('/api/browse?type=private')).statusCode, 401);
	t.is((await visitor.get('/api/browse?type=public')).statusCode, 401);
	t.is((await visitor.get('/api/browse/public')).statusCode, 200);
	t.is((await visitor.get('/api/browse/public?directory=nowhere')).statusCode, 404);
	const ada = await new Client(app).register('ada');
	t.is((await ada.get('/api/browse?type=private&directory=nowhere')).statusCode, 404);
	t.is((await ada.get('/api/browse?type=secret')).statusCode, 400);
	t.is((await ada.get('/api/browse?type=private&unknown=1')).statusCode, 200);
});

test('a search finds names below the folder, ignores case and takes its term literally', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	for (const name of ['Report.txt', 'a/b/report-2.txt', 'a/100%.txt', 'a/b.txt']) await put(app, `users/ada/${name}`);
	const search = async (term: string, folder = '') =>
		names(json(await ada.get(`/api/browse?type=private&directory=${folder}&search=${encodeURIComponent(term)}`)));
	t.deepEqual(await search('REPORT'), ['Report.txt', 'a/b/report-2.txt']);
	t.deepEqual(await search('report', 'a'), ['a/b/report-2.txt']);
	t.deepEqual(await search('%'), ['a/100%.txt']);
	t.deepEqual(await search('(.+)+x'), []);
	t.is((await ada.get(`/api/browse?type=private&search=${'x'.repeat(26)}`)).statusCode, 400);
});

test('a search answers the best 1,000 of more results, best first, and is marked as truncated', async (t) => {
	const app = await testApp(t);
	const named = ['deep/er/still/hit', 'deep/er/hit', 'deep/hits', 'deep/er/whit'];
	for (const name of [...named, ...Array.from({ length: 2500 }, (_, n) => `many/a white hit ${n}`)])
		await put(app, `Public/${name}`);
	const found = json(await new Client(app).get('/api/browse/public?search=HIT'));
	t.is(found.entries.length, 1000);
	t.true(found.truncated);
	const paths = found.entries.map((entry: { path: string }) => entry.path);
	t.deepEqual(paths.slice(0, 3), ['deep/er/hit', 'deep/er/still/hit', 'deep/hits']);
	t.is(paths[3].length, 'many/a white hit 0'.length);
	t.false(paths.includes('deep/er/whit'), 'the worst of all');
	t.is(found.indexedAt, null);
});

test('a search is limited to kinds, sizes and times, and then needs no term', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	for (const [name, bytes, seconds] of [
		['in/a.jpg', 10, 100],
		['in/b.png', 20, 200],
		['c.txt', 30, 300],
	] as const) {
		await put(app, `users/ada/${name}`, 'x'.repeat(bytes));
		await utimes(path.join(app.filesDir, 'users/ada', name), seconds, seconds);
	}
	const search = async (query: string) => names(json(await ada.get(`/api/browse?type=private&${query}`))).sort();
	t.deepEqual(await search('kind=image'), ['in/a.jpg', 'in/b.png']);
	t.deepEqual(await search('kind=folder,text'), ['Public', 'c.txt', 'in']);
	t.deepEqual(await search('minSize=20&maxSize=30'), ['c.txt', 'in/b.png']);
	t.deepEqual(await search('after=200000&before=200000'), ['in/b.png']);
	t.deepEqual(await search('search=a&kind=image&directory=in'), ['in/a.jpg']);
	t.deepEqual(await search('search='), ['Public', 'c.txt', 'in'], 'no filter: the folder itself');
	for (const query of ['kind=picture', 'kind=', 'minSize=-1', 'minSize=1.5', 'after=x', 'before=99999999999999999'])
		t.is((await ada.get(`/api/browse?type=private&${query}`)).statusCode, 400, query);
});

test('a folder is created unless its name is taken or invalid, its parent is missing, or a visitor asks for it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const make = (folderName: string, directory = '', type = 'private') =>
		ada.post('/api/createFolder', { directory, folderName, type });
	t.like(json(await make('  Photos 2024 ')).entry, {
		name: 'Photos 2024',
		path: 'Photos 2024',
		type: 'directory',
		count: 0,
	});
	t.is((await make('Photos 2024')).statusCode, 409);
	t.is((await make('inside', 'Photos 2024')).statusCode, 200);
	t.is((await make('x', 'nowhere')).statusCode, 404);
	t.is(json(await make('   ')).message, 'Please enter a folder name');
	t.is(json(await make('a:b')).code, 'INVALID_NAME');
	t.is((await make('shared', '', 'public')).statusCode, 200);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada/Public')), ['shared']);
	const visitor = await new Client(app).post('/api/createFolder', { directory: '', folderName: 'x', type: 'public' });
	t.is(visitor.statusCode, 401);
	t.is(json(visitor).message, 'You must be logged in to create folders in public.');
});

test('an empty file is created unless its name is taken or invalid, its folder is missing, or a visitor asks for it', async (t) => {
	const app = await testApp(t, { '--quotas-user-entries': '5' });
	const ada = await new Client(app).register('ada');
	const make = (fileName: string, directory = '', type = 'private') =>
		ada.post('/api/createFile', { directory, fileName, type });
	t.like(json(await make('  notes.md ')).entry, { name: 'notes.md', path: 'notes.md', type: 'file', size: 0 });
	await put(app, 'users/ada/notes.md', 'kept');
	t.is((await make('notes.md')).statusCode, 409);
	t.is((await make('Public')).statusCode, 409);
	t.is(await readFile(path.join(app.filesDir, 'users/ada/notes.md'), 'utf8'), 'kept');
	t.is((await make('x', 'nowhere')).statusCode, 404);
	t.is((await make('x', 'notes.md')).statusCode, 404);
	t.is(json(await make('   ')).message, 'Please enter a file name');
	t.is(json(await make('a/b')).code, 'INVALID_NAME');
	t.is((await make('shared.txt', '', 'public')).statusCode, 200);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada/Public')), ['shared.txt']);
	t.is((await make('fourth')).statusCode, 200);
	t.is((await make('fifth')).statusCode, 200);
	t.is((await make('sixth')).statusCode, 507);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
	const visitor = await new Client(app).post('/api/createFile', { directory: '', fileName: 'x', type: 'public' });
	t.is(visitor.statusCode, 401);
});

test('an entry is renamed unless the new name is taken or invalid, or the entry is protected or missing', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/a.txt', 'A');
	await put(app, 'users/ada/b.txt', 'B');
	const rename = (oldPath: string, newName: string) =>
		ada.post('/api/renameItem', { oldPath, newName, type: 'private' });
	t.is((await rename('a.txt', 'b.txt')).statusCode, 409);
	t.is(await onDisk(app, 'users/ada/b.txt'), 'B');
	t.like(json(await rename('a.txt', 'c.txt')).entry, { name: 'c.txt', path: 'c.txt' });
	t.is((await rename('c.txt', 'c.txt')).statusCode, 200);
	t.is((await rename('c.txt', ' c.txt ')).statusCode, 200, 'spaces around the name are trimmed');
	t.is((await rename('c.txt', 'x/y')).statusCode, 400);
	t.is((await rename('Public', 'Private')).statusCode, 403);
	t.is(json(await rename('Public', 'Private')).code, 'PROTECTED');
	t.is((await rename('gone.txt', 'x.txt')).statusCode, 404);
});

test('a move creates missing parent folders and takes a free name', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/a.txt', 'A');
	await put(app, 'users/ada/new/deep/a.txt', 'B');
	const move = (fromPath: string, toPath: string) => ada.post('/api/moveItem', { fromPath, toPath, type: 'private' });
	t.is(json(await move('a.txt', 'new/deep/a.txt')).entry.path, 'new/deep/a (1).txt');
	t.is((await move('new', 'new/deep/new')).statusCode, 400);
	t.is((await move('new', 'other')).statusCode, 400, 'the same folder');
	t.is(json(await move('new/deep/a.txt', 'Public/new/deep/a.txt')).entry.path, 'Public/new/deep/a.txt');
	t.is(await onDisk(app, 'users/ada/Public/new/deep/a.txt'), 'B');
	t.is(json(await move('Public/new/deep/a.txt', 'back/again/a.txt')).entry.path, 'back/again/a.txt');
	t.is((await move('back/again/a.txt', 'b?d/ sp /a.txt')).statusCode, 400);
	t.is((await move('Public', 'x/Public')).statusCode, 403);
	t.is((await move('nothing', 'x/nothing')).statusCode, 404);
	t.false(
		(await readdir(path.join(app.filesDir, 'users/ada'))).includes('x'),
		'a refused move creates no parent folders',
	);
});

test('a copy beside its original gets a free name, and public files of others can be copied to a home', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/a.txt', 'A');
	await put(app, 'users/ada/photos.2024/x.jpg');
	await put(app, 'users/bob/Public/his.txt', 'H');
	const copy = (body: Record<string, unknown>) => ada.post('/api/copyItem', { type: 'private', ...body });
	t.is(json(await copy({ fromPath: 'a.txt', toPath: 'a.txt' })).entry.path, 'a (1).txt');
	t.is(json(await copy({ fromPath: 'photos.2024', toPath: 'photos.2024' })).entry.path, 'photos.2024 (1)');
	t.is(
		json(await copy({ fromPath: 'his.txt', fromType: 'public', owner: 'bob', toPath: 'his.txt' })).entry.path,
		'his.txt',
	);
	t.is(await onDisk(app, 'users/ada/his.txt'), 'H');
	t.is((await copy({ fromPath: 'photos.2024', toPath: 'photos.2024/x/photos.2024' })).statusCode, 400);
	t.is((await copy({ fromPath: 'Public', toPath: 'Copy' })).statusCode, 403);
});

test('deleting a folder removes all in it, and deleting protected folders or files of others is refused', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/docs/deep/a.txt');
	await put(app, 'Public/theirs.txt');
	const remove = (body: Record<string, unknown>) => ada.call('DELETE', '/api/deleteItem', { type: 'private', ...body });
	t.is((await remove({ filePath: 'docs' })).statusCode, 200);
	t.is((await remove({ filePath: 'docs' })).statusCode, 404);
	t.is(json(await remove({ filePath: 'Public' })).code, 'PROTECTED');
	for (const owner of ['bob', 'anonymous', null, '']) {
		for (const filePath of ['theirs.txt', 'nothing.txt']) {
			const answer = await remove({ filePath, type: 'public', owner });
			t.is(answer.statusCode, 403);
			t.is(json(answer).code, 'NOT_OWNER');
		}
	}
	t.is(await onDisk(app, 'Public/theirs.txt'), 'Public/theirs.txt');
	t.is((await new Client(app).call('DELETE', '/api/deleteItem', { filePath: 'x', type: 'public' })).statusCode, 401);
});

test('an upload keeps content, name and time, and never replaces a file', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const send = () =>
		ada.upload('/api/upload', [field('lastModified', '1700000000000'), file('naïve – 日本 🎉.txt', 'bytes')]);
	const first = json(await send());
	t.like(first.entries[0], {
		name: 'naïve – 日本 🎉.txt',
		path: 'naïve – 日本 🎉.txt',
		size: 5,
		mtime: 1_700_000_000_000,
	});
	t.is(json(await send()).entries[0].name, 'naïve – 日本 🎉 (1).txt');
	t.is(await onDisk(app, 'users/ada/naïve – 日本 🎉.txt'), 'bytes');
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('form fields before or after a file set its name, area and folder', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/docs/old.txt');
	await ada.upload('/api/upload', [file('x', '1'), field('fileName', 'given.txt'), field('directory', 'docs')]);
	t.is(await onDisk(app, 'users/ada/docs/given.txt'), '1');
	await ada.upload('/api/upload', [field('isPublic', 'true'), file('p.txt', '2')]);
	t.is(await onDisk(app, 'users/ada/Public/p.txt'), '2');
	await ada.upload('/api/upload', [field('type', 'public'), file('-rf', '3'), file('.env', '')]);
	t.is(await onDisk(app, 'users/ada/Public/-rf'), '3');
	t.is(await onDisk(app, 'users/ada/Public/.env'), '');
	await ada.upload('/api/upload/public', [file('q.txt', '4')]);
	t.is(await onDisk(app, 'users/ada/Public/q.txt'), '4');
});

test('a visitor can upload to the root of the anonymous tree only', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	const answer = json(await visitor.upload('/api/upload/public', [file('v.txt', 'V')]));
	t.like(answer.entries[0], { path: 'v.txt', owner: 'anonymous' });
	t.is(await onDisk(app, 'users/anonymous/Public/v.txt'), 'V');
	const deep = await visitor.upload('/api/upload/public', [field('directory', 'docs'), file('v.txt', 'V')]);
	t.is(deep.statusCode, 403);
	t.is(json(deep).message, 'Anonymous uploads/folders are only allowed at the root public folder.');
	t.is((await visitor.upload('/api/upload', [file('v.txt', 'V')])).statusCode, 401);
});

const refusedUpload = async (
	t: import('ava').ExecutionContext,
	parts: Parameters<Client['upload']>[1],
	status: number,
	code: string,
	flags: Record<string, string> = {},
) => {
	const app = await testApp(t, flags);
	const ada = await new Client(app).register('ada');
	const answer = await ada.upload('/api/upload', parts);
	t.is(answer.statusCode, status, answer.payload);
	t.is(json(answer).code, code);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
};
test('a file name with a slash is refused', refusedUpload, [file('a/b.txt', 'x')], 400, 'INVALID_NAME');
test(
	'if one file of a form is refused none is published',
	refusedUpload,
	[file('good.txt', 'x'), file('b?d.txt', 'y')],
	400,
	'INVALID_NAME',
);
test('an upload without a file is refused', refusedUpload, [field('directory', '')], 400, 'INVALID');
test(
	'a missing folder in a field before the file is refused',
	refusedUpload,
	[field('directory', 'no'), file('a', 'x')],
	404,
	'NOT_FOUND',
);
test(
	'a missing folder in a field after the file is refused',
	refusedUpload,
	[file('a', 'x'), field('directory', 'no')],
	404,
	'NOT_FOUND',
);
test(
	'a path that leaves the area is refused',
	refusedUpload,
	[field('directory', '../bob'), file('a', 'x')],
	400,
	'INVALID_PATH',
);
test('an unknown field is refused', refusedUpload, [field('folder', ''), file('a', 'x')], 400, 'INVALID');
test(
	'a file in an unknown field is refused',
	refusedUpload,
	[{ name: 'upload', value: 'x', fileName: 'a' }],
	400,
	'INVALID',
);
test(
	'one fileName for two files is refused',
	refusedUpload,
	[field('fileName', 'n'), file('a', 'x'), file('b', 'x')],
	400,
	'INVALID',
);
test(
	'a time that is not a number is refused',
	refusedUpload,
	[field('lastModified', 'now'), file('a', 'x')],
	400,
	'INVALID',
);
test('a file over the size limit is refused', refusedUpload, [file('a', 'x'.repeat(11))], 413, 'TOO_LARGE', {
	'--uploads-max-file-size': '10',
});
test('a file without free space on the disk is refused', refusedUpload, [file('a', 'x')], 507, 'STORAGE_FULL', {
	'--uploads-free-space-reserve': '8000 TB',
});

test(
	'a form with 600 kB of fields is refused',
	refusedUpload,
	[...Array.from({ length: 10 }, () => field('lastModified', '1'.repeat(60_000))), file('a', 'x')],
	413,
	'TOO_LARGE',
);

test('a body that is not a form is refused', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	t.is((await ada.post('/api/upload', { file: 'x' })).statusCode, 415);
	t.is(
		(await ada.call('POST', '/api/upload', 'no parts', { 'content-type': 'multipart/form-data; boundary=x' }))
			.statusCode,
		400,
	);
	t.is((await ada.call('POST', '/api/upload', 'x', { 'content-type': 'multipart/form-data' })).statusCode, 400);
});

test('a download of an HTML file has headers that keep a browser from running it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/naïve – 日本 🎉.html', '<script>alert(1)</script>');
	const answer = await ada.get(`/api/download/${url('naïve – 日本 🎉.html')}?type=private&inline=1`);
	t.is(answer.statusCode, 200);
	t.is(answer.payload, '<script>alert(1)</script>');
	t.is(answer.headers['content-type'], 'application/octet-stream');
	t.is(
		answer.headers['content-disposition'],
		'attachment; filename="na_ve _ __ _.html"; filename*=UTF-8\'\'na%C3%AFve%20%E2%80%93%20%E6%97%A5%E6%9C%AC%20%F0%9F%8E%89.html',
	);
	t.regex(String(answer.headers['content-security-policy']), /^sandbox; default-src 'none'/);
	t.is(answer.headers['x-content-type-options'], 'nosniff');
	t.is(answer.headers['cache-control'], 'private, no-cache');
	t.is(answer.headers.vary, 'Cookie');
	t.is(answer.headers['cross-origin-resource-policy'], 'same-origin');
	t.is(answer.headers['referrer-policy'], 'no-referrer');
});

test('with inline=1 a text is sent inline, and a PDF is sent without the sandbox unless its content is not a PDF', async (t) => {
	const app = await testApp(t);
	await put(app, 'Public/a.txt');
	await put(app, 'Public/true.pdf', '%PDF-1.7 ...');
	await put(app, 'Public/false.pdf', '<html>');
	const head = async (name: string) => (await new Client(app).get(`/api/download/${name}?inline=1`)).headers;
	t.regex(String((await head('a.txt'))['content-disposition']), /^inline;/);
	t.is((await head('a.txt'))['content-type'], 'text/plain; charset=utf-8');
	t.notRegex(String((await head('true.pdf'))['content-security-policy']), /sandbox/);
	t.regex(String((await head('false.pdf'))['content-security-policy']), /sandbox/);
});

test('downloads answer single, suffix, several and unsatisfiable ranges, and HTTP preconditions', async (t) => {
	const app = await testApp(t);
	await put(app, 'Public/a.bin', '0123456789');
	const get = (range: string, headers: Record<string, string> = {}) =>
		new Client(app).get('/api/download/a.bin', { range, ...headers });
	const one = await get('bytes=2-4');
	t.is(one.statusCode, 206);
	t.is(one.payload, '234');
	t.is(one.headers['content-range'], 'bytes 2-4/10');
	t.is((await get('bytes=-3')).payload, '789');
	t.is((await get('bytes=8-99')).payload, '89');
	const several = await get('bytes=0-1,8-');
	t.regex(String(several.headers['content-type']), /^multipart\/byteranges; boundary=/);
	t.is(Number(several.headers['content-length']), several.bytes.length);
	t.regex(several.payload, /Content-Range: bytes 0-1\/10\r\n\r\n01\r\n/);
	t.regex(several.payload, /Content-Range: bytes 8-9\/10\r\n\r\n89\r\n/);
	t.is((await get('bytes=0-,0-,0-')).payload, '0123456789', 'overlaps are joined');
	const none = await get('bytes=10-');
	t.is(none.statusCode, 416);
	t.is(none.headers['content-range'], 'bytes */10');
	t.is((await get('lines=1-2')).statusCode, 200);
	const etag = String(one.headers.etag);
	t.regex(etag, /^"[^"]+"$/);
	t.is((await get('bytes=2-4', { 'if-range': etag })).statusCode, 206);
	t.is((await get('bytes=2-4', { 'if-range': '"other"' })).statusCode, 200);
	const modified = String(one.headers['last-modified']);
	t.is((await get('bytes=2-4', { 'if-range': modified })).statusCode, 200, 'another version may be of the same second');
	t.is((await get('bytes=2-4', { 'if-range': `W/${etag}` })).statusCode, 200);
	const since = async (date: string) =>
		(await new Client(app).get('/api/download/a.bin', { 'if-modified-since': date })).statusCode;
	t.is(await since(modified), 304);
	await utimes(path.join(app.filesDir, 'Public/a.bin'), 1_000_000_000, 1_000_000_000);
	t.is(await since(modified), 200, 'an older version was restored');
	t.is(await since(new Date(1_000_000_000_000).toUTCString()), 304);
	const { etag: now } = (await new Client(app).get('/api/download/a.bin')).headers;
	t.is((await new Client(app).get('/api/download/a.bin', { 'if-none-match': String(now) })).statusCode, 304);
	t.is((await new Client(app).get('/api/download/a.bin', { 'if-match': '"other"' })).statusCode, 412);
	const head = await new Client(app).call('HEAD', '/api/download/a.bin');
	t.is(head.headers['content-length'], '10');
	t.is(head.payload, '');
});

test('an empty file is answered whole to who asks for its first or last bytes, and 416 to others', async (t) => {
	const app = await testApp(t);
	await put(app, 'Public/empty.log', '');
	const get = (range: string) => new Client(app).get('/api/download/empty.log', { range });
	for (const range of ['bytes=0-', 'bytes=-5', 'bytes=0-0', 'bytes=7-9,-2']) {
		const { statusCode, headers, payload } = await get(range);
		t.is(statusCode, 200, range);
		t.is(headers['content-length'], '0');
		t.is(headers['content-range'], undefined);
		t.is(payload, '');
	}
	for (const range of ['bytes=1-', 'bytes=7-9,12-']) {
		const { statusCode, headers } = await get(range);
		t.is(statusCode, 416, range);
		t.is(headers['content-range'], 'bytes */0');
	}
});

test('a condition with a date is one in each form that HTTP has, and in no other', async (t) => {
	const app = await testApp(t);
	await put(app, 'Public/a.txt');
	await utimes(path.join(app.filesDir, 'Public/a.txt'), 784_111_777, 784_111_777);
	const status = async (headers: Record<string, string>) =>
		(await new Client(app).get('/api/download/a.txt', headers)).statusCode;
	for (const date of [
		'Sun, 06 Nov 1994 08:49:37 GMT',
		'Sunday, 06-Nov-94 08:49:37 GMT',
		// Without a zone, which is not that of the server.
		'Sun Nov  6 08:49:37 1994',
	]) {
		t.is(await status({ 'if-modified-since': date }), 304, date);
		t.is(await status({ 'if-unmodified-since': date }), 200, date);
	}
	t.is(await status({ 'if-unmodified-since': 'Sun, 06 Nov 1994 08:49:36 GMT' }), 412);
	for (const date of ['0', '1', '-1', '1990', '1994-11-06T08:49:36Z', 'Sun, 06 Nov 1994', 'garbage'])
		t.is(await status({ 'if-unmodified-since': date }), 200, date);
});

test('an archive that is asked for by POST is never answered 304', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/a.txt');
	const zip = (headers: Record<string, string>) =>
		ada.post('/api/downloadZip', { files: [{ path: 'a.txt' }], type: 'private', directory: '' }, headers);
	const { etag, 'last-modified': modified = new Date().toUTCString() } = (await zip({})).headers;
	t.is((await zip({ 'if-none-match': String(etag) })).statusCode, 412);
	t.is((await zip({ 'if-none-match': '*' })).statusCode, 412);
	t.is((await zip({ 'if-none-match': '"other"' })).statusCode, 200);
	t.is((await zip({ 'if-modified-since': modified })).statusCode, 200);
});

test('a visitor who names the owner can download public files, and only the owner private ones', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await put(app, 'users/ada/secret.txt', 'S');
	await put(app, 'users/ada/Public/open.txt', 'O');
	const visitor = new Client(app);
	t.is((await visitor.get('/api/download/open.txt?owner=ada')).payload, 'O');
	t.is((await visitor.get('/api/download/open.txt')).statusCode, 404);
	t.is((await visitor.get('/api/download/secret.txt?type=private')).statusCode, 401);
	t.is((await ada.get('/api/download/secret.txt?type=private')).payload, 'S');
	t.is((await ada.get('/api/download/open.txt')).payload, 'O');
	for (const owner of ['../ada', 'ada/docs', 'nobody', '.', 'ADA', '\0']) {
		t.is((await visitor.get(`/api/download/open.txt?owner=${encodeURIComponent(owner)}`)).statusCode, 404, owner);
	}
});

test('a download by an absolute URL, as sent to a proxy, is answered', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('a b.txt', 'mine')]);
	const answer = await ada.get('http://files.example.org/api/download/a%20b.txt?type=private');
	t.is(answer.statusCode, 200, answer.payload);
	t.is(answer.payload, 'mine');
	t.is((await ada.get('http://files.example.org/api/download/../../etc/passwd')).statusCode, 400);
});

test('a visitor who creates a folder is answered 401, with any body', async (t) => {
	const app = await testApp(t);
	for (const body of [undefined, {}, { directory: '../', folderName: 'x', type: 'public' }]) {
		const answer = await new Client(app).call('POST', '/api/createFolder', body);
		t.is(answer.statusCode, 401);
		t.is(json(answer).message, 'You must be logged in to create folders in public.');
	}
});

test('a public folder of the administrator can be copied into a user’s public folder of the same name', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await mkdir(path.join(app.filesDir, 'Public/docs'));
	await writeFile(path.join(app.filesDir, 'Public/docs/a.txt'), 'A');
	const answer = await ada.post('/api/copyItem', { fromPath: 'docs', toPath: 'docs/sub', type: 'public' });
	t.is(answer.statusCode, 200, answer.payload);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada/Public/docs/sub')), ['a.txt']);
});

test('a move in another user’s tree is refused with 403 before its paths are checked', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const answer = await ada.post('/api/moveItem', { fromPath: 'x', toPath: 'd/a:b', type: 'public', owner: 'bob' });
	t.is(answer.statusCode, 403);
});
