import type { JobContext } from '@stowage/plugin-api';
import test from 'ava';
import { savedMove } from '../../src/moving/HomeMove.js';
import type { PasteInput } from '../../src/pasting/pasteInput.js';
import { stateOf } from '../../src/pasting/pasteItems.js';

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
	t.deepEqual(stateOf({ saved } as JobContext<PasteInput>), { ...rest, marker });
	t.deepEqual(stateOf({ saved: undefined } as JobContext<PasteInput>), { next: 0, failed: 0, faults: [], bytes: 0 });
});
