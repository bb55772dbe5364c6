import test from 'ava';
import { killedWhileReplacing } from './replaceKills.js';

test('a server killed again and again loses no content that was replaced', async (t) => {
	await killedWhileReplacing(t, 120, 60);
});
