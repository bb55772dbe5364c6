import { closeSync, openSync, writeSync } from 'node:fs';
import { openDatabase } from '@stowage/database';

/** Writes in each way that a server does, and prints its process id, which is also the id of its main thread. */
const [url = ''] = process.argv.slice(2);
const db = await openDatabase(url);
const user = await db.users.add({ username: 'alice', secret: 's' });
// Marks the end of the start in the trace of system calls.
closeSync(openSync(`${url.replace('sqlite:', '')}.writing begins`, 'w'));
for (let n = 0; n < 10; n++) {
	await db.sessions.add(`session ${n}`, user);
	await db.users.changeSettings(user.id, { enablePreview: n % 2 === 0 });
	await db.limits.hit('key', 60_000, 1000);
}
writeSync(1, `${process.pid}\n`);
await db.close();
