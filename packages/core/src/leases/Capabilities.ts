/**
 * A capability that has been lacking for so long, here and at all live processes, is not waited for any more: a process that starts
 * anew is there again by then, a program that is being exchanged works again, and a machine without room has some.
 */
const awaitedMs = 10 * 60_000;

/** How often a process checks its capabilities once its first minute is over: that costs more than all else of a beat. */
const firstLooksMs = 60_000;
const lookMs = 30_000;

export interface CapabilityParts {
	/** The capabilities that plugins have registered, by name: whether this process has it now. */
	capabilities(): ReadonlyMap<string, () => boolean>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** The capabilities of this process, and since when each is lacking here and elsewhere. */
export class Capabilities {
	readonly #parts: CapabilityParts;
	/** When each was seen last at another process. */
	readonly #seenElsewhere = new Map<string, number>();
	/** Since when this process lacks each that it lacks, and when that was seen last. */
	readonly #lacking = new Map<string, { since: number; seenAt: number }>();
	#begunAt = Number.NEGATIVE_INFINITY;
	/** Those of this process, as looked up last. */
	#here: { at: number; names: readonly string[] } = { at: Number.NEGATIVE_INFINITY, names: [] };

	constructor(parts: CapabilityParts) {
		this.#parts = parts;
	}

	begin(): void {
		this.#begunAt = this.#parts.monotonic();
	}

	/** Whether this process has it now. */
	has(capability: string): boolean {
		const hasIt = this.#parts.capabilities().get(capability)?.() ?? false;
		if (hasIt) this.#lacking.delete(capability);
		else this.#noteLacking(capability);
		return hasIt;
	}

	/** Whether what needs it waits: this process lacks it, and it may be back in a moment, here or at another one. */
	isAwaited(capability: string): boolean {
		if (this.has(capability)) return false;
		const lackingSince = this.#lacking.get(capability)?.since ?? Number.NEGATIVE_INFINITY;
		const seenAt = Math.max(this.#seenElsewhere.get(capability) ?? this.#begunAt, lackingSince);
		return this.#parts.monotonic() - seenAt < awaitedMs;
	}

	/** The names of those that this process has, as looked up a while ago. */
	names(): readonly string[] {
		const now = this.#parts.monotonic();
		if (now - this.#begunAt < firstLooksMs || now - this.#here.at >= lookMs)
			this.#here = { at: now, names: [...this.#parts.capabilities().keys()].filter((each) => this.has(each)) };
		return this.#here.names;
	}

	/** Another process has these. */
	noteElsewhere(capabilities: readonly string[]): void {
		const now = this.#parts.monotonic();
		for (const each of capabilities) this.#seenElsewhere.set(each, now);
	}

	#noteLacking(capability: string): void {
		const now = this.#parts.monotonic();
		const known = this.#lacking.get(capability);
		// What nobody has asked for in the meantime may have been there.
		const isKnown = known !== undefined && now - known.seenAt < awaitedMs;
		this.#lacking.set(capability, { since: isKnown ? known.since : now, seenAt: now });
	}
}
