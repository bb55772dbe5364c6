import { readFile, stat } from 'node:fs/promises';
import { openDatabase } from '@stowage/database';
import test from 'ava';
import { temporaryFolder } from './temporaryFolder.js';

test('opening and closing a database again in the same process keeps the file locks of the first connection', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = `${folder.path}/stowage.db`;
	const first = await openDatabase(`sqlite:${file}`);
	t.teardown(first.close);
	await first.users.add({ username: 'alice', secret: 's' });
	const { ino } = await stat(file);
	const isLocked = async () =>
		(await readFile('/proc/locks', 'utf8'))
			.split('\n')
			.some((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `));
	t.true(await isLocked());
	await (await openDatabase(`sqlite:${file}`)).close();
	// Without the locks another process that closes the file would consider itself the last one and delete the log.
	t.true(await isLocked());
	t.truthy(await first.users.find('alice'));
});
