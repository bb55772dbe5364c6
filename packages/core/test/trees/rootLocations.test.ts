import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { StorageProvider } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { identifyProcess } from '../../src/leases/processIdentity.js';
import { assertApart, assertFirstApart, assertUnreserved } from '../../src/trees/roots/assertApart.js';
import { RootAdministration } from '../../src/trees/roots/RootAdministration.js';
import { reservedFolders, serverFolders } from '../../src/trees/roots/reservedFolders.js';
import { logLines } from '../logLines.js';
import { Client, testApp } from '../testApp.js';
import { until } from '../until.js';

const run = promisify(execFile);

test('a change of the roots that a process of the machine has not read is undone, and says which one', async (t) => {
	const clock = { ahead: 0 };
	const app = await testApp(t, {}, { monotonic: () => performance.now() + clock.ahead });
	const big = await mkdtemp(path.join(os.tmpdir(), 'stowage-big-'));
	t.teardown(() => rm(big, { recursive: true, force: true }));
	const { rootAdministration, roots } = app.services;
	const stopped = spawn('sleep', ['600'], { stdio: 'ignore' });
	t.teardown(() => stopped.kill());
	// The name of a process has its PID, and when it started.
	const [boot, namespace] = (await identifyProcess()).name.split(' ').slice(1);
	const started = (await readFile(`/proc/${stopped.pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')[19];
	const name = `linux_${boot}_${namespace}_${stopped.pid}_${started}_${'0'.repeat(32)}`;
	await writeFile(path.join(app.dataDir, 'processes', name), 'an older list');
	const adding = rootAdministration.add('big', 'local', big);
	await until('the root is recorded', () => roots.records.length === 2);
	clock.ahead = 31_000;
	const error = await t.throwsAsync(adding);
	t.true(isFailure(error, 'unavailable'));
	t.is(error?.message, `process ${stopped.pid} did not take note of the change within 30 s. Nothing was changed.`);
	t.is((await rootAdministration.list()).length, 1);
	const ended = once(stopped, 'exit');
	stopped.kill();
	await ended;
	await rootAdministration.add('big', 'local', big);
	t.is((await rootAdministration.list()).length, 2);
});

test('a root whose disk does not answer is not added, nor one relocated there, and who asked for it does not wait for ever', async (t) => {
	const app = await testApp(t);
	const folders = await mkdtemp(path.join(os.tmpdir(), 'stowage-hangs-'));
	t.teardown(() => rm(folders, { recursive: true, force: true }));
	const [big, other] = [path.join(folders, 'big'), path.join(folders, 'other')];
	for (const folder of [big, other]) await mkdir(folder);
	const { rootAdministration, roots, database, config } = app.services;
	await rootAdministration.add('big', 'local', big);
	const before = await database.roots.list();
	let answer: ((storage: StorageProvider) => void) | undefined;
	roots.driver = () => ({
		open: () =>
			new Promise((resolve) => {
				answer = resolve;
			}),
		identify: () => new Promise(() => {}),
	});
	const { log, lines } = logLines();
	const impatient = new RootAdministration(roots, database, config, log, 200);
	const isRefused = async (asking: Promise<unknown>) => {
		const error = await t.throwsAsync(asking);
		t.true(isFailure(error, 'unavailable'));
		t.is(error?.message, `${other}, or the disk of another storage root, did not answer within 0.2 s.`);
	};
	await isRefused(impatient.relocate('big', other));
	// On a busy machine what is asked before may be too late as well.
	while (answer === undefined) await isRefused(impatient.add('other', 'local', other));
	t.deepEqual(await database.roots.list(), before);
	const late = (close: () => Promise<void>) => answer?.({ close } as StorageProvider);
	await t.notThrowsAsync(
		new Promise<void>((resolve) => late(async () => resolve())),
		'what is open too late is closed',
	);
	t.deepEqual(lines, []);
	answer = undefined;
	while (answer === undefined) await isRefused(impatient.add('other', 'local', other));
	late(() => Promise.reject(new Error('the disk is gone')));
	await until('its failure is logged', () => lines.length === 1);
	t.like(JSON.parse(lines[0] ?? ''), {
		...{ root: other, err: { message: 'the disk is gone' } },
		msg: 'a storage root that is not used could not be closed',
	});
});

test('a root inside or around another one is refused, also through symbolic links', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-apart-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = (...names: string[]) => path.join(folder, ...names);
	await mkdir(at('disk/root/users/ada'), { recursive: true });
	await mkdir(at('disk/root-old'));
	await symlink(at('disk/root/users'), at('link'));
	await symlink(at('disk'), at('above'));
	await symlink(at('disk/root'), at('same'));
	const others = [{ name: 'big', location: at('disk/root') }];
	for (const location of ['disk/root/users', 'disk/root/new/er', 'link', 'link/ada/new', 'same/users']) {
		const error = await t.throwsAsync(assertApart(at(location), others));
		t.true(isFailure(error, 'invalid'), location);
		t.regex(String(error), /lies inside big, in /, location);
	}
	for (const location of ['disk', 'above', 'disk/../disk', '/'])
		t.regex(
			String(await t.throwsAsync(assertApart(path.resolve(folder, location), others))),
			/holds big, in /,
			location,
		);
	await t.notThrowsAsync(async () => {
		for (const location of ['disk/root-old', 'disk/new', 'elsewhere', 'disk/root', 'same'])
			await assertApart(at(location), others);
		await assertApart('bucket', others);
		await assertApart(at('disk/new'), [{ name: 'gone', location: at('not/there') }]);
	});
});

test('a folder that comes and goes while its place is compared ends nothing, and counts as one that is still to be made', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-apart-'));
	t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
	const inner = path.join(folder, 'root/a/b');
	const others = [{ name: 'big', location: path.join(folder, 'root') }];
	let isOver = false;
	const comesAndGoes = (async () => {
		while (!isOver) {
			await mkdir(inner, { recursive: true });
			await rm(path.join(folder, 'root/a'), { recursive: true, force: true });
		}
	})();
	try {
		for (let n = 0; n < 300; n++) {
			const error = await t.throwsAsync(assertApart(inner, others));
			if (!isFailure(error, 'invalid')) return t.fail(error?.stack);
		}
	} finally {
		isOver = true;
		await comesAndGoes;
	}
});

test('a root inside or around another one is refused, also through a bind mount', async (t) => {
	if (process.getuid?.() !== 0) {
		t.log('not run as root: nothing can be mounted');
		return;
	}
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-apart-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = (...names: string[]) => path.join(folder, ...names);
	await mkdir(at('disk/root/users/ada'), { recursive: true });
	await mkdir(at('disk/root-old'));
	await mkdir(at('a mount'));
	await mkdir(at('beside'));
	for (const [from, to] of [
		['disk/root/users', 'a mount'],
		['disk/root-old', 'beside'],
	] as const) {
		await run('mount', ['--bind', at(from), at(to)]);
		t.teardown(() => run('umount', ['-l', at(to)]));
	}
	const root = { name: 'big', location: at('disk/root') };
	for (const location of ['a mount', 'a mount/ada', 'a mount/new/er'])
		t.regex(String(await t.throwsAsync(assertApart(at(location), [root]))), /lies inside big, in /, location);
	const mounted = { name: 'small', location: at('a mount/ada') };
	for (const location of ['disk/root', 'disk'])
		t.regex(String(await t.throwsAsync(assertApart(at(location), [mounted]))), /holds small, in /, location);
	await t.notThrowsAsync(assertApart(at('beside'), [root, mounted]));
});

test('a root in a folder of the server or of the system is refused, also through symbolic links, and before that folder is made', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-reserved-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = (...names: string[]) => path.join(folder, ...names);
	await mkdir(at('data/audit/inner'), { recursive: true });
	await mkdir(at('data/more'));
	await mkdir(at('databases/more'), { recursive: true });
	await symlink(at('data/audit'), at('link'));
	await symlink(at('data'), at('same'));
	const reserved = reservedFolders({ dataDir: at('data'), databaseUrl: `sqlite:${at('databases/stowage.db')}` });
	const check = (location: string) => assertUnreserved(path.resolve(folder, location), reserved);
	const message = async (location: string) => {
		const error = await t.throwsAsync(check(location), undefined, location);
		t.true(isFailure(error, 'invalid'), location);
		return (error as Error).message;
	};
	for (const location of ['data/audit', 'link', 'same/audit', 'data/more/../audit'])
		t.regex(await message(location), /for it is the audit log/, location);
	for (const location of ['data/audit/inner', 'link/inner/new'])
		t.regex(await message(location), /for it lies inside the audit log/, location);
	for (const location of ['data/thumbnails', 'same/thumbnails'])
		t.regex(await message(location), /for it is the cache of thumbnails/, location);
	for (const location of ['data/conversions', 'same/conversions/new'])
		t.regex(await message(location), /the notes of conversions/, location);
	for (const location of ['data/search', 'data/processes', 'data/disk-use', 'same/disk-use/new'])
		t.regex(
			await message(location),
			/the search index|the list of running servers|the list of uploads under way/,
			location,
		);
	t.regex(await message('data/thumbnails/a/b'), /for it lies inside the cache of thumbnails/);
	t.is(
		await message('same'),
		`${at('same')} can't be a storage root, for it holds the audit log (${at('data/audit')}): name a folder for files alone.`,
	);
	t.regex(await message('databases'), /for it is the folder of the database/);
	t.regex(await message('.'), /for it holds the audit log/);
	t.regex(await message('/'), /for it holds/);
	t.regex(await message('/etc'), /for it is a folder of the system \(\/etc\)/);
	t.regex(await message('/usr/lib/new'), /for it lies inside a folder of the system/);
	t.regex(await message('/proc/self'), /for it lies inside a folder of the system/);
	for (const location of ['/tmp', '/var/tmp', '/var', '/root', '/opt', os.tmpdir()]) await message(location);
	for (const location of ['/var/spool/cron', '/root/.ssh', '/libx32']) await message(location);
	await t.notThrowsAsync(async () => {
		for (const location of [
			'data/files',
			'data/more',
			'data/new',
			'databases/more',
			'disk',
			'audit',
			'/srv',
			'/mnt/disk',
		])
			await check(location);
		await assertUnreserved('bucket', reserved);
	});
});

test('root add and relocate refuse folders of the server and make nothing in them', async (t) => {
	const app = await testApp(t);
	const { rootAdministration } = app.services;
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-reserved-'));
	t.teardown(() => rm(disk, { recursive: true, force: true }));
	await rootAdministration.add('big', 'local', disk);
	const message = /can't be a storage root, for it|holds (local|big)/;
	const thumbnails = path.join(app.dataDir, 'thumbnails');
	for (const location of [path.join(app.dataDir, 'audit'), thumbnails, app.dataDir, '/etc', '/']) {
		await t.throwsAsync(rootAdministration.add('bad', 'local', location), { message }, location);
		await t.throwsAsync(rootAdministration.relocate('big', location), { message }, location);
	}
	await t.throwsAsync(stat(thumbnails), { code: 'ENOENT' });
	t.deepEqual(
		(await rootAdministration.list()).map(({ name }) => name),
		['local', 'big'],
	);
});

test('a root inside or around the first one is refused wherever the configuration has that, also while it is away', async (t) => {
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-first-'));
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	const root = path.join(disk, 'all/photos');
	const plugins = { '@stowage/storage-local': { root }, '@stowage/auth-password': {} };
	const app = await testApp(t, { '--plugins': JSON.stringify(plugins) });
	const { rootAdministration } = app.services;
	const refused = async () => {
		const inside = path.join(root, 'Public/big');
		const add = (location: string) => rootAdministration.add('big', 'local', location);
		await t.throwsAsync(add(inside), {
			message: `${inside} lies inside local, in ${root}: roots lie beside each other.`,
		});
		await t.throwsAsync(add(path.dirname(root)), { message: /holds local, in / });
		await t.throwsAsync(stat(inside), { code: 'ENOENT' });
	};
	await refused();
	await rename(root, `${root}-gone`);
	await mkdir(root);
	await refused();
	await rm(root, { recursive: true });
	await rename(`${root}-gone`, root);
	await rootAdministration.add('big', 'local', path.join(disk, 'big'));
	const within = path.join(root, 'users/big');
	await t.throwsAsync(rootAdministration.relocate('big', within), { message: /lies inside local/ });
});

const withFirst = (root: string) => ({
	'--plugins': JSON.stringify({ '@stowage/storage-local': { root }, '@stowage/auth-password': {} }),
});

test('a first root in a folder of the server is not opened, nothing is made in it, and the server says why', async (t) => {
	const app = await testApp(t, withFirst('./audit/files'));
	const [first] = await app.services.rootAdministration.list();
	const reason = "can't be the first storage root, for it lies in the audit log";
	t.true(first?.fault?.includes(reason), String(first?.fault));
	t.regex(String(first?.fault), /Where it lies is said by the setting plugins/);
	await t.throwsAsync(stat(path.join(app.dataDir, 'audit/files')), { code: 'ENOENT' });
	const { statusCode } = await new Client(app).call('GET', '/api/ready');
	t.is(statusCode, 503);
});

test('a first root that the configuration has in the home of another root, or around one, is not opened', async (t) => {
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-first-'));
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	const at = (name: string) => path.join(disk, name);
	const before = await testApp(t, withFirst(at('first')));
	await before.services.rootAdministration.add('big', 'local', at('big'));
	await before.stop();
	const faults = async (root: string) => {
		const app = await testApp(t, { ...withFirst(root), '--data-dir': before.dataDir });
		const list = await app.services.rootAdministration.list();
		await app.stop();
		return list.map(({ fault }) => fault);
	};
	await mkdir(at('big/users/mallory'));
	await rename(at('first'), at('big/users/mallory/first'));
	const [inside, big] = await faults(at('big/users/mallory/first'));
	t.true(inside?.includes(`for it lies in what is served of big (${at('big')})`), String(inside));
	t.is(big, null);
	await symlink(at('big/users/mallory'), at('link'));
	t.true((await faults(at('link/first')))[0]?.includes('for it lies in what is served of big'));
	// Beside what is served it shows nothing of the other one, and servers have been set up so.
	await rename(at('big/users/mallory/first'), at('big/first'));
	t.deepEqual(await faults(at('big/first')), [null, null]);
});

test('the first root is compared with what it and other roots serve', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-first-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = (name: string) => path.join(folder, name);
	await mkdir(at('data/audit/inner'), { recursive: true });
	await mkdir(at('served/users'), { recursive: true });
	await symlink(at('data/audit'), at('link'));
	const reserved = serverFolders({ dataDir: at('data'), databaseUrl: `sqlite:${at('databases/stowage.db')}` });
	const others = [{ name: 'big', location: at('disk/big') }];
	for (const [location, expected] of [
		['data/audit', /lies in the audit log/],
		['link/inner', /lies in the audit log/],
		['data/processes/x', /lies in the list of running servers/],
		['disk/big/Public', /lies in what is served of big/],
		['disk/big/users/ada/x', /lies in what is served of big/],
		['disk/big/.stowage/trash', /lies in what is served of big/],
	] as const)
		t.regex(String(await t.throwsAsync(assertFirstApart(at(location), others, reserved))), expected, location);
	for (const [name, place] of [
		['data', 'served/Public/data'],
		['big', 'served/users/ada/big'],
	] as const) {
		const own = serverFolders({ dataDir: at(name === 'data' ? place : 'data'), databaseUrl: 'mysql://db/x' });
		const others = [{ name: 'big', location: at(name === 'big' ? place : 'disk/big') }];
		const error = await t.throwsAsync(assertFirstApart(at('served'), others, own));
		t.regex(String(error), /for it would serve (the audit log|big) /, place);
	}
	for (const location of ['data', 'data/files', 'data/audit-files', '.', 'disk', 'disk/big', 'databases', 'disk/big/x'])
		await t.notThrowsAsync(assertFirstApart(at(location), others, reserved), location);
	await t.notThrowsAsync(assertFirstApart('bucket', others, reserved));
});
