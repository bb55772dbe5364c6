import test from 'ava';
import { copyAgainstDelete, deleteAgainstMove, intoEachOther, oneName, twoChanges } from './races.js';

test(
	'a delete or a move of one folder succeeds in each of 500 races, and the folder is complete or deleted',
	deleteAgainstMove,
	500,
);
test('one of two changes of a folder succeeds in each of 500 races, and the other one gets 404', twoChanges, 500);
test('two folders that are moved into each other keep all their files in each of 500 races', intoEachOther, 500);
test('one of two requests for a name gets it in each of 200 races, and the other one gets 409', oneName, 200);
test(
	'a copy of a folder that is deleted meanwhile is complete or refused in each of 60 races',
	copyAgainstDelete,
	60,
	3000,
);
