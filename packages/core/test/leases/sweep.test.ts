import test from 'ava';
import { sweep } from '../../src/sweep.js';
import { testApp } from '../testApp.js';

test('what has expired is swept by one process at a time', async (t) => {
	const { services } = await testApp(t);
	const { database } = services;
	const isThere = async () => (await database.tickets.bytes()) > 0;
	const expired = { holder: 'ada', details: '', selection: 'a.txt', bytes: 1, isEnded: false, endsAt: 1, expiresAt: 1 };
	await database.tickets.add('expired', expired);
	const other = await database.leases.take('sweep', 'another process', 10_000);
	await sweep(services);
	t.true(await isThere(), 'another process is at it');
	if (other !== undefined) await database.leases.release(other);
	await sweep(services);
	t.false(await isThere());
	t.is(await database.leases.find('sweep'), undefined, 'it is given back');
});
