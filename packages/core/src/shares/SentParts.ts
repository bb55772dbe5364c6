import type { ClientParts } from '@stowage/plugin-api';
import { mergedParts, type Part } from '@stowage/rules';

/** How often a transfer says that its client is still there. */
const touchMs = 5 * 60_000;

/** A response that sends a content of a share to a client. */
export interface Transfer {
	key: Pick<ClientParts, 'share' | 'client' | 'content' | 'size'>;
	isLimited: boolean;
	start: number;
	/** Up to where it has left the process. */
	head: number;
	/** Where it was asked to end. */
	limit: number;
	touchedAt: number;
	/** Some of it has been saved. */
	isSaved: boolean;
}

/** What is being sent to clients of shares by this process, and what was sent that waits to be saved. */
export class SentParts {
	readonly #process: string;
	readonly #running = new Set<Transfer>();
	/** What has ended without being a whole download. */
	readonly #ended = new Map<string, { key: Transfer['key']; sent: Part[]; begun: number[]; isLimited: boolean }>();

	/** `process` is the name of this one. */
	constructor(process: string) {
		this.#process = process;
	}

	get isEmpty(): boolean {
		return this.#running.size === 0 && this.#ended.size === 0;
	}

	begin(transfer: Transfer): void {
		this.#running.add(transfer);
	}

	leave(transfer: Transfer): void {
		this.#running.delete(transfer);
	}

	/** Keeps what was sent by one that is no whole download. */
	keep({ key, isLimited, start, head }: Transfer): void {
		const ended = this.#ended.get(nameOf(key)) ?? { key, isLimited, sent: [], begun: [] };
		ended.sent = mergedParts([...ended.sent, [start, head]]);
		if (start > 0) ended.begun.push(start);
		this.#ended.set(nameOf(key), ended);
	}

	/** What was kept of a content. */
	ended(key: Transfer['key']): readonly Part[] {
		return this.#ended.get(nameOf(key))?.sent ?? [];
	}

	/** Whether anything was kept of it. */
	forget(key: Transfer['key']): boolean {
		return this.#ended.delete(nameOf(key));
	}

	/** What is to be saved now, and the shares among it whose downloads are limited. What has ended is kept no more. */
	take(): { parts: ClientParts[]; limited: ReadonlySet<string> } {
		// Also what is under way may complete a download, by what was sent of it before.
		const limited = [...this.#ended.values(), ...this.#running].filter((each) => each.isLimited);
		const parts = this.#partsNow();
		this.#ended.clear();
		return { parts, limited: new Set(limited.map(({ key }) => key.share)) };
	}

	/** Clients that have not been heard of for a while, and are counted as heard of now. */
	dueTouches(now: number): Pick<ClientParts, 'share' | 'client'>[] {
		const due = [...this.#running].filter(({ isLimited, touchedAt }) => isLimited && now - touchedAt >= touchMs);
		for (const transfer of due) transfer.touchedAt = now;
		return due.map(({ key: { share, client } }) => ({ share, client }));
	}

	/** What has ended and what is under way, once for each content of a client. */
	#partsNow(): ClientParts[] {
		const all = new Map<string, { key: Transfer['key']; sent: Part[]; underWay: Part[]; begun: number[] }>();
		const of = (key: Transfer['key']) => {
			const known = all.get(nameOf(key)) ?? { key, sent: [], underWay: [], begun: [] };
			all.set(nameOf(key), known);
			return known;
		};
		for (const { key, sent, begun } of this.#ended.values()) {
			of(key).sent.push(...sent);
			of(key).begun.push(...begun);
		}
		for (const transfer of this.#running) {
			const { key, start, head, limit } = transfer;
			// The end of what is over is about to be counted.
			if (head === start || head === limit) continue;
			transfer.isSaved = true;
			of(key).sent.push([start, head]);
			of(key).underWay.push([head, limit]);
			if (start > 0) of(key).begun.push(start);
		}
		return [...all.values()].map(({ key, sent, ...others }) => ({
			...{ ...key, ...others },
			process: this.#process,
			sent: mergedParts(sent),
		}));
	}
}

const nameOf = ({ share, client, content }: Transfer['key']) => `${share} ${client} ${content}`;

/** Whether these are all bytes of the content. */
export function isWhole({ size }: Transfer['key'], parts: readonly Part[]): boolean {
	const [first] = mergedParts(parts);
	return first !== undefined && first[0] === 0 && first[1] >= size;
}
