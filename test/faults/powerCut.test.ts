import test from 'ava';
import { cutPowerAtEachAnswer, everyChange } from './powerCut.js';
import { cutPowerWhileReplacing } from './replacePowerCut.js';

test('a power cut at the moment of an answer takes nothing of it back', async (t) => {
	await cutPowerAtEachAnswer(t, everyChange);
});

test('a power cut while a file takes the place of another one leaves the old one or the new one, whole', async (t) => {
	await cutPowerWhileReplacing(t);
});
