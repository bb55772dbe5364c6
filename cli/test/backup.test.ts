import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import {
	chown,
	copyFile,
	cp,
	mkdir,
	open,
	readdir,
	readFile,
	rename,
	rm,
	stat,
	symlink,
	utimes,
	writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import test from 'ava';
import { execa } from 'execa';
import { ZipFile } from 'yazl';
import { codeAt } from '../../packages/core/test/authenticator.js';
import { Client, field, file, json, type TestApp, testApp } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { openDatabase, readSnapshot } from '../../packages/database/src/index.js';
import { allMigrations } from '../../packages/database/src/migrations/all.js';
import { RowDigest } from '../../packages/database/src/portable/RowDigest.js';
import { type MariaDb, startMariadb } from '../../packages/database/test/mariadb.js';
import { mountSmallDisk } from '../../test/faults/smallDisk.js';
import type { Manifest } from '../src/backup/format.js';
import { publishFile } from '../src/backup/publishFile.js';
import { openBackup, openBackupFile } from '../src/backup/readBackup.js';
import { restore } from '../src/backup/restore.js';
import { Progress } from '../src/terminal/Progress.js';
import { dataFolder, onTerminal, program, run, stowage } from './program.js';

let mariadb: MariaDb;
test.before(async () => {
	mariadb = await startMariadb();
});
test.after.always(() => mariadb?.close());

const quiet = ['--log-level', 'error'];

/** What the administrator is recorded to have done, with the number of what was changed. */
async function orders(dataDir: string): Promise<string[]> {
	const { stdout } = await run(['audit', '--user', 'administrator', '--json', '--data-dir', dataDir]);
	const records = stdout.split('\n').map((line) => JSON.parse(line));
	return records.map(({ action, entries }) => [action, entries].filter(Boolean).join(' '));
}

/** Tables that are not compared: their rows would be wrong or dangerous after a restore, or are partly caches (key_values). */
const leftOut = [
	...['sessions', 'tickets', 'limits', 'jobs', 'home_moves', 'home_move_processes'],
	...['uploads', 'idempotency_keys', 'published_names'],
	...['leases', 'events', 'event_listeners', 'key_values', 'share_parts', 'share_passes'],
];

/** A row count and digest of each table, by default of all tables that a backup restores. */
async function contents(url: string, tables?: readonly string[]) {
	return readSnapshot(url, async (snapshot) => {
		const found: Record<string, string> = {};
		for (const table of tables ?? snapshot.tables.filter((name) => !leftOut.includes(name))) {
			const digest = new RowDigest();
			for await (const batch of snapshot.rows(table)) for (const row of batch) digest.add(row);
			found[table] = `${digest.count} ${digest.digest}`;
		}
		return found;
	});
}

/** Two users with files, links, settings and a quota. Resolves to the tokens of the links. */
async function populated(app: TestApp): Promise<Record<string, string>> {
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('Bob');
	await ada.upload('/api/upload', [file('a.txt', 'A'), file('b.txt', 'B'), file('c.txt', 'C')]);
	await ada.post('/api/createFolder', { directory: '', folderName: 'trip', type: 'private' });
	await ada.upload('/api/upload', [field('directory', 'trip'), file('d.txt', 'D'), file('e.txt', 'E')]);
	await bob.upload('/api/upload/public', [file('p.txt', 'P')]);
	await ada.call('PUT', '/api/settings', { settings: { promptBeforeDownload: true } });
	await app.services.accounts.setQuota('ada', { bytes: 123_456_789_012, entries: null });
	const linkTo = async (filePath: string): Promise<string> =>
		json(await ada.post('/api/generateTempLink', { filePath, expiration: '1w' })).token;
	return { a: await linkTo('a.txt'), b: await linkTo('b.txt'), c: await linkTo('c.txt'), trip: await linkTo('trip') };
}

/** Ada's share, of which somebody has begun a download, and a folder of hers with a member. Resolves to the path of its calls. */
async function shareOf(app: TestApp): Promise<string> {
	const ada = new Client(app);
	await ada.post('/api/login', { username: 'ada', password: 'correct horse' });
	const shared = { items: [{ path: 'a.txt' }, { path: 'trip' }], mode: 'view', maxDownloads: 7 };
	const { url } = json(await ada.post('/api/shares', shared)) as { url: string };
	const share = `/api/share/${url.split('/').at(-1)}`;
	await new Client(app).get(`${share}/download/trip`, { range: 'bytes=0-9' });
	await app.services.shareUses.flush();
	const members = [{ username: 'bob', role: 'view' }];
	await ada.call('PUT', '/api/members', { path: 'trip', members });
	return share;
}

/**
 * What people work in all the time: a share that has received nothing yet, one of a folder without files, and a folder
 * with a member. Resolves to the calls of both shares.
 */
async function liveFolders(app: TestApp): Promise<{ inbox: string; drafts: string }> {
	const ada = new Client(app);
	await ada.post('/api/login', { username: 'ada', password: 'correct horse' });
	for (const folderName of ['inbox', 'drafts', 'team'])
		await ada.post('/api/createFolder', { directory: '', folderName, type: 'private' });
	await ada.upload('/api/upload', [
		field('directory', 'team'),
		file('x.txt', 'X'),
		file('y.txt', 'Y'),
		file('z.txt', 'Z'),
	]);
	await ada.call('PUT', '/api/members', { path: 'team', members: [{ username: 'bob', role: 'edit' }] });
	const share = async (path: string, mode: string) => {
		const { url } = json(await ada.post('/api/shares', { items: [{ path }], mode })) as { url: string };
		return `/api/share/${url.split('/').at(-1)}`;
	};
	return { inbox: await share('inbox', 'upload'), drafts: await share('drafts', 'view') };
}

test('a backup of a running server is restored on an empty machine, from SQLite to MariaDB and back', async (t) => {
	const app = await testApp(t);
	const sqlite = app.services.config.databaseUrl;
	const tokens = await populated(app);
	const share = await shareOf(app);
	const live = await liveFolders(app);
	const bob = new Client(app);
	await bob.post('/api/login', { username: 'bob', password: 'correct horse' });
	const { secret, recoveryCodes } = json(await bob.post('/api/totp', {}));
	t.is((await bob.post('/api/totp/confirm', { code: codeAt(secret) })).statusCode, 200);
	// A third home lies on a disk of its own.
	const disk = path.join(await dataFolder(t), 'disk');
	await app.services.rootAdministration.add('big', 'local', disk);
	await app.services.accounts.create('carl', 'correct horse', { root: 'big' });
	const carl = new Client(app);
	await carl.post('/api/login', { username: 'carl', password: 'correct horse' });
	await carl.upload('/api/upload', [file('f.txt', 'F')]);
	tokens.f = json(await carl.post('/api/generateTempLink', { filePath: 'f.txt', expiration: '1w' })).token;
	t.deepEqual((await readdir(path.join(disk, 'users/carl'))).sort(), ['Public', 'f.txt']);
	const backups = await dataFolder(t);
	const zip = path.join(backups, 'one.zip');
	const configFile = path.join(backups, 'stowage.yaml');
	await writeFile(configFile, `dataDir: ${app.dataDir}\npublicUrl: https://files.example.org\n`);
	const wrote = await run(['backup', zip, '--hashes', '--json', '--config', configFile, ...quiet]);
	t.is(wrote.code, 0, wrote.stderr);
	const manifest = JSON.parse(wrote.stdout);
	t.like(manifest, {
		hasAllHashes: true,
		database: {
			kind: 'sqlite',
			tables: { users: 3, temp_links: 11, members: 2, shares: 3, storage_roots: 2, homes: 3 },
		},
	});
	t.is((await stat(zip)).mode & 0o777, 0o600);
	t.deepEqual((await readdir(backups)).sort(), ['one.zip', 'stowage.yaml'], 'no temporary file is left');
	const listed = await promisify(execFile)('unzip', ['-l', zip]);
	for (const name of ['manifest.json', 'database.jsonl', 'hashes.jsonl', 'session.key', 'stowage.yaml'])
		t.true(listed.stdout.includes(name), name);
	const { stdout: rows } = await promisify(execFile)('unzip', ['-p', zip, 'database.jsonl']);
	t.notRegex(rows, /"table":"(sessions|limits|tickets)"/);
	t.like(await run(['backup', zip, '--data-dir', app.dataDir, ...quiet]), {
		code: 1,
		stderr: `There is a file of this name already: ${zip}`,
	});

	const second = await dataFolder(t);
	const maria = await mariadb.createDatabase();
	const there = ['--data-dir', second, '--database-url', maria, ...quiet];
	const written = path.join(backups, 'restored.yaml');
	const restored = await run(['restore', zip, '--write-config', written, ...there]);
	t.is(restored.code, 0, restored.stderr);
	t.regex(restored.stdout, /^Restored 3 users and 11 temporary links and shared items of/);
	t.is(await readFile(written, 'utf8'), await readFile(configFile, 'utf8'));
	t.deepEqual(await contents(maria), await contents(sqlite));
	t.deepEqual(await readFile(path.join(second, 'session.key')), await readFile(path.join(app.dataDir, 'session.key')));
	t.regex((await run(['restore', zip, ...there])).stderr, /not empty: its table users has rows/);

	// Copied back by other means: all objects are new ones. One has other bytes, one is missing in a folder for a while.
	const copyBack = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);
	await copyBack(app.filesDir, path.join(second, 'files'));
	await copyBack(disk, `${disk}.copied`);
	await rename(disk, `${disk}.lost`);
	await rename(`${disk}.copied`, disk);
	const { stdout: hashes } = await promisify(execFile)('unzip', ['-p', zip, 'hashes.jsonl']);
	const restoredFile = (at: string) => (at.startsWith('users/carl/') ? disk : path.join(second, 'files'));
	const hashed = hashes
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line) as { path: string; sha256: string });
	t.is(hashed.length, 10);
	for (const { path: at, sha256 } of hashed) {
		const bytes = await readFile(path.join(restoredFile(at), at));
		t.is(createHash('sha256').update(bytes).digest('hex'), sha256, at);
	}
	await writeFile(path.join(second, 'files/users/ada/b.txt'), 'X');
	await rm(path.join(second, 'files/users/ada/trip/e.txt'));
	// What people have gone on with after the backup.
	await writeFile(path.join(second, 'files/users/ada/team/x.txt'), 'changed');
	await writeFile(path.join(second, 'files/users/ada/team/new.txt'), 'new');
	await writeFile(path.join(second, 'files/users/ada/drafts/secret.txt'), 'not meant for anybody');
	const linked = await run(['restore', zip, '--relink', ...there]);
	t.is(linked.stdout, 'Bound 6 temporary links and shared items again; 0 held already, 0 are not those of the backup.');
	t.regex(linked.stderr, /Not bound.*ada: b\.txt/);
	t.regex(linked.stderr, /Not bound.*ada: trip/);
	t.regex(linked.stderr, /Not bound.*ada: drafts/);
	t.notRegex(linked.stderr, /ada: (inbox|team)/);
	await cp(path.join(app.filesDir, 'users/ada/trip/e.txt'), path.join(second, 'files/users/ada/trip/e.txt'));
	t.regex(
		(await run(['restore', zip, '--relink', ...there])).stdout,
		/^Bound 3 temporary links and shared items again; 6 held already/,
	);
	t.deepEqual(await orders(second), ['restore', 'relinkLinks 6', 'relinkLinks 3']);

	const again = await testApp(t, { '--data-dir': second, '--database-url': maria });
	const visitor = new Client(again);
	t.deepEqual(
		await Promise.all(
			Object.values(tokens).map(async (token) => {
				const answer = await visitor.get(`/api/temp/${token}`);
				return [answer.statusCode, answer.statusCode === 200 ? answer.payload.slice(0, 2) : ''];
			}),
		),
		[
			[200, 'A'],
			[404, ''],
			[200, 'C'],
			[200, 'PK'],
			[200, 'F'],
		],
		'a link does not serve other bytes under the old name',
	);
	t.is((await visitor.get(`${share}/download/a.txt`)).payload, 'A', 'the share holds');
	t.is((await visitor.get(`${share}/download/trip/d.txt`)).payload, 'D');
	const ada = new Client(again);
	await ada.post('/api/login', { username: 'ada', password: 'correct horse' });
	const { members } = json(await ada.get('/api/members?path=trip'));
	t.deepEqual(members, [{ username: 'Bob', role: 'view' }], 'the members of a folder are');
	t.is((await visitor.get(live.inbox)).statusCode, 200, 'a share that had received nothing receives');
	t.is((await visitor.get(live.drafts)).statusCode, 404, 'a folder that was empty gives away nothing that came later');
	t.is(json(await ada.get('/api/members?path=team')).members.length, 1, 'people go on in a folder that has changed');
	// The answer waits for the measurement of the home for a moment only.
	const status = await until('the home is measured', async () => {
		const answer = json(await ada.get('/api/checkLoginStatus'));
		return answer.quota !== null && answer;
	});
	t.like(status, { settings: { promptBeforeDownload: true, enablePreview: true }, quota: { bytes: 123_456_789_012 } });

	const signIn = (code?: string) =>
		new Client(again).post('/api/login', {
			username: 'bob',
			password: 'correct horse',
			...(code === undefined ? {} : { code }),
		});
	t.is(json(await signIn()).code, 'SECOND_FACTOR', 'two-factor sign-in is on after a restore as well');
	t.is((await signIn(recoveryCodes[0])).statusCode, 200);

	// What was sent of the share is counted a moment later.
	await again.services.shareUses.flush();
	const back = path.join(backups, 'two.zip');
	t.is((await run(['backup', back, ...there])).code, 0);
	const third = await dataFolder(t);
	t.is((await run(['restore', back, '--data-dir', third, ...quiet])).code, 0);
	t.deepEqual(await contents(`sqlite:${third}/stowage.db`), await contents(maria));
});

test('a restore that ended after its rows were there goes on when it is run again, and only that one does', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const folder = await dataFolder(t);
	const at = (name: string) => path.join(folder, name);
	await writeFile(at('stowage.yaml'), `dataDir: ${app.dataDir}\n`);
	const make = async (name: string) => {
		const made = await run(['backup', at(name), '--config', at('stowage.yaml'), ...quiet]);
		t.is(made.code, 0, made.stderr);
	};
	await make('one.zip');
	await make('other.zip');
	const maria = await mariadb.createDatabase();
	for (const [name, url] of [
		['new', `sqlite:${at('new')}/stowage.db`],
		['far', maria],
	] as const) {
		const flags = ['--data-dir', at(name), '--database-url', url, ...quiet];
		const config = at(`${name}.yaml`);
		const again = (zip: string) => run(['restore', at(zip), '--write-config', config, ...flags]);
		await writeFile(config, 'of somebody else');
		t.like(await again('one.zip'), { code: 1, stderr: `There is a file of this name already: ${config}` });
		await t.throwsAsync(stat(at(name)), { code: 'ENOENT' });
		await rm(config);

		const backup = await openBackup(openBackupFile(at('one.zip')), 'one.zip');
		const full = { assertFits: () => {}, close: async () => {}, write: () => Promise.reject(new Error('full')) };
		const settings = { dataDir: at(name), databaseUrl: url, sessionKey: undefined };
		await t.throwsAsync(() => restore(backup, settings, full, new Progress(false)), { message: 'full' });
		backup.close();
		t.regex((await again('other.zip')).stderr, /not empty/, 'another backup does not go on with these rows');
		// As where it was cut off just after that file had its name.
		await writeFile(config, await readFile(at('stowage.yaml')));
		const second = await again('one.zip');
		t.is(second.code, 0, second.stderr);
		t.regex(second.stdout, /^Restored 1 users/);
		t.is(await readFile(config, 'utf8'), await readFile(at('stowage.yaml'), 'utf8'));
		t.deepEqual(await contents(url), await contents(app.services.config.databaseUrl));
		t.deepEqual(await orders(at(name)), ['restore']);
		t.regex((await again('one.zip')).stderr, /not empty: its table users has rows/, 'it has ended');
	}
});

test('a damaged backup is refused before anything is written', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const folder = await dataFolder(t);
	const zip = path.join(folder, 'one.zip');
	await run(['backup', zip, '--data-dir', app.dataDir, ...quiet]);
	const bytes = await readFile(zip);
	const target = path.join(folder, 'new');
	for (const [title, change] of [
		['a byte', (copy: Buffer) => copy.writeUInt8((copy[60] ?? 0) ^ 1, 60)],
		['its end', (copy: Buffer) => copy.fill(0, copy.length >> 1)],
		['all of it', (copy: Buffer) => copy.fill(0)],
	] as const) {
		const copy = Buffer.from(bytes);
		change(copy);
		await writeFile(path.join(folder, 'damaged.zip'), copy);
		const refused = await run(['restore', path.join(folder, 'damaged.zip'), '--data-dir', target, ...quiet]);
		t.is(refused.code, 1, title);
		t.regex(refused.stderr, /damaged/, title);
		t.notRegex(refused.stderr, /\n\s+at /, title);
		await t.throwsAsync(stat(target), { code: 'ENOENT' });
	}
	t.regex((await run(['restore', path.join(folder, 'no.zip')])).stderr, /^There is no such file/);
	await mkdir(target);
	await writeFile(path.join(target, 'session.key'), 'x'.repeat(40), { mode: 0o600 });
	t.regex((await run(['restore', zip, '--data-dir', target, ...quiet])).stderr, /another key already/);
});

/** A backup of these parts, as it could come from anybody. */
async function forged(file: string, parts: Record<string, string>, change: (manifest: Manifest) => unknown) {
	const zip = new ZipFile();
	const entries: Manifest['entries'] = {};
	for (const [name, text] of Object.entries(parts)) {
		zip.addBuffer(Buffer.from(text), name);
		entries[name] = { size: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
	}
	const database = { kind: 'sqlite', migrations: ['0001-accounts'], tables: { users: 1 } };
	const manifest = { format: 1, version: '1', createdAt: '2030-01-01', database, hasAllHashes: false, entries };
	zip.addBuffer(Buffer.from(JSON.stringify(change(manifest) ?? manifest)), 'manifest.json');
	zip.end();
	await pipeline(zip.outputStream, createWriteStream(file));
}

test('a backup whose parts have another form, or lines and a manifest of many megabytes, is refused by a sentence', async (t) => {
	const folder = await dataFolder(t);
	const zip = path.join(folder, 'forged.zip');
	const lines = (text: string) => ({ 'database.jsonl': text, 'hashes.jsonl': '' });
	const refused = async (expected: RegExp, text: string, change: (manifest: Manifest) => unknown = () => undefined) => {
		await forged(zip, lines(text), change);
		const words = ['restore', zip, '--data-dir', path.join(folder, 'new'), ...quiet];
		const { code, stderr } = await stowage(words, { env: { NODE_OPTIONS: '--max-old-space-size=256' } });
		t.is(code, 1, stderr);
		t.regex(stderr, expected);
	};
	const manifest = /^The manifest of the backup is damaged\.$/;
	const without = (part: Partial<Record<keyof Manifest, unknown>>) => (each: Manifest) => ({ ...each, ...part });
	await refused(manifest, '', () => []);
	await refused(manifest, '', without({ entries: [] }));
	await refused(manifest, '', without({ entries: null }));
	await refused(manifest, '', without({ createdAt: undefined }));
	await refused(manifest, '', ({ database, ...each }) => ({ ...each, database: { ...database, tables: null } }));
	await refused(manifest, '', ({ database, ...each }) => ({ ...each, database: { ...database, migrations: [{}] } }));
	await refused(/^The manifest of the backup is too large\.$/, '', without({ version: ' '.repeat(5e7) }));
	const line = /^The backup is damaged: database\.jsonl has a line that is none of a backup\.$/;
	for (const text of ['null\n', '{"table":\n', '{"table":"users","row":null}\n', '[]', ' '.repeat(5e7)])
		await refused(line, text);
});

test('a backup of tables, columns, values and migrations that no Stowage has is refused by a sentence, by databases of both kinds', async (t) => {
	const folder = await dataFolder(t);
	const zip = path.join(folder, 'forged.zip');
	const databases = [`sqlite:${path.join(folder, 'new', 'stowage.db')}`, await mariadb.createDatabase()];
	const refused = async (expected: RegExp, table: string, row: unknown, migrations = ['0001-accounts']) => {
		const text = `${JSON.stringify({ table, row })}\n`;
		await forged(zip, { 'database.jsonl': text, 'hashes.jsonl': '' }, (manifest) => ({
			...manifest,
			database: { ...manifest.database, migrations, tables: { [table]: 1 } },
		}));
		for (const url of databases) {
			const words = ['restore', zip, '--data-dir', path.join(folder, 'new'), '--database-url', url, ...quiet];
			const { code, stderr } = await run(words);
			t.is(code, 1, `${url} ${table} ${JSON.stringify(row)} ${stderr}`);
			t.regex(stderr, expected);
		}
	};
	const user = { id: 'x', username: 'ada', password_hash: 'x' };
	await refused(/^These are no rows of a table of Stowage: pets\. [^\n]*$/, 'pets', user);
	const other = /^These are no rows of a table of Stowage: users\. [^\n]*$/;
	for (const row of [{ ...user, pet: 1 }, { id: null }, { id: 'x', username: {} }, { id: 'x\0' }, {}])
		await refused(other, 'users', row);
	const last = allMigrations.at(-1)?.name ?? '';
	await refused(/^Its list of migrations has gaps: [^\n]*$/, 'users', user, ['0001-accounts', last]);
});

test('a backup to a full disk fails with a sentence and leaves no file', async (t) => {
	const disk = await mountSmallDisk(t, 4);
	if (disk === undefined) return t.pass();
	const app = await testApp(t);
	await new Client(app).register('ada');
	const configFile = path.join(app.dataDir, 'stowage.yaml');
	await writeFile(configFile, `dataDir: .\n# ${randomBytes(2_900_000).toString('base64')}\n`);
	await writeFile(path.join(disk.folder, 'other'), randomBytes(1_500_000));
	const zip = path.join(disk.folder, 'one.zip');
	const full = await run(['backup', zip, '--config', configFile, ...quiet]);
	t.like(full, { code: 1, stderr: `The disk is full. Nothing was written: ${zip}` });
	t.deepEqual((await readdir(disk.folder)).sort(), ['lost+found', 'other']);
});

test('a backup gets its name also where the disk has no hard links, such as a USB disk with exFAT, and replaces no file', async (t) => {
	const folder = await dataFolder(t);
	const [temporary, name] = [path.join(folder, 'backup.partial'), path.join(folder, 'backup.zip')];
	for (const code of ['EPERM', 'ENOSYS', 'ENOTSUP']) {
		const withoutLinks = { link: () => Promise.reject(Object.assign(new Error(code), { code })) };
		await writeFile(temporary, `all of it, ${code}`);
		await publishFile(temporary, name, withoutLinks);
		t.is(await readFile(name, 'utf8'), `all of it, ${code}`);
		await writeFile(temporary, 'another one');
		await t.throwsAsync(publishFile(temporary, name, withoutLinks), { code: 'EEXIST' });
		await rm(name);
		await rm(temporary);
		// What was to be named is gone: no empty file is left in its place.
		await t.throwsAsync(publishFile(temporary, name, withoutLinks), { code: 'ENOENT' });
		t.deepEqual(
			(await readdir(folder)).filter((each) => each.startsWith('backup')),
			[],
		);
	}
});

test('a backup that a signal ends leaves no file, and ends by that signal', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	// It takes minutes to hash.
	const large = await open(path.join(app.filesDir, 'users/ada/large.bin'), 'w');
	await large.truncate(500e9);
	await large.close();
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		const folder = await dataFolder(t);
		const words = ['backup', path.join(folder, 'one.zip'), '--hashes', '--data-dir', app.dataDir];
		const backup = execFile(process.execPath, [program, ...words]);
		const ended = once(backup, 'exit');
		await until('the backup has begun', async () => (await readdir(folder)).length > 0);
		backup.kill(signal);
		t.deepEqual(await ended, [null, signal]);
		t.deepEqual(await readdir(folder), []);
	}
});

const dated = /^stowage-\d{4}-\d\d-\d\dT\d{6}Z\.zip$/;

test('a backup into a folder has the date in its name, night after night, and --keep removes the oldest of them alone', async (t) => {
	const app = await testApp(t);
	const folder = await dataFolder(t);
	const flags = ['--data-dir', app.dataDir, ...quiet];
	const first = await run(['backup', folder, ...flags]);
	t.is(first.code, 0, first.stderr);
	t.true(first.stdout.startsWith(`Wrote ${folder}/stowage-`), first.stdout);
	t.is((await run(['backup', `${folder}/`, '--keep', '14', ...flags])).code, 0, 'at once again');
	const [one = '', two = '', ...none] = await readdir(folder);
	t.deepEqual(none, []);
	for (const name of [one, two]) t.regex(name, dated);
	t.is((await stat(path.join(folder, two))).mode & 0o777, 0o600);

	const old = ['stowage-2001-01-02T030000Z.zip', 'stowage-2001-01-03T030000Z.zip', 'stowage-2099-01-01T000000Z.zip'];
	// Of another owner, of another name, or no file.
	const others = ['stowage-2000-01-01T000000Z.zip', 'stowage-2001-01-01.zip', 'my-stowage-2001-01-01T000000Z.zip'];
	const partial = (name: string) => `${name}.0123456789ab.partial`;
	for (const name of [...old, ...others, partial(old[0] ?? ''), partial(old[1] ?? '')])
		await writeFile(path.join(folder, name), name);
	await chown(path.join(folder, others[0] ?? ''), 47_430, 47_431);
	await utimes(path.join(folder, partial(old[0] ?? '')), 0, 0);
	await mkdir(path.join(folder, 'stowage-2000-01-02T000000Z.zip'));
	await symlink(folder, path.join(folder, 'stowage-2000-01-03T000000Z.zip'));
	const third = await run(['backup', folder, '--keep', '3', '--json', ...flags]);
	t.is(third.code, 0, third.stderr);
	const { file: three, removed, format } = JSON.parse(third.stdout);
	t.deepEqual([removed, format], [[...old.slice(0, 2), one], 1]);
	t.deepEqual(
		(await readdir(folder)).sort(),
		[
			...[two, path.basename(three), 'stowage-2099-01-01T000000Z.zip', partial(old[1] ?? ''), ...others],
			...['stowage-2000-01-02T000000Z.zip', 'stowage-2000-01-03T000000Z.zip'],
		].sort(),
		'the new one stays also where the clock was ahead',
	);
	t.is((await run(['restore', three, '--data-dir', path.join(folder, 'new'), ...quiet])).code, 0);
	t.regex(
		(await run(['restore', folder, '--data-dir', path.join(folder, 'new'), ...quiet])).stderr,
		/^This is a folder/,
	);

	for (const [words, message] of [
		[[folder, '--keep', '0'], /^--keep: must be a whole number from 1/],
		[[path.join(folder, 'one.zip'), '--keep', '3'], /^--keep removes old backups from a folder/],
		[['-', '--keep', '3'], /^--keep removes old backups from a folder/],
		[[`${folder}/none/`], /^There is no such folder/],
	] as const) {
		const refused = await run(['backup', ...words, ...flags]);
		t.is(refused.code, 1);
		t.regex(refused.stderr, message);
	}
});

test('a backup that fails or is killed removes no older one, and leaves nothing under a final name', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const large = await open(path.join(app.filesDir, 'users/ada/large.bin'), 'w');
	await large.truncate(500e9);
	await large.close();
	const folder = await dataFolder(t);
	const old = 'stowage-2001-01-02T030000Z.zip';
	await writeFile(path.join(folder, old), old);
	const words = ['backup', folder, '--keep', '1', '--hashes', '--data-dir', app.dataDir];
	const backup = execFile(process.execPath, [program, ...words]);
	const ended = once(backup, 'exit');
	await until('the backup has begun', async () => (await readdir(folder)).length > 1);
	backup.kill('SIGKILL');
	await ended;
	const left = (await readdir(folder)).sort();
	t.is(left[0], old);
	t.regex(left[1] ?? '', /\.zip\.[0-9a-f]{12}\.partial$/);
	const refused = await run(['backup', folder, '--keep', '1', '--database-url', 'sqlite:/', '--data-dir', app.dataDir]);
	t.not(refused.code, 0);
	t.deepEqual((await readdir(folder)).sort(), left);
});

test('a backup goes to standard output as well, and a restore reads it from standard input', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const flags = ['--data-dir', app.dataDir];
	const written = await execa(process.execPath, [program, 'backup', '-', ...flags], { encoding: 'buffer' });
	t.is(Buffer.from(written.stdout.subarray(0, 2)).toString(), 'PK');
	t.is(
		Buffer.from(written.stderr).toString(),
		'Wrote the backup. It holds secrets: keep it where only you can read it.',
	);
	const target = path.join(await dataFolder(t), 'new');
	const restored = await stowage(['restore', '-', '--data-dir', target, ...quiet], {
		input: Buffer.from(written.stdout),
	});
	t.is(restored.code, 0, restored.stderr);
	t.regex(restored.stdout, /^Restored 1 users/);
	t.regex((await stowage(['restore', '-', '--data-dir', target], { input: 'no ZIP' })).stderr, /: standard input/);
	t.deepEqual(await orders(app.dataDir), ['backup']);

	const file = path.join(target, 'one.zip');
	await promisify(execFile)('sh', [
		'-c',
		`'${process.execPath}' '${program}' backup - '${flags.join("' '")}' > '${file}'`,
	]);
	t.is((await run(['restore', file, '--data-dir', `${target}2`, ...quiet])).code, 0);

	// Nobody takes the rest of it: that is no backup.
	const unread = execFile(process.execPath, [program, 'backup', '-', ...flags]);
	unread.stdout?.destroy();
	let message = '';
	unread.stderr?.on('data', (chunk) => {
		message += chunk;
	});
	t.deepEqual(await once(unread, 'close'), [1, null]);
	t.is(message, 'The program that reads the output has ended.\n');
	const shown = await onTerminal(['backup', '-', ...flags], []);
	t.like(shown, { code: 1 });
	t.regex(shown.shown, /^A ZIP is not for a terminal/);
	t.regex((await stowage(['backup', '-', '--json', ...flags])).stderr, /^With - only the ZIP is written/);
});

test('database copy copies all tables beside a running server, from SQLite to MariaDB and back', async (t) => {
	const app = await testApp(t);
	await populated(app);
	await shareOf(app);
	const from = app.services.config.databaseUrl;
	const to = await mariadb.createDatabase();
	const copied = await run(['database', 'copy', '--to', '-', '--json', '--data-dir', app.dataDir], `${to}\n`);
	t.is(copied.code, 0, copied.stderr);
	const tables = (JSON.parse(copied.stdout) as { table: string; rows: number }[]).map(({ table }) => table);
	t.true(['sessions', 'members', 'share_parts', 'share_passes'].every((table) => tables.includes(table)));
	t.deepEqual(await contents(to, tables), await contents(from, tables));
	t.regex((await run(['database', 'copy', '--to', to, '--data-dir', app.dataDir])).stderr, /is not empty/);
	const none = await run(['database', 'copy', '--to', '-', '--data-dir', app.dataDir], '\n');
	t.like(none, { code: 1, stderr: 'Standard input names no database.' });
	const help = (await run(['database', 'copy', '--help'])).stdout + (await run(['restore', '--help'])).stdout;
	t.notRegex(help, /\$ stowage .*secret/, 'no example shows a password to other users of the machine');
	const back = `sqlite:${path.join(await dataFolder(t), 'back.db')}`;
	const returned = await run(['database', 'copy', '--database-url', to, '--to', back]);
	t.is(returned.code, 0, returned.stderr);
	t.deepEqual(await contents(back, tables), await contents(from, tables));
	const wrong = await run(['database', 'copy', '--to', 'mysql://x:y@127.0.0.1:1/z', '--data-dir', app.dataDir]);
	await app.services.audit.close();
	t.deepEqual(await orders(app.dataDir), ['copyDatabase']);
	const { stdout } = await run(['audit', '--action', 'copyDatabase', '--data-dir', app.dataDir]);
	const { password, pathname } = new URL(to);
	t.true(stdout.endsWith(pathname) && (password === '' || !stdout.includes(password)), stdout);
	t.like(wrong, { code: 1, stderr: 'The database is not available right now.' });
});

test('the session key of all servers over a database server is changed while none of them serves', async (t) => {
	const url = await mariadb.createDatabase();
	const flagsWith = (letter: string) => ({ '--database-url': url, '--session-key': letter.repeat(43) });
	const changed = async () =>
		run(['migrate', '--new-session-key', ...Object.entries(flagsWith('n')).flat(), '--data-dir', await dataFolder(t)]);
	const app = await testApp(t, { ...flagsWith('k'), '--node': 'east' });
	const refused = await changed();
	t.is(refused.code, 1);
	t.regex(refused.stderr, /Stop all servers over this database first.*: east/);
	await app.stop();
	t.is((await changed()).code, 0);
	await t.throwsAsync(() => testApp(t, flagsWith('k')), { name: 'ConfigError', message: /sessionKey/ });
	const next = await testApp(t, { ...flagsWith('n'), '--data-dir': app.dataDir });
	t.is((await new Client(next).get('/api/ready')).statusCode, 200);
});

test('a backup migrates nothing: of the tables of an older version there is none by this one, which that version would refuse', async (t) => {
	const folder = await dataFolder(t);
	const url = `sqlite:${path.join(folder, 'stowage.db')}`;
	const last = allMigrations.at(-1)?.name ?? '';
	await (await openDatabase(url, { migrations: allMigrations.slice(0, -1) })).close();
	const zip = path.join(folder, 'one.zip');
	const flags = ['--data-dir', folder, ...quiet];
	const refused = await run(['backup', zip, ...flags]);
	t.is(refused.code, 1);
	t.regex(refused.stderr, new RegExp(`^The tables of the database are those of an older version.*pending: ${last}\\)`));
	t.false(await readSnapshot(url, async ({ migrations }) => migrations.includes(last)));
	t.deepEqual(
		(await readdir(folder)).filter((name) => name.startsWith('one.zip')),
		[],
	);
	const { stdout } = await run(['doctor', '--json', ...flags]);
	t.false(stdout.includes('stowage backup'), 'doctor advises none');
	t.is((await run(['migrate', ...flags])).code, 0);
	t.is((await run(['backup', zip, ...flags])).code, 0);
});

test('migrate --back puts the copy of before a migration back, refuses one that is none, and any while a server uses the database', async (t) => {
	const folder = await dataFolder(t);
	const url = `sqlite:${path.join(folder, 'stowage.db')}`;
	const last = allMigrations.at(-1)?.name ?? '';
	const older = await openDatabase(url, { migrations: allMigrations.slice(0, -1) });
	await older.close();
	const flags = ['--data-dir', folder, ...quiet];
	t.is((await run(['migrate', ...flags])).code, 0);
	const [copy = ''] = (await readdir(folder)).filter((name) => name.endsWith(`.before-${last}`));
	const back = (file: string, ...words: string[]) =>
		run(['migrate', '--back', path.join(folder, file), ...words, ...flags]);
	const app = await testApp(t, { '--data-dir': folder });
	await new Client(app).register('ada');
	const served = await back(copy);
	t.is(served.code, 1);
	t.is(served.stderr, `Stop the server first, which uses this database: process ${process.pid}.`);
	await app.stop();

	const whole = await readFile(path.join(folder, copy));
	await writeFile(path.join(folder, 'cut'), whole.subarray(0, whole.length >> 1));
	await writeFile(path.join(folder, 'text'), 'no database');
	for (const file of ['cut', 'text', 'missing', '.']) t.is((await back(file)).code, 1, file);
	t.regex((await back(copy, '--status')).stderr, /--back is used alone/);
	const names = async () => readSnapshot(url, async ({ migrations }) => migrations);
	t.true((await names()).includes(last), 'nothing has changed');
	t.deepEqual(
		(await readdir(folder)).filter((name) => /going-back|replaced/.test(name)),
		[],
	);

	// As a process that was killed leaves it: the last commits are beside the file.
	const db = await openDatabase(url);
	await db.users.add({ username: 'bob', secret: 's' });
	for (const ending of ['', '-wal'])
		await copyFile(path.join(folder, `stowage.db${ending}`), path.join(folder, `killed${ending}`));
	await db.users.remove((await db.users.find('bob'))?.id ?? '');
	await db.close();

	const done = await back(copy, '--json');
	t.is(done.code, 0, done.stderr);
	t.false((await names()).includes(last));
	const { replaced } = JSON.parse(done.stdout) as { replaced: string };
	t.deepEqual(await readFile(path.join(folder, copy)), whole, 'the copy stays');
	const users = async (of: string) =>
		readSnapshot(of, async (snapshot) => {
			let count = 0;
			for await (const rows of snapshot.rows('users')) count += rows.length;
			return count;
		});
	t.deepEqual([await users(url), await users(`sqlite:${replaced}`)], [0, 1]);
	t.is((await stat(path.join(folder, 'stowage.db'))).mode & 0o777, 0o600);
	t.is((await orders(folder)).at(-1), 'migrate');

	await symlink('killed', path.join(folder, 'link'));
	t.is((await back('link')).code, 0);
	t.is(await users(url), 2);
});

test('nothing is restored into the database that a server uses', async (t) => {
	const folder = await dataFolder(t);
	const zip = path.join(folder, 'backup.zip');
	const app = await testApp(t);
	t.is((await run(['backup', zip, '--data-dir', app.dataDir, ...quiet])).code, 0);
	const refused = await run(['restore', zip, '--data-dir', app.dataDir, ...quiet]);
	t.deepEqual(
		[refused.code, refused.stderr],
		[1, `Stop the server first, which uses this database: process ${process.pid}.`],
	);
});

test('migrate --status lists migrations without running them, and migrate takes a snapshot before it runs them', async (t) => {
	const folder = await dataFolder(t);
	const url = `sqlite:${path.join(folder, 'stowage.db')}`;
	const older = allMigrations.slice(0, -1);
	const last = allMigrations.at(-1)?.name;
	await (await openDatabase(url, { migrations: older })).close();
	const migrate = async (...args: string[]) =>
		(await run(['migrate', ...args, '--database-url', url, '--data-dir', folder])).stdout;
	t.true((await migrate('--status')).endsWith(`${last}\tpending`));
	t.true((await migrate('--status')).endsWith(`${last}\tpending`), 'no migration was run');
	t.true((await migrate()).endsWith(`${last}\tapplied now`));
	t.is((await readdir(folder)).filter((name) => name.endsWith(`.before-${last}`)).length, 1);
	t.deepEqual(JSON.parse(await migrate('--json')).at(-1), { name: last, state: 'applied' });
	t.deepEqual(await orders(folder), ['migrate 1'], 'recorded once, where there was something to do');
	const nowhere = await run(['migrate', '--status', '--data-dir', path.join(folder, 'no')]);
	t.is(nowhere.code, 78);
	t.regex(nowhere.stderr, /^There is no database/);
});

test('a restore says what the members of a folder that is not bound again may still do, and they may not do more', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await new Client(app).register('bob');
	for (const [directory, folderName] of [
		['', 'docs'],
		['docs', 'Rules'],
		['', 'drop'],
	])
		await ada.post('/api/createFolder', { directory, folderName, type: 'private' });
	await ada.upload('/api/upload', [field('directory', 'docs'), file('a.txt', 'A'), file('b.txt', 'B')]);
	for (const [at, role] of [
		['docs', 'edit'],
		['docs/Rules', 'view'],
		['drop', 'edit'],
	]) {
		const answer = await ada.call('PUT', '/api/members', { path: at, members: [{ username: 'bob', role }] });
		t.is(answer.statusCode, 200, answer.payload);
	}
	const zip = path.join(await dataFolder(t), 'one.zip');
	t.is((await run(['backup', zip, '--hashes', '--data-dir', app.dataDir, ...quiet])).code, 0);
	// People went on before the files were copied.
	for (const directory of ['docs/Rules', 'drop'])
		await ada.upload('/api/upload', [field('directory', directory), file('later.txt', 'later')]);
	const second = await dataFolder(t);
	t.is((await run(['restore', zip, '--data-dir', second, ...quiet])).code, 0);
	await promisify(execFile)('cp', ['-a', app.filesDir, path.join(second, 'files')]);
	const linked = await run(['restore', zip, '--relink', '--data-dir', second, ...quiet]);
	t.is(linked.code, 0);
	t.true(
		linked.stderr.endsWith(
			[
				'The members of ada: docs/Rules don’t have it until ada sets them again; bob can only look at what is there, also within a folder that they may edit.',
				'The members of ada: drop don’t have it until ada sets them again.',
			].join('\n'),
		),
		linked.stderr,
	);
	const again = await testApp(t, { '--data-dir': second });
	const member = new Client(again);
	await member.post('/api/login', { username: 'bob', password: 'correct horse' });
	const remove = (filePath: string) => member.call('DELETE', '/api/deleteItem', { type: 'shared', filePath });
	t.is((await remove('docs/Rules/later.txt')).statusCode, 403);
	t.is((await remove('docs/a.txt')).statusCode, 200);
});
