const turns = new Map<string, Promise<unknown>>();

/** Runs what bears the same key one after another. */
export async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
	const turn = (turns.get(key) ?? Promise.resolve()).then(work, work);
	turns.set(key, turn);
	try {
		return await turn;
	} finally {
		if (turns.get(key) === turn) turns.delete(key);
	}
}
