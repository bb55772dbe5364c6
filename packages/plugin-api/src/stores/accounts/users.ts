import type { UserSettings } from '@stowage/rules';

/** An account. `username` is as it was registered; it is unique and found without regard to case. */
export interface UserRecord {
	id: string;
	username: string;
	/** The provider's secret that passwords are verified with. */
	secret: string;
	isDisabled: boolean;
	createdAt: number;
	/** Raised by everything that ends the user's sessions: a session of another generation is void. */
	generation: number;
}

/** The quota of a user: 0 is no limit, null the limit of the configuration. */
export interface UserQuota {
	bytes: number | null;
	/** Files and folders. */
	entries: number | null;
}

/** What the administrator sees of an account at a glance. */
export interface UserOverview extends Omit<UserRecord, 'secret'> {
	quota: UserQuota;
	/** When a session began last; null if none did since this is recorded. */
	lastSignInAt: number | null;
	/** The content of the home when it was last measured; null if it never was. */
	used: MeasuredUse | null;
}

export interface MeasuredUse {
	bytes: number;
	/** Files and folders. */
	entries: number;
	measuredAt: number;
}

export interface UserStore {
	/**
	 * Throws `alreadyExists` for a name that differs from a known one only in case, also when two are added at once. With `rootId`, the
	 * home is assigned to that root (see `HomeStore`) in the same transaction, whatever was recorded for one of that name before.
	 */
	add(user: { username: string; secret: string; rootId?: string }): Promise<UserRecord>;
	find(username: string): Promise<UserRecord | undefined>;
	get(id: string): Promise<UserRecord | undefined>;
	/** Sorted by name. */
	list(): Promise<UserRecord[]>;
	/** All users with their overviews, in the order of `list`. */
	overview(): Promise<UserOverview[]>;
	/** Records what the home contained. Does nothing for an unknown user. */
	setUsed(id: string, used: MeasuredUse): Promise<void>;
	/**
	 * Sets a new secret and ends all sessions of the user, both or neither; resolves to the new generation. With an expected
	 * generation, throws `conflict` if the user's is another by now.
	 */
	setSecret(id: string, secret: string, expectedGeneration?: number): Promise<number>;
	/** Stores the same password under new parameters; sessions stay valid. Throws `conflict` if the secret is no longer the expected one. */
	renewSecret(id: string, secret: string, expectedSecret: string): Promise<void>;
	/** Disabling ends all sessions of the user and requests the end of their jobs, all or nothing. */
	setDisabled(id: string, isDisabled: boolean): Promise<void>;
	/**
	 * Renames the account, disables it or not, ends all its sessions and requests the end of its jobs, all or nothing. Throws
	 * `alreadyExists` as `add` does.
	 */
	rename(id: string, username: string, isDisabled: boolean): Promise<void>;
	/** Removes the account with its sessions and settings, and requests the end of its jobs; its files stay. */
	remove(id: string): Promise<void>;
	/** The limits set for this user; none for an unknown user. */
	quota(id: string): Promise<UserQuota>;
	setQuota(id: string, quota: UserQuota): Promise<void>;
	/** All settings, with the defaults of missing ones. */
	settings(id: string): Promise<UserSettings>;
	/** Changes the given settings, leaves the others; resolves to all. */
	changeSettings(id: string, change: Partial<UserSettings>): Promise<UserSettings>;
}
