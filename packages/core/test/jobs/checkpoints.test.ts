import { parsePath } from '@stowage/rules';
import test from 'ava';
import { savedMove } from '../../src/moving/HomeMove.js';
import type { PasteInput } from '../../src/pasting/pasteInput.js';
import { stateOf } from '../../src/pasting/pasteItems.js';

const input: PasteInput = {
	...{ from: 'private', to: 'private', directory: parsePath('to'), address: '10.0.0.1' },
	items: ['a', 'b', 'c'].map((name) => ({ path: parsePath(name) })),
};

test('the checkpoint of a move of a home that an earlier version saved is read', (t) => {
	const identity = { name: 'ada', sourceId: 'a', runId: 'b' };
	t.deepEqual(savedMove.parse({ ...identity, step: 'leaving', mark: 'copy', aside: 'old', digest: 'd' }), {
		...identity,
		step: 'switching',
		marker: 'copy',
		renamedAway: 'old',
		digest: 'd',
	});
	const state = { ...identity, step: 'switching' as const, marker: 'copy', renamedAway: 'old' };
	t.deepEqual(savedMove.parse(state), state);
});

test('the checkpoint of a paste that an earlier version saved is read', (t) => {
	const saved = { next: 2, failed: 1, faults: [{ path: 'a', message: 'm', code: 'c' }], bytes: 5, mark: 'under way' };
	const { mark: marker, ...rest } = saved;
	const later = { renamed: [], unlisted: 0 };
	t.deepEqual(stateOf({ saved, input }), { ...rest, ...later, marker });
	t.deepEqual(stateOf({ saved: undefined, input }), { next: 0, failed: 0, faults: [], bytes: 0, ...later });
});

test('a field of an earlier name does not replace one of the present name, and a list is no checkpoint', (t) => {
	t.is(stateOf({ saved: { marker: 'new', mark: 'old' }, input }).marker, 'new');
	t.is(stateOf({ saved: { mark: 'old', marker: 'new' }, input }).marker, 'new');
	t.throws(() => stateOf({ saved: [1, 2], input }));
	t.notThrows(() => stateOf({ saved: { constructor: 1, toString: 2 }, input }));
});

for (const saved of [
	{ next: -5 },
	{ next: 4 },
	{ next: 1e9 },
	{ next: 0.5 },
	{ next: 1, failed: 2 },
	{ next: 2, failed: -1 },
	{ bytes: -1 },
	{ marker: {} },
	'text',
]) {
	test(`a damaged checkpoint, ${JSON.stringify(saved)}, is refused, so that its job never ends as done`, (t) => {
		t.throws(() => stateOf({ saved, input }));
	});
}
