/** Proves that somebody is who they say. What is proved with lies in `secret`, a text that only the provider reads; it is kept among the user's credentials. */
export interface AuthProvider {
	/** The text to keep for a new password, such as a salted hash with its parameters. */
	protect(password: string): Promise<string>;
	/**
	 * Whether the password fits. Without a secret (no such user) it takes as long as with one and answers false, so that time tells nobody which names exist.
	 */
	verify(secret: string | undefined, password: string): Promise<boolean>;
	/** Whether the secret was made with weaker parameters than `protect` uses now. */
	isOutdated(secret: string): boolean;
}
