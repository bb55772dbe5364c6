import test from 'ava';
import { killedWhileFrozen } from './frozenMoves.js';

test('a home is complete on one root after a kill of the server while it is frozen', killedWhileFrozen, [
	'before the switch',
	'after the switch',
]);
