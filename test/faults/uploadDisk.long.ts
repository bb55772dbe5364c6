import test from 'ava';
import { fullDisk, vanishedDisk } from './uploadDisk.js';

test('a disk with any of 60 amounts of free space stores an upload complete or refuses it', fullDisk, 60);
test('uploads continue after each of 50 times that their disk is missing', vanishedDisk, 50);
