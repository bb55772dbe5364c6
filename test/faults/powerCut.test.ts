import test from 'ava';
import { cutPowerAtEachAnswer, everyChange } from './powerCut.js';

test('a power cut at the moment of an answer takes nothing of it back', async (t) => {
	await cutPowerAtEachAnswer(t, everyChange);
});
