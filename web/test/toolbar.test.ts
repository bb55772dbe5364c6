import test, { type ExecutionContext } from 'ava';
import { stepInRow } from '../src/features/toolbar/stepInRow.js';

const movesTo = (t: ExecutionContext, key: string, from: number, expected: number | undefined) =>
	t.is(stepInRow(key, from, 28), expected);

test('the right arrow key leads to the next letter of the filter', movesTo, 'ArrowRight', 3, 4);
test('the right arrow key leads from the last letter of the filter to the first', movesTo, 'ArrowRight', 27, 0);
test('the left arrow key leads from the first letter of the filter to the last', movesTo, 'ArrowLeft', 0, 27);
test('Home leads to the first letter of the filter', movesTo, 'Home', 9, 0);
test('End leads to the last letter of the filter', movesTo, 'End', 9, 27);
test('other keys do not move the focus in the letter filter', movesTo, 'ArrowDown', 9, undefined);
