import type { HomeUsageStore, ProcessUsage, UsageAmount, UsageRow } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { databaseTime } from '../../connection/dialect.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { unfinishedOf } from './uploads.js';

interface ChangesRow {
	home: string;
	process: string;
	number: number;
	added_bytes: number;
	added_entries: number;
	published_bytes: number;
	published_entries: number;
	removed_bytes: number;
	removed_entries: number;
	/** By the clock of the database. */
	touched_at: number;
}

interface MeasureRow {
	home: string;
	number: number;
	bytes: number;
	entries: number;
	is_exact: boolean | number;
	measured_at: number;
}

const none: UsageAmount = { bytes: 0, entries: 0 };

export function homeUsageStore(knex: Knex, now: () => number): HomeUsageStore {
	const changes = () => knex<ChangesRow>('home_changes');
	const time = () => databaseTime(knex, now);
	return {
		async begin(home, process, added) {
			const numbers = knex<MeasureRow>('home_measures').where({ home }).select('number');
			const row = plainRow({ home, process, ...columns({ added, published: none, removed: none }) });
			await knex('home_changes')
				.insert({ ...row, touched_at: time(), number: knex.raw('coalesce((?), 0)', [numbers]) })
				.onConflict(['home', 'process'])
				.merge();
			const made = await changes().where({ home, process }).first('number');
			return Number(made?.number ?? 0);
		},

		async save(home, process, number, row) {
			const changed = await changes()
				.where({ home, process, number })
				.update({ ...plainRow(columns(row)), touched_at: time() as never });
			return changed > 0;
		},

		async find(home, process) {
			const row = await changes().where({ home, process }).first();
			return row && { ...toUsage(row), number: Number(row.number) };
		},

		async state(home, owner, process) {
			const own = (name: string) => knex<MeasureRow>('home_measures').where({ home }).select(knex.raw(name));
			const others = (kind: string, less: string) =>
				changes()
					.where({ home })
					.whereNot({ process })
					.select(knex.raw('sum(?? - ??)', [`added_${kind}`, `${less}_${kind}`]));
			const held = (value: string) => unfinishedOf(knex, owner).select(knex.raw(value));
			// One statement: what goes over from one of them to another is counted in one at least.
			const [row]: Record<string, number | string | null>[] = await knex.select({
				number: own('number'),
				bytes: own('bytes'),
				entries: own('entries'),
				is_exact: own('is_exact'),
				age: knex<MeasureRow>('home_measures')
					.where({ home })
					.select(knex.raw('? - ??', [time(), 'measured_at'])),
				other_bytes: others('bytes', 'removed'),
				other_entries: others('entries', 'removed'),
				unpublished_bytes: others('bytes', 'published'),
				unpublished_entries: others('entries', 'published'),
				held_bytes: held('sum(uploads.offset)'),
				held_entries: held('count(*)'),
			});
			const value = (name: string) => Number(row?.[name] ?? 0);
			return {
				number: value('number'),
				base: { bytes: value('bytes'), entries: value('entries') },
				ageMs: value('age'),
				isExact: value('is_exact') !== 0,
				others: { bytes: value('other_bytes'), entries: value('other_entries') },
				unpublished: { bytes: value('unpublished_bytes'), entries: value('unpublished_entries') },
				held: { bytes: value('held_bytes'), entries: value('held_entries') },
			};
		},

		async rows(home, oldMs) {
			const rows: (ChangesRow & { is_old: boolean | number })[] = await changes()
				.where({ home })
				.select('*', knex.raw('(touched_at < ? - ?) as is_old', [time(), oldMs]));
			return rows.map((row) => ({ ...toUsage(row), isOld: Boolean(row.is_old) }));
		},

		measured: (home, found, before, gone, tookMs) =>
			transact(knex, async (transaction) => {
				const rows = () => transaction<ChangesRow>('home_changes').where({ home });
				// Locked: what a process saves after this has another number, and it finds that.
				const after = (await rows().forUpdate()).map(toUsage).filter(({ process }) => !gone.has(process));
				const counted = before.filter(({ process }) => !gone.has(process));
				const sum = (kind: 'bytes' | 'entries') =>
					after.reduce((all, { removed }) => all + removed[kind], found[kind]) -
					counted.reduce((all, { published }) => all + published[kind], 0);
				const isExact = after.every(({ process, published, removed }) => {
					const former = counted.find((each) => each.process === process);
					return equal(former?.published ?? none, published) && equal(former?.removed ?? none, removed);
				});
				for (const process of gone) await rows().where({ process }).delete();
				const measure = () => transaction<MeasureRow>('home_measures').where({ home });
				const number = Number((await measure().forUpdate().first('number'))?.number ?? 0) + 1;
				await rows().update({ number });
				await transaction('home_measures')
					.insert({
						...plainRow({ home, number, bytes: sum('bytes'), entries: sum('entries'), is_exact: isExact }),
						measured_at: transaction.raw('? - ?', [time(), Math.ceil(tookMs)]),
					})
					.onConflict('home')
					.merge();
			}),

		async doubt(home) {
			await knex<MeasureRow>('home_measures')
				.where({ home, is_exact: true })
				.update(plainRow({ is_exact: false }));
		},

		async sweep(unusedMs) {
			const unused = () =>
				knex<MeasureRow>('home_measures').where('measured_at', '<', knex.raw('? - ?', [time(), unusedMs]));
			for (const { home } of await unused().select('home')) await forgetUsage(knex, home);
		},
	};
}

/** The home is measured anew by who uses it next. */
export async function forgetUsage(knex: Knex, home: string): Promise<void> {
	await transact(knex, async (transaction) => {
		await transaction('home_changes').where({ home }).delete();
		await transaction('home_measures').where({ home }).delete();
	});
}

function columns({ added, published, removed }: UsageRow) {
	return {
		added_bytes: added.bytes,
		added_entries: added.entries,
		published_bytes: published.bytes,
		published_entries: published.entries,
		removed_bytes: removed.bytes,
		removed_entries: removed.entries,
	};
}

function toUsage(row: ChangesRow): ProcessUsage {
	const amount = (kind: 'added' | 'published' | 'removed') => ({
		bytes: Number(row[`${kind}_bytes`]),
		entries: Number(row[`${kind}_entries`]),
	});
	return {
		...{ process: row.process, isOld: false },
		...{ added: amount('added'), published: amount('published'), removed: amount('removed') },
	};
}

function equal(a: UsageAmount, b: UsageAmount): boolean {
	return a.bytes === b.bytes && a.entries === b.entries;
}
