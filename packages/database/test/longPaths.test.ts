import { performance } from 'node:perf_hooks';
import { parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { SqliteClient, SqliteReader } from '../src/connection/sqlite/SqliteClient.js';
import { userStore } from '../src/stores/accounts/users.js';
import { linkStore } from '../src/stores/files/links.js';
import { shareStore } from '../src/stores/files/shares.js';
import { openEmpty } from './emptyDatabase.js';

const count = 300;
const pathLength = 60_000;

interface Query {
	bindings?: unknown;
	response?: unknown;
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

/** The most characters of texts that one statement reads or writes meanwhile. */
async function mostAtOnce(t: ExecutionContext, work: () => Promise<unknown>): Promise<number> {
	let most = 0;
	const count = (values: unknown) => {
		if (values !== undefined) most = Math.max(most, JSON.stringify(values).length);
	};
	for (const { prototype } of [SqliteClient, SqliteReader]) {
		const client = prototype as unknown as { _query: (connection: unknown, query: Query) => Promise<Query> };
		const { _query: run } = client;
		client._query = async function (connection, query) {
			count(query.bindings);
			const answered = await run.call(this, connection, query);
			count(answered.response);
			return answered;
		};
		t.teardown(() => {
			client._query = run;
		});
	}
	await work();
	return most;
}

test.serial('items of a share with long paths are read in less time than it takes to parse their paths', async (t) => {
	const { shares, share } = await withLongPaths(t);
	const timeOf = async (work: () => unknown) => {
		const times: number[] = [];
		for (let n = 0; n < 3; n++) {
			const before = performance.now();
			await work();
			times.push(performance.now() - before);
		}
		return Math.min(...times);
	};
	const paths = share.items.map(({ path }) => path as string);
	const parsing = await timeOf(() => paths.map(parsePath));
	const reading = await timeOf(() => shares.findById(share.id));
	t.true(reading < parsing, `${reading} ms to read what takes ${parsing} ms to parse`);
});

test.serial('a statement reads and writes few long paths', async (t) => {
	const { knex, shares, share } = await withLongPaths(t);
	const read = await mostAtOnce(t, () => shares.findById(share.id));
	t.true(read > pathLength && read < 3_000_000, `${read} characters are read at once`);
	const links = linkStore(knex, Date.now);
	const places = share.items.map(({ id }, n) => [id, { path: pathOf(n), nextPath: pathOf(count + n) }] as const);
	const written = await mostAtOnce(t, () => links.planMoves(new Map(places)));
	t.true(written > pathLength && written < 1_000_000, `${written} characters are written at once`);
	t.is((await shares.findById(share.id))?.items.at(-1)?.nextPath, pathOf(2 * count - 1));
});
