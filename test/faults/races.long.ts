import test from 'ava';
import { copyAgainstDelete, deleteAgainstMove, intoEachOther, oneName, twoChanges } from './races.js';

test('500 races of a delete and a move of one folder', deleteAgainstMove, 500);
test('500 races of two changes of one thing', twoChanges, 500);
test('500 races of two folders into each other', intoEachOther, 500);
test('200 races for one name', oneName, 200);
test('60 races of a copy and a delete', copyAgainstDelete, 60, 3000);
