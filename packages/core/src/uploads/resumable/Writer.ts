import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { UploadStore } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import type { Lease, Leases } from '../../leases/createLeases.js';
import type { Log } from '../../log.js';

/** A connection without a byte for this long counts as dead once a newer one wants its place. */
const idleMs = 3_000;

/** How long a newer one waits for the older to release the file: it may still be writing bytes to the disk. */
const handoverMs = 20_000;

/** A writer takes a lease after this long, by which other processes can ask for the upload. Shorter writes cost no row. */
const checkMs = 500;

/** A process that does not renew its lease for this long counts as stopped, and its upload is taken over. */
const leaseMs = 3_000;

export interface WriterParts {
	leases: Leases;
	uploads: Pick<UploadStore, 'isStaged'>;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** A connection that works on an upload. */
export class Writer {
	/** The staged file that it works on, once it is known. */
	stagedId: string | undefined;
	readonly #name: string;
	readonly #parts: WriterParts;
	#lastBytesAt: number;
	#isAborted = false;
	#hasEnded = false;
	#lease: Lease | undefined;
	/** Serialized: two concurrent attempts would block each other. */
	#checking: Promise<void> | undefined;
	#isAcquiring = false;
	readonly #timer: NodeJS.Timeout;

	constructor(
		key: string,
		readonly request: IncomingMessage,
		readonly done: Promise<unknown>,
		parts: WriterParts,
	) {
		this.#name = leaseName(key);
		this.#parts = parts;
		this.#lastBytesAt = parts.monotonic();
		this.#timer = setInterval(() => {
			if (this.#isAcquiring) return;
			this.#checking ??= this.#checkLease()
				.catch((error: unknown) => {
					// Tried again soon.
					if (!isFailure(error)) parts.log.error({ err: error }, 'the lease of an upload could not be acquired');
				})
				.finally(() => {
					this.#checking = undefined;
				});
		}, checkMs);
		this.#timer.unref();
	}

	/** Called when bytes arrive. */
	onBytes(): void {
		this.#lastBytesAt = this.#parts.monotonic();
	}

	/** Whether it will end, or is dead as far as this process knows. */
	get isStale(): boolean {
		const { request } = this;
		if (this.#isAborted || request.complete || request.destroyed) return true;
		// Bytes that wait for the server's disk show that it is alive as well.
		return request.readableLength === 0 && this.#parts.monotonic() - this.#lastBytesAt > idleMs;
	}

	/** Ends it and resolves once it has released the upload. */
	async end(): Promise<void> {
		this.#abort();
		const isOver = await Promise.race([this.done.then(() => true), wait(handoverMs, false, { ref: false })]);
		if (!isOver) throw inUse();
	}

	/**
	 * The lease of the upload. A holder in another process is asked to release it, and given some time. Throws `locked`
	 * while it keeps the lease.
	 */
	async lease(waitMs: number): Promise<Lease> {
		this.#isAcquiring = true;
		try {
			await this.#checking;
			this.#lease ??= await this.#acquire(waitMs);
			if (this.#lease === undefined) throw inUse();
			return this.#lease;
		} finally {
			this.#isAcquiring = false;
		}
	}

	/** Called once its work has ended. */
	async release(): Promise<void> {
		this.#hasEnded = true;
		clearInterval(this.#timer);
		await this.#checking;
		await this.#lease?.release();
	}

	async #acquire(waitMs: number): Promise<Lease | undefined> {
		const lease = await this.#parts.leases.acquire(this.#name, {
			leaseMs,
			waitMs,
			onRequested: () => this.#endIfStale(),
		});
		lease?.signal.addEventListener('abort', () => this.#abort());
		return lease;
	}

	async #checkLease(): Promise<void> {
		const { leases, uploads } = this.#parts;
		if (this.#lease !== undefined) return;
		this.#lease = await this.#acquire(0);
		if (this.#lease === undefined) {
			// The holder waits for the storage's lock, and sees by this that this process is alive.
			await leases.requestRelease(this.#name);
			this.#endIfStale();
		}
		// It was ended elsewhere, or taken over as stopped.
		const { stagedId } = this;
		if (stagedId !== undefined && !this.#hasEnded && !(await uploads.isStaged(stagedId))) this.#abort();
	}

	#endIfStale(): void {
		if (this.isStale) this.#abort();
	}

	#abort(): void {
		this.#isAborted = true;
		// Not `locked`, which would mean another client's bytes: those that came by this connection are kept.
		if (!this.request.complete) this.request.destroy(new Failure('timeout', 'A newer connection took over.'));
	}
}

export function inUse(): Failure {
	return new Failure('locked', 'Another connection is sending this upload right now.', { retryAfter: 1 });
}

/** The name of the lease by which other processes ask for an upload. */
export function leaseName(key: string): string {
	return `upload ${key}`;
}
