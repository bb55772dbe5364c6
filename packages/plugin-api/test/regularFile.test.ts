import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { NoRegularFileError, openRegularFile, readRegularFile, writeRegularFile } from '../src/index.js';

test('a file is opened, and nothing else that lies in its place, and nobody waits for it', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-regular-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = (name: string) => path.join(folder, name);
	await promisify(execFile)('mkfifo', [at('pipe')]);
	await mkdir(at('folder'));
	await writeFile(at('file'), 'content');
	await symlink(at('file'), at('link'));
	await symlink('/dev/zero', at('device'));
	const server = createServer().listen(at('socket'));
	await new Promise((resolve) => server.once('listening', resolve));
	t.teardown(() => server.close());
	const maxBytes = 7;
	t.is((await readRegularFile(at('file'), { maxBytes })).toString(), 'content');
	t.is((await readRegularFile(at('link'), { maxBytes, followsLink: true })).toString(), 'content');
	const refuses = (work: Promise<unknown>, message: RegExp) =>
		t.throwsAsync(work, { instanceOf: NoRegularFileError, message });
	for (const [name, found] of [
		['pipe', 'a named pipe'],
		['folder', 'a folder'],
		['socket', 'a socket'],
		['device', 'a device'],
	] as const) {
		const message = new RegExp(`${name} can't be used: ${found} lies there in place of a file`);
		await refuses(readRegularFile(at(name), { maxBytes, followsLink: true }), message);
		if (name === 'device') continue;
		await refuses(writeRegularFile(at(name), ''), message);
		await refuses(openRegularFile(at(name), constants.O_RDWR), message);
	}
	await refuses(readRegularFile(at('link'), { maxBytes }), /a link lies there/);
	await refuses(writeRegularFile(at('link'), ''), /a link lies there/);
	await refuses(readRegularFile(at('file'), { maxBytes: 6 }), /one of more than 6 bytes lies there/);
	await t.throwsAsync(readRegularFile(at('missing'), { maxBytes }), { code: 'ENOENT' });
	await writeRegularFile(at('file'), 'other');
	t.is(await readFile(at('file'), 'utf8'), 'other');
	await writeRegularFile(at('made'), 'new');
	t.is(await readFile(at('made'), 'utf8'), 'new');
	t.is((await stat(at('made'))).mode & 0o777, 0o600);
});
