import type { SessionRecord, SessionStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';
import type { Changes } from '../../connection/sqlite/sqliteChanges.js';
import { transact } from '../../connection/transact.js';
import { batches } from '../batches.js';
import { CachedRows } from '../CachedRows.js';
import { deleteInParts } from '../inParts.js';
import { raiseGeneration, toSessionUser, type UserRow } from './users.js';

const dayMs = 24 * 60 * 60 * 1000;

/** A session ends this long after it was last used. */
export const sessionIdleMs = 7 * dayMs;

/** A session ends this long after it began, however busy it is. */
export const sessionAbsoluteMs = 30 * dayMs;

/** A session that began later than this from now began while the clock was wrong, and could last for years. */
const maxClockErrorMs = dayMs;

/** Sessions of one user at most. A script that signs in again and again without signing out then ends its own first. */
const maxSessions = 100;

function isSessionOver({ createdAt, lastSeenAt }: SessionRecord, time: number): boolean {
	return (
		lastSeenAt <= time - sessionIdleMs || createdAt <= time - sessionAbsoluteMs || createdAt > time + maxClockErrorMs
	);
}

interface SessionRow {
	id_hash: string;
	user_id: string;
	created_at: number;
	last_seen_at: number;
	user_agent: string | null;
	address: string | null;
	/** The generation of its user when they signed in. */
	generation: number;
}

export function sessionStore(knex: Knex, now: () => number): SessionStore {
	const sessions = () => knex<SessionRow>('sessions');
	/** The sessions that have not ended, of users who are neither disabled nor have ended all their sessions since. */
	const alive = (time: number) =>
		knex('sessions')
			.join('users', (on) => on.on('users.id', 'sessions.user_id').andOn('users.generation', 'sessions.generation'))
			.where('sessions.last_seen_at', '>', time - sessionIdleMs)
			.where('sessions.created_at', '>', time - sessionAbsoluteMs)
			.where('sessions.created_at', '<=', time + maxClockErrorMs)
			.where('users.is_disabled', false);
	return {
		async add(idHash, { id: userId, generation }, client = { userAgent: null, address: null }) {
			const time = now();
			await transact(knex, async (transaction) => {
				// Locked, so that sign-ins of one user are serialized.
				const user = await transaction<UserRow>('users').where({ id: userId }).forUpdate().first();
				if (user === undefined) throw new Failure('notFound', 'It is no longer there.');
				if (user.generation !== generation || user.is_disabled)
					throw new Failure('conflict', 'The account was changed meanwhile.');
				await transaction<SessionRow>('sessions').insert(
					plainRow({
						id_hash: idHash,
						user_id: userId,
						created_at: time,
						last_seen_at: time,
						user_agent: client.userAgent?.slice(0, 255) ?? null,
						address: client.address,
						// Never the current generation: it may be raised this very moment, at another node of a cluster.
						generation,
					}),
				);
				await transaction<UserRow>('users')
					.where({ id: userId })
					.update(plainRow({ last_sign_in_at: time }));
				await endBeyondMost(transaction, userId, idHash);
			});
		},
		async find(idHash, time) {
			const row: (UserRow & { session_created_at: number; last_seen_at: number }) | undefined = await alive(time)
				.where('sessions.id_hash', idHash)
				.first('users.*', 'sessions.last_seen_at', { session_created_at: 'sessions.created_at' });
			if (row === undefined) return undefined;
			const session = { userId: row.id, createdAt: row.session_created_at, lastSeenAt: row.last_seen_at };
			return { session, user: toSessionUser(row) };
		},
		async findValid(idHashes, time) {
			const found = new Set<string>();
			for (const some of batches(idHashes)) {
				const rows: string[] = await alive(time).whereIn('sessions.id_hash', some).pluck('sessions.id_hash');
				for (const idHash of rows) found.add(idHash);
			}
			return found;
		},
		async list(userId, time) {
			const rows: SessionRow[] = await alive(time)
				.where('sessions.user_id', userId)
				.orderBy([
					{ column: 'sessions.last_seen_at', order: 'desc' },
					{ column: 'sessions.id_hash', order: 'desc' },
				])
				.select('sessions.*');
			return rows.map((row) => ({
				idHash: row.id_hash,
				userId: row.user_id,
				createdAt: row.created_at,
				lastSeenAt: row.last_seen_at,
				userAgent: row.user_agent,
				address: row.address,
			}));
		},
		async touch(idHash, time) {
			// Never back: another process may have recorded a later use.
			await sessions()
				.where({ id_hash: idHash })
				.where('last_seen_at', '<', time)
				.update(plainRow({ last_seen_at: time }));
		},
		async remove(idHash) {
			await sessions().where({ id_hash: idHash }).delete();
		},
		removeOf(userId, except) {
			return transact(knex, async (transaction) => {
				const all = () => transaction<SessionRow>('sessions').where({ user_id: userId });
				const generation = await raiseGeneration(transaction, userId);
				if (except === undefined) return all().delete();
				await all()
					.where({ id_hash: except, generation: generation - 1 })
					.update(plainRow({ generation }));
				return all().whereNot({ generation }).delete();
			});
		},
		sweep(time) {
			// One of a former generation of its user, made at another node at that moment, is used by nobody and idle in time.
			return deleteInParts(knex, 'sessions', (rows) =>
				rows.where('last_seen_at', '<=', time - sessionIdleMs).orWhere('created_at', '<=', time - sessionAbsoluteMs),
			);
		},
	};
}

async function endBeyondMost(transaction: Knex.Transaction, userId: string, newestIdHash: string): Promise<void> {
	const beyond = await transaction<SessionRow>('sessions')
		.where({ user_id: userId })
		.whereNot({ id_hash: newestIdHash })
		.orderBy('last_seen_at', 'desc')
		.orderBy('created_at', 'desc')
		.offset(maxSessions - 1)
		.select('id_hash');
	if (beyond.length === 0) return;
	await transaction<SessionRow>('sessions')
		.whereIn(
			'id_hash',
			beyond.map((session) => session.id_hash),
		)
		.delete();
}

/** Wraps the store: sessions are cached for as long as the database has not changed. */
export function cachedSessions(store: SessionStore, changes: Pick<Changes, 'version'>): SessionStore {
	const rows = new CachedRows<NonNullable<Awaited<ReturnType<SessionStore['find']>>>>(changes);
	return {
		...store,
		async find(idHash, time) {
			const found = await rows.find(idHash, () => store.find(idHash, time));
			return found === undefined || isSessionOver(found.session, time) ? undefined : found;
		},
	};
}
