import { open, readFile, writeFile } from 'node:fs/promises';
import { DatabaseError, openDatabase } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { temporaryFolder } from './temporaryFolder.js';

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
