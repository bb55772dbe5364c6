import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '@stowage/database';

/** Hits a limit under a key that other processes hit at the same time, and prints each count. */
const [url = '', hits = '0'] = process.argv.slice(2);
const db = await openDatabase(url);
for (let number = 0; number < Number(hits); number++) {
	const { count } = await db.limits.hit('key', 60_000, 1000);
	writeSync(1, `${count}\n`);
	// SQLite's lock is not fair: on a slow machine a process without pauses could starve another one.
	await wait(5);
}
await db.close();
