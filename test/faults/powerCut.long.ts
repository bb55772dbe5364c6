import test from 'ava';
import { cutPowerAtEachAnswer, manyChanges } from './powerCut.js';

/** `STOWAGE_SEED` repeats a run that failed. */
const seed = Number(process.env.STOWAGE_SEED ?? Date.now() % 2 ** 32);

test('power cuts at the answers of 2,000 random calls take nothing back', async (t) => {
	t.log(`seed ${seed}`);
	await cutPowerAtEachAnswer(t, (model) => manyChanges(model, 2_000, seed));
});
