import test from 'ava';
import { copyAgainstDelete, deleteAgainstMove, intoEachOther, oneName, twoChanges } from './races.js';

test('of a delete and a move of one folder one succeeds, and it is whole or gone', deleteAgainstMove, 50);
test('of two changes of one thing one succeeds, and the other is refused as not there', twoChanges, 30);
test('two folders that are moved into each other are whole, and no move is refused for a name', intoEachOther, 60);
test('of two who want one name one gets it, and the other keeps what they had', oneName, 15);
test('a copy of a folder that is deleted meanwhile is whole, or there is none', copyAgainstDelete, 6, 600);
