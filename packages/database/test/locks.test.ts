import { readFile, stat } from 'node:fs/promises';
import { openDatabase } from '@stowage/database';
import test from 'ava';
import { temporaryFolder } from './temporaryFolder.js';

test('opening a database again in the same process leaves the locks of those who use it', async (t) => {
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
	// Without them another process that closes the file takes itself for the last one, and takes the log away.
	t.true(await isLocked());
	t.truthy(await first.users.find('alice'));
});
