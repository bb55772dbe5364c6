import test from 'ava';
import { Replacing } from '../src/workers/replacing.js';

test('a process that ends is replaced within a second, the next ones after pauses that double to ten seconds', (t) => {
	const replacing = new Replacing();
	// Slowly enough that they don't count as ending again and again.
	const pauses = [0, 40_000, 80_000, 119_000].map((time) => replacing.after(time));
	t.deepEqual(pauses, [0, 1000, 2000, 4000]);
	t.is(replacing.after(121_000), 4000, 'what was two minutes ago does not count');
});

test('after five ends in two minutes there is no further one', (t) => {
	const replacing = new Replacing();
	const pauses = [0, 1, 2, 3].map((time) => replacing.after(time));
	t.false(pauses.includes(undefined));
	t.is(replacing.after(119_999), undefined);
});
