import test from 'ava';
import { fullDisk, vanishedDisk } from './uploadDisk.js';

test('a disk with 60 sizes of room left', fullDisk, 60);
test('a disk that goes away 50 times in the middle of uploads', vanishedDisk, 50);
