import test from 'ava';
import { cutConnections, jumpingClock, twoTabs } from './uploadConnections.js';

test('connections that break anywhere cost no byte that was acknowledged, and no file comes twice', cutConnections, 12);
test('the same upload from two tabs at once comes to be once', twoTabs, 2);
test('a clock that jumps by days ends no upload', jumpingClock, 3);
