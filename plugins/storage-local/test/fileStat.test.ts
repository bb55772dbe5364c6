import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { LocalStorage } from '../src/LocalStorage.js';
import { closeSync, fstat, lstat, open } from '../src/system/descriptors.js';
import { toEntry, toFileStat } from '../src/system/fileStat.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import { Folder, folderFlags, folderKey } from '../src/system/openFolder.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { coldCalls } from './coldCalls.js';
import { best, localStorage, p, run, temporaryFolder } from './steps.js';

test('synchronous calls return the same as asynchronous ones', async (t) => {
	if (best === nodeCalls) {
		t.log('only Node’s own calls here: none is synchronous');
		t.not(process.platform, 'linux');
		return;
	}
	const path = await temporaryFolder(t);
	using folder = new Folder(await open(path, folderFlags('read')));
	t.is(folderKey(best, folder), folderKey(nodeCalls, folder));
	const times = [
		'1999-12-31 23:59:59.9995',
		'1969-07-20 20:17:40.1234567',
		'2026-02-28 12:00:00.000000001',
		'2038-01-20',
	];
	for (const time of times) {
		const file = join(path, time);
		writeFileSync(file, time);
		await run('touch', ['-d', `${time}Z`, file]);
		const fd = await open(file, 'r');
		const slowStat = toFileStat(await fstat(fd));
		t.deepEqual(best.statCached(fd), slowStat);
		t.deepEqual(best.statSync?.(folder.fd, time), slowStat);
		t.deepEqual(best.entrySync?.(folder.fd, time), toEntry(time, await lstat(file)));
		closeSync(fd);
	}
});

test('a verified root is recognized, whether by synchronous or asynchronous calls', async (t) => {
	let calls = best;
	const current = new Proxy(best, { get: (_, name: keyof SystemCalls) => calls[name] });
	const { storage } = await localStorage(t, { calls: current });
	let checks = 0;
	(storage as LocalStorage).disk.root.onVerified(() => checks++);
	for (const next of [coldCalls(best), best, nodeCalls, best]) {
		// An open folder is shared until the current requests have ended.
		await new Promise((resolve) => setImmediate(resolve));
		calls = next;
		await storage.stat(p(''));
	}
	t.is(checks, 0);
});
