import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Client, field, file, json, testApp } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { run } from './program.js';

const password = 'correct horse';

test('homes lie on several storage roots, and a root that is unavailable for a while leaves the others working', async (t) => {
	const app = await testApp(t, { '--public-listing': 'everyone' });
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(disk, { recursive: true, force: true }));
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const root = (...args: string[]) => run(['root', ...args, ...flags]);
	const visitor = new Client(app);
	const near = await new Client(app).register('near');

	t.regex((await root('add', 'big', 'not/absolute')).stderr, /absolute path/);
	t.regex((await root('add', 'b/g', disk)).stderr, /1 to 64 letters/);
	t.like(await root('add', 'big', path.join(disk, 'root')), { code: 0, stdout: 'Added big.' });
	t.regex((await root('add', 'twin', path.join(disk, 'root'))).stderr, /That is the storage root big/);
	t.regex((await root('remove', 'local')).stderr, /root of the configuration/);
	const listed = JSON.parse((await root('list', '--json')).stdout);
	t.is(listed.length, 2);
	t.like(listed[1], { name: 'big', driver: 'local', isDefault: false, fault: null });

	// A running server knows the new root, and a home on it.
	const added = await run(['user', 'add', 'far', '--root', 'big', ...flags], `${password}\n`);
	t.is(added.code, 0, added.stderr);
	t.regex((await run(['user', 'add', 'near', '--root', 'big', ...flags], `${password}\n`)).stderr, /already taken/);
	const far = new Client(app);
	await far.post('/api/login', { username: 'far', password });
	t.is((await far.upload('/api/upload', [field('directory', ''), file('a.txt', 'far away')])).statusCode, 200);
	await far.upload('/api/upload/public', [file('shared.txt', 'for all')]);
	await near.upload('/api/upload/public', [file('mine.txt', 'for all')]);
	t.deepEqual((await readdir(path.join(disk, 'root/users/far'))).sort(), ['Public', 'a.txt']);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users')), ['anonymous', 'near']);

	const link = json(await far.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1h' }));
	t.is((await visitor.get(`/api/temp/${link.token}`)).payload, 'far away');
	const copy = { fromPath: 'shared.txt', fromType: 'public', owner: 'far', toPath: 'copy.txt', type: 'private' };
	t.is((await near.post('/api/copyItem', copy)).statusCode, 200, 'a copy from one disk to another');
	t.is((await near.get('/api/download/copy.txt?type=private')).payload, 'for all');
	const names = async () =>
		json(await near.get('/api/browse?type=public')).entries.map(({ name }: { name: string }) => name);
	t.deepEqual((await names()).sort(), ['mine.txt', 'shared.txt']);

	await rename(path.join(disk, 'root'), path.join(disk, 'gone'));
	await mkdir(path.join(disk, 'root'));
	t.is((await far.get('/api/browse?type=private')).statusCode, 503);
	t.is((await far.upload('/api/upload', [file('b.txt', 'b')])).statusCode, 503);
	t.is((await visitor.get(`/api/temp/${link.token}`)).statusCode, 503);
	t.is(
		(await near.upload('/api/upload', [file('b.txt', 'b')])).statusCode,
		200,
		'only the homes on that root are unavailable',
	);
	const listing = json(await near.get('/api/browse?type=public'));
	t.deepEqual([listing.entries.length, listing.missing], [1, ['far']]);
	t.deepEqual(json(await near.get('/api/browse?type=public&search=shared')).missing, ['far']);
	const ready = await visitor.get('/api/ready');
	t.is(ready.statusCode, 503);
	t.deepEqual(json(ready), {
		status: 'unavailable',
		checks: { database: 'ok', storage: 'unavailable', plugins: 'ok' },
	});
	t.deepEqual(json(await far.get('/api/ready')), json(ready), 'users are told no more than strangers');
	const checked = await root('check');
	t.is(checked.code, 1, checked.stderr);
	t.regex(checked.stdout, /^big\t\tunavailable\t/m);
	t.deepEqual(await readdir(path.join(disk, 'root')), [], 'nothing was written to the empty mount point');
	const printed = await run(['user', 'list', '--data-dir', app.dataDir]);
	t.regex(
		printed.stderr,
		/^Warning: the storage root is not available \(root: big\): The storage is not available right now: .*$/,
		'one sentence for people',
	);

	await rm(path.join(disk, 'root'), { recursive: true });
	await rename(path.join(disk, 'gone'), path.join(disk, 'root'));
	await until(
		'the root is available again',
		async () => (await far.get('/api/download/a.txt?type=private')).statusCode === 200,
	);
	t.is((await visitor.get(`/api/temp/${link.token}`)).payload, 'far away');
	await until('the server is ready', async () => (await visitor.get('/api/ready')).statusCode === 200);

	t.regex((await root('set-default', 'big')).stderr, /^$/);
	const made = ['Public', 'users/anonymous/Public'].map((name) => readdir(path.join(disk, 'root', name)));
	t.deepEqual(await Promise.all(made), [[], []], 'the administrator can put files there at once');
	const later = await new Client(app).register('later');
	await later.upload('/api/upload', [file('c.txt', 'c')]);
	await visitor.upload('/api/upload/public', [file('visitor.txt', 'v')]);
	t.deepEqual((await readdir(path.join(disk, 'root/users'))).sort(), ['anonymous', 'far', 'later']);
	t.deepEqual(await readdir(path.join(disk, 'root/users/anonymous/Public')), ['visitor.txt']);
	t.regex((await root('set-default', 'local')).stderr, /files of no user on big/);
	t.like(await root('rename', 'big', 'archive'), { code: 0, stdout: 'big is called archive now.' });
	t.regex((await root('remove', 'archive')).stderr, /default root/);
	t.is((await far.get('/api/download/a.txt?type=private')).payload, 'far away');
	t.like(await run(['user', 'rename', 'far', 'away', ...flags]), { code: 0 });
	t.deepEqual((await readdir(path.join(disk, 'root/users'))).sort(), ['anonymous', 'away', 'later']);
});

test('root relocate takes only the place that has the root’s id, and a running server finds the root there', async (t) => {
	const app = await testApp(t);
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(disk, { recursive: true, force: true }));
	const at = (...names: string[]) => path.join(disk, ...names);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const root = (...args: string[]) => run(['root', ...args, ...flags]);
	t.is((await root('add', 'big', at('old/root'))).code, 0);
	t.is((await run(['user', 'add', 'far', '--root', 'big', ...flags], `${password}\n`)).code, 0);
	const far = new Client(app);
	await far.post('/api/login', { username: 'far', password });
	await far.upload('/api/upload', [field('directory', ''), file('a.txt', 'far away')]);
	const link = json(await far.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1h' }));

	await rename(at('old'), at('new'));
	t.is((await far.get('/api/browse?type=private')).statusCode, 503);
	await mkdir(at('empty'));
	await mkdir(at('other/.stowage'), { recursive: true });
	await writeFile(at('other/.stowage/root.json'), JSON.stringify({ id: 'f'.repeat(32) }));
	await writeFile(at('file'), 'no folder');
	const id = '[0-9a-f]{32}';
	for (const [name, location, message] of [
		['local', at('new/root'), /the setting plugins .* or by dataDir/],
		['small', at('new/root'), /There is no storage root small/],
		['big', 'new/root', /absolute path/],
		['big', at('empty'), new RegExp(`There is no storage root in ${at('empty')}.* it carries ${id}`)],
		['big', at('nowhere'), /There is no storage root in /],
		['big', at('file'), /can't be read, for it is no folder/],
		['big', at('other'), new RegExp(`lies another storage root \\(f{32}\\), and not big \\(${id}\\)`)],
		['big', app.filesDir, new RegExp(`lies local \\(${id}\\), and not big`)],
		['big', path.join(app.filesDir, 'users'), /lies inside local, in /],
	] as const) {
		const { code, stderr } = await root('relocate', name, location);
		t.is(code, 1, location);
		t.regex(stderr, message);
	}
	t.deepEqual(await readdir(at('empty')), [], 'nothing is created in an empty folder');

	const moved = await root('relocate', 'big', at('new/root'));
	t.like(moved, { code: 0, stdout: `big lies in ${at('new/root')} now.` }, moved.stderr);
	await until(
		'the root is available in its new place',
		async () => (await far.get('/api/download/a.txt?type=private')).statusCode === 200,
	);
	t.is((await new Client(app).get(`/api/temp/${link.token}`)).payload, 'far away');
	t.is((await far.upload('/api/upload', [file('b.txt', 'b')])).statusCode, 200);
	t.deepEqual((await readdir(at('new/root/users/far'))).sort(), ['Public', 'a.txt', 'b.txt']);
	const listed = JSON.parse((await root('list', '--json')).stdout);
	t.like(listed[1], { name: 'big', location: at('new/root'), fault: null });
	t.deepEqual((await readdir(disk)).sort(), ['empty', 'file', 'new', 'other'], 'nothing is created in the old place');
});

/** A server whose user `far` has their home on a further disk: the root `big` in the folder `root` of `disk`. */
async function farDisk(t: ExecutionContext) {
	const app = await testApp(t);
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(disk, { recursive: true, force: true }));
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	t.like(await run(['root', 'add', 'big', path.join(disk, 'root'), ...flags]), { code: 0 });
	t.is((await run(['user', 'add', 'far', '--root', 'big', ...flags], `${password}\n`)).code, 0);
	return { app, disk, flags };
}

test('an account whose disk is away is not renamed, and keeps its name and its state', async (t) => {
	const { disk, flags } = await farDisk(t);
	await rename(path.join(disk, 'root'), path.join(disk, 'gone'));
	t.like(await run(['user', 'rename', 'far', 'near', ...flags]), { code: 1 });
	const [user] = JSON.parse((await run(['user', 'list', '--json', ...flags])).stdout);
	t.like(user, { username: 'far', isDisabled: false });
	await rename(path.join(disk, 'gone'), path.join(disk, 'root'));
	t.like(await run(['user', 'rename', 'far', 'near', ...flags]), { code: 0 });
	t.deepEqual(await readdir(path.join(disk, 'root/users')), ['near']);
});

test('an account for a disk that is away is refused by the name of that disk, and leaves nothing behind', async (t) => {
	const { disk, flags } = await farDisk(t);
	await rename(path.join(disk, 'root'), path.join(disk, 'gone'));
	const refused = await run(['user', 'add', 'new', '--root', 'big', ...flags], `${password}\n`);
	t.is(refused.code, 1);
	t.is(refused.stderr, 'The storage root big can’t be used: The storage is not available right now.');
	// As it would if that disk had a home of this name.
	t.like(await run(['user', 'add', 'new', ...flags], `${password}\n`), { code: 0, stdout: 'Added new.' });
});

test('of an account whose disk is away all is shown, and its quota is set, but for what it contains', async (t) => {
	const { disk, flags } = await farDisk(t);
	await rename(path.join(disk, 'root'), path.join(disk, 'gone'));
	const stderr = 'The home of far was not measured: The storage is not available right now.';
	const shown = await run(['user', 'show', 'far', '--json', ...flags]);
	t.like(shown, { code: 0, stderr });
	t.like(JSON.parse(shown.stdout), { username: 'far', isDisabled: false, used: null });
	const quota = await run(['user', 'quota', 'far', '--bytes', '5GB', ...flags]);
	t.like(quota, { code: 0, stderr });
	t.regex(quota.stdout, /^bytes\tunknown\t5/);
});

test('a disk that is away leaves nobody without a backup, a list of links and bound links', async (t) => {
	const { app, disk, flags } = await farDisk(t);
	const far = new Client(app);
	await far.post('/api/login', { username: 'far', password });
	const near = await new Client(app).register('near');
	for (const each of [far, near]) {
		await each.upload('/api/upload', [file('a.txt', 'A')]);
		await each.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1h' });
	}
	await rename(path.join(disk, 'root'), path.join(disk, 'gone'));
	const zip = path.join(disk, 'one.zip');
	const backup = await run(['backup', zip, ...flags]);
	t.is(backup.code, 1, 'what comes next would copy an empty mount point over the copy of its files');
	t.regex(
		backup.stderr,
		/^Can't be read, and has no hash in the backup: users\/far\/a.txt\nThe storage root big can't be used: .*\nThe backup is written and whole, but/,
	);
	const all = await run(['backup', path.join(disk, 'all.zip'), '--hashes', ...flags]);
	t.is(all.code, 1);
	t.regex(
		all.stderr,
		/^Can't be read, and has no hash in the backup: users\/far\nThe storage root big .*\nThe backup is written, but/,
	);

	const listed = await run(['link', 'list', '--json', ...flags]);
	t.is(listed.code, 0, listed.stderr);
	t.deepEqual(
		JSON.parse(listed.stdout).map(({ user, state }: { user: string; state: string }) => [user, state]),
		[
			['near', 'good'],
			['far', 'unavailable'],
		],
	);
	t.like(await run(['link', 'purge', ...flags]), { code: 0, stdout: 'Forgot 0 links.' });
	t.is((await far.get('/api/links')).statusCode, 503);
	const bound = await run(['restore', zip, '--relink', ...flags]);
	t.is(bound.code, 0, bound.stderr);
	t.regex(bound.stdout, /^Bound 0 .*; 1 held already/);
	t.is(bound.stderr, 'Not bound, since its storage is not available: far: a.txt');

	await rename(path.join(disk, 'gone'), path.join(disk, 'root'));
	t.notRegex((await run(['link', 'list', ...flags])).stdout, /unavailable/);
});

test('root check and doctor say the path that the administrator gave, and not that of a descriptor', async (t) => {
	const app = await testApp(t);
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(disk, { recursive: true, force: true }));
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const folder = path.join(disk, 'root');
	t.is((await run(['root', 'add', 'big', folder, ...flags])).code, 0);
	await rm(path.join(folder, '.stowage'), { recursive: true });
	await writeFile(path.join(folder, '.stowage'), 'no folder');
	for (const words of [['root', 'check', 'big'], ['doctor']]) {
		const { stdout } = await run([...words, ...flags]);
		t.true(stdout.includes(`ENOTDIR: not a directory, open '${folder}/.stowage'`), stdout);
		t.false(stdout.includes('/proc/self'), stdout);
	}
});
