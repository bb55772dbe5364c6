import test from 'ava';
import { fullDisk, vanishedDisk } from './uploadDisk.js';

test('a nearly full disk stores an upload complete or refuses it, and stores it once there is space', fullDisk, 4);
test(
	'nothing is written in place of a disk that is unmounted during uploads, and they continue when it is back',
	vanishedDisk,
	2,
);
