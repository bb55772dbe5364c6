import type { ProcessFacts, ProcessStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import type { DatabaseClock } from '../../connection/DatabaseClock.js';
import { databaseTime } from '../../connection/dialect.js';
import { isUnavailable } from '../../connection/errors.js';
import { plainRow } from '../../connection/plainValues.js';

interface ProcessRow {
	name: string;
	node: string;
	version: string;
	seen_at: number;
	clock_offset: number;
	settings: string;
	/** Null in the rows of a version that doesn't say. */
	capabilities: string | null;
	roots: string | null;
}

interface AgreementRow {
	name: string;
	value: string;
}

/** The processes that run. Each writes its own row only, so that nodes of a cluster have no conflicts. */
export function processStore(knex: Knex, clock: DatabaseClock): ProcessStore {
	const processes = () => knex<ProcessRow>('processes');
	const agreements = () => knex<AgreementRow>('agreements');
	const time = () => databaseTime(knex, clock.now);
	return {
		async beat({ name, node, version, clockOffset, settings, capabilities, roots }: ProcessFacts) {
			const row = {
				...plainRow({ name, node, version, roots, clock_offset: clockOffset }),
				...plainRow({ settings: JSON.stringify(settings), capabilities: JSON.stringify(capabilities) }),
				seen_at: time(),
			} as unknown as ProcessRow;
			await processes().insert(row).onConflict('name').merge();
		},
		async live(ms) {
			const rows = await processes()
				.whereRaw('seen_at > ? - ?', [time(), ms])
				.orderBy(['node', 'name'])
				.select('*', knex.raw('? - seen_at as age', [time()]));
			return (rows as (ProcessRow & { age: number })[]).map((row) => ({
				name: row.name,
				node: row.node,
				version: row.version,
				clockOffset: Number(row.clock_offset),
				settings: JSON.parse(row.settings),
				capabilities: JSON.parse(row.capabilities ?? '[]'),
				roots: row.roots ?? '',
				ageMs: Number(row.age),
			}));
		},
		async remove(name) {
			await processes().where({ name }).delete();
		},
		async sweep(ms) {
			try {
				await processes().whereRaw('seen_at < ? - ?', [time(), ms]).delete();
			} catch (error) {
				// The next one removes them.
				if (!isUnavailable(error)) throw error;
			}
		},
		async agree(name, value) {
			await agreements().insert(plainRow({ name, value })).onConflict('name').ignore();
			const row = await agreements().where({ name }).first('value');
			if (row === undefined) throw new Error('An agreement vanished.');
			return row.value;
		},
		async replaceAgreed(name, value) {
			await agreements().insert(plainRow({ name, value })).onConflict('name').merge();
		},
		compareClock: () => clock.compare(),
	};
}
