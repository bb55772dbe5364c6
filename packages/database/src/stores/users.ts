import { randomUUID } from 'node:crypto';
import type { UserRecord, UserStore } from '@stowage/plugin-api';
import { Failure, foldUsername } from '@stowage/rules';
import type { Knex } from 'knex';
import { isUniqueViolation } from '../connection/errors.js';
import { plainRow } from '../connection/plainValues.js';
import { transact } from '../connection/transact.js';
import { changeSettings, settingsOf } from '../settings.js';
import { cancelJobsOf } from './jobs.js';

export interface UserRow {
	id: string;
	username: string;
	username_folded: string;
	secret: string;
	is_disabled: boolean | number;
	created_at: number;
	/** What was said for this user; 0 is no limit. */
	quota_bytes: number | null;
	quota_entries: number | null;
}

export function userStore(knex: Knex, now: () => number): UserStore {
	const users = () => knex<UserRow>('users');

	/** In one commit, and the user's row first: a session that begins at the same time waits for its lock, and then finds that it may not begin. */
	const changeAndEndSessions = (
		id: string,
		change: Partial<UserRow>,
		{ seen, alsoDo }: { seen?: string; alsoDo?: (transaction: Knex.Transaction) => Promise<unknown> } = {},
	) =>
		transact(knex, async (transaction) => {
			const user = transaction<UserRow>('users').where({ id });
			const changed = await (seen === undefined ? user : user.where({ secret: seen })).update(plainRow(change));
			if (changed === 0 && seen !== undefined) throw passwordChanged();
			assertFound(changed);
			await transaction('sessions').where({ user_id: id }).delete();
			await alsoDo?.(transaction);
		});

	const cancelJobs = (id: string) => (transaction: Knex.Transaction) => cancelJobsOf(transaction, id, now);

	return {
		async add({ username, secret }) {
			const user: UserRecord = { id: randomUUID(), username, secret, isDisabled: false, createdAt: now() };
			try {
				await users().insert(plainRow(toRow(user)));
			} catch (cause) {
				if (!isUniqueViolation(cause)) throw cause;
				throw nameTaken(username, cause);
			}
			return user;
		},
		async find(username) {
			const row = await users()
				.where({ username_folded: foldUsername(username) })
				.first();
			return row && toUser(row);
		},
		async get(id) {
			const row = await users().where({ id }).first();
			return row && toUser(row);
		},
		async list() {
			const rows = await users().orderBy('username_folded');
			return rows.map(toUser);
		},
		setSecret: (id, secret, seen) => changeAndEndSessions(id, { secret }, seen === undefined ? {} : { seen }),
		async renewSecret(id, secret, seen) {
			if ((await users().where({ id, secret: seen }).update(plainRow({ secret }))) === 0) {
				throw passwordChanged();
			}
		},
		async setDisabled(id, isDisabled) {
			// Sessions that were only refused meanwhile would live again once the account is enabled.
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
		},
		settings: (id) => settingsOf(knex, id),
		changeSettings: (id, change) => changeSettings(knex, id, change),
	};
}

export function toUser(row: UserRow): UserRecord {
	return {
		id: row.id,
		username: row.username,
		secret: row.secret,
		isDisabled: Boolean(row.is_disabled),
		createdAt: row.created_at,
	};
}

function toRow(user: UserRecord): UserRow {
	return {
		id: user.id,
		username: user.username,
		username_folded: foldUsername(user.username),
		secret: user.secret,
		is_disabled: user.isDisabled,
		created_at: user.createdAt,
		quota_bytes: null,
		quota_entries: null,
	};
}

function nameTaken(username: string, cause: unknown): Failure {
	return new Failure('alreadyExists', `The user name is taken: ${username}`, { cause });
}

function passwordChanged(): Failure {
	return new Failure('conflict', 'The password was changed meanwhile.');
}

function assertFound(changedRows: number): void {
	if (changedRows === 0) throw new Failure('notFound', 'There is no such user.');
}
