import test from 'ava';
import { fullDisk, vanishedDisk } from './uploadDisk.js';

test('a disk with any of 60 amounts of free space stores an upload complete or refuses it', fullDisk, 60);
test('uploads continue each of 50 times after their disk was unmounted', vanishedDisk, 50);
