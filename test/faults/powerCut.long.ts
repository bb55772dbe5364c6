import test from 'ava';
import { cutPowerAtEachAnswer, manyChanges } from './powerCut.js';
import { cutPowerWithinCalls } from './powerCutWithin.js';

/** `STOWAGE_SEED` repeats a run that failed. */
const seed = Number(process.env.STOWAGE_SEED ?? Date.now() % 2 ** 32);

test('the changes of 2,000 random calls survive a power cut at the moment of their answer', async (t) => {
	t.log(`seed ${seed}`);
	await cutPowerAtEachAnswer(t, (model) => manyChanges(model, 2_000, seed));
});

test('2,000 random changes, each cut off by a power cut at some moment of it, lose nothing', async (t) => {
	await cutPowerWithinCalls(t, 2_000, seed);
});
