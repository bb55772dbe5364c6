import test from 'ava';
import { renameAgainstMoveInside } from './linkRaces.js';

test('a link is kept while two processes move its file and the folder above it', renameAgainstMoveInside, 15);
