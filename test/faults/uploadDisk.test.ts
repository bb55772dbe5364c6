import test from 'ava';
import { fullDisk, vanishedDisk } from './uploadDisk.js';

test('a disk that fills up takes an upload whole or refuses it, and takes it once there is room', fullDisk, 4);
test(
	'a disk that goes away in the middle gets nothing in its place, and uploads go on when it is back',
	vanishedDisk,
	2,
);
