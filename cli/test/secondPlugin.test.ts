import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createApp, loadConfig } from '../../packages/core/src/index.js';
import { logLines } from '../../packages/core/test/logLines.js';
import { Client, field, file, json, testApp } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { defaultPlugins } from '../src/commandLine/settings.js';
import { checkStorage } from '../src/doctor/storage.js';
import { dataFolder, run } from './program.js';

const password = 'correct horse';
const fast = { '@stowage/auth-password': { memoryKiB: 19456, iterations: 2, parallelism: 1 } };

async function scene(t: ExecutionContext) {
	const disk = await dataFolder(t);
	const shelves = new URL('shelvesPlugin.js', import.meta.url).href;
	const plugins = { '--plugins': JSON.stringify({ ...fast, [shelves]: { folder: disk } }) };
	const app = await testApp(t, { '--public-listing': 'everyone', ...plugins });
	const base = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const flags = [...base, ...Object.entries(plugins).flat()];
	const call = (...words: string[]) => run([...words, ...flags]);
	const signIn = async (username: string) => {
		const client = new Client(app);
		await client.post('/api/login', { username, password });
		return client;
	};
	return { plugins, app, base, flags, call, signIn, at: (...names: string[]) => path.join(disk, ...names) };
}

const namesOf = async (client: Client, area: 'private' | 'public'): Promise<string[]> => {
	const { entries } = json(await client.get(`/api/browse?type=${area}`));
	return entries.map(({ name }: { name: string }) => name).sort();
};

test('homes lie on roots of two storage plugins, move between them, and keep working while the other root is unavailable', async (t) => {
	const { app, call, flags, at, signIn } = await scene(t);
	t.like(await call('root', 'add', 'shelf', 'one', '--driver', 'drawers'), {
		code: 1,
		stderr:
			'No plugin offers the storage drawers (offered: local, shelves). Install the one that does and name it below plugins.',
	});
	t.like(await call('root', 'add', 'shelf', '/one', '--driver', 'shelves'), {
		code: 1,
		stderr: 'A shelf has a name of small letters, not /one.',
	});
	t.like(await call('root', 'add', 'shelf', 'one', '--driver', 'shelves'), { code: 0, stdout: 'Added shelf.' });
	t.regex((await call('root', 'add', 'again', 'one', '--driver', 'shelves')).stderr, /That is the storage root shelf/);
	t.regex((await call('root', 'add', 'again', at('one'))).stderr, /That is the storage root shelf/);
	const [, listed] = JSON.parse((await call('root', 'list', '--json')).stdout);
	t.like(listed, { name: 'shelf', driver: 'shelves', location: 'one', fault: null });

	t.is((await run(['user', 'add', 'far', '--root', 'shelf', ...flags], `${password}\n`)).code, 0);
	const far = await signIn('far');
	const near = await new Client(app).register('near', password);
	const visitor = new Client(app);
	for (const client of [far, near]) {
		await client.post('/api/createFolder', { type: 'private', directory: '', folderName: 'docs' });
		const answer = await client.upload('/api/upload', [field('directory', 'docs'), file('a.txt', 'far away')]);
		t.is(answer.statusCode, 200, answer.payload);
	}
	t.deepEqual(await readdir(at('one/users/far/docs')), ['a.txt']);
	const copied = { fromPath: 'docs/a.txt', toPath: 'docs/linked.txt', type: 'private' };
	t.is((await far.post('/api/copyItem', copied)).statusCode, 200);
	const link = json(await far.post('/api/generateTempLink', { filePath: 'docs/linked.txt', expiration: '1h' }));
	await far.post('/api/moveItem', { fromPath: 'docs/linked.txt', toPath: 'linked.txt', type: 'private' });
	t.is((await visitor.get(`/api/temp/${link.token}`)).payload, 'far away');
	const part = await far.get('/api/download/docs/a.txt?type=private', { range: 'bytes=4-' });
	t.deepEqual([part.statusCode, part.payload], [206, 'away']);
	const zip = await far.get('/api/download/docs?type=private');
	t.deepEqual([zip.statusCode, zip.bytes.subarray(0, 2).toString()], [200, 'PK']);

	// To the public area of a home, and from there to a home of the other plugin.
	const toPublic = { fromPath: 'docs/a.txt', toPath: 'Public/far.txt', type: 'private' };
	const moved = await far.post('/api/moveItem', toPublic);
	t.is(moved.statusCode, 200, moved.payload);
	await near.upload('/api/upload/public', [file('near.txt', 'for all')]);
	t.deepEqual(await namesOf(near, 'public'), ['far.txt', 'near.txt']);
	for (const [client, owner, name] of [
		[near, 'far', 'far.txt'],
		[far, 'near', 'near.txt'],
	] as const) {
		const copy = { fromPath: name, fromType: 'public', owner, toPath: `docs/${name}`, type: 'private' };
		t.is((await client.post('/api/copyItem', copy)).statusCode, 200);
	}
	t.is((await near.get('/api/download/docs/far.txt?type=private')).payload, 'far away');

	await rename(at('one'), at('gone'));
	await mkdir(at('one'));
	t.is((await far.get('/api/browse?type=private')).statusCode, 503);
	t.is((await visitor.get(`/api/temp/${link.token}`)).statusCode, 503);
	t.is(
		(await near.upload('/api/upload', [file('b.txt', 'b')])).statusCode,
		200,
		'only the homes on that root are unavailable',
	);
	t.deepEqual(json(await near.get('/api/browse?type=public')).missing, ['far']);
	const ready = await visitor.get('/api/ready');
	t.is(ready.statusCode, 503);
	t.deepEqual(json(ready).checks, { database: 'ok', storage: 'unavailable', plugins: 'ok' });
	const checked = await call('root', 'check', 'shelf');
	t.deepEqual([checked.code, checked.stdout.split('\t').slice(0, 3)], [1, ['shelf', '', 'unavailable']]);
	t.deepEqual(await readdir(at('one')), []);
	await rm(at('one'), { recursive: true });
	await rename(at('gone'), at('one'));
	t.is((await visitor.get(`/api/temp/${link.token}`)).payload, 'far away');
	await until('the server is ready', async () => (await visitor.get('/api/ready')).statusCode === 200);

	const [there, back] = await Promise.all([
		call('user', 'move-root', 'near', 'shelf'),
		call('user', 'move-root', 'far', 'local'),
	]);
	t.is(there.stdout, 'The home of near lies on shelf now.', there.stderr);
	t.is(back.stdout, 'The home of far lies on local now.', back.stderr);
	t.deepEqual((await readdir(at('one/users'))).sort(), ['near']);
	t.deepEqual((await readdir(path.join(app.filesDir, 'users'))).sort(), ['anonymous', 'far']);
	t.is((await visitor.get(`/api/temp/${link.token}`)).payload, 'far away', 'the link follows the home');
	t.deepEqual(await namesOf(near, 'private'), ['Public', 'b.txt', 'docs']);
	t.deepEqual(await namesOf(far, 'private'), ['Public', 'docs', 'linked.txt']);
	t.deepEqual(await namesOf(near, 'public'), ['far.txt', 'near.txt']);
});

test('a root whose plugin is not installed is unavailable with a reason, and the other roots work', async (t) => {
	const { app, call, flags, base, plugins } = await scene(t);
	await call('root', 'add', 'shelf', 'one', '--driver', 'shelves');
	t.is((await run(['user', 'add', 'far', '--root', 'shelf', ...flags], `${password}\n`)).code, 0);
	await new Client(app).register('near', password);
	const without = { '--plugins': JSON.stringify(fast) };
	const config = loadConfig({ flags: { '--data-dir': app.dataDir, '--port': '0', ...without }, defaultPlugins });
	const other = await createApp(config, { log: logLines().log });
	t.teardown(() => other.stop());
	await other.start();
	const signIn = async (username: string) => {
		const client = new Client(other);
		t.is((await client.post('/api/login', { username, password })).statusCode, 200);
		return client;
	};
	const refused = await (await signIn('far')).get('/api/browse?type=private');
	t.deepEqual([refused.statusCode, json(refused).message], [503, 'The storage is not available right now.']);
	t.is((await (await signIn('near')).upload('/api/upload', [file('a.txt', 'a')])).statusCode, 200);
	const ready = await new Client(other).get('/api/ready');
	t.deepEqual(json(ready).checks, { database: 'ok', storage: 'unavailable', plugins: 'ok' });
	const reason = /No plugin offers the storage shelves \(offered: local\)/;
	const checked = await run(['root', 'check', ...base, ...Object.entries(without).flat()]);
	t.is(checked.code, 1);
	t.regex(checked.stdout, reason);
	const wrong = (await checkStorage(config)).filter(({ state }) => state === 'error');
	t.is(wrong.length, 1);
	t.regex(wrong[0]?.message ?? '', reason);
	t.is(wrong[0]?.remedy, 'Install the plugin that offers the storage shelves, and name it below plugins.');

	// The configuration names another storage now: its root comes first, although the database has known the other one for longer.
	const changed = loadConfig({
		flags: Object.fromEntries([['--data-dir', app.dataDir], ['--storage', 'shelves'], ...Object.entries(plugins)]),
		defaultPlugins,
	});
	const another = await createApp(changed, { log: logLines().log });
	t.teardown(() => another.stop());
	t.deepEqual(
		another.services.roots.all().map(({ name }) => name),
		['shelves', 'shelf'],
	);
});

test('a storage root whose place is a file is unavailable until it is a folder, also the first root of a new database', async (t) => {
	const dataDir = await dataFolder(t);
	const files = path.join(dataDir, 'files');
	const big = path.join(await dataFolder(t), 'root');
	await writeFile(files, 'no folder');
	const config = loadConfig({
		flags: { '--data-dir': dataDir, '--port': '0', '--plugins': JSON.stringify(fast) },
		defaultPlugins,
	});
	const app = await createApp(config, { log: logLines().log });
	t.teardown(() => app.stop());
	await app.start();
	const flags = ['--data-dir', dataDir, '--log-level', 'error'];
	const visitor = new Client(app);
	const ready = async () => json(await visitor.get('/api/ready')).checks;
	const faults = async () => (await checkStorage(config)).filter(({ state }) => state === 'error');
	t.like(await ready(), { storage: 'unavailable', database: 'ok' });
	const [unclaimed, ...rest] = await faults();
	t.deepEqual(rest, []);
	t.regex(unclaimed?.message ?? '', /files can't become a storage root, for it is no folder.*the setting plugins/);
	t.regex(unclaimed?.remedy ?? '', /^Move the file away/);
	t.regex((await run(['root', 'check', ...flags])).stdout, /^local\tdefault\tunavailable\t/);

	await rm(files);
	await until('the root is created', async () => (await ready()).storage === 'ok');
	t.deepEqual((await readdir(files)).sort(), ['.stowage', 'Public', 'users']);
	t.is((await run(['root', 'add', 'big', big, ...flags])).code, 0);
	const ada = await visitor.register('ada', password);
	t.is((await run(['user', 'add', 'bob', '--root', 'big', ...flags], `${password}\n`)).code, 0);
	const bob = new Client(app);
	await bob.post('/api/login', { username: 'bob', password });
	t.is((await bob.upload('/api/upload', [file('a.txt', 'a')])).statusCode, 200);

	await rename(big, `${big}-away`);
	await writeFile(big, 'no folder');
	t.is((await bob.get('/api/browse?type=private')).statusCode, 503);
	t.is((await ada.upload('/api/upload', [file('a.txt', 'a')])).statusCode, 200, 'the other root works');
	t.like(await ready(), { storage: 'unavailable' });
	const [known, ...others] = await faults();
	t.deepEqual(others, []);
	t.regex(known?.message ?? '', /^big \(.*not available right now: .*ENOTDIR/);
	t.is(known?.remedy, `Move the file away that lies in ${big}, and mount the disk of the root there.`);
	await rm(big);
	await rename(`${big}-away`, big);
	await until(
		'the root is available again',
		async () => (await bob.get('/api/download/a.txt?type=private')).payload === 'a',
	);
});
