import { execFile } from 'node:child_process';
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { checkDatabase, DatabaseError, openDatabase, readSnapshot } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { translated } from '../src/connection/errors.js';
import { namingFullDisk } from '../src/connection/sqlite/sqliteFile.js';
import { allMigrations } from '../src/migrations/all.js';
import { temporaryFolder } from './temporaryFolder.js';

const run = promisify(execFile);
const secret = '$argon2id$v=19$m=32768,t=3,p=1$c29tZXNhbHQ$';

test('a file that is not a database is refused with its path', async (t) => {
	const { url, path } = await database(t);
	await writeFile(path, 'This is a letter to my aunt, not a database.\n'.repeat(500));
	const error = await t.throwsAsync(() => openDatabase(url), { instanceOf: DatabaseError });
	t.is(error?.message, `The database is damaged, or is no database: ${path}`);
});

test('a truncated file is refused', async (t) => {
	const { url, path } = await database(t);
	const file = await open(path, 'r+');
	await file.truncate(((await file.stat()).size * 3) / 4);
	await file.close();
	await t.throwsAsync(() => openDatabase(url), { instanceOf: DatabaseError, message: /damaged/ });
});

test('a folder in place of the file is refused', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const error = await t.throwsAsync(() => openDatabase(`sqlite:${folder.path}`), { instanceOf: DatabaseError });
	t.regex(error?.message ?? '', /^The database file cannot be used: .* is no file/);
});

test('a file that can’t be opened, as when its folder was exchanged meanwhile, is refused with its path by all who read it', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	// SQLite opens none with a longer path; the system does.
	const path = join(folder.path, ...Array.from({ length: 6 }, () => 'long'.repeat(25)), 'stowage.db');
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, '');
	const url = `sqlite:${path}`;
	for (const work of [
		() => openDatabase(url),
		() => readSnapshot(url, async () => undefined),
		() => checkDatabase(url, 1000),
	]) {
		const error = await t.throwsAsync(work, { instanceOf: DatabaseError });
		t.true(error?.message.startsWith(`The database file cannot be used: ${path} can't be opened.`), error?.message);
	}
});

test('a full disk is named as the reason where the files beside the database can’t be made', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	try {
		await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'stowage-test', folder.path]);
	} catch (error) {
		t.log(`No disk can be mounted here: ${(error as Error).message}`);
		return t.pass();
	}
	t.teardown(() => run('umount', ['-l', folder.path]));
	const path = join(folder.path, 'stowage.db');
	const filler = join(folder.path, 'filler');
	/** As SQLite fails on ext4 whose last block is taken. */
	const fails = () => t.throwsAsync(namingFullDisk(path, () => Promise.reject(cantOpen())));
	const cantOpen = () => Object.assign(new Error('unable to open database file'), { code: 'SQLITE_CANTOPEN' });
	t.true(isFailure(translated(await fails()), 'unavailable'));
	await t.throwsAsync(writeFile(filler, Buffer.alloc(2 * 1024 * 1024)), { code: 'ENOSPC' });
	const error = translated(await fails());
	t.true(isFailure(error, 'storageFull') && error.message === 'The disk of the database is full.');
	await rm(filler);
	t.true(isFailure(translated(await fails()), 'unavailable'));
});

test('no migration begins where there is no room for the copy that is made before, and nothing is left of that', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	try {
		await run('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'stowage-test', folder.path]);
	} catch (error) {
		t.log(`No disk can be mounted here: ${(error as Error).message}`);
		return t.pass();
	}
	t.teardown(() => run('umount', ['-l', folder.path]));
	const path = join(folder.path, 'stowage.db');
	const url = `sqlite:${path}`;
	const db = await openDatabase(url);
	await db.users.add({ username: 'alice', secret: 'x'.repeat(1_500_000) });
	await db.close();
	await writeFile(join(folder.path, 'filler'), Buffer.alloc(3_000_000));
	const added = { name: '9001-none', up: async () => {} };
	const error = await t.throwsAsync(openDatabase(url, { migrations: [...allMigrations, added] }));
	t.true(isFailure(error, 'storageFull'));
	t.regex(error?.message ?? '', /^Before a migration .* needs [\d.]+ MB; .* are free at .*stowage\.db\. Make room/);
	t.deepEqual((await readdir(folder.path)).sort(), ['filler', 'stowage.db', 'stowage.db-shm', 'stowage.db-wal']);
	await (await openDatabase(url)).close();
});

test('a flipped bit anywhere causes a clear error, or no session with another user', async (t) => {
	const { url, path, userId } = await database(t);
	const whole = await readFile(path);
	const random = generator(20_300_101);
	for (let round = 0; round < 150; round++) {
		const damaged = Buffer.from(whole);
		const at = Math.floor(random() * whole.length);
		damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8));
		await writeFile(path, damaged);
		t.true(await isClearOrHarmless(url, userId), `byte ${at}`);
	}
});

/** Whether opening and reading throws a clear error, or returns no session that belongs to another user than before the damage. */
async function isClearOrHarmless(url: string, userId: string): Promise<boolean> {
	let db: Awaited<ReturnType<typeof openDatabase>>;
	try {
		db = await openDatabase(url);
	} catch (error) {
		return error instanceof DatabaseError || isFailure(error);
	}
	try {
		await db.users.find('user7');
		const session = await db.sessions.find('session7', Date.now());
		return session === undefined || session.user.id === userId;
	} catch (error) {
		return error instanceof Error;
	} finally {
		await db.close();
	}
}

async function database(t: ExecutionContext): Promise<{ url: string; path: string; userId: string }> {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const path = `${folder.path}/stowage.db`;
	const db = await openDatabase(`sqlite:${path}`);
	let userId = '';
	for (let number = 0; number < 20; number++) {
		const user = await db.users.add({ username: `user${number}`, secret: `${secret}${number}` });
		await db.sessions.add(`session${number}`, user);
		if (number === 7) userId = user.id;
	}
	await db.close();
	return { url: `sqlite:${path}`, path, userId };
}

/** Reproducible pseudo-random numbers from 0 to 1. */
function generator(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}
