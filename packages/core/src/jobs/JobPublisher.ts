import type { Job, JobRecord } from '@stowage/plugin-api';
import type { ObservableNotifications } from '../events/notifications.js';
import { jobLimits } from './jobLimits.js';

interface Dependencies {
	notifications: ObservableNotifications;
	monotonic(): number;
	/** The job as it is now. */
	find(id: string): Promise<JobRecord | undefined>;
	jobOf(record: JobRecord): Job;
	/** Called with each change of this process, for others. */
	onPublish?(id: string, userId: string): void;
	onError(error: unknown): void;
}

/** How long the published state of a job is remembered. */
const rememberedMs = 60_000;

/** Publishes jobs to the pages of their owners: each at most every half second, its last state always, and nothing twice. */
export class JobPublisher {
	readonly #parts: Dependencies;
	/** The last published state of each job, the oldest first. */
	readonly #published = new Map<string, { text: string; at: number }>();
	/** Jobs whose change waits to be published. */
	readonly #late = new Set<string>();
	#polledAt: number;

	constructor(parts: Dependencies) {
		this.#parts = parts;
		this.#polledAt = parts.monotonic();
	}

	/** The job of this user has changed. */
	publish(id: string, userId: string): void {
		this.#parts.onPublish?.(id, userId);
		this.publishHere(id, userId);
	}

	/** Publishes a change to the pages of this process only: for a job that another process has changed. */
	publishHere(id: string, userId: string): void {
		if (!this.#parts.notifications.isObserved({ userId })) return;
		if (this.#isDue(id)) this.#now(id);
		else this.#late.add(id);
	}

	/** Publishes changes whose waiting time is over; called at intervals. */
	flush(): void {
		const now = this.#parts.monotonic();
		for (const [id, { at }] of this.#published) {
			if (now - at < rememberedMs) break;
			this.#published.delete(id);
		}
		for (const id of [...this.#late]) {
			if (!this.#isDue(id)) continue;
			this.#late.delete(id);
			this.#now(id);
		}
	}

	#isDue(id: string): boolean {
		const { at } = this.#published.get(id) ?? { at: Number.NEGATIVE_INFINITY };
		return this.#parts.monotonic() - at >= jobLimits.spacingMs;
	}

	/** Whether any page of a signed-in person is open in this process. */
	hasPages(): boolean {
		return this.#parts.notifications.hasUsers();
	}

	/**
	 * How far back the next poll must read: some seconds further than to the last one, since changes that are committed late have an
	 * earlier time.
	 */
	changesMs(): number {
		const now = this.#parts.monotonic();
		const sinceMs = Math.ceil(now - this.#polledAt) + jobLimits.changesMs;
		this.#polledAt = now;
		return sinceMs;
	}

	/** Publishes the changes of other processes. */
	publishChanges(records: readonly JobRecord[], isRunHere: (id: string) => boolean): void {
		for (const record of records) {
			if (isRunHere(record.id) || !this.#parts.notifications.isObserved({ userId: record.userId })) continue;
			if (this.#published.get(record.id)?.text !== this.#textOf(record)) this.publishHere(record.id, record.userId);
		}
	}

	#now(id: string): void {
		// Remembered before the look-up, or many changes at once would all be published.
		this.#remember(id, this.#published.get(id)?.text ?? '');
		this.#parts.find(id).then((record) => {
			if (record === undefined) return;
			const text = this.#textOf(record);
			if (this.#published.get(id)?.text === text) return;
			this.#remember(id, text);
			const { notifications, jobOf } = this.#parts;
			notifications.publish({ userId: record.userId }, { kind: 'job', job: jobOf(record) });
		}, this.#parts.onError);
	}

	#remember(id: string, text: string): void {
		this.#published.delete(id);
		this.#published.set(id, { text, at: this.#parts.monotonic() });
	}

	#textOf(record: JobRecord): string {
		return JSON.stringify(this.#parts.jobOf(record));
	}
}
