import test from 'ava';
import { cutConnections, jumpingClock, twoTabs } from './uploadConnections.js';

test('uploads are stored once and complete after 300 cuts of the connection at random bytes', cutConnections, 300);
test('the same upload from two tabs at once is stored once, 100 times', twoTabs, 100);
test('a clock that jumps by days ends none of 200 uploads', jumpingClock, 200);
