import type { UploadRecord } from '@stowage/plugin-api';
import type { Config } from '../../config/schema.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

type Times = Pick<UploadRecord, 'touchedAt' | 'expiresAt'>;

/** An upload beyond this number expires by the time of day alone. */
const maxRemembered = 20_000;

/**
 * The expiry of uploads. The database stores the time of day; a machine without a battery for its clock is set ahead
 * by years once it finds the time. So an upload that this process has touched expires only when the time has really
 * passed, too.
 */
export class UploadExpiry {
	readonly #parts: Dependencies;
	/** When this process touched an upload, by the monotonic clock; the oldest first. */
	readonly #touchedAt = new Map<string, number>();

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	/** The upload is in use; returns the time to store. */
	touch(idHash: string): Times {
		this.#touchedAt.delete(idHash);
		this.#touchedAt.set(idHash, this.#parts.monotonic());
		for (const oldest of this.#touchedAt.keys()) {
			if (this.isInUse(oldest) && this.#touchedAt.size <= maxRemembered) break;
			this.#touchedAt.delete(oldest);
		}
		const now = this.#parts.now();
		return { touchedAt: now, expiresAt: now + this.#parts.config.uploads.expireAfter };
	}

	/** Called when an upload was removed. */
	forget(idHash: string): void {
		this.#touchedAt.delete(idHash);
	}

	hasExpired(idHash: string, { expiresAt }: Times): boolean {
		return expiresAt <= this.#parts.now() && !this.isInUse(idHash);
	}

	/** Whether this process touched the upload within the time that it is kept. */
	isInUse(idHash: string): boolean {
		const touchedAt = this.#touchedAt.get(idHash);
		return touchedAt !== undefined && this.#parts.monotonic() - touchedAt < this.#parts.config.uploads.expireAfter;
	}
}
