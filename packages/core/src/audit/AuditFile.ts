import { constants } from 'node:fs';
import type { FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { makeFolders, NoRegularFileError, openRegularFile } from '@stowage/plugin-api';
import type { AuditClass } from './auditClasses.js';
import { auditFileName, auditFiles, nodeInFileNames } from './auditFolder.js';
import { dayOf } from './auditLine.js';

/** The next part of the day begins after this many bytes. */
const partBytes = 32 * 1024 * 1024;

/** Lines that wait for a disk that does not answer. */
const maxWaitingBytes = 4 * 1024 * 1024;

/** Parts that are tried where others can't be opened, since they are another user's or no files. */
const maxTries = 20;

/** Lines within this many milliseconds are one write. */
const gatherMs = 50;

/** How often the file's existence and its size, which other processes change, are checked. */
const checkMs = 1000;

interface Line {
	text: string;
	time: number;
	/** How many lines are lost with it. */
	standsFor: number;
}

interface Options {
	/** Called with the first failure, and with the number of lost lines at the first success after it. */
	onError(error: unknown): void;
	onRecovered(lost: number): void;
	/** The name of this node where other ones may write to the folder: over a network several can't append to one file. */
	node?: string | undefined;
	partBytes?: number;
	checkMs?: number;
	open?: typeof open;
}

/**
 * Appends lines of one class to the files of a folder, in the order of the calls, without making a caller wait. Other
 * processes of this machine may append to the same files: a batch of whole lines is one write at the end of the file,
 * and each of them finds the name of a new part by itself. Lines that can't be written are lost, and counted.
 */
export class AuditFile {
	readonly #folder: string;
	readonly #class: AuditClass;
	readonly #options: Options;
	readonly #node: string | undefined;
	#waiting: Line[] = [];
	#waitingBytes = 0;
	#gathering: NodeJS.Timeout | undefined;
	#writing: Promise<void> | undefined;
	#open: { handle: FileHandle; day: string; part: number; size: number; checkedAt: number } | undefined;
	#lost = 0;

	constructor(folder: string, of: AuditClass, options: Options) {
		this.#folder = folder;
		this.#class = of;
		this.#options = options;
		this.#node = options.node === undefined ? undefined : nodeInFileNames(options.node);
	}

	/** Appends a line with its line feed; `time` determines the day's file. One that says how many were lost stands for these. */
	append(text: string, time: number, standsFor = 1): void {
		if (this.#waitingBytes + text.length > maxWaitingBytes) {
			this.#lose(standsFor, new Error('The disk takes no more lines.'));
			return;
		}
		this.#waiting.push({ text, time, standsFor });
		this.#waitingBytes += text.length;
		this.#gathering ??= setTimeout(() => this.#begin(), gatherMs).unref();
	}

	#begin(): void {
		clearTimeout(this.#gathering);
		this.#gathering = undefined;
		this.#writing ??= this.#writeAll().finally(() => {
			this.#writing = undefined;
		});
	}

	/** Resolves when all that was appended is in the file, or lost. */
	async flush(): Promise<void> {
		while (this.#waiting.length > 0 || this.#writing !== undefined) {
			this.#begin();
			await this.#writing;
		}
	}

	/** Returns how many lines were lost, and counts anew: the caller records the number. */
	takeLost(): number {
		const lost = this.#lost;
		this.#lost = 0;
		return lost;
	}

	async close(): Promise<void> {
		await this.flush();
		const { handle } = this.#open ?? {};
		this.#open = undefined;
		// It is a log: losing its last moment in a power cut is no reason for a failed stop.
		await handle?.datasync().catch(this.#options.onError);
		await handle?.close();
	}

	async #writeAll(): Promise<void> {
		while (this.#waiting.length > 0) {
			const batch = this.#takeBatch();
			try {
				await this.#write(batch);
			} catch (error) {
				this.#lose(linesOf(batch), error);
			}
		}
	}

	/** Lines of one day. */
	#takeBatch(): Line[] {
		const day = dayOf(this.#waiting[0]?.time ?? 0);
		const others = this.#waiting.findIndex(({ time }) => dayOf(time) !== day);
		const batch = this.#waiting.splice(0, others === -1 ? this.#waiting.length : others);
		for (const { text } of batch) this.#waitingBytes -= text.length;
		return batch;
	}

	async #write(batch: readonly Line[]): Promise<void> {
		const handle = await this.#handleFor(dayOf(batch[0]?.time ?? 0));
		const texts = batch.map(({ text }) => text);
		const before = (await endsWithinLine(handle)) ? '\n' : '';
		const bytes = Buffer.from(`${before}${texts.join('')}`);
		const { bytesWritten } = await handle.write(bytes);
		if (this.#open !== undefined) this.#open.size += bytesWritten;
		if (bytesWritten < bytes.length) {
			const ends = bytes.subarray(0, bytesWritten).toString('latin1').split('\n').length - 1;
			const whole = Math.max(0, ends - before.length);
			this.#lose(linesOf(batch.slice(whole)), new Error('The disk took only a part of the lines.'));
			return;
		}
		const lost = this.takeLost();
		if (lost > 0) this.#options.onRecovered(lost);
	}

	/** Counts the loss, and opens the file anew next time: it may have been removed, or its disk replaced. */
	#lose(count: number, error: unknown): void {
		if (this.#lost === 0) this.#options.onError(error);
		this.#lost += count;
		const { handle } = this.#open ?? {};
		this.#open = undefined;
		// The descriptor is closed either way, and its error is known.
		handle?.close().catch(() => undefined);
	}

	async #handleFor(day: string): Promise<FileHandle> {
		if (this.#open?.day === day && (await this.#isUsable(this.#open))) return this.#open.handle;
		const before = this.#open;
		this.#open = undefined;
		await before?.handle.close();
		const first = before?.day === day ? before.part : ((await this.#lastPart(day)) ?? 0);
		this.#open = { day, ...(await this.#openPart(day, first)), checkedAt: performance.now() };
		return this.#open.handle;
	}

	async #isUsable(open: { handle: FileHandle; size: number; checkedAt: number }): Promise<boolean> {
		if (performance.now() - open.checkedAt < (this.#options.checkMs ?? checkMs)) return open.size < this.#limit;
		const { size, nlink } = await open.handle.stat();
		open.size = size;
		open.checkedAt = performance.now();
		return nlink > 0 && size < this.#limit;
	}

	get #limit(): number {
		return this.#options.partBytes ?? partBytes;
	}

	async #lastPart(day: string): Promise<number | undefined> {
		const files = await auditFiles(this.#folder);
		return files.findLast((file) => file.day === day && file.class === this.#class && file.node === this.#node)?.part;
	}

	/** The first part from there on that has room and can be written. */
	async #openPart(day: string, first: number): Promise<{ handle: FileHandle; part: number; size: number }> {
		for (let part = first; ; part++) {
			try {
				const handle = await this.#openFile(auditFileName(day, this.#class, part, this.#node));
				const { size } = await handle.stat();
				if (size < this.#limit) return { handle, part, size };
				await handle.close();
			} catch (error) {
				const { code } = error as NodeJS.ErrnoException;
				const isClosed = code === 'EACCES' || code === 'EPERM' || error instanceof NoRegularFileError;
				if (!isClosed || part - first >= maxTries) throw error;
			}
		}
	}

	async #openFile(name: string): Promise<FileHandle> {
		await makeFolders(this.#folder, 0o700);
		const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
		const { open: openFile } = this.#options;
		return openRegularFile(path.join(this.#folder, name), flags, openFile === undefined ? {} : { open: openFile });
	}
}

function linesOf(batch: readonly Line[]): number {
	return batch.reduce((sum, { standsFor }) => sum + standsFor, 0);
}

/** Whether the last line is incomplete, after a power cut or a write to a full disk: the next line would become a part of it. */
async function endsWithinLine(handle: FileHandle): Promise<boolean> {
	const { size } = await handle.stat();
	if (size === 0) return false;
	const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
	return bytesRead === 1 && buffer[0] !== lineFeed;
}

const lineFeed = 0x0a;
