/** A user's second factor: the secret of time-based one-time codes (TOTP, RFC 6238), and recovery codes. */
export interface SecondFactor {
	/** Base32. */
	secret: string;
	/** False until the user has confirmed it by a first code: it is not asked for yet. */
	isEnabled: boolean;
	/** Identifies the session that began it, in which alone it can be enabled. */
	session: string;
	/** The time step of the latest accepted code. Codes of this step and of earlier ones are used up. */
	lastStep: number;
	/** The hashes of the unused recovery codes. */
	recoveryHashes: readonly string[];
}

/** Second factors, one for a user. Of concurrent calls with one code exactly one succeeds, also in several processes. */
export interface SecondFactorStore {
	find(userId: string): Promise<SecondFactor | undefined>;
	/** The ids of the users who have enabled theirs. */
	enabledUserIds(): Promise<Set<string>>;
	/**
	 * Stores one that is not enabled, in place of another such one. Throws `conflict` if one is enabled, and `notFound` for an unknown
	 * user.
	 */
	begin(userId: string, factor: Pick<SecondFactor, 'secret' | 'session' | 'recoveryHashes'>): Promise<void>;
	/**
	 * Enables the one with this secret, uses up the code of this time step and ends all sessions of the user, all or nothing. Resolves to
	 * the user's new generation, and to undefined if there is no such one that waits for it. With an expected generation, throws `conflict`
	 * if the user's is another by now.
	 */
	enable(userId: string, secret: string, step: number, expectedGeneration?: number): Promise<number | undefined>;
	/** Uses up the code of this time step. Resolves to false if it was used, or if the user has no enabled one with this secret. */
	useStep(userId: string, secret: string, step: number): Promise<boolean>;
	/** Uses up a recovery code. Resolves to false if the user has no such code, or has not enabled the factor. */
	useRecoveryCode(userId: string, hash: string): Promise<boolean>;
	/**
	 * Removes it, enabled or not. Resolves to whether an enabled one was removed. With an expected one, throws `conflict` if it is another
	 * by now, or was enabled.
	 */
	remove(userId: string, expected?: Pick<SecondFactor, 'secret' | 'isEnabled'>): Promise<boolean>;
}
