import type { TicketRecord, TicketStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { isMysql } from '../../connection/dialect.js';
import { plainRow } from '../../connection/plainValues.js';
import { batches } from '../batches.js';
import { changeInParts, deleteInParts, keepLatest, someRows } from '../inParts.js';

interface TicketRow {
	token_hash: string;
	holder: string;
	/** The details. */
	facts: string;
	selection: string;
	bytes: number;
	is_ended: boolean | number;
	ends_at: number;
	expires_at: number;
}

/**
 * The remaining columns of a ticket that has ended. It is behind the beginning of those of which it is asked whether their time is
 * over.
 */
const emptied = { facts: '', selection: '', bytes: 0, ends_at: 0 };

/** Prefixes the holder of a ticket that has ended, which counts for nobody: what counts is summed without reading it. */
const endedPrefix = 'ended ';

/**
 * Ended tickets that are remembered. Of one holder they are as many as a client may take in ten minutes, and some more until these are
 * removed together.
 */
export const endedLimits = { ofHolder: 1_000, removedTogether: 200, ofAll: 100_000 };

export function ticketStore(knex: Knex, now: () => number, limits = endedLimits): TicketStore {
	const tickets = () => knex<TicketRow>('tickets');
	// A range, which the index by holder serves. No ASCII text sorts after a tilde.
	const ofHolders = (beginning: string) =>
		tickets().where('holder', '>=', beginning).where('holder', '<', `${beginning}~`);
	const endedHolder = isMysql(knex) ? 'concat(?, ??)' : '? || ??';
	const emptying = () => ({ ...plainRow(emptied), holder: knex.raw(endedHolder, [endedPrefix, 'holder']) as never });
	const ended = (holder: string) => tickets().where({ holder: `${endedPrefix}${holder}`, bytes: 0 });
	/** Not those that have just ended, however old they are: other processes break off what they send by them. */
	const forgetOldest = async (holder: string, justEnded: readonly string[]) => {
		const { ofHolder, removedTogether } = limits;
		const [surplus] = await ended(holder)
			.offset(ofHolder + removedTogether - 1)
			.limit(1)
			.pluck('token_hash');
		if (surplus === undefined) return;
		const oldest = await ended(holder)
			.orderByRaw(`case when token_hash in (${justEnded.map(() => '?').join()}) then 0 else 1 end`, [...justEnded])
			.orderBy('expires_at', 'desc')
			.offset(ofHolder)
			.limit(removedTogether)
			.pluck('token_hash');
		await tickets().whereIn('token_hash', oldest).delete();
	};
	return {
		async add(tokenHash, ticket) {
			await tickets().insert(plainRow(toRow(tokenHash, ticket)));
		},
		async find(tokenHash) {
			const row = await tickets().where({ token_hash: tokenHash }).where('expires_at', '>', now()).first();
			return row && toTicket(row);
		},
		async findEnded(tokenHashes) {
			const found = new Set<string>();
			for (const some of batches(tokenHashes)) {
				const rows = await tickets().whereIn('token_hash', some).where({ is_ended: true }).select('token_hash');
				for (const { token_hash: tokenHash } of rows) found.add(tokenHash);
			}
			return found;
		},
		async setDetails(tokenHash, details) {
			await tickets()
				.where({ token_hash: tokenHash, is_ended: false })
				.update(plainRow({ facts: details }));
		},
		async end(tokenHashes) {
			for (const some of batches(tokenHashes)) {
				const live = () => tickets().whereIn('token_hash', some).where('bytes', '>', 0);
				const holders = await live().distinct('holder').pluck('holder');
				if (holders.length === 0) continue;
				await live().update({ ...emptying(), ...plainRow({ is_ended: true }) });
				for (const holder of holders) await forgetOldest(holder, some);
			}
		},
		async countBytes(holders = '') {
			const [row] = await ofHolders(holders).where('bytes', '>', 0).sum<{ bytes: number | null }[]>({ bytes: 'bytes' });
			return Number(row?.bytes ?? 0);
		},
		async bytesOf(holders) {
			const rows = await ofHolders(holders)
				.where('bytes', '>', 0)
				.groupBy('holder')
				.select('holder')
				.sum<{ holder: string; bytes: number }[]>({ bytes: 'bytes' });
			return rows.map(({ holder, bytes }) => ({ holder, bytes: Number(bytes) }));
		},
		async oldest(holders) {
			// Without the selections, which may have many megabytes.
			const rows = await ofHolders(holders)
				.where('bytes', '>', 0)
				.orderBy(['ends_at', 'token_hash'])
				.limit(100)
				.select('token_hash', 'bytes');
			return rows.map(({ token_hash, bytes }) => ({ tokenHash: token_hash, bytes: Number(bytes) }));
		},
		async sweep() {
			const time = now();
			// Those of an older server have ended at their time, and have no bytes.
			await changeInParts(() =>
				someRows(knex, 'tickets', (rows) => rows.where('ends_at', '>', 0).where('ends_at', '<=', time)).update(
					emptying(),
				),
			);
			const latest = { table: 'tickets', column: 'expires_at', most: limits.ofAll };
			const surplus = await keepLatest(knex, latest, (rows) => rows.where({ ends_at: 0 }));
			return surplus + (await deleteInParts(knex, 'tickets', (rows) => rows.where('expires_at', '<=', time)));
		},
	};
}

function toRow(tokenHash: string, ticket: TicketRecord): TicketRow {
	return {
		token_hash: tokenHash,
		holder: ticket.holder,
		facts: ticket.details,
		selection: ticket.selection,
		bytes: ticket.bytes,
		is_ended: ticket.isEnded,
		ends_at: ticket.endsAt,
		expires_at: ticket.expiresAt,
	};
}

function toTicket(row: TicketRow): TicketRecord {
	return {
		holder: row.holder.startsWith(endedPrefix) ? row.holder.slice(endedPrefix.length) : row.holder,
		details: row.facts,
		selection: row.selection,
		bytes: row.bytes,
		isEnded: Boolean(row.is_ended),
		endsAt: row.ends_at,
		expiresAt: row.expires_at,
	};
}
