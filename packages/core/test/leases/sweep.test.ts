import test from 'ava';
import { sweep } from '../../src/sweep.js';
import { testApp } from '../testApp.js';

test('expired rows are swept by one process at a time', async (t) => {
	const { services } = await testApp(t);
	const { database } = services;
	const isStored = async () => (await database.tickets.countBytes()) > 0;
	const expired = { holder: 'ada', details: '', selection: 'a.txt', bytes: 1, isEnded: false, endsAt: 1, expiresAt: 1 };
	await database.tickets.add('expired', expired);
	const other = await database.leases.acquire('sweep', 'another process', 10_000);
	await sweep(services);
	t.true(await isStored(), 'another process holds the lease');
	if (other !== undefined) await database.leases.release(other);
	await sweep(services);
	t.false(await isStored());
	t.is(await database.leases.find('sweep'), undefined, 'the lease is released');
});
