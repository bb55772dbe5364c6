import test from 'ava';
import { cutConnections, jumpingClock, twoTabs } from './uploadConnections.js';

test('connections cut at random bytes lose no acknowledged byte and store no file twice', cutConnections, 6);
test('the same upload from two tabs at once is stored once', twoTabs, 2);
test('a clock that jumps by days does not end an upload', jumpingClock, 3);
