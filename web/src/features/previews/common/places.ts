/** The last position in a film or a book, in this browser. */
export interface Places {
	read(id: string): string | undefined;
	write(id: string, place: string): void;
	forget(id: string): void;
}

/** The oldest go first. */
const most = 200;

export function createPlaces(key: string): Places {
	const all = (): [string, string][] => {
		try {
			const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
			return Array.isArray(kept) ? kept.filter(isPlace) : [];
		} catch {
			// The browser forbids storage, or has another value under that key: then nothing is remembered.
			return [];
		}
	};
	const keep = (places: [string, string][]) => {
		try {
			localStorage.setItem(key, JSON.stringify(places.slice(-most)));
		} catch {
			// It is full or forbidden.
		}
	};
	return {
		read: (id) => all().find(([each]) => each === id)?.[1],
		write: (id, place) => keep([...all().filter(([each]) => each !== id), [id, place]]),
		forget: (id) => keep(all().filter(([each]) => each !== id)),
	};
}

function isPlace(value: unknown): value is [string, string] {
	return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
