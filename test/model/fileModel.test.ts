import test from 'ava';
import { compareWithModel } from './compareWithModel.js';
import { twoClientsPerHome } from './twoClients.js';

test('after any calls by two users and a visitor, answers and disk are what the rules say', async (t) => {
	await compareWithModel(t, 300, Date.now() % 2 ** 32);
});

test('whatever two clients of each home call at once, none is answered by a fault of ours', async (t) => {
	await twoClientsPerHome(t, 1000, Date.now() % 2 ** 32);
});
