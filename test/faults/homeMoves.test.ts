import test from 'ava';
import { killedWhileFrozen } from './frozenMoves.js';

test('a home is whole on one root after the server was killed while it was frozen', killedWhileFrozen, [
	'before the switch',
	'after the switch',
]);
