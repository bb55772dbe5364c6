import type { TicketRecord, TicketStore } from '@stowage/plugin-api';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { batches } from '../batches.js';
import { changeInParts, deleteInParts, someRows } from '../inParts.js';

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

/** The remaining columns of a ticket that has ended. */
const emptied = { facts: '', selection: '', bytes: 0 };

export function ticketStore(knex: Knex, now: () => number): TicketStore {
	const tickets = () => knex<TicketRow>('tickets');
	// A range, which the index by holder serves. No ASCII text sorts after a tilde.
	const ofHolders = (beginning: string) =>
		beginning === '' ? tickets() : tickets().where('holder', '>=', beginning).where('holder', '<', `${beginning}~`);
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
		async end(tokenHash) {
			await tickets()
				.where({ token_hash: tokenHash })
				.update(plainRow({ ...emptied, is_ended: true }));
		},
		async countBytes(holders = '') {
			const [row] = await ofHolders(holders).sum<{ bytes: number | null }[]>({ bytes: 'bytes' });
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
			await changeInParts(() =>
				someRows(knex, 'tickets', (rows) => rows.where('ends_at', '<=', time).where('bytes', '>', 0)).update(
					plainRow(emptied),
				),
			);
			return deleteInParts(knex, 'tickets', (rows) => rows.where('expires_at', '<=', time));
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
		holder: row.holder,
		details: row.facts,
		selection: row.selection,
		bytes: row.bytes,
		isEnded: Boolean(row.is_ended),
		endsAt: row.ends_at,
		expiresAt: row.expires_at,
	};
}
