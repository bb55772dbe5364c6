import test from 'ava';
import { compareWithModel } from './compareWithModel.js';
import { fivePeople } from './fivePeople.js';
import { twoClientsPerHome } from './twoClients.js';

test('answers and disk match the model after 150 random calls by two users and a visitor', async (t) => {
	await compareWithModel(t, 150, Date.now() % 2 ** 32);
});

test('none of 500 random calls by two clients of each home at once is answered by a fault of the server', async (t) => {
	await twoClientsPerHome(t, 500, Date.now() % 2 ** 32);
});

test('answers, disk and what each person sees match the model after 200 random calls by five people with shared folders', async (t) => {
	await fivePeople(t, 200, Date.now() % 2 ** 32, { stepsBetweenWorlds: 20 });
});
