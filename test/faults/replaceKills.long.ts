import test from 'ava';
import { killedWhileReplacing } from './replaceKills.js';

test('10,000 replacements, moves and restorations by four clients of a server that is killed lose no content', async (t) => {
	await killedWhileReplacing(t, 10_000, 200);
});
