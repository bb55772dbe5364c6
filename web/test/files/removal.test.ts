import type { Entry } from '@stowage/rules';
import test from 'ava';
import type { OperationParts } from '../../src/features/files/operations/verbs/OperationParts.js';
import { removeEntries } from '../../src/features/files/operations/verbs/removeEntries.js';

const entries = ['a', 'b', 'c', 'd'].map((name) => ({ name, path: name, type: 'file', size: 0, mtime: 0 }) as Entry);

test('a delete that is cancelled, or whose page is left, says how many are left', async (t) => {
	const said: unknown[] = [];
	const parts = {
		area: 'private',
		runBatch: async () => ({ done: entries.slice(0, 1), failed: [], reason: undefined, isCancelled: true }),
		forget: () => {},
		refetch: () => {},
		remember: () => ({ action: { text: 'Undo', onClick: () => {} } }),
		outcomes: {
			cancelled: (message: string, reason: unknown, offer: object) => said.push(message, reason, Object.keys(offer)),
		},
	} as unknown as OperationParts;
	await removeEntries(parts, entries, 'trash');
	t.deepEqual(said, ['Delete cancelled', 'Deleted 1 item. 3 items left.', ['action']]);
});
