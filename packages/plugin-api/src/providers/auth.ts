/** Verifies passwords. `secret` is a text that only the provider reads; it is stored among the user's credentials. */
export interface AuthProvider {
	/** The text to keep for a new password, such as a salted hash with its parameters. */
	hash(password: string): Promise<string>;
	/**
	 * Whether the password is correct. Without a secret (no such user) it takes as long as with one and returns false, so that the time
	 * does not reveal which names exist.
	 */
	verify(secret: string | undefined, password: string): Promise<boolean>;
	/** Whether the secret was made with weaker parameters than `hash` uses now. */
	needsRehash(secret: string): boolean;
}
