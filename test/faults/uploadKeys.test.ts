import test from 'ava';
import { oneKeyAtBoth } from './uploadKeys.js';

test('an upload that comes to two processes at once under one key is one upload', oneKeyAtBoth, 20);
