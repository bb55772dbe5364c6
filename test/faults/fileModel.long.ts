import test from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { compareWithModel } from '../model/compareWithModel.js';
import { fivePeople } from '../model/fivePeople.js';
import { twoClientsPerHome } from '../model/twoClients.js';

/** `STOWAGE_SEED` repeats a run that failed. */
const seed = Number(process.env.STOWAGE_SEED ?? Date.now() % 2 ** 32);

test('answers and disk match the model after 100,000 random calls by two users and a visitor', async (t) => {
	await compareWithModel(t, 100_000, seed);
});

test('none of 100,000 random calls by two clients of each home at once is answered by a fault of the server', async (t) => {
	await twoClientsPerHome(t, 100_000, seed);
});

test('answers, disk and what each person sees match the model after 20,000 random calls by five people with shared folders', async (t) => {
	await fivePeople(t, 20_000, seed, { stepsBetweenWorlds: 25 });
});

test('answers, disk and what each person sees match the model after 2,000 random calls by five people, on MariaDB', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(() => mariadb.close());
	await fivePeople(t, 2000, seed, { stepsBetweenWorlds: 25, databaseUrl: await mariadb.createDatabase() });
});

test('answers and both disks match the model after 10,000 random calls by users on two storage roots, on MariaDB', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(() => mariadb.close());
	await compareWithModel(t, 10_000, seed, { databaseUrl: await mariadb.createDatabase(), hasTwoRoots: true });
});
