import test, { type ExecutionContext } from 'ava';
import { stepInRow } from '../src/features/toolbar/stepInRow.js';

const leads = (t: ExecutionContext, key: string, from: number, expected: number | undefined) =>
	t.is(stepInRow(key, from, 28), expected);

test('the right arrow leads to the next letter', leads, 'ArrowRight', 3, 4);
test('and from the last to the first', leads, 'ArrowRight', 27, 0);
test('the left arrow leads back, and from the first to the last', leads, 'ArrowLeft', 0, 27);
test('Home leads to the first', leads, 'Home', 9, 0);
test('End leads to the last', leads, 'End', 9, 27);
test('other keys lead nowhere', leads, 'ArrowDown', 9, undefined);
