import { parentPath, parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { linksWithin } from '../../conformance/src/repositories/rules.js';
import { SqliteClient, SqliteReader } from '../src/connection/sqlite/SqliteClient.js';
import { userStore } from '../src/stores/accounts/users.js';
import { batches } from '../src/stores/batches.js';
import { linkStore } from '../src/stores/files/links.js';
import { memberStore } from '../src/stores/files/members.js';
import { shareStore } from '../src/stores/files/shares.js';
import { trashStore } from '../src/stores/files/trash.js';
import { versionStore } from '../src/stores/files/versions.js';
import { openEmpty } from './emptyDatabase.js';

const count = 300;
const pathLength = 60_000;

interface Query {
	sql: string;
	bindings?: unknown;
	response?: unknown;
	context?: { changes: number };
}

/** The path of an item 950 levels deep, as many get one by a single move of a folder above them. */
const pathOf = (n: number) => parsePath(`${Array(950).fill('d'.repeat(62)).join('/')}/${n}`);

/** A share of items with long paths. */
async function withLongPaths(t: ExecutionContext) {
	const knex = await openEmpty(t);
	const { id: ownerId } = await userStore(knex, Date.now).add({ username: 'ada', secret: 's' });
	const shares = shareStore(knex, Date.now);
	const items = Array.from({ length: count }, (_, n) => ({ path: pathOf(n), itemId: `${n}`, type: 'file' as const }));
	const settings = { title: '', message: '', mode: 'view', asksName: false, expiresAt: null } as const;
	const limits = { passwordSecret: null, maxDownloads: null, maxUploadBytes: null };
	const tokens = { tokenHash: 'hash', sealedToken: 'sealed' };
	const share = await shares.add({ ...settings, ...limits, ...tokens, ownerId, items }, { shares: 1, items: count });
	return { knex, shares, share };
}

/** The most characters of texts that one statement reads or writes meanwhile, and the most rows that one changes, or a transaction. */
async function mostOf(
	t: ExecutionContext,
	work: () => Promise<unknown>,
): Promise<{ characters: number; changes: number }> {
	const most = { characters: 0, changes: 0 };
	const count = (values: unknown) => {
		if (values !== undefined) most.characters = Math.max(most.characters, JSON.stringify(values).length);
	};
	let isTransaction = false;
	let changes = 0;
	for (const { prototype } of [SqliteClient, SqliteReader]) {
		const client = prototype as unknown as { _query: (connection: unknown, query: Query) => Promise<Query> };
		const { _query: run } = client;
		client._query = async function (connection, query) {
			count(query.bindings);
			if (/^(begin|commit)/i.test(query.sql)) isTransaction = /^begin/i.test(query.sql);
			const answered = await run.call(this, connection, query);
			count(answered.response);
			changes = (isTransaction ? changes : 0) + (answered.context?.changes ?? 0);
			most.changes = Math.max(most.changes, changes);
			return answered;
		};
		t.teardown(() => {
			client._query = run;
		});
	}
	await work();
	return most;
}

const mostAtOnce = async (t: ExecutionContext, work: () => Promise<unknown>) => (await mostOf(t, work)).characters;

test.serial(
	'a statement adds, moves, binds, places, marks, removes and counts few versions with long paths',
	async (t) => {
		const knex = await openEmpty(t);
		const [trash, versions] = [trashStore(knex, Date.now), versionStore(knex, Date.now)];
		const idOf = (n: number) => n.toString(16).padStart(32, '0');
		const own = { ownerId: 'ada', ownerName: 'ada', rootId: 'r', deletedBy: 'ada', deletedAt: 1, mtime: 1 } as const;
		const of = { kind: 'version', type: 'file', size: { bytes: 1, entries: 1 }, state: 'moving' } as const;
		const versionAt = (n: number) => ({ ...own, ...of, versionOf: n < 100 ? 'a' : `${n}`, replacedId: `was ${n}` });
		const records = Array.from({ length: 120 }, (_, n) => ({ ...versionAt(n), id: idOf(n), path: pathOf(n) }));
		const ids = Array.from({ length: 120 }, (_, n) => idOf(n));
		const above = parsePath('d'.repeat(62));
		const moved = parsePath('e'.repeat(62));
		let files = 0;
		const count = async (some: unknown[]) => {
			files += some.length;
		};
		const work: (readonly [string, () => Promise<unknown>])[] = [
			['add', () => trash.addMissing(records)],
			['settle', () => trash.settle(ids, 'moving')],
			[
				'move',
				async () => {
					while ((await versions.move('ada', above, moved)) > 0);
				},
			],
			['bind', () => versions.bind('ada', 'a', 'b')],
			['count', () => versions.countsWithin('ada', moved, count)],
			['place', () => versions.place('ada', { file: 'b', path: pathOf(1) })],
			['mark versions', () => versions.beginPurging('ada', ['b'])],
			['mark', () => trash.beginPurging({ ids })],
			['remove', () => trash.remove(ids)],
		];
		for (const [name, run] of work) {
			const { characters, changes } = await mostOf(t, run);
			t.true(characters < 7_000_000, `${name}: ${characters} characters are read at once`);
			t.true(changes <= 20, `${name}: ${changes} rows are written at once`);
			t.true(changes > 5 || name === 'count', `${name}: ${changes} rows`);
		}
		t.is(files, 120);
		t.deepEqual(await trash.count('ada', 'version'), { items: 0, pathBytes: 0, ofOthers: new Map() });
		t.false(await versions.hasAny('ada'));
	},
);

test.serial('of deleted items with long paths few are read by a statement', async (t) => {
	const trash = trashStore(await openEmpty(t), Date.now);
	const own = { ownerId: 'ada', ownerName: 'ada', rootId: 'r', deletedBy: 'ada', deletedAt: 1 } as const;
	const of = { kind: 'item', type: 'file', size: { bytes: 1, entries: 1 }, state: 'moving' } as const;
	const items = Array.from({ length: 120 }, (_, n) => ({ ...own, ...of, id: `${1000 + n}`, path: pathOf(n) }));
	await trash.addMissing(items);
	const reads: (() => Promise<unknown[]>)[] = [
		() => trash.list({ order: 'oldest', limit: 200, ownerId: 'ada', kind: 'item' }),
		() => trash.list({ order: 'oldest', limit: 200, ids: items.map(({ id }) => id) }),
		() => trash.inState('moving', { limit: 200 }),
	];
	for (const read of reads) {
		const most = await mostAtOnce(t, async () => t.deepEqual(await read(), items));
		t.true(most > pathLength && most < 1_000_000, `${most} characters at once`);
	}
});

test.serial('stored paths are not parsed again when the items of a share are read', async (t) => {
	const { knex, shares, share } = await withLongPaths(t);
	// None that could be parsed.
	const stored = '../../d';
	t.throws(() => parsePath(stored));
	await knex('temp_links').update({ path: stored });
	const read = await shares.get(share.id);
	t.deepEqual(
		read?.items.map(({ path }) => path as string),
		Array(count).fill(stored),
	);
});

test.serial('a statement reads and writes few long paths', async (t) => {
	const { knex, shares, share } = await withLongPaths(t);
	const read = await mostAtOnce(t, () => shares.get(share.id));
	t.true(read > pathLength && read < 1_000_000, `${read} characters are read at once`);
	const part = await mostAtOnce(t, () => shares.itemsOf(share, 100));
	t.true(part > pathLength && part < 1_000_000, `${part} characters are read at once`);
	const links = linkStore(knex, Date.now);
	const places = share.items.map(({ id }, n) => [id, { path: pathOf(n), nextPath: pathOf(count + n) }] as const);
	const written = await mostAtOnce(t, () => links.planMoves(new Map(places)));
	t.true(written > pathLength && written < 1_000_000, `${written} characters are written at once`);
	t.is((await shares.get(share.id))?.items.at(-1)?.nextPath, pathOf(2 * count - 1));
});

test.serial('whoever adds or follows items with long paths reads and writes few of them by a statement', async (t) => {
	let made: Awaited<ReturnType<typeof withLongPaths>> | undefined;
	const most = async (work: () => Promise<unknown>) => {
		const length = await mostAtOnce(t, work);
		t.true(length > pathLength && length < 1_000_000, `${length} characters at once`);
	};
	await most(async () => {
		made = await withLongPaths(t);
	});
	const { knex, share } = made as NonNullable<typeof made>;
	const links = linkStore(knex, Date.now);
	const ids = share.items.map(({ id }) => id);
	await most(async () => t.is((await links.get(ids)).length, count));
	const some = parentPath(pathOf(0));
	await most(async () => t.is((await linksWithin(links, share.owner.id, some)).length, count));
	await knex('temp_links').whereIn('id', ids.slice(100)).delete();
	await most(async () => t.is((await linksWithin(links, share.owner.id, some)).length, 100));
});

test.serial('of folders with members and long paths few are read by a statement', async (t) => {
	const { knex, share } = await withLongPaths(t);
	const { id: bob } = await userStore(knex, Date.now).add({ username: 'bob', secret: 's' });
	await knex('temp_links').where('share_id', share.id).update({ share_id: 'members' });
	const rows = share.items.map(({ id }) => ({ folder_id: id, user_id: bob, role: 'view', created_at: 1 }));
	for (const part of batches(rows)) await knex('members').insert(part);
	const members = memberStore(knex, Date.now);
	const paths = share.items.map(({ path }) => path).sort();
	const most = await mostAtOnce(t, async () => {
		t.deepEqual(
			(await members.list(share.owner.id)).map(({ path }) => path),
			paths,
		);
		t.is((await members.countsIn(share.owner.id, parentPath(pathOf(0)))).size, count);
		for (const owner of [undefined, share.owner.id])
			t.deepEqual((await members.joined(bob, owner)).map(({ path }) => path).sort(), paths);
	});
	t.true(most > pathLength && most < 1_000_000, `${most} characters at once`);
	// Each second for who has their list open.
	const watched = await mostAtOnce(t, async () => t.is((await members.joinedNames(bob)).length, count));
	t.true(watched < 400_000, `${watched} characters at once`);
	const reading = members.joined(bob);
	await knex('temp_links').update({ item_id: 'other' });
	t.is(new Set((await reading).map(({ itemId }) => itemId === 'other')).size, 1, 'they are read as of one moment');
});
