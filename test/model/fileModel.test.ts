import test from 'ava';
import { compareWithModel } from './compareWithModel.js';

test('after any calls by two users and a visitor, answers and disk are what the rules say', async (t) => {
	await compareWithModel(t, 300, Date.now() % 2 ** 32);
});
