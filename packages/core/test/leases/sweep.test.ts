import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { createSweep } from '../../src/sweep.js';
import { logLines } from '../logLines.js';
import { testApp } from '../testApp.js';

const hourMs = 60 * 60_000;

test('expired rows are swept by one process at a time', async (t) => {
	const { services } = await testApp(t);
	const { database } = services;
	const sweep = createSweep(services);
	const isStored = async () => (await database.tickets.countBytes()) > 0;
	const expired = { holder: 'ada', details: '', selection: 'a.txt', bytes: 1, isEnded: false, endsAt: 1, expiresAt: 1 };
	await database.tickets.add('expired', expired);
	const other = await database.leases.acquire('sweep', 'another process', 10_000);
	await sweep();
	t.true(await isStored(), 'another process holds the lease');
	if (other !== undefined) await database.leases.release(other);
	await sweep();
	t.false(await isStored());
	t.is(await database.leases.find('sweep'), undefined, 'the lease is released');
});

test('a part of the sweep that fails keeps no other one from it, and is logged once', async (t) => {
	const { log, lines } = logLines();
	const { services } = await testApp(t, {}, { log });
	const { database, storage, trashBin } = services;
	const expired = { holder: 'ada', details: '', selection: 'a.txt', bytes: 1, isEnded: false, endsAt: 1, expiresAt: 1 };
	const swept: string[] = [];
	const note = (name: string) => async () => void swept.push(name);
	Object.assign(trashBin, { sweep: note('trash') });
	Object.assign(database.shareUses, { forgetReceipts: note('receipts') });
	Object.assign(database.sessions, { sweep: () => Promise.reject(new Failure('storageFull', 'The disk is full.')) });
	// As where a root is away.
	const { sweepStaging } = storage;
	storage.sweepStaging = () => Promise.reject(new Failure('unavailable', 'The storage is not available right now.'));
	const sweep = createSweep(services);
	const faults = () => lines.filter((line) => line.includes('expired rows could not be removed')).length;
	for (let n = 0; n < 3; n++) {
		await database.tickets.add('expired', expired);
		await sweep();
		t.is(await database.tickets.countBytes(), 0);
		t.deepEqual(swept.splice(0), ['receipts', 'trash']);
		t.is(faults(), 2);
	}
	storage.sweepStaging = sweepStaging;
	await sweep();
	storage.sweepStaging = () => Promise.reject(new Failure('unavailable', 'The storage is not available right now.'));
	await sweep();
	t.is(faults(), 3, 'it is away once more');
});

test('a clock that is set ahead costs no audit log, session, link or unfinished upload for a day', async (t) => {
	const clock = { ms: Date.now(), monotonic: 0 };
	const { log, lines } = logLines();
	const clocks = { now: () => clock.ms, monotonic: () => clock.monotonic, log };
	const { services, dataDir } = await testApp(t, {}, clocks);
	const folder = path.join(dataDir, 'audit');
	await mkdir(folder, { recursive: true });
	const [recent, old] = [80, 100].map(
		(days) => `${new Date(clock.ms - days * 24 * hourMs).toISOString().slice(0, 10)}.jsonl`,
	);
	for (const name of [recent, old]) await writeFile(path.join(folder, name ?? ''), '{}\n');
	const swept: string[] = [];
	const note = (name: string) => async () => void swept.push(name);
	const { database, links, resumableUploads } = services;
	Object.assign(database.sessions, { sweep: note('sessions') });
	Object.assign(links, { sweep: note('links') });
	Object.assign(resumableUploads, { sweep: note('uploads') });
	Object.assign(database.leases, { sweep: note('leases') });
	Object.assign(database.uploads, { forget: note('many uploads') });
	Object.assign(database.idempotency, { sweep: note('many keys') });
	Object.assign(database.publishedNames, { sweep: note('many names') });
	Object.assign(database.jobs, {
		sweep: async (endedBefore: number) => void swept.push(endedBefore > 0 ? 'jobs' : 'many jobs'),
	});
	const sweep = createSweep(services);
	const hours = async (count: number, jump = 0) => {
		clock.monotonic += count * hourMs;
		clock.ms += count * hourMs + jump;
		await sweep();
		const days = (await readdir(folder)).filter((name) => name === recent || name === old);
		return { swept: swept.splice(0).sort(), days: days.sort().reverse() };
	};
	const surplus = ['many keys', 'many names', 'many uploads'];
	const all = ['jobs', 'leases', 'links', ...surplus, 'sessions', 'uploads'];
	t.deepEqual(await hours(1), { swept: all, days: [recent] });
	t.deepEqual(await hours(1, 91 * 24 * hourMs), { swept: ['leases', 'many jobs', ...surplus], days: [recent] });
	t.deepEqual(await hours(22), { swept: ['leases', 'many jobs', ...surplus], days: [recent] });
	t.is(lines.filter((line) => line.includes('the clock was set')).length, 1);
	t.deepEqual(await hours(3), { swept: all, days: [] });
});
