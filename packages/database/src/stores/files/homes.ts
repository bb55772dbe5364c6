import type { HomeMove, HomeStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { databaseTime } from '../../connection/dialect.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { batches } from '../batches.js';

interface HomeRow {
	name: string;
	root_id: string;
}

interface MoveRow {
	name: string;
	job_id: string;
	run_id: string;
	is_frozen: boolean | number;
}

interface ProcessRow {
	run_id: string;
	holder: string;
	has_stopped: boolean | number;
	seen_at: number;
}

export function homeStore(knex: Knex, now: () => number): HomeStore {
	const homes = () => knex<HomeRow>('homes');
	const moves = () => knex<MoveRow>('home_moves');
	const processes = () => knex<ProcessRow>('home_move_processes');
	const find = async (name: string) => (await homes().where(plainRow({ name })).first())?.root_id;
	/** A move counts only as long as its job does: one that ended without a run needs no cleaning up. */
	const underWay = () =>
		knex('home_moves')
			.join('jobs', 'jobs.id', 'home_moves.job_id')
			.whereIn('jobs.status', ['queued', 'processing'])
			.select<MoveRow[]>('home_moves.*');
	const forgetProcesses = (runId: string) => processes().where({ run_id: runId }).delete();
	return {
		find,
		async assign(name, rootId) {
			await homes()
				.insert(plainRow({ name, root_id: rootId }))
				.onConflict('name')
				.ignore();
			return (await find(name)) ?? rootId;
		},
		async assignEach(names, rootId) {
			for (const part of batches(names)) {
				const rows = part.map((name) => plainRow({ name, root_id: rootId }));
				await homes().insert(rows).onConflict('name').ignore();
			}
		},
		set: (name, rootId) => setHome(knex, name, rootId),
		async unassign(name, rootId) {
			await homes()
				.where(plainRow({ name, root_id: rootId }))
				.delete();
		},
		async list(rootId) {
			const rows = await homes()
				.where(plainRow({ root_id: rootId }))
				.orderBy('name')
				.select('name');
			return rows.map(({ name }) => name);
		},
		async findWithMove(name) {
			// The move before the root: if a move ends in between, the new root is read.
			const [move] = await underWay().where('home_moves.name', name);
			return { rootId: await find(name), move: move && toMove(move) };
		},
		async listMoves() {
			return (await underWay()).map(toMove);
		},
		async beginMove({ name, jobId, runId }) {
			await transact(knex, async (transaction) => {
				const earlier = await transaction<MoveRow>('home_moves').where(plainRow({ name })).first();
				const other =
					earlier === undefined || earlier.job_id === jobId
						? undefined
						: await transaction('jobs')
								.where({ id: earlier.job_id })
								.whereIn('status', ['queued', 'processing'])
								.first('id');
				if (other !== undefined)
					throw new Failure('conflict', `The home of ${name} is on its way to another root already.`);
				if (earlier !== undefined) {
					await transaction<ProcessRow>('home_move_processes').where({ run_id: earlier.run_id }).delete();
				}
				await transaction<MoveRow>('home_moves')
					.insert(plainRow({ name, job_id: jobId, run_id: runId, is_frozen: false }))
					.onConflict('name')
					.merge();
			});
		},
		async setFrozen(runId, isFrozen) {
			const changed = await moves()
				.where(plainRow({ run_id: runId }))
				.update({ is_frozen: isFrozen });
			// MySQL counts rows that it found, also those that were so before.
			return changed > 0;
		},
		switchRoot(runId, rootId, { links, versions }) {
			return transact(knex, async (transaction) => {
				const move = await transaction<MoveRow>('home_moves')
					.where(plainRow({ run_id: runId, is_frozen: true }))
					.forUpdate()
					.first();
				if (move === undefined) return false;
				await transaction<MoveRow>('home_moves').where({ run_id: runId }).update({ is_frozen: false });
				await setHome(transaction, move.name, rootId);
				for (const { id, expectedItemId, itemId } of links) {
					await transaction('temp_links')
						.where(plainRow({ id, item_id: expectedItemId }))
						.update(plainRow({ item_id: itemId }));
				}
				for (const { ownerId, former, file } of versions) {
					await transaction('trash')
						.where(plainRow({ user_id: ownerId, version_of: former }))
						.update(plainRow({ version_of: file }));
				}
				return true;
			});
		},
		async endMove(runId) {
			await moves()
				.where(plainRow({ run_id: runId }))
				.delete();
			await forgetProcesses(runId);
		},
		async acknowledge(runId, holder, hasStopped) {
			await processes()
				.insert({
					...plainRow({ run_id: runId, holder, has_stopped: hasStopped }),
					seen_at: databaseTime(knex, now) as never,
				})
				.onConflict(['run_id', 'holder'])
				.merge();
		},
		async acknowledgements(runId, silentMs) {
			const rows: (ProcessRow & { is_silent: boolean | number })[] = await processes()
				.where(plainRow({ run_id: runId }))
				.select('*', knex.raw('(seen_at < ? - ?) as is_silent', [databaseTime(knex, now), silentMs]));
			return rows.map(({ holder, has_stopped, is_silent }) => ({
				holder,
				hasStopped: Boolean(has_stopped),
				isSilent: Boolean(is_silent),
			}));
		},
	};
}

/** Assigns a home to a root, whichever it had. */
export async function setHome(knex: Knex, name: string, rootId: string): Promise<void> {
	await knex<HomeRow>('homes')
		.insert(plainRow({ name, root_id: rootId }))
		.onConflict('name')
		.merge(['root_id']);
}

function toMove(row: MoveRow): HomeMove {
	return { name: row.name, jobId: row.job_id, runId: row.run_id, isFrozen: Boolean(row.is_frozen) };
}
