import { parsePath } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { pathNow } from '../../src/members/payer.js';
import { SharedFolders } from '../../src/members/SharedFolders.js';
import { assertMayChange } from '../../src/pasting/assertMayChange.js';

const bob = { kind: 'user', id: 'b', username: 'bob' } as const;
const owner = { id: 'a', username: 'ada' };
const folder = {
	id: 'f',
	owner,
	path: parsePath('docs/F'),
	nextPath: undefined,
	itemId: '1',
	role: 'view',
	createdAt: 0,
};
const folders = new SharedFolders({
	store: { joined: async () => [folder], joinedNames: async () => [] },
	rootOf: async () => 'first',
	storage: () => ({ stat: async () => ({ id: '1', type: 'directory', size: 0, mtime: 0 }) }),
} as never);

/** As deep as a path can be, with hardly anything in it. */
const deep = (n: number) => parsePath(`F/p${n}${'/a'.repeat(998)}`);

/** The least processor time of some runs, in milliseconds. */
async function leastMs(work: () => unknown): Promise<number> {
	const times: number[] = [];
	for (let runs = 0; runs < 5; runs++) {
		const ms = await usualMs(async () => {
			for (let n = 0; n < 5; n++) await work();
		});
		times.push(ms);
	}
	return Math.min(...times);
}

const quick = test.macro({
	exec: async (t, work: () => unknown) => {
		const [parsed, ms] = [await leastMs(() => parsePath(deep(0))), await leastMs(work)];
		// To check the path anew for each of its levels takes 500 times as long as to parse it.
		t.true(ms < 40 * parsed + 10, `${ms} ms, and ${parsed} ms to parse it`);
	},
	title: (name) => `${name} costs little more than to parse it, however deep it is`,
});
test('to find what a path in a shared folder means', quick, () => folders.at(bob, deep(0)));
test('to find where a path in a shared folder is now', quick, () =>
	pathNow(folders, bob, { folderId: 'f', path: deep(0) }),
);

/** How many turns others got until it was refused. */
async function turnsOf(refused: () => Promise<unknown>): Promise<number> {
	let turns = 0;
	const turn = () => {
		turns++;
		next = setImmediate(turn);
	};
	let next = setImmediate(turn);
	try {
		await refused();
		throw new Error('It was not refused.');
	} catch (error) {
		if (!(error instanceof Error && 'kind' in error)) throw error;
		return turns;
	} finally {
		clearImmediate(next);
	}
}

const pasted = (count: number) => Array.from({ length: count }, (_, n) => ({ path: deep(n) }));

test('others are served while a move out of many folders that may only be looked at is refused', async (t) => {
	const input = { from: 'shared', to: 'private', directory: parsePath(''), items: pasted(100), address: '' } as const;
	t.true((await turnsOf(() => assertMayChange(folders, bob, 'move', { ...input, items: [...input.items] }))) > 1);
});

/** So many folders of one owner with paths of 60 kB, all of which lie in one deep folder. */
function longFolders(count: number): SharedFolders {
	const above = Array.from({ length: 236 }, () => 'n'.repeat(254)).join('/');
	const rows = Array.from({ length: count }, (_, n) => ({
		...{ id: `f${n}`, owner, nextPath: undefined, itemId: `F${n}`, role: 'view', createdAt: n },
		path: parsePath(Buffer.from(`${above}/F${n}`).toString()),
	}));
	return new SharedFolders({
		store: { joined: async () => rows, joinedNames: async () => [] },
		rootOf: async () => 'first',
		storage: () => ({
			stat: async (path: string) => ({
				id: path.slice(path.lastIndexOf('/') + 1),
				type: 'directory',
				size: 0,
				mtime: 0,
			}),
		}),
	} as never);
}

test('others are served while it is looked for which of the thousand folders above one may be edited', async (t) => {
	const path = parsePath(Buffer.from(`T/${Array(985).fill('n'.repeat(59)).join('/')}/F`).toString());
	const inner = { ...folder, id: 'inner', path, itemId: 'F' };
	const rows = [{ ...folder, id: 'top', path: parsePath('T'), itemId: 'T', role: 'edit' }, inner];
	const stat = async (at: string) => ({ id: at.slice(at.lastIndexOf('/') + 1), type: 'directory', size: 0, mtime: 0 });
	const shared = new SharedFolders({
		store: { joined: async () => rows, joinedNames: async () => [] },
		rootOf: async () => 'first',
		storage: () => ({ stat }),
	} as never);
	const leave = () => shared.assertMayLeave(bob, { name: 'F', folder: inner as never });
	t.true((await turnsOf(leave)) > 2);
});

test('others are served while it is looked for which of the folders counts that a path lies in', async (t) => {
	const names = Array.from({ length: 249 }, (_, n) => `F${n}`);
	const rows = names.map((itemId, n) => ({
		...{ ...folder, id: itemId, itemId },
		path: parsePath(names.slice(0, n + 1).join('/')),
	}));
	const stat = async (at: string) => {
		// As long as a folder of a thousand levels takes.
		for (const begun = performance.now(); performance.now() - begun < 1; );
		return { id: at.slice(at.lastIndexOf('/') + 1), type: 'directory', size: 0, mtime: 0 };
	};
	const shared = new SharedFolders({
		store: { joined: async () => rows, joinedNames: async () => [] },
		rootOf: async () => 'first',
		storage: () => ({ stat }),
	} as never);
	const edit = () => shared.assertMayEdit(owner as never, bob as never, rows.at(-1)?.path ?? parsePath(''));
	t.true((await turnsOf(edit)) > 5);
});

const moved = (count: number) => {
	const items = Array.from({ length: count }, (_, n) => ({ path: parsePath(`F0/p${n}/a`) }));
	return { from: 'shared', to: 'private', directory: parsePath(''), items, address: '' } as const;
};

test('a call that has to look at many folders ends once its client has gone', async (t) => {
	const gone = new AbortController();
	let asked = 0;
	const shared = longFolders(50);
	const counting = {
		forMany: () => {
			const { at } = shared.forMany();
			return {
				at: (...words: Parameters<typeof at>) => {
					if (++asked === 10) gone.abort(new Error('gone'));
					return at(...words);
				},
			};
		},
	};
	const input = { ...moved(10_000), items: [...moved(10_000).items] };
	await t.throwsAsync(assertMayChange(counting, bob, 'move', input, gone.signal), { message: 'gone' });
	t.true(asked < 5000, `${asked} items`);
});
