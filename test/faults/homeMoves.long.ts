import test from 'ava';
import { allMoments, killedWhileFrozen } from './frozenMoves.js';
import { killedWhileMoving } from './homeMoves.js';

/** Such as `npm run test:long -- test/faults/homeMoves.long.ts -- 5`. */
const rounds = Number(process.argv[2] ?? 20);

test('a home is complete on one root after each of many kills of the server while it moves', killedWhileMoving, rounds);

test('a home is complete on one root after a kill at each moment at which it is frozen', killedWhileFrozen, [
	...allMoments,
	'during the switch',
	'frozen',
	'before the switch',
]);
