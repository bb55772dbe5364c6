import { constants } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { openRegularFile } from '@stowage/plugin-api';
import { expanded, type JournalLine } from './ChangeJournal.js';
import type { RootMark } from './marks.js';

/** What a process has noted in one file. */
interface Journal {
	/** Bytes that were read. */
	position: number;
	/** Changes under way, by their numbers. */
	open: Map<number, RootMark[]>;
	/** Changes that have ended, with the byte behind their line. */
	ended: { at: number; marks: RootMark[] }[];
	isClosed: boolean;
}

/** What of a journal is not in the index yet. */
export interface PendingChanges {
	file: string;
	position: number;
	marks: RootMark[];
	/** Marks of changes that have not ended, as far as is known. */
	open: RootMark[];
	isClosed: boolean;
}

/** Bytes that are read at once. */
const readBytes = 1024 * 1024;

/** The journals of all processes over the data folder, as far as they were read. */
export class Journals {
	readonly #folder: string;
	readonly #journals = new Map<string, Journal>();
	#reading: Promise<void> | undefined;
	#next: Promise<void> | undefined;

	constructor(folder: string) {
		this.#folder = folder;
	}

	/** Reads what was added. When it resolves, all that was written before the call is known. */
	read(): Promise<void> {
		if (this.#reading === undefined) {
			this.#reading = this.#readAll().finally(() => {
				this.#reading = undefined;
			});
			return this.#reading;
		}
		// One that has begun already may have passed what was just written.
		const running = this.#reading;
		this.#next ??= running
			.catch(() => {})
			.then(() => {
				this.#next = undefined;
				return this.read();
			});
		return this.#next;
	}

	/** What is stale beyond what the index has applied by these positions. */
	marks(positions: ReadonlyMap<string, number>): RootMark[] {
		const marks: RootMark[] = [];
		for (const [file, journal] of this.#journals) {
			const applied = positions.get(file) ?? 0;
			for (const own of journal.open.values()) marks.push(...own);
			for (const { at, marks: own } of journal.ended) if (at > applied) marks.push(...own);
		}
		return marks;
	}

	/** What each journal has beyond these positions, for who applies it to the index. */
	pending(positions: ReadonlyMap<string, number>): PendingChanges[] {
		return [...this.#journals].map(([file, { position, open, ended, isClosed }]) => {
			const applied = positions.get(file) ?? 0;
			const marks = ended.flatMap(({ at, marks: own }) => (at > applied ? own : []));
			return { file, position, marks, open: [...open.values()].flat(), isClosed };
		});
	}

	/** Forgets what was applied to the index. */
	forget(positions: ReadonlyMap<string, number>): void {
		for (const [file, journal] of this.#journals) {
			const applied = positions.get(file) ?? 0;
			if (journal.ended.some(({ at }) => at <= applied)) journal.ended = journal.ended.filter(({ at }) => at > applied);
		}
	}

	async #readAll(): Promise<void> {
		const names = await this.#names();
		for (const file of this.#journals.keys()) if (!names.includes(file)) this.#journals.delete(file);
		for (const file of names) await this.#readOne(file);
	}

	async #names(): Promise<string[]> {
		try {
			return await readdir(this.#folder);
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
			throw error;
		}
	}

	async #readOne(file: string): Promise<void> {
		const location = path.join(this.#folder, file);
		try {
			const journal = this.#journals.get(file) ?? { position: 0, open: new Map(), ended: [], isClosed: false };
			this.#journals.set(file, journal);
			const { size } = await stat(location);
			if (size <= journal.position) return;
			await using handle = await opened(location);
			while (journal.position < size) {
				const buffer = Buffer.allocUnsafe(Math.min(readBytes, size - journal.position));
				const { bytesRead } = await handle.file.read(buffer, 0, buffer.length, journal.position);
				// A line whose end is missing is being written, or was cut off with its process.
				const end = buffer.lastIndexOf('\n', bytesRead - 1) + 1;
				if (bytesRead === 0 || end === 0) return;
				addLines(journal, buffer.subarray(0, end));
			}
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
			// It was applied completely, and removed.
			this.#journals.delete(file);
		}
	}
}

async function opened(location: string) {
	const file = await openRegularFile(location, constants.O_RDONLY);
	return { file, [Symbol.asyncDispose]: () => file.close() };
}

function addLines(journal: Journal, bytes: Buffer): void {
	for (let at = 0; at < bytes.length; ) {
		const end = bytes.indexOf('\n', at) + 1;
		const line = parse(bytes.toString('utf8', at, end));
		journal.position += end - at;
		at = end;
		if (line === undefined) continue;
		if ('begin' in line) journal.open.set(line.begin, line.marks.map(expanded));
		else if ('end' in line) {
			journal.open.delete(line.end);
			journal.ended.push({ at: journal.position, marks: line.marks.map(expanded) });
		} else journal.isClosed = true;
	}
}

/** A line of a journal; undefined for what a full disk has left of one: its writer knows of that, and says that all is stale. */
function parse(text: string): JournalLine | undefined {
	try {
		return JSON.parse(text) as JournalLine;
	} catch {
		return undefined;
	}
}
