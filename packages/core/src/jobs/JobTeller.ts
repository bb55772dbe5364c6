import type { Job, JobRecord } from '@stowage/plugin-api';
import type { HeardNotifications } from '../events/notifications.js';
import { jobLimits } from './jobLimits.js';

interface Dependencies {
	notifications: HeardNotifications;
	monotonic(): number;
	/** The job as it is now. */
	find(id: string): Promise<JobRecord | undefined>;
	jobOf(record: JobRecord): Job;
	onFault(error: unknown): void;
}

/** For so long it is remembered what pages were told of a job. */
const rememberedMs = 60_000;

/** Tells pages of their owners' jobs: of each at most every half second, the last state always, and nothing twice. */
export class JobTeller {
	readonly #parts: Dependencies;
	/** What was told last of a job, the oldest first. */
	readonly #told = new Map<string, { text: string; at: number }>();
	/** Jobs of which there is news that must wait. */
	readonly #late = new Set<string>();
	#lookedAt: number;

	constructor(parts: Dependencies) {
		this.#parts = parts;
		this.#lookedAt = parts.monotonic();
	}

	/** The job of this user is another than it was. */
	tell(id: string, userId: string): void {
		if (!this.#parts.notifications.isHeard({ userId })) return;
		if (this.#isDue(id)) this.#now(id);
		else this.#late.add(id);
	}

	/** Tells what had to wait and is due; called now and then. */
	flush(): void {
		const now = this.#parts.monotonic();
		for (const [id, { at }] of this.#told) {
			if (now - at < rememberedMs) break;
			this.#told.delete(id);
		}
		for (const id of [...this.#late]) {
			if (!this.#isDue(id)) continue;
			this.#late.delete(id);
			this.#now(id);
		}
	}

	#isDue(id: string): boolean {
		const { at } = this.#told.get(id) ?? { at: Number.NEGATIVE_INFINITY };
		return this.#parts.monotonic() - at >= jobLimits.spacingMs;
	}

	/** Whether any page of a signed-in person is open in this process. */
	isHeard(): boolean {
		return this.#parts.notifications.hasUsers();
	}

	/** How far back the next look at the changes must go: some seconds further than to the last look, since what is committed late carries an earlier time. */
	changesMs(): number {
		const now = this.#parts.monotonic();
		const sinceMs = Math.ceil(now - this.#lookedAt) + jobLimits.changesMs;
		this.#lookedAt = now;
		return sinceMs;
	}

	/** Tells of what other processes changed. */
	tellChanges(records: readonly JobRecord[], isRunHere: (id: string) => boolean): void {
		for (const record of records) {
			if (isRunHere(record.id) || !this.#parts.notifications.isHeard({ userId: record.userId })) continue;
			if (this.#told.get(record.id)?.text !== this.#textOf(record)) this.tell(record.id, record.userId);
		}
	}

	#now(id: string): void {
		// Noted before it is looked up, or many that come at once would all be told.
		this.#remember(id, this.#told.get(id)?.text ?? '');
		this.#parts.find(id).then((record) => {
			if (record === undefined) return;
			const text = this.#textOf(record);
			if (this.#told.get(id)?.text === text) return;
			this.#remember(id, text);
			const { notifications, jobOf } = this.#parts;
			notifications.publish({ userId: record.userId }, { kind: 'job', job: jobOf(record) });
		}, this.#parts.onFault);
	}

	#remember(id: string, text: string): void {
		this.#told.delete(id);
		this.#told.set(id, { text, at: this.#parts.monotonic() });
	}

	#textOf(record: JobRecord): string {
		return JSON.stringify(this.#parts.jobOf(record));
	}
}
