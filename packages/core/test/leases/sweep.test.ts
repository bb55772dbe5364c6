import { Failure } from '@stowage/rules';
import test from 'ava';
import { createSweep } from '../../src/sweep.js';
import { logLines } from '../logLines.js';
import { testApp } from '../testApp.js';

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
