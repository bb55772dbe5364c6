import test from 'ava';
import { cutConnections, jumpingClock, twoTabs } from './uploadConnections.js';

test('300 cuts of the connection at random bytes', cutConnections, 300);
test('the same upload from two tabs, 100 times', twoTabs, 100);
test('a clock that jumps during 200 uploads', jumpingClock, 200);
