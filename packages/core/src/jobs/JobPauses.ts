import type { JobPause } from './runs/runToEnd.js';

/** More are not remembered: a job whose pause is forgotten begins sooner. */
const maxPauses = 1000;

/** Jobs whose last run here, or at a sibling, lacked something for the moment: they are passed over until a time. */
export class JobPauses {
	readonly #byId = new Map<string, { reason: string; endsAt: number }>();
	readonly #monotonic: () => number;

	/** Spans are measured by the milliseconds of a monotonic clock. */
	constructor(monotonic: () => number) {
		this.#monotonic = monotonic;
	}

	/** Replaces the pause that the job has; one of no time ends it. */
	begin(id: string, { reason, ms }: JobPause): void {
		this.#byId.delete(id);
		this.#byId.set(id, { reason, endsAt: this.#monotonic() + ms });
		const [oldest] = this.#byId.keys();
		if (this.#byId.size > maxPauses && oldest !== undefined) this.#byId.delete(oldest);
	}

	/** The pause of a job that is not over. */
	find(id: string): { reason: string; leftMs: number } | undefined {
		const pause = this.#byId.get(id);
		const leftMs = (pause?.endsAt ?? 0) - this.#monotonic();
		return pause !== undefined && leftMs > 0 ? { reason: pause.reason, leftMs } : undefined;
	}

	/** The jobs that are passed over now. */
	ids(): string[] {
		for (const id of [...this.#byId.keys()]) if (this.find(id) === undefined) this.#byId.delete(id);
		return [...this.#byId.keys()];
	}
}
