import { writeSync } from 'node:fs';
import { openDatabase } from '@stowage/database';

/** Uses a limit and a lease on a machine whose clock is ten minutes fast, and prints what it has found. */
const [url = ''] = process.argv.slice(2);
const real = Date.now.bind(Date);
Date.now = () => real() + 600_000;
const db = await openDatabase(url);
const { count } = await db.limits.hit('key', 60_000, db.now());
const lease = await db.leases.acquire('lease', 'fast', 10_000);
const clock = await db.processes?.compareClock();
const facts = { name: 'fast', node: 'fast', version: '1', settings: {}, capabilities: [], roots: '' };
await db.processes?.beat({ ...facts, clockOffset: clock?.offset ?? 0 });
const user = await db.users.add({ username: 'alice', secret: 's' });
await db.sessions.add('session', user);
writeSync(1, JSON.stringify({ error: db.now() - real(), count, hasLease: lease !== undefined, offset: clock?.offset }));
await db.close();
