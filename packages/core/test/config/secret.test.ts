import * as files from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { pino } from 'pino';
import { readOrMakeSecret } from '../../src/config/secret.js';
import { ConfigError } from '../../src/index.js';

const log = pino({ level: 'silent' });

async function folderFor(t: ExecutionContext): Promise<string> {
	const folder = await files.mkdtemp(path.join(os.tmpdir(), 'stowage-secret-'));
	t.teardown(() => files.rm(folder, { recursive: true, force: true }));
	return folder;
}

/** A log and its lines. */
function recordingLog() {
	const lines: string[] = [];
	return { lines, log: pino({}, { write: (line: string) => void lines.push(line) }) };
}

const withoutLinks = async () => {
	throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' });
};

/** As exFAT and SMB show every file, regardless of its mode. */
const withoutModes = (async (file: string) => {
	const found = await files.stat(file);
	found.mode = (found.mode & ~0o777) | 0o777;
	return found;
}) as typeof files.stat;

test('the key is created once, readable by its owner only, and leaves no other file', async (t) => {
	const folder = await folderFor(t);
	const key = await readOrMakeSecret(folder, log);
	t.true(key.length >= 32);
	t.is(await readOrMakeSecret(folder, log), key);
	t.is((await files.stat(path.join(folder, 'session.key'))).mode & 0o777, 0o600);
	t.deepEqual(await files.readdir(folder), ['session.key']);
});

test('a key that exists is read without writing anything, as on a full disk', async (t) => {
	const folder = await folderFor(t);
	const key = await readOrMakeSecret(folder, log);
	await files.utimes(folder, 0, 0);
	t.is(await readOrMakeSecret(folder, log), key);
	t.is((await files.stat(folder)).mtimeMs, 0);
});

test('a key that is a link to no file is refused by name and stays as it is, and no other file is left', async (t) => {
	for (const target of ['away', 'session.key', 'n'.repeat(256)]) {
		const folder = await folderFor(t);
		const file = path.join(folder, 'session.key');
		await files.symlink(target, file);
		const error = await t.throwsAsync(readOrMakeSecret(folder, log), { instanceOf: ConfigError });
		t.true(error?.message.includes(file), error?.message);
		t.deepEqual(await files.readdir(folder), ['session.key']);
		t.is(await files.readlink(file), target);
	}
});

test('a key that somebody takes away while it is made is missing with a sentence', async (t) => {
	const folder = await folderFor(t);
	const link: typeof files.link = async (from, to) => {
		await files.rm(from);
		await files.link(from, to);
	};
	const error = await t.throwsAsync(readOrMakeSecret(folder, log, { ...files, link }), { instanceOf: ConfigError });
	t.true(error?.message.includes(path.join(folder, 'session.key')), error?.message);
});

test('concurrent starts get the same key', async (t) => {
	const folder = await folderFor(t);
	const keys = await Promise.all(Array.from({ length: 8 }, () => readOrMakeSecret(folder, log)));
	t.is(new Set(keys).size, 1);
});

test('concurrent starts get the same key on a file system without links', async (t) => {
	const folder = await folderFor(t);
	const keys = await Promise.all(
		Array.from({ length: 8 }, () => readOrMakeSecret(folder, log, { ...files, link: withoutLinks })),
	);
	t.is(new Set(keys).size, 1);
	t.deepEqual(await files.readdir(folder), ['session.key']);
});

test('on a file system without modes the key is created, with a warning in the log', async (t) => {
	const folder = await folderFor(t);
	const { lines, log: recording } = recordingLog();
	const key = await readOrMakeSecret(folder, recording, { link: withoutLinks, stat: withoutModes });
	t.true(key.length >= 32);
	t.regex(lines.join(''), /777.*keeps no modes/);
});

test('a key that other users can read is refused', async (t) => {
	const folder = await folderFor(t);
	await readOrMakeSecret(folder, log);
	await files.chmod(path.join(folder, 'session.key'), 0o644);
	const error = await t.throwsAsync(readOrMakeSecret(folder, log), { instanceOf: ConfigError });
	t.regex(error?.message ?? '', /644.*600/);
	t.deepEqual(await files.readdir(folder), ['session.key']);
});

test('a key that is too short is refused', async (t) => {
	const folder = await folderFor(t);
	await files.writeFile(path.join(folder, 'session.key'), 'short', { mode: 0o600 });
	await t.throwsAsync(readOrMakeSecret(folder, log), { instanceOf: ConfigError, message: /too short/ });
});
