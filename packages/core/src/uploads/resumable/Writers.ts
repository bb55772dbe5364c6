import type { IncomingMessage } from 'node:http';
import { inUse, leaseName, Writer, type WriterParts } from './Writer.js';

/** Serializes the writers of an upload. Between processes the storage's lock does; the lease names the process to ask. */
export class Writers {
	readonly #writers = new Map<string, Writer>();

	constructor(readonly parts: WriterParts) {}

	/**
	 * Runs `work` alone in this process. Throws `locked` while another connection brings bytes; a dead one is ended, and
	 * its bytes are kept.
	 */
	async runExclusively<T>(key: string, request: IncomingMessage, work: (writer: Writer) => Promise<T>): Promise<T> {
		await this.endStaleWriter(key);
		if (this.#writers.has(key)) throw inUse();
		let end = () => {};
		const done = new Promise<void>((resolve) => {
			end = resolve;
		});
		const writer = new Writer(key, request, done, this.parts);
		this.#writers.set(key, writer);
		try {
			return await work(writer);
		} finally {
			try {
				await writer.release();
			} finally {
				// Whatever fails: a writer that stays would keep everybody from the upload until the process ends.
				this.#writers.delete(key);
				end();
			}
		}
	}

	/** Ends a writer whose connection is dead, and waits until it has ended. */
	async endStaleWriter(key: string): Promise<void> {
		const writer = this.#writers.get(key);
		if (writer?.isStale) await writer.end();
	}

	/** Asks a writer in another process to end if it is dead. Resolves to whether one could be asked. */
	requestRelease(key: string): Promise<boolean> {
		return this.parts.leases.requestRelease(leaseName(key));
	}

	/** Ends a writer, alive or not. One in another process is notified within a second. */
	async end(key: string): Promise<void> {
		await this.#writers.get(key)?.end();
		await this.parts.leases.revoke(leaseName(key));
	}

	isBusy(key: string): boolean {
		return this.#writers.has(key);
	}
}
