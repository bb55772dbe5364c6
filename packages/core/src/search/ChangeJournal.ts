import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { rootPath, type StoragePath } from '@stowage/rules';
import type { Log } from '../log.js';
import { addCovering, type RootMark, treeAt } from './marks.js';

/** A line of a journal: a change begins, or it has ended; or the file gets no further lines. */
export type JournalLine =
	| { begin: number; marks: readonly CompactMark[] }
	| { end: number; marks: readonly CompactMark[] }
	| { closed: true };

export type CompactMark = readonly [rootId: string, kind: RootMark['kind'], path: StoragePath];

export const compact = ({ rootId, kind, path }: RootMark): CompactMark => [rootId, kind, path];
export const expanded = ([rootId, kind, path]: CompactMark): RootMark => ({ rootId, kind, path });

/** A change that is under way. */
export interface NotedChange {
	/** Notes that the change has ended, and what it has made stale. */
	end(marks: readonly RootMark[]): void;
}

/** Bytes of a file after which another one is begun. */
const maxFileBytes = 256 * 1024;

/** Files after which single changes are not kept any more. */
const maxFiles = 16;

/** Homes that are stale in place of all. */
const maxCovering = 1000;

interface JournalFile {
	path: string;
	descriptor: number;
	bytes: number;
	/** Changes that began in it and have not ended. */
	open: number;
	/** Whether its name was removed and it is closed. */
	isRemoved: boolean;
	/** What covers all that was noted in it. */
	covering: Map<string, RootMark>;
}

/**
 * Records which folders this process changes, before and after each change, for the index of names: for the other
 * processes, and for a process that comes after a crash. Lines are appended to a file of this process and not synced,
 * which costs some microseconds: they survive the process, and what a power cut takes is found by comparing folders
 * with the disk.
 */
export class ChangeJournal {
	readonly #folder: string;
	readonly #name: string;
	readonly #log: Log;
	#files: JournalFile[] = [];
	#number = 0;
	#change = 0;
	/** The roots of which anything was noted, and those of which anything could not be. */
	readonly #noted = new Set<string>();
	readonly #lost = new Set<string>();
	/** What covers all that was noted in each file that was closed, by its name. */
	readonly #coveringOf = new Map<string, ReadonlyMap<string, RootMark>>();
	#hasFailed = false;
	#isClosed = false;
	/** Called after each change. */
	onChange: () => void = () => {};
	/** Called with what a change of this process has made stale, also where that can't be written. */
	onMarks: (marks: readonly RootMark[]) => void = () => {};

	/** `name` is that of the process in names of files. */
	constructor(folder: string, name: string, log: Log) {
		this.#folder = folder;
		this.#name = name;
		this.#log = log;
	}

	begin(marks: readonly RootMark[]): NotedChange {
		const begin = ++this.#change;
		const file = this.#write({ begin, marks: marks.map(compact) }, marks);
		if (file !== undefined) file.open++;
		return {
			end: (ended) => {
				this.#write({ end: begin, marks: ended.map(compact) }, ended, file);
				if (ended.length > 0) this.onMarks(ended);
				if (file === undefined) return this.onChange();
				file.open--;
				if (file.open === 0 && this.#files.includes(file) && file !== this.#files.at(-1)) this.#closeFile(file);
				this.onChange();
			},
		};
	}

	/** Something is stale, by whosoever change. */
	note(marks: readonly RootMark[]): void {
		this.#write({ end: 0, marks: marks.map(compact) }, marks);
		this.onChange();
	}

	/** Whether changes of a root are missing in the journal, so that the index can't be relied on. Tries to make up for them. */
	hasLost(rootId: string): boolean {
		if (this.#lost.size > 0) this.#noteLost();
		return this.#lost.has(rootId);
	}

	close(): void {
		this.#isClosed = true;
		for (const file of this.#files) if (file.open === 0) this.#closeFile(file);
	}

	/** Appends a line to the file that is open, or to `file`. Undefined where that fails: then the roots count as lost. */
	#write(line: JournalLine, marks: readonly RootMark[], file?: JournalFile): JournalFile | undefined {
		for (const { rootId } of marks) this.#noted.add(rootId);
		if (this.#lost.size > 0) this.#noteLost();
		try {
			const target = file !== undefined && isThere(file) ? file : this.#current();
			this.#append(target, line);
			this.#hasFailed = false;
			if (this.#lost.size > 0) this.#noteLost();
			return target;
		} catch (error) {
			for (const { rootId } of marks) this.#lost.add(rootId);
			this.#report(error);
			return undefined;
		}
	}

	#append(file: JournalFile, line: JournalLine): void {
		if ('marks' in line) for (const mark of line.marks) addCovering(file.covering, expanded(mark));
		const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
		const written = writeSync(file.descriptor, bytes);
		file.bytes += written;
		if (written === bytes.length) return;
		// The rest of a line that did not fit is no line, and the next one begins behind it.
		file.bytes = maxFileBytes;
		throw new Error('The disk is full.');
	}

	#current(): JournalFile {
		for (const file of this.#files.filter((each) => !isThere(each))) this.#forgetRemoved(file);
		const last = this.#files.at(-1);
		if (last !== undefined && last.bytes < maxFileBytes) return last;
		if (last !== undefined && last.open === 0) this.#closeFile(last, true);
		mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
		const file = path.join(this.#folder, `${this.#name}.${++this.#number}`);
		const opened = {
			path: file,
			descriptor: openSync(file, 'ax', 0o600),
			bytes: 0,
			open: 0,
			isRemoved: false,
			covering: new Map(),
		};
		this.#files.push(opened);
		this.#forgetOld(opened);
		return opened;
	}

	/** The folder of the index was removed: nobody knows what was noted here. */
	#forgetRemoved(file: JournalFile): void {
		for (const rootId of this.#noted) this.#lost.add(rootId);
		this.#files = this.#files.filter((each) => each !== file);
		file.isRemoved = true;
		closeSync(file.descriptor);
	}

	/**
	 * Removes the oldest files where nobody applies them in time: of the homes that they are about all is stale then, which is a few marks.
	 * Other homes stay as they are.
	 */
	#forgetOld(current: JournalFile): void {
		const own = readdirSync(this.#folder).filter((name) => name.startsWith(`${this.#name}.`));
		for (const name of this.#coveringOf.keys()) if (!own.includes(name)) this.#coveringOf.delete(name);
		if (own.length <= maxFiles) return;
		const used = this.#files.map((file) => path.basename(file.path));
		const forgotten = own.filter((name) => !used.includes(name));
		const covering = new Map<string, RootMark>();
		for (const name of forgotten)
			for (const mark of this.#coveringOf.get(name)?.values() ?? this.#allNoted()) addCovering(covering, mark);
		const marks = covering.size > maxCovering ? this.#allNoted() : [...covering.values()];
		this.#append(current, { end: 0, marks: marks.map(compact) });
		for (const name of forgotten) rmSync(path.join(this.#folder, name), { force: true });
	}

	#allNoted(): RootMark[] {
		return [...this.#noted].map((rootId) => ({ rootId, ...treeAt(rootPath) }));
	}

	#closeFile(file: JournalFile, isFull = false): void {
		try {
			this.#append(file, { closed: true });
		} catch (error) {
			// The process ends, or another file is begun: this one counts as ended with it.
			if (!isFull) this.#report(error);
		}
		closeSync(file.descriptor);
		this.#files = this.#files.filter((each) => each !== file);
		this.#coveringOf.set(path.basename(file.path), file.covering);
	}

	/** Notes that whole roots are stale, since changes in them could not be noted. */
	#noteLost(): void {
		if (this.#isClosed) return;
		try {
			const marks = [...this.#lost].map((rootId) => ({ rootId, ...treeAt(rootPath) }));
			this.#append(this.#current(), { end: 0, marks: marks.map(compact) });
			this.#lost.clear();
			this.#hasFailed = false;
		} catch (error) {
			this.#report(error);
		}
	}

	#report(error: unknown): void {
		if (!this.#hasFailed)
			this.#log.warn({ err: error }, 'changes can’t be noted for the search index: searches read the disk');
		this.#hasFailed = true;
	}
}

/** Whether the file has its name still. */
function isThere(file: JournalFile): boolean {
	return !file.isRemoved && fstatSync(file.descriptor).nlink > 0;
}
