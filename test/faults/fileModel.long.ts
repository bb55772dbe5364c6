import test from 'ava';
import { compareWithModel } from '../model/compareWithModel.js';
import { twoClientsPerHome } from '../model/twoClients.js';

/** `STOWAGE_SEED` repeats a run that failed. */
const seed = Number(process.env.STOWAGE_SEED ?? Date.now() % 2 ** 32);

test('after 20,000 calls by two users and a visitor, answers and disk are what the rules say', async (t) => {
	await compareWithModel(t, 20_000, seed);
});

test('of 100,000 calls by two clients of each home at once none is answered by a fault of ours', async (t) => {
	await twoClientsPerHome(t, 100_000, seed);
});
