import { type ByteRange, type LocalFile, type OpenFile, timeLimit, withLocalFile } from '@stowage/plugin-api';
import { unlessAborted } from '../limits/SharedWork.js';

/** A larger file is not copied to a temporary one only for its picture. */
const maxCopyBytes = 512 * 1024 * 1024;

/** How much of either end of a file is read, and for how long, before it is believed that it has no picture. */
const checkedBytes = 4 * 1024 * 1024;
const checkMs = 2000;

/** The file has another version than the requested one. */
export class FileChanged extends Error {}

/** A file that is read for its picture: what its storage does is told from what its content does to a renderer. */
export class WatchedSource {
	/** What reading has thrown. */
	failure: unknown;
	/** Whether a program got the file itself, so that nobody saw what reading it did. */
	#isLent = false;
	#awaited = 0;

	constructor(
		readonly file: OpenFile,
		/** The folder for temporary copies. */
		readonly folder: string,
		readonly signal: AbortSignal,
	) {}

	/** Whether the storage is waited for right now. */
	get isAwaited(): boolean {
		return this.#awaited > 0;
	}

	async *read(range?: ByteRange): AsyncGenerator<Uint8Array> {
		const chunks = this.file.read(range)[Symbol.asyncIterator]();
		const next = () => chunks.next().finally(this.#wait());
		try {
			for (let each = await next(); !each.done; each = await next()) yield each.value;
		} catch (error) {
			this.failure ??= (await this.file.isChanged()) ? new FileChanged() : error;
			throw this.failure;
		} finally {
			await chunks.return?.();
		}
	}

	async withLocalFile<T>(use: (file: LocalFile) => Promise<T>): Promise<T> {
		this.#isLent = true;
		// Unless the storage has one, a copy is made first.
		const endWait = this.#wait();
		const options = { folder: this.folder, signal: this.signal, purpose: 'preview', maxCopyBytes };
		const lend = (local: LocalFile) => {
			endWait();
			return use(local);
		};
		return withLocalFile(this.file, options, lend).finally(endWait);
	}

	/**
	 * Throws what reading throws, or that it takes too long, where a program got the file itself: to that a disk that fails is a damaged
	 * file.
	 */
	async assertReadable(left: AbortSignal): Promise<void> {
		if (this.#isLent) await unlessAborted(this.#readEnds(), AbortSignal.any([left, timeLimit(checkMs)]));
	}

	async #readEnds(): Promise<void> {
		const { size } = this.file.item;
		const isShort = size <= 2 * checkedBytes;
		for await (const _ of this.read({ start: 0, end: (isShort ? size : checkedBytes) - 1 }));
		if (isShort) return;
		for await (const _ of this.read({ start: size - checkedBytes, end: size - 1 }));
	}

	/** Returns a function that ends the waiting, and may be called more than once. */
	#wait(): () => void {
		let isWaiting = true;
		this.#awaited++;
		return () => {
			if (isWaiting) this.#awaited--;
			isWaiting = false;
		};
	}
}
