import { parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import knexOf, { type Knex } from 'knex';
import Libsql from 'libsql';
import { linksWithin } from '../../conformance/src/repositories/rules.js';
import { SqliteClient } from '../src/connection/sqlite/SqliteClient.js';
import { nextTurn } from '../src/stores/coordination/jobs/jobQueue.js';
import { jobStore } from '../src/stores/coordination/jobs/jobStore.js';
import { linkStore } from '../src/stores/files/links.js';
import { assertRoom, memberStore } from '../src/stores/files/members.js';
import { shareUseStore } from '../src/stores/files/shareUses.js';
import { trashStore } from '../src/stores/files/trash.js';
import { versionStore } from '../src/stores/files/versions.js';
import { placeDatabase } from './emptyDatabase.js';
import { temporaryFolder } from './temporaryFolder.js';

/** Stores over this have their statements explained, and find nothing but what is given. `plans` has how each is carried out. */
async function explained(
	t: ExecutionContext,
	found: (sql: string) => unknown = () => [],
): Promise<{ knex: Knex; plans: string[] }> {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = `${folder.path}/stowage.db`;
	await placeDatabase(file);
	const connection = new Libsql(file);
	t.teardown(() => connection.close());
	const plans: string[] = [];
	// Without a connection of its own.
	const knex = knexOf({ client: SqliteClient, useNullAsDefault: true });
	knex.client.runner = (builder: {
		toSQL(): { toNative(): { sql: string; bindings: (string | number | boolean)[] } };
	}) => ({
		async run() {
			const { sql, bindings } = builder.toSQL().toNative();
			const rows = connection
				.prepare(`explain query plan ${sql}`)
				.all(...bindings.map((value) => (typeof value === 'boolean' ? Number(value) : value))) as { detail: string }[];
			plans.push(rows.map(({ detail }) => detail).join('; '));
			return found(sql);
		},
	});
	return { knex, plans };
}

test('the next job is the first one in an index, however many of its network or of others wait', async (t) => {
	let network = 10;
	const { knex, plans } = await explained(t, (sql) => {
		if (sql.includes('order by `network`')) return { id: 'a', user_id: 'ada', network: `${network++}` };
		return sql.includes('`turn` <= ?') ? undefined : [];
	});
	const jobs = jobStore(knex, Date.now);
	const passedOver = { except: ['bob'], exceptJobs: ['b'], exceptNetworks: ['10', '11'], after: '09' };
	for (const choice of [{}, { isLong: false }]) {
		plans.length = 0;
		network = 10;
		t.is((await jobs.next('copy', { ...passedOver, ...choice }))?.network, '12');
		t.is(plans.length, 5);
		for (const plan of plans.slice(-3)) {
			t.regex(
				plan,
				/SEARCH jobs USING INDEX jobs_network\w* \(status=\? AND kind=\? AND (is_long=\? AND )?network>\?\)/,
			);
			t.is(plan.includes('is_long=? AND'), 'isLong' in choice);
			t.notRegex(plan, /TEMP B-TREE/);
		}
	}
});

test('the turn of a job is found by two indexes, however many of its network wait', async (t) => {
	const { knex, plans } = await explained(t);
	await nextTurn(knex as Knex.Transaction, 'ada', { kind: 'copy', is_long: false, network: '192.0.2.1' });
	t.regex(plans[0] ?? '', /SEARCH jobs USING INDEX jobs_user_turn \(user_id=\? AND kind=\?\)/);
	t.regex(plans[1] ?? '', /jobs_network_begun \(kind=\? AND is_long=\? AND network=\?/);
});

test('the versions of a path, and those of a folder in pages, are found by an index', async (t) => {
	const { knex, plans } = await explained(t);
	const versions = versionStore(knex, Date.now);
	const path = parsePath('docs/a');
	await versions.unfinished('ada', path);
	await versions.of('ada', { file: '1', path });
	await versions.writerOf('ada', '1', 'item');
	t.is(
		plans.filter((plan) => plan.includes('trash_user_path (user_id=? AND folder=? AND path=?')).length,
		2,
		plans.join('\n'),
	);
	plans.length = 0;
	await versions.countsIn('ada', [parsePath('docs')], { limit: 100, after: { file: '1', path } });
	t.regex(plans.join(), /trash_user_path \(user_id=\? AND folder=\? AND path>/);
	await versions.countsIn('ada', ['docs', 'papers'].map(parsePath), { limit: 100 });
	t.notRegex(plans.join(), /TEMP B-TREE/, 'a page reads its own rows only');
});

test('the files in a folder that have versions are found in pages, without the other versions of their owner', async (t) => {
	// A page of 100, and nothing after it.
	const { knex, plans } = await explained(t, (sql) =>
		/ > \((\?, )*\?\)/.test(sql)
			? []
			: Array.from({ length: 100 }, (_, n) => ({ path: `docs/${n}`, version_of: `${n}`, count: 1 })),
	);
	const versions = versionStore(knex, Date.now);
	let files = 0;
	const count = async (some: unknown[]) => {
		files += some.length;
	};
	await versions.countsWithin('ada', parsePath('docs'), count);
	t.is(files, 300);
	t.is(plans.length, 6, 'each range in pages');
	const begins = plans.map((plan) => /\((\w+,)?path,version_of\)>/.test(plan) || /path=\?/.test(plan));
	t.deepEqual(begins, [true, true, false, true, false, true], 'a page begins where the one before has ended');
	await versions.countsWithin('ada', parsePath(''), count);
	for (const plan of plans) {
		t.regex(plan, /trash_user_path \(user_id=\? AND \(?folder/);
		t.notRegex(plan, /TEMP B-TREE/);
	}
});

test('the deleted items of a user are listed and summed by an index, without their versions', async (t) => {
	let pages = 0;
	const end = { version_of: 'v', deleted_at: 1, id: 'a', rowid: 1 };
	const { knex, plans } = await explained(t, (sql) => {
		if (sql.includes('offset')) return pages-- > 0 ? end : undefined;
		return sql.includes('sum(') ? [{}] : [];
	});
	const trash = trashStore(knex, Date.now);
	const page = { ownerId: 'ada', kind: 'item', limit: 9 } as const;
	await trash.list({ ...page, order: 'newest' });
	await trash.list({ ...page, order: 'oldest', after: { deletedAt: 1, id: 'a' } });
	// The first page of its keys is full.
	pages = 1;
	await trash.list({ ...page, order: 'newest', deletedBy: 'owner' });
	pages = 1;
	await trash.list({ ...page, order: 'oldest', deletedBy: 'others', after: { deletedAt: 1, id: 'a' } });
	t.true(plans.length >= 10, `${plans.length}`);
	for (const plan of plans) {
		t.regex(plan, /trash_user_kind \(user_id=\? AND version_of=\?/);
		t.notRegex(plan, /TEMP B-TREE/);
	}
	plans.length = 0;
	await trash.totals({ ownerId: 'ada', kind: 'item' });
	t.regex(plans.join(), /COVERING INDEX trash_user_kind \(user_id=\? AND version_of=\?/);
	await trash.totals({ ownerId: 'ada' });
	t.regex(plans.at(-1) ?? '', /COVERING INDEX trash_user_kind/);

	const summed = async (selection: Parameters<typeof trash.totals>[0], index: RegExp) => {
		plans.length = 0;
		// The first one says that there are many.
		pages = 3;
		await trash.totals(selection);
		t.is(plans.length, 7);
		for (const plan of plans) {
			t.regex(plan, index);
			t.notRegex(plan, /TEMP B-TREE/);
		}
		const [, , first, next, middle, rest, last] = plans;
		t.regex(first ?? '', /<(\(|\?)/, 'a page ends where it was said to');
		for (const plan of [next, middle, rest, last])
			t.regex(plan ?? '', /(\)>\(|deleted_at>\?)/, 'a page begins where the one before has ended');
		t.regex(middle ?? '', /<(\(|\?)/);
	};
	await summed({ ownerId: 'ada', kind: 'item' }, /COVERING INDEX trash_user_kind \(user_id=\? AND version_of=\?/);
	await summed(
		{ ownerId: 'ada', kind: 'version' },
		/COVERING INDEX trash_user_kind \(user_id=\? AND (version_of>|\(version_of)/,
	);
	await summed({ rootId: 'root' }, /INDEX trash_root_deleted \(root_id=\?/);
});

test('the links to an item, and a page of links, are found by indexes', async (t) => {
	const { knex, plans } = await explained(t);
	const links = linkStore(knex, Date.now);
	const after = { createdAt: 1, id: 'a' };
	await linksWithin(links, 'ada', parsePath('docs'));
	for (const [index, bound] of [
		['user_path', 'path='],
		['user_path', 'path>'],
		['user_next_path', 'next_path='],
		['user_next_path', 'next_path>'],
	])
		t.true(
			plans.some((plan) => plan.includes(`temp_links_${index} (user_id=? AND ${bound}`)),
			plans.join('\n'),
		);
	plans.length = 0;
	// The items of shares, of which there may be ten thousand, lie between the links in an index of times.
	await links.page({ ownerId: 'ada', limit: 100 });
	await links.page({ ownerId: 'ada', limit: 100, after });
	for (const plan of plans) t.regex(plan, /temp_links_user_share \(user_id=\? AND share_id=\?\)/);
	plans.length = 0;
	await links.page({ limit: 100, after });
	t.regex(plans.join(), /temp_links_created \(created_at</);
	t.notRegex(plans.join(), /TEMP B-TREE/);
});

test('a link is made, and expired ones are swept, without reading the items of shares', async (t) => {
	const { knex, plans } = await explained(t, (sql) => {
		if (sql.includes('from `users`')) return { id: 'ada', username: 'ada' };
		if (sql.includes('count')) return [{ count: sql.includes('expires_at') ? 999 : 1000 }];
		return [];
	});
	// A transaction would need a connection.
	const own = {
		transaction: (work: (transaction: Knex) => unknown) => work(within),
		raw: (sql: string, values: Knex.RawBinding[]) => knex.raw(sql, values),
	};
	const within = Object.assign((table: string) => knex(table), own) as unknown as Knex;
	const links = linkStore(within, Date.now);
	const row = { tokenHash: 'hash', ownerId: 'ada', path: parsePath('a'), itemId: 'id', expiresAt: 1 };
	await links.add(row, 1000);
	const read = plans.filter((plan) => plan.includes('temp_links'));
	t.is(read.length, 3);
	for (const plan of read) t.regex(plan, /temp_links_user_share \(user_id=\? AND share_id=\?\)/);
	plans.length = 0;
	await links.sweep(1);
	t.regex(plans.join(), /temp_links_expires_at \(expires_at<\?\)/);
});

test('clients that are downloading from a share, of which strangers make any number, are counted by an index and not read', async (t) => {
	const share = { downloads: 0, max_downloads: 10 };
	const { knex, plans } = await explained(t, (sql) =>
		sql.includes('`shares`') ? share : sql.includes('count') ? [{ count: 9 }] : undefined,
	);
	t.true(await shareUseStore(knex, Date.now).mayAdmit('a', 'client', 1));
	t.regex(plans.at(-1) ?? '', /COVERING INDEX share_passes_touched \(share_id=\? AND touched_at>/);
	t.is(plans.filter((plan) => /share_passes/.test(plan)).length, 2, 'and the client’s own row');
});

test('the folders with members of a user, and those that others share with them, are found by an index of theirs', async (t) => {
	const { knex, plans } = await explained(t, (sql) =>
		sql.startsWith('select `id`') ? [{ id: 'f', path: 'a/b', next_path: null }] : [],
	);
	const members = memberStore(knex, Date.now);
	await members.countsIn('ada', parsePath('a'));
	await members.joined('bob');
	await members.joined('bob', 'ada');
	await members.joinedNames('bob');
	await members.list('ada');
	await members.find('ada', 'id');
	for (const plan of plans) {
		t.regex(plan, /USING (COVERING )?INDEX/);
		t.notRegex(plan, /temp_links_share |SCAN (?!USING)/);
	}
});

test('whether users may be made members is counted by indexes of the members, and by no other row for each of them', async (t) => {
	const { knex, plans } = await explained(t);
	await assertRoom(knex, 'ada', ['bob', 'eve'], { folders: 1, ofOneOwner: 1, ofAllOwners: 1 });
	const rows = plans.map((plan) => plan.split('; ').filter((step) => /^(SEARCH|SCAN)/.test(step)));
	t.is(rows.length, 2);
	t.regex(rows[0]?.join('; ') ?? '', /^SEARCH members USING (COVERING )?INDEX members_user_id \(user_id=\?\)$/);
	t.regex(rows[1]?.[0] ?? '', /^SEARCH members USING .*INDEX/);
	t.is(
		rows[1]?.filter((step) => step.startsWith('SEARCH temp_links') && step.includes('(user_id=? AND share_id=?)'))
			.length,
		1,
	);
	t.is(rows[1]?.length, 2);
});
