import type { Database } from '@stowage/database';
import type { TestFn } from 'ava';
import Libsql from 'libsql';
import { PreparedStatements } from '../src/connection/sqlite/PreparedStatements.js';
import { placeDatabase } from './emptyDatabase.js';
import { temporaryFolder } from './temporaryFolder.js';

/** Statements that may read a whole table, or all of a user in it, and why that is bounded. */
const mayScan: readonly (readonly [statement: RegExp, reason: string])[] = [
	[/from `?(migrations|storage_roots)`?|^update `storage_roots`/, 'rows of the administrator’s, by the dozen'],
	[/from `event_listeners`|from `processes`/, 'a row for each process'],
	[/(from|^update) `home_moves`/, 'a row for each home that the administrator moves now'],
	[/from `job_interruptions`/, 'a row for each job that ran when a process ended uncleanly'],
	[/from `credentials` where `kind` = \?$/, '`stowage user list`'],
	[/from `users` (left join `credentials` .* )?order by `(users`.`)?username_folded` asc$/, '`stowage user list`'],
	[
		/from `shares` .*order by `shares`.`created_at` desc, `shares`.`id` desc limit \?$/,
		'a page, in the order of an index',
	],
	[/from `temp_links` .*order by temp_links.created_at desc, temp_links.id desc limit \?$/, 'the same'],
	[/from `trash` where [^(]*not `state` = \? order by `deleted_at` (asc|desc), `id` (asc|desc) limit \?$/, 'the same'],
	[/^delete from `temp_links` where `share_id` = \?$/, 'the items of one share, of which it has a thousand at most'],
	[
		/^select (`share_id`, count|`id`, `share_id`, `share_position`, octet_length).* where `share_id` in \(/,
		'those of a few shares',
	],
	[/^select `path` from `temp_links` where `share_id` = \? order by `share_position` asc limit \?$/, 'the first one'],
	[/^select `temp_links`.`id` .* where `temp_links`.`share_id` = \? order by users/, '`stowage share members`'],
	[/^select `id` from `temp_links` where `user_id` = \? limit \?$/, 'whether there is any, or the first ones'],
	[/^select `id` from `temp_links` where `user_id` = \?$/, 'those in a whole home, or in a folder that has very many'],
	[
		/^select sum\(octet_length\(path\)\) as bytes from `temp_links` where `user_id` = \? limit \?$/,
		'in an index that has them, where a long path is added',
	],
	[/^delete from `users` where `id` = \?$/, 'all of a user who is removed'],
	[
		/from `jobs` where status = \? and `kind` = \? .*order by `turn` asc, .* limit \?$/,
		'the first in the order of an index',
	],
	[/^select (distinct )?`kind`.* from `jobs` where `status` = \?/, 'by an index of which no row is read'],
	[/^select `id`, `kind`, `user_id`, `network`, `holder`, .* from `jobs` where `status` = \?$/, 'jobs that run'],
	[
		/^select `id` from `jobs` where `status` in \(\?, \?\) and `saved` like \? limit \?$/,
		'when what was not taken is swept',
	],
	[/^select sum\(`bytes`\).* from `trash` where (`version_of` is not null and )?not `state` = \?$/, '`stowage trash`'],
	[/^select `id` from `trash` where `user_id` = \? and `version_of` is not null limit \?$/, 'one row'],
	[
		/^select (`\w+`, )+`(id|rowid)` from `trash` where .* order by .* limit \? offset \?$/,
		'a page of keys of an index',
	],
	[
		/^select count\(\*\) as `items`, sum\(octet_length\(path\)\) .* from `trash` where `user_id` = \? and `version_of` is (not )?null and not/,
		'where these are no more than a page',
	],
	[/from `trash` where .* octet_length\(path\) > \? and not `state` = \? order by/, 'only where these are too many'],
	[
		/^select sum\(`bytes`\).* from `trash` where `user_id` = \? and (`version_of` is not null and )?not `state` = \?$/,
		'where these are no more than a page',
	],
];

/** What a search in a table that strangers fill has to begin with: by less it reads all rows of a user, an address or a share. */
const mustBegin: Readonly<Record<string, RegExp>> = {
	uploads: /\((id_hash=|rowid=|(\w+=\? AND )?staged_id[=<>]|expires_at<)/,
	trash:
		/\((id=|rowid=|state=|deleted_at[<>=]|root_id=\? AND|user_id=\? AND (folder|\(folder|version_of=\?|(version_of>\? AND )?\(version_of|deleted_at))/,
	temp_links: /\((id=|rowid=|token_hash=|expires_at<|created_at<|share_id=\? AND|user_id=\? AND)/,
	jobs: /\((id=|rowid=|user_id[=>]|end_time[=<>]|updated_at>|kind=\? AND is_long=|status=\? AND kind=\? AND (is_long=\? AND )?network[=>])/,
	tickets: /\((token_hash=|rowid=|holder[=<>]|ends_at[=<>]|expires_at<)/,
};

/** Not called on a file, or not stores. */
const notStores = ['processes', 'now', 'ping', 'freeSpace', 'close', 'sweepLimits'];

/** The texts of the statements of an SQLite database, which are explained once all tests have run. */
export class ExplainedStatements {
	readonly #texts = new Set<string>();
	readonly #methods = new Set<string>();
	readonly #called = new Set<string>();
	#tests = 0;
	#begun = 0;

	/** The statements of this process are recorded from now on: those of migrations come before. */
	record(): void {
		const { take } = PreparedStatements.prototype;
		this.record = () => {};
		const texts = this.#texts;
		PreparedStatements.prototype.take = function (sql) {
			texts.add(sql);
			return take.call(this, sql);
		};
	}

	/** Counts the tests, of which a match may leave out some. */
	counting(test: TestFn): TestFn {
		return ((title: string, ...rest: unknown[]) => {
			this.#tests++;
			return (test as unknown as (...all: unknown[]) => unknown)(title, ...rest);
		}) as unknown as TestFn;
	}

	/** The database, whose calls are noted. */
	watched(database: Database): Database {
		this.#begun++;
		const wrapped = Object.entries(database).map(([name, store]) => {
			const note = (method: string) => this.#called.add(method);
			if (typeof store !== 'object') {
				this.#methods.add(name);
				const call = (...all: unknown[]) => {
					note(name);
					return (store as (...all: unknown[]) => unknown)(...all);
				};
				return [name, typeof store === 'function' ? call : store];
			}
			for (const method of Object.keys(store)) this.#methods.add(`${name}.${method}`);
			const get = (target: object, method: string) => {
				note(`${name}.${method}`);
				return target[method as never];
			};
			return [name, new Proxy(store, { get } as ProxyHandler<typeof store>)];
		});
		return Object.fromEntries(wrapped) as Database;
	}

	/** Throws for what reads a table whole, and for a method that nothing has called. */
	async assertBounded(): Promise<void> {
		const folder = await temporaryFolder();
		const file = `${folder.path}/stowage.db`;
		await placeDatabase(file);
		const connection = new Libsql(file);
		try {
			const refused = [...this.#texts].flatMap((sql) => {
				const rows = connection.prepare(`explain query plan ${sql}`).all() as { detail: string }[];
				const steps = rows.map(({ detail }) => detail).filter((step) => isUnbounded(step, sql));
				return steps.length === 0 ? [] : [`${steps.join('; ')}: ${sql}`];
			});
			if (refused.length > 0) throw new Error(`These read more than an index finds:\n${refused.join('\n')}`);
		} finally {
			connection.close();
			await folder.remove();
		}
		const missing = [...this.#methods].filter((name) => !this.#called.has(name) && !notStores.includes(name));
		if (this.#begun === this.#tests && missing.length > 0)
			throw new Error(`No rule of @stowage/conformance calls ${missing.join(', ')}: its statements are not explained.`);
	}
}

function isUnbounded(step: string, sql: string): boolean {
	if (/^SCAN (?!CONSTANT ROW)/.test(step)) return !mayScan.some(([statement]) => statement.test(sql));
	const begin = mustBegin[/^SEARCH (\w+) /.exec(step)?.[1] ?? ''];
	return begin !== undefined && !begin.test(step) && !mayScan.some(([statement]) => statement.test(sql));
}
