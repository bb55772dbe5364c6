import { randomUUID } from 'node:crypto';
import type { SessionUser, UserOverview, UserRecord, UserStore } from '@stowage/plugin-api';
import { Failure, foldUsername } from '@stowage/rules';
import type { Knex } from 'knex';
import { isUniqueViolation } from '../../connection/errors.js';
import { plainRow } from '../../connection/plainValues.js';
import type { Changes } from '../../connection/sqlite/sqliteChanges.js';
import { transact } from '../../connection/transact.js';
import { CachedRows } from '../CachedRows.js';
import { cancelJobsOf } from '../coordination/jobs/jobQueue.js';
import { setHome } from '../files/homes.js';
import { forgetUsage } from '../files/homeUsage.js';
import { changeSettings, settingsOf } from './settings.js';

export interface UserRow {
	id: string;
	username: string;
	username_folded: string;
	is_disabled: boolean | number;
	created_at: number;
	generation: number;
	/** The limits set for this user; 0 is no limit. */
	quota_bytes: number | null;
	quota_entries: number | null;
	last_sign_in_at: number | null;
	used_bytes: number | null;
	used_entries: number | null;
	measured_at: number | null;
}

/** A user's credentials. That of a password has the id of its user. */
export interface CredentialRow {
	id: string;
	user_id: string;
	kind: 'password' | 'totp';
	secret: string;
	created_at: number;
}

type Known = UserRow & { secret: string | null };

export function userStore(knex: Knex, now: () => number): UserStore {
	const users = () => knex<UserRow>('users');
	/** Users with their passwords, in one query. */
	const known = () =>
		knex('users')
			.leftJoin('credentials', (on) =>
				on
					.on('credentials.id', 'users.id')
					.andOnVal('credentials.kind', '=', 'password' satisfies CredentialRow['kind']),
			)
			.select<Known[]>('users.*', 'credentials.secret');

	/**
	 * Changes the row and ends the sessions of a user in one commit; resolves to the new generation. A session that
	 * begins at the same time is of the former generation, and so is none, also where another node of a cluster knows
	 * nothing of this one's locks.
	 */
	const changeAndEndSessions = (
		id: string,
		change: Partial<UserRow>,
		{ seen, alsoDo }: { seen?: number; alsoDo?: (transaction: Knex.Transaction) => Promise<unknown> } = {},
	): Promise<number> =>
		transact(knex, async (transaction) => {
			const generation = await raiseGeneration(transaction, id, change, seen);
			await transaction('sessions').where({ user_id: id }).delete();
			await alsoDo?.(transaction);
			return generation;
		});

	const cancelJobs = (id: string) => (transaction: Knex.Transaction) => cancelJobsOf(transaction, id, now);

	return {
		async add({ username, secret, rootId }) {
			const id = randomUUID();
			const user: UserRecord = { id, username, secret, isDisabled: false, createdAt: now(), generation: 0 };
			try {
				await transact(knex, async (transaction) => {
					await transaction<UserRow>('users').insert(plainRow(toRow(user)));
					await setPassword(transaction, user.id, secret, user.createdAt);
					if (rootId !== undefined) await setHome(transaction, username, rootId);
				});
			} catch (cause) {
				if (!isUniqueViolation(cause)) throw cause;
				throw nameTaken(username, cause);
			}
			return user;
		},
		async find(username) {
			const [row] = await known().where('users.username_folded', foldUsername(username));
			return row && toUser(row);
		},
		async get(id) {
			const [row] = await known().where('users.id', id);
			return row && toUser(row);
		},
		async list() {
			const rows = await known().orderBy('users.username_folded');
			return rows.map(toUser);
		},
		async overview() {
			return (await users().orderBy('username_folded').select('*')).map(toOverview);
		},
		async setUsed(id, { bytes, entries, measuredAt }) {
			await users()
				.where({ id })
				.update(plainRow({ used_bytes: bytes, used_entries: entries, measured_at: measuredAt }));
		},
		setSecret: (id, secret, seen) =>
			changeAndEndSessions(
				id,
				{},
				{
					...(seen === undefined ? {} : { seen }),
					alsoDo: (transaction) => setPassword(transaction, id, secret, now()),
				},
			),
		async renewSecret(id, secret, seen) {
			const changed = await knex<CredentialRow>('credentials')
				.where({ id, kind: 'password', secret: seen })
				.update(plainRow({ secret }));
			if (changed === 0) throw changedMeanwhile();
		},
		async setDisabled(id, isDisabled) {
			// Sessions that were only refused meanwhile would be valid again once the account is enabled.
			if (isDisabled) await changeAndEndSessions(id, { is_disabled: true }, { alsoDo: cancelJobs(id) });
			else
				assertFound(
					await users()
						.where({ id })
						.update(plainRow({ is_disabled: false })),
				);
		},
		async rename(id, username, isDisabled) {
			try {
				const change = { username, username_folded: foldUsername(username), is_disabled: isDisabled };
				await changeAndEndSessions(id, change, { alsoDo: cancelJobs(id) });
			} catch (cause) {
				throw isUniqueViolation(cause) ? nameTaken(username, cause) : cause;
			}
		},
		async remove(id) {
			await transact(knex, async (transaction) => {
				await transaction<UserRow>('users').where({ id }).delete();
				await cancelJobs(id)(transaction);
			});
		},
		async quota(id) {
			const row = await users().where({ id }).first('quota_bytes', 'quota_entries');
			return { bytes: row?.quota_bytes ?? null, entries: row?.quota_entries ?? null };
		},
		async setQuota(id, { bytes, entries }) {
			assertFound(
				await users()
					.where({ id })
					.update(plainRow({ quota_bytes: bytes, quota_entries: entries })),
			);
			// Without a quota nobody counts: with a new one the home is measured anew.
			await forgetUsage(knex, id);
		},
		settings: (id) => settingsOf(knex, id),
		changeSettings: (id, change) => changeSettings(knex, id, change),
	};
}

/** Wraps the store: accounts that are asked for by their ids are cached for as long as the database has not changed. */
export function cachedUsers(store: UserStore, changes: Pick<Changes, 'version'>): UserStore {
	const rows = new CachedRows<UserRecord>(changes);
	return { ...store, get: (id) => rows.find(id, () => store.get(id)) };
}

/** Replaces the current password. */
async function setPassword(transaction: Knex.Transaction, userId: string, secret: string, now: number): Promise<void> {
	await transaction<CredentialRow>('credentials')
		.insert(plainRow({ id: userId, user_id: userId, kind: 'password', secret, created_at: now }))
		.onConflict('id')
		.merge(['secret', 'created_at']);
}

/** Raises the generation in the user's row, which ends all sessions that are not given the new one, and resolves to it. */
export async function raiseGeneration(
	transaction: Knex.Transaction,
	id: string,
	change: Partial<UserRow> = {},
	seen?: number,
): Promise<number> {
	const user = transaction<UserRow>('users').where({ id });
	const changed = await (seen === undefined ? user : user.where({ generation: seen })).update({
		...plainRow(change),
		generation: transaction.raw('?? + 1', ['generation']),
	});
	if (changed === 0 && seen !== undefined) throw changedMeanwhile();
	assertFound(changed);
	const [generation] = await transaction<UserRow>('users').where({ id }).pluck('generation');
	return generation as number;
}

export function toSessionUser(row: UserRow): SessionUser {
	return {
		id: row.id,
		username: row.username,
		isDisabled: Boolean(row.is_disabled),
		createdAt: row.created_at,
		generation: row.generation,
	};
}

function toOverview(row: UserRow): UserOverview {
	const { used_bytes: bytes, used_entries: entries, measured_at: measuredAt } = row;
	return {
		...toSessionUser(row),
		quota: { bytes: row.quota_bytes, entries: row.quota_entries },
		lastSignInAt: row.last_sign_in_at,
		used: bytes === null || entries === null || measuredAt === null ? null : { bytes, entries, measuredAt },
	};
}

/** A user without a password has a secret that none fits. */
function toUser(row: Known): UserRecord {
	return { ...toSessionUser(row), secret: row.secret ?? '' };
}

function toRow(user: UserRecord): UserRow {
	return {
		id: user.id,
		username: user.username,
		username_folded: foldUsername(user.username),
		is_disabled: user.isDisabled,
		created_at: user.createdAt,
		generation: user.generation,
		quota_bytes: null,
		quota_entries: null,
		last_sign_in_at: null,
		used_bytes: null,
		used_entries: null,
		measured_at: null,
	};
}

function nameTaken(username: string, cause: unknown): Failure {
	return new Failure('alreadyExists', `The user name is taken: ${username}`, { cause });
}

function changedMeanwhile(): Failure {
	return new Failure('conflict', 'The account was changed meanwhile.');
}

function assertFound(changedRows: number): void {
	if (changedRows === 0) throw new Failure('notFound', 'There is no such user.');
}
