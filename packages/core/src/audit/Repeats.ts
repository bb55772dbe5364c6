import type { AuditEvent } from './auditLine.js';

/** The most lines that wait at once; above that the oldest is written before its minute has passed. */
const maxKept = 5000;

const minuteMs = 60_000;

interface Kept {
	event: AuditEvent;
	write(event: AuditEvent): void;
	/** When its minute has passed. */
	endsAt: number;
	timer: NodeJS.Timeout;
}

/** Merges events that repeat within a minute into one line: the ranges of a film, thousands of refusals. */
export class Repeats {
	readonly #kept = new Map<string, Kept>();

	/** Minutes are measured by `monotonic`, the milliseconds of a monotonic clock. */
	constructor(
		readonly monotonic: () => number,
		readonly spanMs = minuteMs,
	) {}

	/** Adds to the line of this key, which `write` writes once its minute has passed. Its context is that of the first one. */
	add(key: string, event: AuditEvent, write: (event: AuditEvent) => void): void {
		const kept = this.#kept.get(key);
		if (kept !== undefined) {
			const bytes = (kept.event.bytes ?? 0) + (event.bytes ?? 0);
			const requests = (kept.event.requests ?? 1) + 1;
			kept.event = { ...kept.event, ...(bytes > 0 ? { bytes } : {}), requests };
			return;
		}
		if (this.#kept.size >= maxKept) this.#end(this.#kept.keys().next().value as string);
		const endsAt = this.monotonic() + this.spanMs;
		this.#kept.set(key, { event, write, endsAt, timer: this.#timer(key, this.spanMs) });
	}

	has(key: string): boolean {
		return this.#kept.has(key);
	}

	/** Writes all that waits. */
	endAll(): void {
		for (const key of [...this.#kept.keys()]) this.#end(key);
	}

	#timer(key: string, ms: number): NodeJS.Timeout {
		return setTimeout(() => this.#endIfDue(key), ms).unref();
	}

	#endIfDue(key: string): void {
		const kept = this.#kept.get(key);
		if (kept === undefined) return;
		const rest = kept.endsAt - this.monotonic();
		if (rest <= 0) this.#end(key);
		else kept.timer = this.#timer(key, rest);
	}

	#end(key: string): void {
		const kept = this.#kept.get(key);
		if (kept === undefined) return;
		this.#kept.delete(key);
		clearTimeout(kept.timer);
		kept.write(kept.event);
	}
}
