import test from 'ava';
import { killedWhileMoving } from './homeMoves.js';

/** Such as `npm run test:faults -- test/faults/homeMoves.long.ts -- 5`. */
const rounds = Number(process.argv[2] ?? 20);

test('a home is whole on one root however often the server is killed while it moves', killedWhileMoving, rounds);
