import { writeSync } from 'node:fs';
import { openDatabase } from '@stowage/database';

/** Adds users, prints the name of each once it is added, and kills itself right after the last. */
const [url = '', count = '0'] = process.argv.slice(2);
const db = await openDatabase(url);
for (let number = 1; number <= Number(count); number++) {
	const { username } = await db.users.add({ username: `user${number}`, secret: 's' });
	writeSync(1, `${username}\n`);
}
process.kill(process.pid, 'SIGKILL');
