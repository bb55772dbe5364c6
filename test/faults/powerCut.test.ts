import test from 'ava';
import { cutPowerAtEachAnswer, everyChange } from './powerCut.js';
import { cutPowerWithinCalls } from './powerCutWithin.js';
import { cutPowerWhileReplacing } from './replacePowerCut.js';

test('each kind of change survives a power cut at the moment of its answer', async (t) => {
	await cutPowerAtEachAnswer(t, everyChange);
});

test('a power cut while a file replaces another one leaves the old or the new one complete', async (t) => {
	await cutPowerWhileReplacing(t);
});

test('a power cut within a change leaves all contents in the tree or in the trash', async (t) => {
	await cutPowerWithinCalls(t, 12, Date.now() % 2 ** 32);
});
