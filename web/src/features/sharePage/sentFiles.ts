import { useCallback, useEffect, useMemo, useState } from 'react';

/** A file that this browser has sent to a share. */
export interface SentFile {
	/** The id of its upload. */
	id: string;
	name: string;
	size: number;
	/** When it had arrived, in milliseconds. */
	at: number;
}

/** For how long the server lets a sender take a file back. */
export const takeBackMs = 60 * 60_000;

/** For how long a file is in the list. */
const listedMs = 24 * 60 * 60_000;

const maxListed = 1000;

export interface SentFiles {
	/** The newest first. */
	files: readonly SentFile[];
	add: (file: SentFile) => void;
	remove: (id: string) => void;
}

/** What this browser has sent to a share, also before a reload and in other tabs. */
export function useSentFiles(token: string): SentFiles {
	const key = `stowage.sent:${token}`;
	const [files, setFiles] = useState(() => load(key));
	useEffect(() => {
		const listen = (event: StorageEvent) => {
			if (event.key === key) setFiles(load(key));
		};
		window.addEventListener('storage', listen);
		return () => window.removeEventListener('storage', listen);
	}, [key]);
	const change = useCallback(
		(next: (files: readonly SentFile[]) => readonly SentFile[]) => {
			// Another tab may have sent something meanwhile.
			const changed = next(load(key)).slice(0, maxListed);
			setFiles(changed);
			save(key, changed);
		},
		[key],
	);
	return useMemo(
		() => ({
			files,
			add: (file) => change((all) => [file, ...all.filter(({ id }) => id !== file.id)]),
			remove: (id) => change((all) => all.filter((file) => file.id !== id)),
		}),
		[files, change],
	);
}

/** The time, as it is when one of these files can no longer be taken back. */
export function useTakeBackTime(files: readonly SentFile[]): number {
	const [now, setNow] = useState(Date.now);
	const next = Math.min(...files.map(({ at }) => at + takeBackMs).filter((end) => end > now));
	useEffect(() => {
		if (!Number.isFinite(next)) return;
		const timer = setTimeout(() => setNow(Date.now()), next - Date.now() + 1);
		return () => clearTimeout(timer);
	}, [next]);
	return now;
}

function load(key: string): readonly SentFile[] {
	try {
		const stored: unknown = JSON.parse(window.localStorage.getItem(key) ?? '[]');
		const oldest = Date.now() - listedMs;
		return Array.isArray(stored) ? stored.filter((file) => isSentFile(file) && file.at > oldest) : [];
	} catch {
		// The storage is forbidden, or has something else.
		return [];
	}
}

function save(key: string, files: readonly SentFile[]): void {
	try {
		if (files.length === 0) window.localStorage.removeItem(key);
		else window.localStorage.setItem(key, JSON.stringify(files));
	} catch {
		// The storage is full or forbidden: the list is kept until the page is left.
	}
}

function isSentFile(value: unknown): value is SentFile {
	const { id, name, size, at } = (value ?? {}) as Partial<SentFile>;
	return typeof id === 'string' && typeof name === 'string' && typeof size === 'number' && typeof at === 'number';
}
