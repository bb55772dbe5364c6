import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '@stowage/database';

/** One of several processes that count tries under the same key at the same time, and say what they counted. */
const [url = '', tries = '0'] = process.argv.slice(2);
const db = await openDatabase(url);
for (let number = 0; number < Number(tries); number++) {
	const { count } = await db.limits.hit('key', 60_000, 1000);
	writeSync(1, `${count}\n`);
	// SQLite knows no queue: on a slow machine one who asks without a pause may keep another from its turn for too long.
	await wait(5);
}
await db.close();
