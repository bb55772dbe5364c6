import { Counts } from '../limits/Counts.js';

/** The most aggregates that wait at once; above that the oldest is written before its time has passed. */
const maxKept = 5000;

interface Kept<T> {
	item: T;
	groups: ReadonlySet<string>;
	/** When it is written. */
	endsAt: number;
	timer: NodeJS.Timeout;
}

interface Options<T> {
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** How long an aggregate waits for more, in milliseconds. */
	spanMs: number;
	/** The aggregate of one item and the next. */
	merge(aggregate: T, next: T): T;
	write(aggregate: T): void;
}

/** Merges items by their keys for a fixed time, and then writes each as one. */
export class Aggregator<T> {
	readonly #kept = new Map<string, Kept<T>>();
	readonly #groups = new Counts();

	constructor(readonly options: Options<T>) {}

	/** Adds to the aggregate of this key, or begins it. */
	add(key: string, item: T, groups: ReadonlySet<string> = new Set()): void {
		const kept = this.#kept.get(key);
		if (kept !== undefined) {
			kept.item = this.options.merge(kept.item, item);
			return;
		}
		if (this.isFull) this.#end(this.#kept.keys().next().value as string);
		const endsAt = this.options.monotonic() + this.options.spanMs;
		this.#kept.set(key, { item, groups, endsAt, timer: this.#timer(key, this.options.spanMs) });
		for (const group of groups) this.#groups.add(group, 1);
	}

	/** The aggregate of this key so far. */
	get(key: string): T | undefined {
		return this.#kept.get(key)?.item;
	}

	/** How many aggregates of a group wait. */
	countOf(group: string): number {
		return this.#groups.of(group);
	}

	get isFull(): boolean {
		return this.#kept.size >= maxKept;
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
		const rest = kept.endsAt - this.options.monotonic();
		if (rest <= 0) this.#end(key);
		else kept.timer = this.#timer(key, rest);
	}

	#end(key: string): void {
		const kept = this.#kept.get(key);
		if (kept === undefined) return;
		this.#kept.delete(key);
		for (const group of kept.groups) this.#groups.add(group, -1);
		clearTimeout(kept.timer);
		this.options.write(kept.item);
	}
}
