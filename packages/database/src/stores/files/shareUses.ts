import type { ClientParts, ShareUse, ShareUseStore } from '@stowage/plugin-api';
import { batchesOf, mergedParts, type Part } from '@stowage/rules';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { deleteInParts, someRows } from '../inParts.js';
import { receiptsOf } from './shareReceipts.js';

interface PartsRow {
	share_id: string;
	client: string;
	content: string;
	parts: string;
	touched_at: number;
}

interface PassRow {
	share_id: string;
	client: string;
	is_ending: boolean | number;
	touched_at: number;
}

interface LimitRow {
	downloads: number;
	max_downloads: number | null;
}

/** The most rows of one share; those touched first are forgotten. */
const maxRows = 1_000;

/** The most parts of one content: no program requests more ranges in parallel. The shortest of more are kept as a sum of bytes. */
const maxParts = 500;

/** The most processes remembered for one content that sent it to the same client before, and may not have ended. */
const maxOthers = 4;

/** Rows that are written while others wait. */
const savedAtOnce = 50;

type Key = Pick<ClientParts, 'share' | 'client' | 'content'>;

const keyOf = ({ share, client, content }: Key) => ({ share_id: share, client, content });

export function shareUseStore(knex: Knex, now: () => number): ShareUseStore {
	/** Whether there is such a share, which is locked. */
	const locked = (transaction: Knex.Transaction, share: string) =>
		transaction('shares').where({ id: share }).forUpdate().first('downloads', 'max_downloads');
	const ownPass = (connection: Knex, share: string, client: string, idleSince: number) =>
		connection<PassRow>('share_passes')
			.where({ share_id: share, client })
			.where('touched_at', '>=', idleSince)
			.first('is_ending');
	/** Whether fewer have done so, or do so, than may. Strangers make the rows: they are counted by an index, and never read. */
	const hasRoom = async (connection: Knex, share: string, limits: LimitRow, idleSince: number) => {
		if (limits.max_downloads === null) return true;
		const [row] = await connection('share_passes')
			.where({ share_id: share })
			.where('touched_at', '>=', idleSince)
			.count({ count: '*' });
		return limits.downloads + Number(row?.count) < limits.max_downloads;
	};

	/** Whether all of it was sent now. */
	const save = async (
		transaction: Knex.Transaction,
		parts: ClientParts,
		ended: ReadonlySet<string>,
	): Promise<boolean> => {
		const rows = () => transaction<PartsRow>('share_parts');
		const found = await rows().where(keyOf(parts)).forUpdate().first();
		const known = found === undefined ? { sent: [], senders: [], summed: 0 } : parsed(found.parts);
		const others = known.senders.filter(({ process }) => process !== parts.process);
		const killed = others.filter(({ process }) => ended.has(process)).flatMap(({ underWay }) => underWay);
		const credited = parts.begun.flatMap((begun) =>
			killed.flatMap(([from, to]): Part[] => (from < begun && begun < to ? [[from, begun]] : [])),
		);
		const { kept, summed } = longest(mergedParts([...known.sent, ...credited, ...parts.sent]));
		const forgotten = known.summed + summed;
		// Never later than all has been sent: what is sent again, of parts of which the sum is kept, counts again.
		if (kept.length > 0 && bytesIn(kept) + forgotten >= parts.size) {
			await rows().where(keyOf(parts)).delete();
			return true;
		}
		const content: KnownParts = {
			...{ sent: kept, underWay: parts.underWay, process: parts.process },
			...(forgotten === 0 ? {} : { summed: forgotten }),
			others: others.filter(({ process }) => !ended.has(process)).slice(0, maxOthers),
		};
		const row = { parts: JSON.stringify(content), touched_at: now() };
		if (found !== undefined) await rows().where(keyOf(parts)).update(plainRow(row));
		else await rows().insert(plainRow({ ...keyOf(parts), ...row }));
		return false;
	};
	const forgetOldest = async (transaction: Knex.Transaction, share: string) => {
		const rows = () => transaction<PartsRow>('share_parts').where({ share_id: share });
		const [row] = await rows().count({ count: '*' });
		const excess = Number(row?.count) - maxRows;
		if (excess <= 0) return;
		const oldest = await rows().orderBy('touched_at').limit(excess).select('client', 'content');
		for (const { client, content } of oldest) await rows().where({ client, content }).delete();
	};
	/** Saves some parts in one transaction; resolves to the share and client of each content that is complete now. */
	const saveSome = (all: readonly ClientParts[], ended: ReadonlySet<string>) =>
		transact(knex, async (transaction) => {
			const whole: Pick<ClientParts, 'share' | 'client'>[] = [];
			for (const share of new Set(all.map((each) => each.share))) {
				// It may have been deleted meanwhile.
				if ((await locked(transaction, share)) === undefined) continue;
				for (const parts of all.filter((each) => each.share === share))
					if (await save(transaction, parts, ended)) whole.push({ share: parts.share, client: parts.client });
				await forgetOldest(transaction, share);
			}
			return whole;
		});

	return {
		add: (uses) =>
			transact(knex, async (transaction) => {
				for (const use of uses) await addUse(transaction, use, now());
			}),
		async senders(of) {
			const names = new Set<string>();
			for (const each of of) {
				const row = await knex<PartsRow>('share_parts').where(keyOf(each)).first();
				for (const { process } of row === undefined ? [] : parsed(row.parts).senders) names.add(process);
			}
			return [...names];
		},
		async saveParts(all, ended) {
			const whole: Pick<ClientParts, 'share' | 'client'>[] = [];
			// Strangers say how many there are: others have their turn between two parts.
			for (const part of batchesOf(all, savedAtOnce)) whole.push(...(await saveSome(part, ended)));
			return whole;
		},
		async parts(of) {
			const row = await knex<PartsRow>('share_parts').where(keyOf(of)).first();
			return row === undefined ? [] : parsed(row.parts).sent;
		},
		async forget(of) {
			await knex<PartsRow>('share_parts').where(keyOf(of)).delete();
		},
		admit: (share, client, idleSince) =>
			transact(knex, async (transaction) => {
				const limits = await locked(transaction, share);
				if (limits === undefined) return 'refused';
				const own = await ownPass(transaction, share, client, idleSince);
				if (own !== undefined) return own.is_ending ? 'ending' : 'admitted';
				if (!(await hasRoom(transaction, share, limits, idleSince))) return 'refused';
				await claimShare(transaction, share, now());
				// Strangers make them: some of the others' at a time.
				await transaction('share_passes').where({ share_id: share, client }).delete();
				await someRows(transaction, 'share_passes', (rows) =>
					rows.where({ share_id: share }).where('touched_at', '<', idleSince),
				).delete();
				await transaction<PassRow>('share_passes').insert(
					plainRow({ share_id: share, client, is_ending: false, touched_at: now() }),
				);
				return 'admitted';
			}),
		async mayAdmit(share, client, idleSince) {
			const limits = await knex('shares').where({ id: share }).first('downloads', 'max_downloads');
			if (limits === undefined || limits.max_downloads === null) return limits !== undefined;
			if ((await ownPass(knex, share, client, idleSince)) !== undefined) return true;
			return hasRoom(knex, share, limits, idleSince);
		},
		touch: (passes) =>
			transact(knex, async (transaction) => {
				for (const { share, client } of passes)
					await transaction('share_passes')
						.where({ share_id: share, client })
						.update(plainRow({ touched_at: now() }));
			}),
		async setEnding(share, client, isEnding) {
			const pass = () => knex<PassRow>('share_passes').where({ share_id: share, client });
			await pass().update(plainRow({ is_ending: isEnding, touched_at: now() }));
			return (await pass().first('client')) !== undefined;
		},
		complete: (share, client) =>
			transact(knex, async (transaction) => {
				if ((await locked(transaction, share)) === undefined) return false;
				const passes = transaction<PassRow>('share_passes').where({ share_id: share, client });
				if ((await passes.delete()) === 0) return false;
				await transaction('shares').where({ id: share }).increment('downloads', 1);
				return true;
			}),
		receipts: (ownerId, limit) => receiptsOf(knex, ownerId, limit),
		async forgetReceipts(before) {
			await deleteInParts(knex, 'share_receipts', (rows) => rows.where('ended_at', '<', before));
		},
		async sweep(idleSince) {
			for (const table of ['share_parts', 'share_passes'])
				await deleteInParts(knex, table, (rows) => rows.where('touched_at', '<', idleSince));
		},
	};
}

/**
 * Changes the row of a share in any case. Each node of a cluster locks rows for itself: only of two that write one row,
 * one is broken off, and then repeated with what the other one has made.
 */
export async function claimShare(transaction: Knex.Transaction, id: string, now: number): Promise<void> {
	const values = ['last_used_at', now, now, 'last_used_at'];
	await transaction('shares')
		.where({ id })
		.update({ last_used_at: transaction.raw('case when coalesce(??, 0) < ? then ? else ?? + 1 end', values) });
}

async function addUse(transaction: Knex.Transaction, use: ShareUse, now: number): Promise<void> {
	const { downloads, bytesSent, uploads, bytesReceived } = use;
	const more = plainRow({ downloads, bytes_sent: bytesSent, uploads, bytes_received: bytesReceived });
	const sums = Object.entries(more).map(([column, count]) => [column, transaction.raw('?? + ?', [column, count])]);
	await transaction('shares')
		.where({ id: use.share })
		.update({ ...Object.fromEntries(sums), ...plainRow({ last_used_at: now }) });
}

type Sender = Pick<ClientParts, 'process' | 'underWay'>;

/** The JSON of a row's `parts`. */
interface KnownParts extends Sender {
	sent: readonly Part[];
	/** Missing in the rows of a version that kept the last sender only. */
	others?: readonly Sender[];
	/** The bytes of further parts, of which it is not known where they are. */
	summed?: number;
}

function parsed(parts: string): { sent: readonly Part[]; senders: readonly Sender[]; summed: number } {
	const { sent, process, underWay, others = [], summed = 0 } = JSON.parse(parts) as KnownParts;
	return { sent, summed, senders: [{ process, underWay }, ...others].filter((sender) => sender.underWay.length > 0) };
}

/** The longest parts, as many as a row keeps, in their order, and the sum of the bytes of the others. */
function longest(parts: readonly Part[]): { kept: readonly Part[]; summed: number } {
	if (parts.length <= maxParts) return { kept: parts, summed: 0 };
	const byLength = [...parts].sort((one, other) => bytesIn([other]) - bytesIn([one]));
	const kept = new Set(byLength.slice(0, maxParts));
	return { kept: parts.filter((part) => kept.has(part)), summed: bytesIn(byLength.slice(maxParts)) };
}

const bytesIn = (parts: readonly Part[]) => parts.reduce((sum, [start, end]) => sum + end - start, 0);
