import type { SecondFactor, SecondFactorStore } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Knex } from 'knex';
import { DatabaseDamaged } from '../../connection/errors.js';
import { plainRow } from '../../connection/plainValues.js';
import { transact } from '../../connection/transact.js';
import { keyHash } from '../keyHash.js';
import { type CredentialRow, raiseGeneration, type UserRow } from './users.js';

type Change = (factor: SecondFactor) => SecondFactor | undefined;

const kind = 'totp' satisfies CredentialRow['kind'];

/** Second factors. Each is one credential of its user, whose text is the factor as JSON. */
export function secondFactorStore(knex: Knex, now: () => number): SecondFactorStore {
	/** Changes the factor unless `next` returns undefined. The row is locked meanwhile, so that two calls never decide on the same state. */
	const change = async (transaction: Knex.Transaction, userId: string, next: Change): Promise<boolean> => {
		const own = () => transaction<CredentialRow>('credentials').where({ id: idOf(userId), kind });
		const row = await own().forUpdate().first();
		const changed = row && next(toFactor(row));
		if (changed === undefined) return false;
		await own().update(plainRow({ secret: JSON.stringify(changed) }));
		return true;
	};
	const changeAlone = (userId: string, next: Change) =>
		transact(knex, (transaction) => change(transaction, userId, next));

	return {
		async find(userId) {
			const row = await knex<CredentialRow>('credentials')
				.where({ id: idOf(userId), kind })
				.first();
			return row && toFactor(row);
		},
		async enabledUserIds() {
			const rows: CredentialRow[] = await knex<CredentialRow>('credentials').where({ kind });
			// One that is damaged lets nobody in.
			return new Set(rows.filter((row) => factorIn(row)?.isEnabled !== false).map((row) => row.user_id));
		},
		begin: (userId, { secret, session, recoveryHashes }) =>
			transact(knex, async (transaction) => {
				// The user's row is locked, since that of the factor may not exist yet.
				const user = await transaction<UserRow>('users').where({ id: userId }).forUpdate().first();
				if (user === undefined) throw new Failure('notFound', 'There is no such user.');
				const row = await transaction<CredentialRow>('credentials')
					.where({ id: idOf(userId), kind })
					.forUpdate()
					.first();
				if (row !== undefined && toFactor(row).isEnabled)
					throw new Failure('conflict', 'Two-factor sign-in is on already.');
				const begun: SecondFactor = { secret, isEnabled: false, session, lastStep: 0, recoveryHashes };
				await transaction<CredentialRow>('credentials')
					.insert(
						plainRow({
							id: idOf(userId),
							user_id: userId,
							kind,
							secret: JSON.stringify(begun),
							created_at: now(),
						}),
					)
					.onConflict('id')
					.merge(['secret', 'created_at']);
			}),
		enable: (userId, secret, step, expectedGeneration) =>
			transact(knex, async (transaction) => {
				// The user's row first, as `begin` does.
				await transaction<UserRow>('users').where({ id: userId }).forUpdate().first();
				const isEnabled = await change(transaction, userId, (factor) =>
					!factor.isEnabled && factor.secret === secret ? { ...factor, isEnabled: true, lastStep: step } : undefined,
				);
				if (!isEnabled) return undefined;
				const generation = await raiseGeneration(transaction, userId, {}, expectedGeneration);
				await transaction('sessions').where({ user_id: userId }).delete();
				return generation;
			}),
		useStep: (userId, secret, step) =>
			changeAlone(userId, (factor) =>
				factor.isEnabled && factor.secret === secret && step > factor.lastStep
					? { ...factor, lastStep: step }
					: undefined,
			),
		useRecoveryCode: (userId, hash) =>
			changeAlone(userId, (factor) => {
				const left = factor.recoveryHashes.filter((each) => each !== hash);
				const isLeft = left.length < factor.recoveryHashes.length;
				return factor.isEnabled && isLeft ? { ...factor, recoveryHashes: left } : undefined;
			}),
		remove: (userId, expected) =>
			transact(knex, async (transaction) => {
				const own = () => transaction<CredentialRow>('credentials').where({ id: idOf(userId), kind });
				const row = await own().forUpdate().first();
				if (row === undefined) return false;
				const factor = factorIn(row);
				if (expected !== undefined && (expected.secret !== factor?.secret || expected.isEnabled !== factor.isEnabled))
					throw new Failure('conflict', 'Two-factor sign-in was changed meanwhile.');
				await own().delete();
				return factor?.isEnabled !== false;
			}),
	};
}

/** Determined by the user, so that there is one; as long as the column permits. */
function idOf(userId: string): string {
	return keyHash(`totp ${userId}`).slice(0, 36);
}

function toFactor(row: CredentialRow): SecondFactor {
	const factor = factorIn(row);
	if (factor === undefined)
		throw new DatabaseDamaged(
			'The second factor of this account is damaged in the database: turn it off (stowage user remove-totp).',
		);
	return factor;
}

/** The second factor of a row; undefined where its text is damaged. */
function factorIn({ secret: text }: CredentialRow): SecondFactor | undefined {
	let found: SecondFactor | null;
	try {
		found = JSON.parse(text);
	} catch {
		return undefined;
	}
	const { secret, isEnabled, lastStep, recoveryHashes } = found ?? ({} as Partial<SecondFactor>);
	if (typeof secret !== 'string' || typeof isEnabled !== 'boolean' || typeof lastStep !== 'number') return undefined;
	return found !== null && Array.isArray(recoveryHashes) ? found : undefined;
}
