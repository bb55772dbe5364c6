import type { EventStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { databaseTime } from '../../connection/dialect.js';
import { plainRow } from '../../connection/plainValues.js';
import { batches } from '../batches.js';
import { deleteInParts } from '../inParts.js';

interface EventRow {
	process: string;
	number: number;
	payload: string;
	created_at: number;
}

interface ListenerRow {
	process: string;
	polls_folders: boolean | number;
	renewed_at: number;
}

/** A row is only ever added: two processes that publish never wait for each other, nor does one lose to the other in a cluster. */
export function eventStore(knex: Knex, now: () => number): EventStore {
	const events = () => knex<EventRow>('events');
	const listeners = () => knex<ListenerRow>('event_listeners');
	const time = () => databaseTime(knex, now);
	/** Neither older than that, nor of a clock that was set back since. */
	const younger = (column: string, ms: number) =>
		knex.raw('?? > ? - ? and ?? <= ? + ?', [column, time(), ms, column, time(), ms]);

	return {
		async add(process, some) {
			for (const part of batches(some))
				await events().insert(
					part.map(
						({ number, payload }) =>
							({ ...plainRow({ process, number, payload }), created_at: time() }) as unknown as EventRow,
					),
				);
		},
		async latest(ms, except) {
			const rows: EventRow[] = await events()
				.whereNot({ process: except })
				.whereRaw(younger('created_at', ms))
				.orderBy(['process', 'number'])
				.select('process', 'number', 'payload');
			return rows.map(({ process, number, payload }) => ({ process, number, payload }));
		},
		async listen(process, pollsFolders) {
			const row = {
				...plainRow({ process, polls_folders: pollsFolders }),
				renewed_at: time(),
			} as unknown as ListenerRow;
			await listeners().insert(row).onConflict('process').merge();
		},
		async unlisten(process) {
			await listeners().where({ process }).delete();
		},
		async listeners(ms, except) {
			const rows: ListenerRow[] = await listeners()
				.whereNot({ process: except })
				.whereRaw(younger('renewed_at', ms))
				.orderBy('process')
				.select('process', 'polls_folders');
			return rows.map((row) => ({ process: row.process, pollsFolders: Boolean(row.polls_folders) }));
		},
		async sweep({ eventsMs, listenersMs }) {
			// Two ranges, each of which an index serves.
			const over = (column: string, ms: number) =>
				knex.raw('(?? <= ? - ? or ?? > ? + ?)', [column, time(), ms, column, time(), ms]);
			const swept = await deleteInParts(knex, 'events', (rows) => rows.whereRaw(over('created_at', eventsMs)));
			return (
				swept + (await deleteInParts(knex, 'event_listeners', (rows) => rows.whereRaw(over('renewed_at', listenersMs))))
			);
		},
	};
}
