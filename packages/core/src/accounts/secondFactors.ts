import type { LimitStore, SecondFactor, SecondFactorStore, UserRecord } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import { secretHash } from '../secretHash.js';
import { limitCodes } from './loginLimits.js';
import { newRecoveryCodes, newSecret, normalizedCode, secretUri, stepOf } from './oneTimeCodes.js';

export interface SecondFactorState {
	isEnabled: boolean;
	/** 0 while it is off. */
	recoveryCodesLeft: number;
}

type Owner = Pick<UserRecord, 'id' | 'username'>;

/** How a sign-in has met the second factor, and by its secret which one that was. */
export type Accepted = { by: 'nothing' } | { by: 'code' | 'recoveryCode'; secret: string };

/** Two-factor sign-in: one-time codes of an authenticator app, and recovery codes. */
export interface SecondFactors {
	state(userId: string): Promise<SecondFactorState>;
	/**
	 * Begins to set it up in a session, the value of `Sessions.keyOf`, in place of one that was begun before. Throws `conflict` if it is
	 * on. The secret and the codes can't be read again.
	 */
	begin(user: Owner, session: string): Promise<{ secret: string; uri: string; recoveryCodes: string[] }>;
	/**
	 * Turns it on with a first code and ends all sessions of the user, both or neither; resolves to the user's new generation. Throws
	 * `secondFactor` for a wrong code, `conflict` if nothing was begun in this session or the user's generation has changed, and
	 * `rateLimited`.
	 */
	confirm(
		user: Owner & Pick<UserRecord, 'generation'>,
		session: string,
		code: string,
		knownClientId: string | undefined,
	): Promise<number>;
	/**
	 * Turns it off with a code, and discards one that was begun. Throws `secondFactor` for a missing or wrong code while it is on, and
	 * `rateLimited`. Resolves to whether it was on.
	 */
	turnOff(user: Owner, code: string | undefined, knownClientId: string | undefined): Promise<boolean>;
	/** Turns it off without a code, for the administrator. Resolves to whether it was on. */
	remove(user: Owner): Promise<boolean>;
	/**
	 * Checks the code of a user whose password has been verified, and uses it up. Resolves to undefined for a wrong code, and throws
	 * `secondFactor` if one is needed and missing, and `rateLimited`.
	 */
	accept(user: Owner, code: string | undefined, knownClientId: string | undefined): Promise<Accepted | undefined>;
	/** Whether what was accepted before is what the user's second factor asks for by now. */
	isMet(user: Owner, accepted: Accepted): Promise<boolean>;
}

interface Dependencies {
	store: SecondFactorStore;
	limits: LimitStore;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
}

export function createSecondFactors({ store, limits, now }: Dependencies): SecondFactors {
	const use = async (userId: string, { secret }: SecondFactor, entered: string): Promise<Accepted | undefined> => {
		const code = normalizedCode(entered);
		const step = stepOf(secret, code, now());
		if (step !== undefined) return (await store.useStep(userId, secret, step)) ? { by: 'code', secret } : undefined;
		return (await store.useRecoveryCode(userId, secretHash(code))) ? { by: 'recoveryCode', secret } : undefined;
	};

	const accept = async (userId: string, factor: SecondFactor, code: string | undefined, knownClientId?: string) => {
		if (code === undefined) {
			throw secondFactorNeeded();
		}
		return limitCodes(limits, { userId, knownClientId }, now(), () => use(userId, factor, code));
	};

	const secondFactors: SecondFactors = {
		async state(userId) {
			const factor = await store.find(userId);
			return factor?.isEnabled
				? { isEnabled: true, recoveryCodesLeft: factor.recoveryHashes.length }
				: { isEnabled: false, recoveryCodesLeft: 0 };
		},

		async begin({ id, username }, session) {
			const secret = newSecret();
			const recoveryCodes = newRecoveryCodes();
			const recoveryHashes = recoveryCodes.map((code) => secretHash(normalizedCode(code)));
			await store.begin(id, { secret, session, recoveryHashes });
			return { secret, uri: secretUri(secret, username), recoveryCodes };
		},

		async confirm({ id, generation: seen }, session, code, knownClientId) {
			const factor = await store.find(id);
			if (factor === undefined) throw new Failure('conflict', 'Two-factor sign-in was not set up yet.');
			if (factor.isEnabled) throw new Failure('conflict', 'Two-factor sign-in is on already.');
			// Whoever is at another session may have seen the secret there.
			if (factor.session !== session) throw new Failure('conflict', 'Two-factor sign-in was begun anew elsewhere.');
			const step = await limitCodes(limits, { userId: id, knownClientId }, now(), async () =>
				stepOf(factor.secret, normalizedCode(code), now()),
			);
			if (step === undefined) {
				throw new Failure(
					'secondFactor',
					'The code is wrong. Please check that your app has the latest QR code or key, and that the clocks of your phone and of the server are right.',
				);
			}
			const generation = await store.enable(id, factor.secret, step, seen);
			if (generation === undefined) throw new Failure('conflict', 'Two-factor sign-in was changed meanwhile.');
			return generation;
		},

		async turnOff(user, code, knownClientId) {
			const factor = await store.find(user.id);
			if (factor === undefined) return false;
			if (factor.isEnabled && (await accept(user.id, factor, code, knownClientId)) === undefined) throw wrongCode();
			try {
				return await store.remove(user.id, factor);
			} catch (error) {
				// It was turned on meanwhile, or is another one, so that what was proved is no longer what is needed.
				if (isFailure(error, 'conflict')) return secondFactors.turnOff(user, code, knownClientId);
				throw error;
			}
		},

		remove: ({ id }) => store.remove(id),

		async accept({ id }, code, knownClientId) {
			const factor = await store.find(id);
			return factor?.isEnabled ? accept(id, factor, code, knownClientId) : { by: 'nothing' };
		},

		async isMet({ id }, accepted) {
			const factor = await store.find(id);
			return !factor?.isEnabled || (accepted.by !== 'nothing' && accepted.secret === factor.secret);
		},
	};
	return secondFactors;
}

export function secondFactorNeeded(): Failure {
	return new Failure('secondFactor', 'Please enter the code of your authenticator app, or a recovery code.');
}

export function wrongCode(): Failure {
	return new Failure('secondFactor', 'The code is wrong or was used already.');
}
