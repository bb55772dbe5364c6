import { openDatabase } from '@stowage/database';

/** Says who is there. */
const [url = ''] = process.argv.slice(2);
const db = await openDatabase(url);
for (const { username } of await db.users.list()) console.log(username);
await db.close();
