/** The last position in a film or a book, in this browser. */
export interface SavedPositions {
	read(id: string): string | undefined;
	write(id: string, position: string): void;
	remove(id: string): void;
}

/** The oldest go first. */
const maxPositions = 200;

export function createSavedPositions(key: string): SavedPositions {
	const all = (): [string, string][] => {
		try {
			const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
			return Array.isArray(kept) ? kept.filter(isPosition) : [];
		} catch {
			// The browser forbids storage, or has another value under that key: then nothing is remembered.
			return [];
		}
	};
	const save = (places: [string, string][]) => {
		try {
			localStorage.setItem(key, JSON.stringify(places.slice(-maxPositions)));
		} catch {
			// It is full or forbidden.
		}
	};
	return {
		read: (id) => all().find(([each]) => each === id)?.[1],
		write: (id, place) => save([...all().filter(([each]) => each !== id), [id, place]]),
		remove: (id) => save(all().filter(([each]) => each !== id)),
	};
}

function isPosition(value: unknown): value is [string, string] {
	return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
