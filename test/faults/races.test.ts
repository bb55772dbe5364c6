import test from 'ava';
import { copyAgainstDelete, deleteAgainstMove, intoEachOther, oneName, twoChanges } from './races.js';

test(
	'either a delete or a concurrent move of a folder succeeds, and the folder is complete or deleted',
	deleteAgainstMove,
	10,
);
test('one of two concurrent changes of a folder succeeds, and the other one gets 404', twoChanges, 12);
test(
	'two folders that are moved into each other keep all their files, and no move is refused as a taken name',
	intoEachOther,
	25,
);
test('one of two concurrent requests for a name gets it, and the other one gets 409 and loses nothing', oneName, 8);
test('a copy of a folder that is deleted meanwhile is complete, or is refused', copyAgainstDelete, 3, 600);
