/** What all pages of this browser store of this origin. */
export function browserStorage(): Storage | undefined {
	try {
		return localStorage;
	} catch {
		// The browser's settings block it.
		return undefined;
	}
}
